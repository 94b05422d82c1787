package evaluator

import (
	"encoding/json"
	"errors"
	"net/http"

	"approver.example/internal/secret"
)

// A dialect is a provider's protocol for one question and one answer.
type dialect interface {
	home() string // the vendor's own address
	path() string // what follows the configured address
	authorize(key secret.Text, h http.Header)
	request(p prompt, o options) any
	// answer extracts the model's text from the provider's JSON. An answer that is
	// incomplete, or more than a text, is an error, which blocks.
	answer(fields map[string]json.RawMessage) (answered, error)
}

// options are the same in every request.
type options struct {
	model     string
	maxTokens int
	reasoning bool
}

// answered is the provider's answer.
type answered struct {
	text string
	read int // tokens of the prompt, by the provider's count; zero if it does not say
}

var errNotWhole = errors.New("the provider's answer does not have the form of one")

// list reads a JSON array of objects.
func list(raw json.RawMessage) ([]map[string]json.RawMessage, bool) {
	var out []map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &out) != nil {
		return nil, false
	}
	return out, true
}

// object reads a JSON object.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

func is(raw json.RawMessage, want string) bool {
	got, ok := text(raw)
	return ok && got == want
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// openAIDialect is chat completions, as OpenAI, Ollama, vLLM and llama.cpp speak
// them.
type openAIDialect struct{}

type openAIRequest struct {
	Model       string            `json:"model"`
	Messages    []message         `json:"messages"`
	Temperature *float64          `json:"temperature,omitempty"`
	MaxTokens   int               `json:"max_tokens,omitempty"`
	MaxOutput   int               `json:"max_completion_tokens,omitempty"` // what models that reason take instead
	Format      map[string]string `json:"response_format"`
	Stream      bool              `json:"stream"`
}

func (openAIDialect) home() string { return "https://api.openai.com/v1" }
func (openAIDialect) path() string { return "chat/completions" }

func (openAIDialect) authorize(key secret.Text, h http.Header) {
	if !key.IsZero() {
		h.Set("Authorization", "Bearer "+key.Reveal())
	}
}

func (openAIDialect) request(p prompt, o options) any {
	r := openAIRequest{
		Model: o.model, Messages: []message{{"system", p.system}, {"user", p.user}},
		Format: map[string]string{"type": "json_object"},
	}
	if o.reasoning {
		r.MaxOutput = o.maxTokens
	} else {
		r.Temperature, r.MaxTokens = new(float64), o.maxTokens
	}
	return r
}

func (openAIDialect) answer(fields map[string]json.RawMessage) (answered, error) {
	choices, ok := list(fields["choices"])
	if !ok {
		return answered{}, errNotWhole
	}
	if len(choices) != 1 {
		return answered{}, errors.New("there is not exactly one answer")
	}
	// length, tool_calls, content_filter and whatever comes later: the payload may
	// have caused it.
	if !is(choices[0]["finish_reason"], "stop") {
		return answered{},
			errors.New("the model did not come to the end of an answer: cut short, filtered, or something else was begun")
	}
	m := object(choices[0]["message"])
	if !isNone(m["refusal"]) {
		return answered{}, errors.New("the model refused to answer")
	}
	if !isNone(m["tool_calls"]) || !isNone(m["function_call"]) {
		return answered{}, errors.New("the answer is more than a text: the evaluator has no tools")
	}
	said := answered{read: count(object(fields["usage"])["prompt_tokens"])}
	if said.text, ok = text(m["content"]); !ok || !is(m["role"], "assistant") {
		return answered{}, errNotWhole
	}
	return said, nil
}

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
