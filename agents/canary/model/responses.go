package model

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// responsesRequest is the body of POST /v1/responses:
// https://platform.openai.com/docs/api-reference/responses. Input is a text or a list of items.
type responsesRequest struct {
	openAI
	Model  string          `json:"model"`
	Stream bool            `json:"stream"`
	Input  json.RawMessage `json:"input"`
	Tools  []responsesTool `json:"tools"`
}

// A responsesTool is a function, a custom tool (one text as its argument), a namespace of tools, or
// something that runs at the provider and has no name.
type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Tools       []responsesTool `json:"tools"`
}

// A responsesItem has the fields of all types of items that matter here.
type responsesItem struct {
	Type    string          `json:"type"` // empty for a message
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Output  json.RawMessage `json:"output"`
	Tools   []responsesTool `json:"tools"` // of "additional_tools"
}

func (r *responsesRequest) send(w http.ResponseWriter, a answer) {
	if r.Stream {
		a.responsesStream(w)
		return
	}
	reply(w, http.StatusOK, a.response("completed", a.responsesItems()))
}

func (r *responsesRequest) conversation() (c Conversation, err error) {
	c.model, c.ids = r.Model, "call_"
	for _, t := range r.Tools {
		c.Tools = append(c.Tools, t.offered()...)
	}
	var text string
	if json.Unmarshal(r.Input, &text) == nil {
		c.Prompt = text + "\n"
		return c, nil
	}
	var items []responsesItem
	if err := json.Unmarshal(r.Input, &items); err != nil {
		return c, fmt.Errorf("input: %w", err)
	}
	answering := false // the items before were the model's; several are one answer
	for i, item := range items {
		if item.answers() {
			if !answering {
				c.answered()
			}
			answering = true
			continue
		}
		answering = false
		switch {
		case item.Type == "additional_tools":
			for _, t := range item.Tools {
				c.Tools = append(c.Tools, t.offered()...)
			}
		case item.Type == "function_call_output" || item.Type == "custom_tool_call_output":
			text, err := texts(item.Output)
			if err != nil {
				return c, fmt.Errorf("item %d: the result of %s: %w", i, item.CallID, err)
			}
			c.Results = append(c.Results, Result{ID: item.CallID, Text: text})
		case item.Role == "user" && c.Turn == 0:
			text, err := texts(item.Content)
			if err != nil {
				return c, fmt.Errorf("item %d: %w", i, err)
			}
			c.Prompt += text + "\n"
		}
	}
	return c, nil
}

// answers reports whether the model made the item.
func (i responsesItem) answers() bool {
	switch i.Type {
	case "function_call", "custom_tool_call", "reasoning":
		return true
	}
	return i.Role == "assistant"
}

func (t responsesTool) offered() (tools []Tool) {
	switch t.Type {
	case "function":
		return []Tool{{Name: t.Name, About: t.Description, Input: t.Parameters}}
	case "custom":
		return []Tool{{Name: t.Name, About: t.Description, Free: true}}
	}
	for _, inner := range t.Tools {
		for _, tool := range inner.offered() {
			tool.Space = t.Name
			tools = append(tools, tool)
		}
	}
	return tools
}

// responsesItems returns the answer as items.
func (a answer) responsesItems() (items []map[string]any) {
	if len(a.calls) == 0 {
		return []map[string]any{{
			"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": a.text, "annotations": []any{}}},
		}}
	}
	for i, c := range a.calls {
		item := map[string]any{
			"id": fmt.Sprintf("fc_%s_%d", a.id, i), "call_id": c.id, "name": c.tool, "status": "completed",
		}
		if c.space != "" {
			item["namespace"] = c.space
		}
		if c.free {
			item["type"], item["input"] = "custom_tool_call", c.input
		} else {
			item["type"], item["arguments"] = "function_call", c.input
		}
		items = append(items, item)
	}
	return items
}

func (a answer) response(status string, items []map[string]any) map[string]any {
	return map[string]any{
		"id": "resp_" + a.id, "object": "response", "created_at": 0, "status": status, "model": a.model,
		"output": items, "error": nil, "incomplete_details": nil, "parallel_tool_calls": true,
		"usage": map[string]any{
			"input_tokens": 1000, "output_tokens": 10, "total_tokens": 1010,
			"input_tokens_details":  map[string]any{"cached_tokens": 0},
			"output_tokens_details": map[string]any{"reasoning_tokens": 0},
		},
	}
}

// responsesStream sends the answer as events. Each item begins without its content, and gets it in
// one piece.
func (a answer) responsesStream(w http.ResponseWriter) {
	sendTo, number := events(w), 0
	send := func(kind string, doc map[string]any) {
		doc["type"], doc["sequence_number"] = kind, number
		number++
		sendTo(kind, doc)
	}
	items := a.responsesItems()
	begun := a.response("in_progress", []map[string]any{})
	send("response.created", map[string]any{"response": begun})
	send("response.in_progress", map[string]any{"response": begun})
	for i, item := range items {
		at := func(doc map[string]any) map[string]any {
			doc["output_index"], doc["item_id"] = i, item["id"]
			return doc
		}
		send("response.output_item.added", map[string]any{"output_index": i, "item": started(item)})
		switch item["type"] {
		case "function_call":
			send("response.function_call_arguments.delta", at(map[string]any{"delta": item["arguments"]}))
			send("response.function_call_arguments.done", at(map[string]any{"arguments": item["arguments"]}))
		case "custom_tool_call":
			send("response.custom_tool_call_input.delta", at(map[string]any{"delta": item["input"]}))
			send("response.custom_tool_call_input.done", at(map[string]any{"input": item["input"]}))
		default:
			empty := map[string]any{"type": "output_text", "text": "", "annotations": []any{}}
			full := map[string]any{"type": "output_text", "text": a.text, "annotations": []any{}}
			send("response.content_part.added", at(map[string]any{"content_index": 0, "part": empty}))
			send("response.output_text.delta", at(map[string]any{"content_index": 0, "delta": a.text}))
			send("response.output_text.done", at(map[string]any{"content_index": 0, "text": a.text}))
			send("response.content_part.done", at(map[string]any{"content_index": 0, "part": full}))
		}
		send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	send("response.completed", map[string]any{"response": a.response("completed", items)})
}

// started returns an item as it is before its content has come.
func started(item map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range item {
		switch key {
		case "arguments", "input":
			value = ""
		case "content":
			value = []any{}
		case "status":
			value = "in_progress"
		}
		out[key] = value
	}
	return out
}
