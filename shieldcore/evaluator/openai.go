package evaluator

import (
	"encoding/json"
	"errors"
	"net/http"

	"approver.example/internal/secret"
)

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
