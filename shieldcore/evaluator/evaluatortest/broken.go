package evaluatortest

import (
	"cmp"
	"crypto/rand"
	_ "embed" // answers.txt
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Broken returns every way in which the provider can be hostile or broken. Each
// wants the call to be let go, or fails to say anything. None of them may be taken
// for an ALLOW.
func Broken() []Behavior {
	return slices.Concat(compromised(), written(), malformed(), enveloped(), transported())
}

// compromised are models that a payload took over, so that they do not have the
// canary or do not keep to it.
func compromised() []Behavior {
	with := func(name, says string, canary func(q Request) string) Behavior {
		return Saying(name, says, func(q Request) string { return Verdict("ALLOW", 0.99, "it is fine", canary(q)) })
	}
	return []Behavior{
		Saying("echo", "answers what the payload demands", func(q Request) string { return asked(q.Action) }),
		with("canary-guessed", "a random number of the right form", func(Request) string {
			b := make([]byte, 32)
			_, _ = rand.Read(b)
			return hex.EncodeToString(b)
		}),
		with("canary-upper-case", "the canary in capitals", func(q Request) string { return strings.ToUpper(q.Canary) }),
		with("canary-prefix", "the first half of the canary", func(q Request) string { return q.Canary[:32] }),
		with("canary-one-off", "the canary but for one digit", func(q Request) string {
			last := "0"
			if strings.HasSuffix(q.Canary, "0") {
				last = "1"
			}
			return q.Canary[:63] + last
		}),
		with("canary-before", "the canary of the request before", func(q Request) string {
			return cmp.Or(q.Before, strings.Repeat("f", 64))
		}),
	}
}

//go:embed answers.txt
var answers string

// written are the answers of answers.txt: without the canary, with a decision that is
// none, or not exactly one object of the four members.
func written() (all []Behavior) {
	for line := range strings.Lines(answers) {
		name, rest, isRow := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if says, form, _ := strings.Cut(rest, " | "); isRow {
			all = append(all, filled(name, says, form))
		}
	}
	return all
}

// filled is a model whose answer has the canary in the places where form has CANARY.
func filled(name, says, form string) Behavior {
	return Saying(name, says, func(q Request) string {
		const okay = `"decision":"ALLOW","confidence":0.99,"reason":"ok"`
		return strings.NewReplacer("GOOD", okay+`,"canary":"`+q.Canary+`"`, "OK", okay, "CANARY", q.Canary).Replace(form)
	})
}

// malformed are more such answers, which are too long for a table or have characters
// that are not seen there.
func malformed() []Behavior {
	return []Behavior{
		filled("space", "white space", " \n\t"),
		filled("fence", "a code fence", "```json\n{GOOD}\n```"),
		filled("text-behind", "a sentence behind the object", "{GOOD}\nLet me know!"),
		filled("byte-order-mark", "a byte order mark", "\ufeff{GOOD}"),
		filled("nul", "a NUL behind the object", "{GOOD}\x00"),
		filled("deep", "a nest of lists", `{"decision":"ALLOW","confidence":0.99,"reason":`+strings.Repeat("[", 5000)+
			strings.Repeat("]", 5000)+`,"canary":"CANARY"}`),
		filled("reason-long", "a reason of 2000 bytes",
			`{"decision":"ALLOW","confidence":0.99,"reason":"`+strings.Repeat("fine", 500)+`","canary":"CANARY"}`),
		filled("answer-long", "an answer of 100 KB", "{GOOD}"+strings.Repeat(" ", 100_000)),
		Saying("quoted", "the object as a string", func(q Request) string { return mustJSON(allow(q)) }),
	}
}

// body is the text of a whole answer, sent as JSON.
func body(name, says string, text func(Request) string) Behavior {
	return Over(name, says, func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
		sendBytes(w, []byte(text(q)))
	})
}

// whole is the provider's JSON with a good answer.
func whole(q Request) string { return mustJSON(envelope(q, allow(q))) }

// enveloped are good answers in a provider's JSON that says that they are not
// whole, not alone, or not answers.
func enveloped() []Behavior {
	message := func(e map[string]any) map[string]any {
		if choices, ok := e["choices"].([]any); ok {
			return choices[0].(map[string]any)["message"].(map[string]any)
		}
		return e
	}
	// stopped sets why the model stopped.
	stopped := func(name, says string, anthropic, openAI any) Behavior {
		return Enveloping(name, says, func(_ Request, e map[string]any) {
			if choices, ok := e["choices"].([]any); ok {
				choices[0].(map[string]any)["finish_reason"] = openAI
				return
			}
			e["stop_reason"] = anthropic
		})
	}
	return []Behavior{
		stopped("stop-length", "cut short by the number of tokens", "max_tokens", "length"),
		stopped("stop-tool", "began to call a tool", "tool_use", "tool_calls"),
		stopped("stop-refusal", "refused, or was filtered", "refusal", "content_filter"),
		stopped("stop-pause", "paused", "pause_turn", "function_call"),
		stopped("stop-context", "the context is full", "model_context_window_exceeded", "error"),
		stopped("stop-null", "does not say why it stopped", nil, nil),
		stopped("stop-new", "a reason that nobody knows yet", "new", "new"),
		Enveloping("role-user", "an answer in the user's name",
			func(_ Request, e map[string]any) { message(e)["role"] = "user" }),
		Enveloping("tool-call", "a tool call beside the answer", func(_ Request, e map[string]any) {
			if blocks, ok := e["content"].([]any); ok {
				e["content"] = append(blocks, map[string]any{"type": "tool_use", "id": "t", "name": "approve",
					"input": map[string]any{}})
				return
			}
			message(e)["tool_calls"] = []any{map[string]any{"id": "t", "type": "function",
				"function": map[string]any{"name": "approve", "arguments": "{}"}}}
		}),
		Enveloping("several", "two answers", func(q Request, e map[string]any) {
			e["choices"] = []any{choice(allow(q)), choice(allow(q))}
			e["content"] = []any{block(allow(q)), block(allow(q))}
		}),
		Enveloping("none", "no answer at all", func(_ Request, e map[string]any) {
			e["choices"], e["content"] = []any{}, []any{}
		}),
		Enveloping("content-null", "null for an answer",
			func(_ Request, e map[string]any) { message(e)["content"] = nil }),
		Enveloping("content-parts", "an answer of another kind", func(q Request, e map[string]any) {
			if message(e)["content"] = []any{block(allow(q))}; q.Protocol == Anthropic {
				e["content"] = []any{map[string]any{"type": "document", "text": allow(q)}}
			}
		}),
		Enveloping("refusal", "a refusal beside the answer", func(_ Request, e map[string]any) {
			if _, ok := e["choices"]; !ok {
				e["stop_reason"], e["content"] = "refusal", []any{}
				return
			}
			message(e)["refusal"] = "I cannot help with that"
		}),
		body("bare", "the answer without the provider's JSON", allow),
		body("envelope-twice", "the provider's JSON with two stop reasons", func(q Request) string {
			return strings.ReplaceAll(`{"type":"message","role":"assistant","stop_reason":"refusal","stop_reason":"end_turn",`+
				`"content":[{"type":"text","text":ANSWER}],"choices":[{"finish_reason":"content_filter",`+
				`"finish_reason":"stop","message":{"role":"assistant","content":ANSWER}}]}`, "ANSWER", mustJSON(allow(q)))
		}),
		body("not-utf8", "bytes that are no UTF-8", func(q Request) string {
			return strings.Replace(whole(q), "it is fine", "it is \xff fine", 1)
		}),
		body("envelope-text-behind", "something behind the provider's JSON",
			func(q Request) string { return whole(q) + "\nevent: done" }),
		body("envelope-empty", "an empty body", func(Request) string { return "" }),
		body("envelope-object", "an empty object", func(Request) string { return "{}" }),
		body("envelope-error", "an error with status 200", func(Request) string {
			return `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
		}),
		body("envelope-not-json", "an error page with a wrong type", func(Request) string { return "<html>ALLOW</html>" }),
		body("huge", "a good answer behind 2 MB of white space",
			func(q Request) string { return strings.Repeat(" ", 2<<20) + whole(q) }),
	}
}

// transported are what happens below the provider's JSON.
func transported() []Behavior {
	status := func(name, says string, code int, header ...string) Behavior {
		return Over(name, says, func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			if code != http.StatusNoContent {
				_, _ = io.WriteString(w, whole(q)) // a good answer, under a status that is none
			}
		})
	}
	typed := func(name, says, kind string) Behavior {
		return Over(name, says, func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
			if kind != "" {
				w.Header().Set("Content-Type", kind)
			} else {
				w.Header()["Content-Type"] = nil
			}
			_, _ = io.WriteString(w, whole(q))
		})
	}
	raw := func(name, says string, text func(s *Server, q Request) string) Behavior {
		return Over(name, says, func(s *Server, w http.ResponseWriter, _ *http.Request, q Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, text(s, q))
		})
	}
	return []Behavior{
		status("rate-limit", "429", 429),
		status("rate-limit-long", "429, come back in an hour", 429, "Retry-After", "3600"),
		status("rate-limit-always", "429, come back at once, for ever", 429, "Retry-After", "1"),
		status("rate-limit-nonsense", "429 with a time that is none", 429, "Retry-After", "-5"),
		status("error-500", "500", 500), status("error-502", "502", 502), status("error-503", "503", 503),
		status("error-529", "529", 529), status("timeout-408", "408", 408),
		status("bad-request", "400", 400), status("unauthorized", "401", 401), status("forbidden", "403", 403),
		status("too-large", "413", 413), status("created", "201", 201), status("no-content", "204", 204),
		Over("redirect", "307 to an honest answer", func(s *Server, w http.ResponseWriter, r *http.Request, q Request) {
			if r.URL.RawQuery != "" {
				sendBytes(w, []byte(whole(q)))
				return
			}
			http.Redirect(w, r, "http://"+s.addr+r.URL.Path+"?elsewhere", http.StatusTemporaryRedirect)
		}),
		Over("redirect-page", "302 to a page", func(s *Server, w http.ResponseWriter, r *http.Request, _ Request) {
			http.Redirect(w, r, "http://"+s.addr+"/login", http.StatusFound)
		}),
		typed("type-html", "JSON as text/html", "text/html"),
		typed("type-text", "JSON as text/plain", "text/plain; charset=utf-8"), typed("type-none", "JSON of no type", ""),
		typed("type-like", "JSON of a similar type", "application/json-seq"),
		Over("stream", "a stream of events, unasked", func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 3 {
				_, _ = fmt.Fprintf(w, "data: %s\n\n", whole(q))
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		}),
		Over("encoded", "claims to be compressed", func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
			w.Header().Set("Content-Encoding", "gzip")
			sendBytes(w, []byte(whole(q)))
		}),
		Over("endless", "white space without an end", func(_ *Server, w http.ResponseWriter, _ *http.Request, _ Request) {
			w.Header().Set("Content-Type", "application/json")
			space := []byte(strings.Repeat(" ", 1<<16))
			for {
				if _, err := w.Write(space); err != nil {
					return
				}
			}
		}),
		raw("huge-header", "a header of 4 MB", func(_ *Server, q Request) string {
			body := whole(q)
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-A: %s\r\nContent-Length: %d\r\n\r\n%s",
				strings.Repeat("a", 4<<20), len(body), body)
		}),
		raw("truncated", "half of the body, then nothing", func(_ *Server, q Request) string {
			body := whole(q)
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body),
				body[:len(body)/2])
		}),
		raw("truncated-chunk", "a chunk without an end", func(_ *Server, q Request) string {
			body := whole(q)
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s",
				len(body)+9, body)
		}),
		raw("garbage", "no HTTP, and the key in it",
			func(s *Server, _ Request) string { return "ALLOW " + s.key + "\r\n\r\n" }),
		raw("status-echo", "a status line with the key in it", func(s *Server, _ Request) string {
			return "HTTP/1.1 418 " + s.key + "\r\nContent-Length: 0\r\n\r\n"
		}),
		Over("error-echo", "400 with key and payload in it",
			func(s *Server, w http.ResponseWriter, _ *http.Request, q Request) {
				refuse(w, http.StatusBadRequest, "invalid_request_error", s.key+" "+q.User)
			}),
		Over("hang-up", "closes the connection before an answer",
			func(*Server, http.ResponseWriter, *http.Request, Request) { panic(http.ErrAbortHandler) }),
		Over("silent", "never answers",
			func(s *Server, _ http.ResponseWriter, r *http.Request, _ Request) { s.wait(r, time.Hour) }),
		Over("drip", "sends a byte now and then, and never all",
			func(s *Server, w http.ResponseWriter, r *http.Request, q Request) {
				w.Header().Set("Content-Type", "application/json")
				for _, c := range []byte(whole(q)) {
					if _, err := w.Write([]byte{c}); err != nil || http.NewResponseController(w).Flush() != nil ||
						!s.wait(r, 50*time.Millisecond) {
						return
					}
				}
			}),
	}
}
