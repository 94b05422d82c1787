package evaluator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"approver.example"
)

// healthTime bounds Health, in addition to the evaluator's own deadline.
const healthTime = 30 * time.Second

// harmless is what Health has evaluated.
var harmless = approver.ToolCall{Tool: "Bash", Command: "ls", Args: json.RawMessage(`{"command":"ls"}`)}

// Health evaluates a plain ls. A valid answer shows that URL, key, model and protocol are
// right. It makes one request of about 1,000 tokens, and takes at most 30 seconds or the
// evaluator's deadline. said is the model's decision. The error never shows the key.
func (e *Evaluator) Health(ctx context.Context) (said string, err error) {
	if e == nil || e.client == nil {
		return "", errors.New("the evaluator is not made by New")
	}
	line, _, err := describe(harmless, e.maxPayload, e.hide)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, min(healthTime, e.deadline))
	defer cancel()
	c, _, err := e.ask(ctx, line)
	if e.note(err); err != nil {
		return "", fmt.Errorf("%s: %w", e, err)
	}
	return c.decision, nil
}

// Reception says whether evaluations get valid answers, since when, and why not.
// Canceled calls do not count.
func (e *Evaluator) Reception() approver.Reception {
	if e == nil || e.meter == nil {
		return approver.Reception{}
	}
	return e.meter.Reception()
}

func (e *Evaluator) note(err error) {
	switch {
	case err == nil:
		e.meter.Succeeded()
	case !errors.Is(err, context.Canceled):
		e.meter.Failed(err)
	}
}

// maxRefusal bounds what is read of a refusal in bytes.
const maxRefusal = 4 << 10

// refusals are the known error codes of providers. Nothing else of an error is shown,
// because it may repeat the key or the payload.
var refusals = []string{
	"authentication_error", "billing_error", "billing_hard_limit_reached", "content_filter", "context_length_exceeded",
	"insufficient_quota",
	"invalid_api_key", "invalid_request_error", "model_not_available", "model_not_found", "not_found_error",
	"overloaded_error", "permission_error",
	"rate_limit_error", "rate_limit_exceeded", "request_too_large", "unsupported_parameter", "unsupported_value",
}

// refusal is the status of a refusal and, if it is known, the provider's error code.
func refusal(resp *http.Response) string {
	status := fmt.Sprintf("HTTP %d", resp.StatusCode)
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return status
	}
	var doc struct {
		Error struct{ Type, Code any }
	}
	if json.Unmarshal(text, &doc) != nil {
		return status
	}
	for _, word := range []any{doc.Error.Code, doc.Error.Type} {
		if s, is := word.(string); is && slices.Contains(refusals, s) {
			return status + ", " + strings.ReplaceAll(s, "_", " ")
		}
	}
	return status
}
