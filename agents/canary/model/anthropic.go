package model

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropicRequest is the body of POST /v1/messages: https://docs.anthropic.com/en/api/messages.
type anthropicRequest struct {
	Model    string             `json:"model"`
	Stream   bool               `json:"stream"`
	Messages []anthropicMessage `json:"messages"`
	Tools    []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
}

// An anthropicMessage has as content a text, or a list of blocks.
type anthropicMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// An anthropicBlock has the fields of all types of blocks that matter here.
type anthropicBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	UseID   string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

func (r *anthropicRequest) send(w http.ResponseWriter, a answer) {
	if r.Stream {
		a.anthropicStream(w)
		return
	}
	reply(w, http.StatusOK, a.anthropicHead(a.anthropicContent(), a.anthropicReason()))
}

func (r *anthropicRequest) conversation() (c Conversation, err error) {
	c.model, c.ids = r.Model, "toolu_"
	for _, t := range r.Tools {
		c.Tools = append(c.Tools, Tool{Name: t.Name, About: t.Description, Input: t.InputSchema})
	}
	for i, m := range r.Messages {
		blocks, err := m.blocks()
		if err != nil {
			return c, fmt.Errorf("message %d: %w", i, err)
		}
		if m.Role == "assistant" {
			c.answered()
			continue
		}
		for _, b := range blocks {
			switch {
			case b.Type == "tool_result":
				text, err := texts(b.Content)
				if err != nil {
					return c, fmt.Errorf("message %d: the result of %s: %w", i, b.UseID, err)
				}
				c.Results = append(c.Results, Result{ID: b.UseID, Text: text, Failed: b.IsError})
			case b.Type == "text" && c.Turn == 0:
				c.Prompt += b.Text + "\n"
			}
		}
	}
	return c, nil
}

func (m anthropicMessage) blocks() (blocks []anthropicBlock, err error) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []anthropicBlock{{Type: "text", Text: text}}, nil
	}
	err = json.Unmarshal(m.Content, &blocks)
	return blocks, err
}

// anthropicContent returns the answer as blocks.
func (a answer) anthropicContent() []map[string]any {
	if len(a.calls) == 0 {
		return []map[string]any{{"type": "text", "text": a.text}}
	}
	var blocks []map[string]any
	for _, c := range a.calls {
		blocks = append(blocks,
			map[string]any{"type": "tool_use", "id": c.id, "name": c.tool, "input": json.RawMessage(c.input)})
	}
	return blocks
}

func (a answer) anthropicReason() string {
	if len(a.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// anthropicUsage is the cost of an answer, which is made up.
var anthropicUsage = map[string]any{
	"input_tokens": 1000, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
}

func (a answer) anthropicHead(content []map[string]any, reason any) map[string]any {
	return map[string]any{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.model,
		"content": content, "stop_reason": reason, "stop_sequence": nil, "usage": anthropicUsage,
	}
}

// anthropicStream sends the answer as events. Each block begins empty and gets its content in one
// piece.
func (a answer) anthropicStream(w http.ResponseWriter) {
	sendTo := events(w)
	send := func(kind string, doc map[string]any) {
		doc["type"] = kind
		sendTo(kind, doc)
	}
	send("message_start", map[string]any{"message": a.anthropicHead([]map[string]any{}, nil)})
	for i, b := range a.anthropicContent() {
		delta := map[string]any{"type": "text_delta", "text": b["text"]}
		if b["type"] == "tool_use" {
			delta = map[string]any{"type": "input_json_delta", "partial_json": a.calls[i].input}
			b["input"] = map[string]any{}
		} else {
			b["text"] = ""
		}
		send("content_block_start", map[string]any{"index": i, "content_block": b})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	end := map[string]any{"stop_reason": a.anthropicReason(), "stop_sequence": nil}
	send("message_delta", map[string]any{"delta": end, "usage": anthropicUsage})
	send("message_stop", map[string]any{})
}

func (*anthropicRequest) refuse(w http.ResponseWriter, status int, err error) {
	kind := "invalid_request_error"
	if status == http.StatusNotFound {
		kind = "not_found_error"
	}
	reply(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": err.Error()}})
}
