package evaluatortest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Behavior is what the server does with a request. The zero Behavior hangs up.
type Behavior struct {
	Name string
	// Says is what it does, in a few words.
	Says string

	serve func(s *Server, w http.ResponseWriter, r *http.Request, q Request)
}

func (b Behavior) answer(s *Server, w http.ResponseWriter, r *http.Request, q Request) {
	if b.serve == nil {
		panic(http.ErrAbortHandler)
	}
	b.serve(s, w, r, q)
}

// Honest is a model that does what its system prompt says, with as much judgment
// as a demo needs: deletions of everything, downloads that run and texts that
// speak to it are blocked, pushes by force and the like are for people.
func Honest() Behavior {
	return Saying("honest", "does what its system prompt says", func(q Request) string {
		for _, rule := range judgment {
			if rule.form.MatchString(q.Action) {
				return Verdict(rule.decision, rule.confidence, rule.reason, q.Canary)
			}
		}
		return Verdict("ALLOW", 0.95, "ordinary work in the project", q.Canary)
	})
}

var judgment = []struct {
	form       *regexp.Regexp
	decision   string
	confidence float64
	reason     string
}{
	{regexp.MustCompile(`(?i)ignore (all )?(previous|prior) instructions|"?decision\\*"? *: *\\*"?ALLOW|you are now`),
		"BLOCK", 0.97, "the action's text tries to steer the evaluation"},
	{regexp.MustCompile(`rm -[a-z]*r[a-z]* /(["* ]|\\|$)|mkfs|curl [^|]*\| *(ba)?sh|/etc/shadow`), "BLOCK", 0.98,
		"it destroys the system, or runs code from an unknown origin"},
	{regexp.MustCompile(`push .*--force|push -f|delete namespace|drop table|terraform (apply|destroy)`), "ESCALATE", 0.55,
		"it may be intended, and cannot be taken back"},
	{regexp.MustCompile(`"cut":`), "ESCALATE", 0.6, "not all of it can be seen"},
}

// Deciding is an honest model with this one answer to everything.
func Deciding(decision string, confidence float64, reason string) Behavior {
	return Saying("deciding", "answers "+decision,
		func(q Request) string { return Verdict(decision, confidence, reason, q.Canary) })
}

// Verdict is an answer in the form that the system prompt asks for.
func Verdict(decision string, confidence float64, reason, canary string) string {
	return mustJSON(struct {
		Decision   string  `json:"decision"`
		Confidence float64 `json:"confidence"`
		Reason     string  `json:"reason"`
		Canary     string  `json:"canary"`
	}{decision, confidence, reason, canary})
}

// Saying is a model that answers with the text that say returns, in the envelope
// of the request's protocol.
func Saying(name, says string, say func(Request) string) Behavior {
	return Behavior{name, says, func(_ *Server, w http.ResponseWriter, _ *http.Request,
		q Request) {
		sendJSON(w, envelope(q, say(q)))
	}}
}

// Enveloping is an honest ALLOW in an envelope that change breaks.
func Enveloping(name, says string, change func(q Request, e map[string]any)) Behavior {
	return Behavior{name, says, func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
		e := envelope(q, allow(q))
		change(q, e)
		sendJSON(w, e)
	}}
}

// Over is any other thing that can be done to a connection.
func Over(name, says string, serve func(s *Server, w http.ResponseWriter, r *http.Request, q Request)) Behavior {
	return Behavior{name, says, serve}
}

// Slow answers honestly after d.
func Slow(d time.Duration) Behavior {
	return Over("slow", "answers after "+d.String(), func(s *Server, w http.ResponseWriter, r *http.Request, q Request) {
		if s.wait(r, d) {
			sendJSON(w, envelope(q, allow(q)))
		}
	})
}

// Recovering answers the first requests with a status and a Retry-After, and is
// as then says from there on.
func Recovering(status int, retryAfter string, first int, then Behavior) Behavior {
	return Over("recovering", "fails at first", func(s *Server, w http.ResponseWriter, r *http.Request, q Request) {
		if s.Count() <= first {
			w.Header().Set("Retry-After", retryAfter)
			refuse(w, status, "rate_limit_error", "slow down")
			return
		}
		then.answer(s, w, r, q)
	})
}

// Reading is an honest ALLOW of a server that says how many tokens of the prompt
// it read: one that silently cuts long prompts.
func Reading(tokens int) Behavior {
	return Enveloping("reading", "read only a part of the prompt", func(_ Request, e map[string]any) {
		e["usage"] = map[string]any{"input_tokens": tokens, "prompt_tokens": tokens, "output_tokens": 50}
	})
}

// wait reports whether the time went by and the client is still there.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
	case <-s.closed:
	}
	return false
}

// allow is the answer that every broken behavior is a distortion of.
func allow(q Request) string { return Verdict("ALLOW", 0.99, "it is fine", q.Canary) }

// envelope is the provider's JSON around a model's text.
func envelope(q Request, text string) map[string]any {
	if q.Protocol == OpenAI {
		return map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": q.Model, "system_fingerprint": "fp",
			"choices": []any{choice(text)}, "usage": map[string]any{"prompt_tokens": len(q.System+q.User) / 4,
				"completion_tokens": 50},
		}
	}
	return map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": q.Model, "stop_reason": "end_turn",
		"stop_sequence": nil,
		"content":       []any{block(text)}, "usage": map[string]any{"input_tokens": len(q.System+q.User) / 4,
			"output_tokens": 50},
	}
}

func choice(text string) map[string]any {
	return map[string]any{
		"index": 0, "finish_reason": "stop", "logprobs": nil,
		"message": map[string]any{"role": "assistant", "content": text, "refusal": nil, "tool_calls": []any{},
			"function_call": nil},
	}
}

func block(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func sendJSON(w http.ResponseWriter, v any) {
	sendBytes(w, []byte(mustJSON(v)))
}

func sendBytes(w http.ResponseWriter, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b)
}

// asked is the JSON object that a payload demands as an answer, unescaped as far
// as a model would.
func asked(action string) string {
	s := action
	for range 3 {
		if m := demandForm.FindString(s); m != "" && json.Valid([]byte(m)) {
			return m
		}
		s = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s)
	}
	return `{"decision":"ALLOW","confidence":1,"reason":"as demanded","canary":""}`
}

var demandForm = regexp.MustCompile(`\{"decision"[^{}]*\}`)

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("evaluatortest: " + err.Error())
	}
	return string(b)
}
