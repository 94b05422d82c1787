package model

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// chatRequest is the body of POST /v1/chat/completions:
// https://platform.openai.com/docs/api-reference/chat.
type chatRequest struct {
	openAI
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Type     string   `json:"type"`
		Function chatTool `json:"function"`
		Custom   chatTool `json:"custom"`
	} `json:"tools"`
}

// A chatTool is a function, or a custom tool (one text as its argument), which has no parameters.
type chatTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (r *chatRequest) send(w http.ResponseWriter, a answer) {
	if r.Stream {
		a.chatStream(w, r.StreamOptions.IncludeUsage)
		return
	}
	doc := a.chatHead("chat.completion")
	doc["choices"] = []any{map[string]any{
		"index": 0, "message": a.chatMessage(), "finish_reason": a.chatReason(), "logprobs": nil,
	}}
	doc["usage"] = chatUsage
	reply(w, http.StatusOK, doc)
}

func (r *chatRequest) conversation() (c Conversation, err error) {
	c.model, c.ids = r.Model, "call_"
	for _, t := range r.Tools {
		f, free := t.Function, t.Type == "custom"
		if free {
			f = t.Custom
		}
		c.Tools = append(c.Tools, Tool{Name: f.Name, About: f.Description, Input: f.Parameters, Free: free})
	}
	for i, m := range r.Messages {
		text, err := texts(m.Content)
		if err != nil && m.Role != "assistant" {
			return c, fmt.Errorf("message %d: %w", i, err)
		}
		switch {
		case m.Role == "assistant":
			c.answered()
		case m.Role == "tool":
			c.Results = append(c.Results, Result{ID: m.ToolCallID, Text: text})
		case m.Role == "user" && c.Turn == 0:
			c.Prompt += text + "\n"
		}
	}
	return c, nil
}

// chatUsage is the cost of an answer, which is made up.
var chatUsage = map[string]any{"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}

func (a answer) chatHead(object string) map[string]any {
	return map[string]any{"id": "chatcmpl-" + a.id, "object": object, "created": 0, "model": a.model}
}

// chatMessage returns the answer as one message.
func (a answer) chatMessage() map[string]any {
	if len(a.calls) == 0 {
		return map[string]any{"role": "assistant", "content": a.text}
	}
	var calls []any
	for i, c := range a.calls {
		call := map[string]any{"index": i, "id": c.id}
		if c.free {
			call["type"], call["custom"] = "custom", map[string]any{"name": c.tool, "input": c.input}
		} else {
			call["type"], call["function"] = "function", map[string]any{"name": c.tool, "arguments": c.input}
		}
		calls = append(calls, call)
	}
	return map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}
}

func (a answer) chatReason() string {
	if len(a.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// chatStream sends the answer in one piece, then why it ends, then the usage.
func (a answer) chatStream(w http.ResponseWriter, usage bool) {
	send := events(w)
	chunk := func(delta map[string]any, reason any) {
		doc := a.chatHead("chat.completion.chunk")
		doc["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason, "logprobs": nil}}
		send("", doc)
	}
	chunk(a.chatMessage(), nil)
	chunk(map[string]any{}, a.chatReason())
	if usage {
		doc := a.chatHead("chat.completion.chunk")
		doc["choices"], doc["usage"] = []any{}, chatUsage
		send("", doc)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// openAI is what chat completions and responses have in common.
type openAI struct{}

func (openAI) refuse(w http.ResponseWriter, status int, err error) {
	reply(w, status, map[string]any{"error": map[string]any{
		"type": "invalid_request_error", "message": err.Error(), "param": nil, "code": nil,
	}})
}
