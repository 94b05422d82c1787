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

// This file says whether the evaluator works: what its provider said last, and one small
// evaluation for who asks on purpose.

// healthTime bounds Health, beside the evaluator's own deadline.
const healthTime = 30 * time.Second

// harmless is what Health has evaluated.
var harmless = approver.ToolCall{Tool: "Bash", Command: "ls", Args: json.RawMessage(`{"command":"ls"}`)}

// Health makes one evaluation of a plain ls: address, key, model and protocol are right
// if there is a valid answer. It costs one request of about 1,000 tokens, is tried once,
// and takes 30 seconds or the evaluator's deadline at most. said is the model's decision.
// The error says what is wrong, and never shows the key.
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

// Reception says whether evaluations end in a valid answer: since when, and why not. A
// call that was given up meanwhile counts for nothing.
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

// refusals are the words with which providers say why they refuse. Nothing else of their
// answer is shown: it may repeat the key or the payload.
var refusals = []string{
	"authentication_error", "billing_error", "billing_hard_limit_reached", "content_filter", "context_length_exceeded",
	"insufficient_quota",
	"invalid_api_key", "invalid_request_error", "model_not_available", "model_not_found", "not_found_error",
	"overloaded_error", "permission_error",
	"rate_limit_error", "rate_limit_exceeded", "request_too_large", "unsupported_parameter", "unsupported_value",
}

// refusal is the word for why a provider refused, in front of which stands the status.
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
