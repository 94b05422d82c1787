package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// geminiRequest is the body of POST /v1beta/models/NAME:generateContent:
// https://ai.google.dev/api/generate-content.
type geminiRequest struct {
	Contents []struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			JSONSchema  json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`

	model          string // the others say it in the body
	stream, events bool   // a stream, and one of events
}

// A geminiPart is a text, a call or the result of one.
type geminiPart struct {
	Text             string `json:"text"`
	FunctionResponse *struct {
		ID       string         `json:"id"`
		Name     string         `json:"name"`
		Response map[string]any `json:"response"`
	} `json:"functionResponse"`
}

// gemini answers a request whose path ends in NAME:METHOD.
func (s *Server) gemini(w http.ResponseWriter, r *http.Request, path string) {
	name, method, _ := strings.Cut(path, ":")
	switch method {
	case "generateContent", "streamGenerateContent":
	case "countTokens":
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, http.StatusOK, map[string]any{"totalTokens": 1000})
		return
	default:
		(&geminiRequest{}).refuse(w, http.StatusNotFound, errors.New("this is a model for tests, which has no "+path))
		return
	}
	s.serve(w, r, &geminiRequest{model: name, stream: method != "generateContent",
		events: r.URL.Query().Get("alt") == "sse"})
}

func (r *geminiRequest) send(w http.ResponseWriter, a answer) {
	switch {
	case !r.stream:
		reply(w, http.StatusOK, a.geminiResponse())
	case r.events:
		events(w)("", a.geminiResponse())
	default: // without alt=sse a stream is a list
		reply(w, http.StatusOK, []any{a.geminiResponse()})
	}
}

func (r *geminiRequest) conversation() (c Conversation, err error) {
	c.model, c.ids = r.model, "call_"
	for _, t := range r.Tools {
		for _, f := range t.Functions {
			schema := f.JSONSchema
			if len(schema) == 0 {
				schema = f.Parameters
			}
			c.Tools = append(c.Tools, Tool{Name: f.Name, About: f.Description, Input: schema})
		}
	}
	for _, content := range r.Contents {
		if content.Role == "model" {
			c.answered()
			continue
		}
		for _, p := range content.Parts {
			switch f := p.FunctionResponse; {
			case f != nil:
				c.Results = append(c.Results, Result{
					ID: f.ID, Tool: f.Name, Text: geminiText(f.Response), Failed: f.Response["error"] != nil,
				})
			case c.Turn == 0 && p.Text != "":
				c.Prompt += p.Text + "\n"
			}
		}
	}
	return c, nil
}

// geminiText returns the text of a result. By convention an agent sends "output" or "error"; it may
// send any object.
func geminiText(response map[string]any) string {
	for _, key := range []string{"error", "output"} {
		if text, ok := response[key].(string); ok {
			return text
		}
	}
	raw, err := json.Marshal(response)
	if err != nil {
		return ""
	}
	return string(raw)
}

// geminiResponse returns the answer, which is the same whole and as the only event of a stream.
func (a answer) geminiResponse() map[string]any {
	list := []any{}
	for _, c := range a.calls {
		list = append(list, map[string]any{
			"functionCall": map[string]any{"id": c.id, "name": c.tool, "args": json.RawMessage(c.input)},
		})
	}
	if len(list) == 0 {
		list = append(list, map[string]any{"text": a.text})
	}
	return map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": list},
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1000, "candidatesTokenCount": 10, "totalTokenCount": 1010},
		"modelVersion":  cmp.Or(a.model, Name), "responseId": a.id,
	}
}

func (*geminiRequest) refuse(w http.ResponseWriter, status int, err error) {
	kind := "INVALID_ARGUMENT"
	if status == http.StatusNotFound {
		kind = "NOT_FOUND"
	}
	reply(w, status, map[string]any{"error": map[string]any{
		"code": status, "status": kind, "message": err.Error(),
	}})
}
