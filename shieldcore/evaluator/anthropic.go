package evaluator

import (
	"encoding/json"
	"errors"
	"net/http"

	"approver.example/internal/secret"
)

// anthropicDialect is Anthropic's Messages.
type anthropicDialect struct{}

type anthropicRequest struct {
	Model       string    `json:"model"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature *float64  `json:"temperature,omitempty"`
	System      string    `json:"system"`
	Messages    []message `json:"messages"`
	Stream      bool      `json:"stream"`
}

func (anthropicDialect) home() string { return "https://api.anthropic.com" }
func (anthropicDialect) path() string { return "v1/messages" }

func (anthropicDialect) authorize(key secret.Text, h http.Header) {
	h.Set("anthropic-version", "2023-06-01")
	if !key.IsZero() {
		h.Set("x-api-key", key.Reveal())
	}
}

func (anthropicDialect) request(p prompt, o options) any {
	r := anthropicRequest{Model: o.model, MaxTokens: o.maxTokens, System: p.system, Messages: []message{{"user", p.user}}}
	if !o.reasoning {
		r.Temperature = new(float64)
	}
	return r
}

func (anthropicDialect) answer(fields map[string]json.RawMessage) (answered, error) {
	if !is(fields["type"], "message") || !is(fields["role"], "assistant") {
		return answered{}, errNotWhole
	}
	// max_tokens, tool_use, refusal, pause_turn, model_context_window_exceeded and
	// whatever comes later: the payload may have caused it.
	if !is(fields["stop_reason"], "end_turn") {
		return answered{},
			errors.New("the model did not come to the end of an answer: cut short, refused, or something else was begun")
	}
	blocks, ok := list(fields["content"])
	if !ok {
		return answered{}, errNotWhole
	}
	var said answered
	texts := 0
	for _, b := range blocks {
		switch kind, _ := text(b["type"]); kind {
		case "thinking", "redacted_thinking": // not an answer, and not read as one
		case "text":
			if said.text, ok = text(b["text"]); !ok {
				return answered{}, errNotWhole
			}
			texts++
		default:
			return answered{}, errors.New("the answer is more than a text: the evaluator has no tools")
		}
	}
	if texts != 1 {
		return answered{}, errors.New("there is not exactly one answer")
	}
	usage := object(fields["usage"])
	said.read = count(usage["input_tokens"]) + count(usage["cache_read_input_tokens"]) +
		count(usage["cache_creation_input_tokens"])
	return said, nil
}
