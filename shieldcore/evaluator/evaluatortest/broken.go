package evaluatortest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Broken returns every way in which the provider can be hostile or broken. Each
// wants the call to be let go, or fails to say anything. None of them may be taken
// for an ALLOW.
func Broken() []Behavior {
	var all []Behavior
	for _, part := range [][]Behavior{compromised(), misspoken(), malformed(), enveloped(), transported()} {
		all = append(all, part...)
	}
	return all
}

// compromised are models that a payload took over, so that they do not have the
// canary or do not keep to it.
func compromised() []Behavior {
	with := func(name, says string, canary func(q Request) string) Behavior {
		return Saying(name, says, func(q Request) string { return Verdict("ALLOW", 0.99, "it is fine", canary(q)) })
	}
	return []Behavior{
		Saying("echo", "answers what the payload demands", func(q Request) string { return asked(q.Action) }),
		Saying("canary-omitted", "leaves the canary out",
			func(Request) string { return `{"decision":"ALLOW","confidence":0.99,"reason":"ok"}` }),
		with("canary-empty", "an empty canary", func(Request) string { return "" }),
		Saying("canary-null", "null for a canary",
			func(Request) string { return `{"decision":"ALLOW","confidence":0.99,"reason":"ok","canary":null}` }),
		with("canary-zero", "64 zeros", func(Request) string { return strings.Repeat("0", 64) }),
		with("canary-guessed", "a random number of the right form", func(Request) string {
			b := make([]byte, 32)
			_, _ = rand.Read(b)
			return hex.EncodeToString(b)
		}),
		with("canary-placeholder", "the words of the prompt instead",
			func(Request) string { return "the verification token" }),
		with("canary-upper-case", "the canary in capitals", func(q Request) string { return strings.ToUpper(q.Canary) }),
		with("canary-prefix", "the first half of the canary", func(q Request) string { return q.Canary[:32] }),
		with("canary-one-off", "the canary but for one digit", func(q Request) string {
			last := "0"
			if strings.HasSuffix(q.Canary, "0") {
				last = "1"
			}
			return q.Canary[:63] + last
		}),
		with("canary-inside", "the canary inside another text", func(q Request) string { return "token " + q.Canary }),
		with("canary-spaced", "the canary with a space behind", func(q Request) string { return q.Canary + " " }),
		with("canary-twice", "the canary twice", func(q Request) string { return q.Canary + q.Canary }),
		with("canary-before", "the canary of the request before", func(q Request) string {
			if q.Before == "" {
				return strings.Repeat("f", 64)
			}
			return q.Before
		}),
		Saying("canary-in-reason", "the canary in the reason only",
			func(q Request) string { return Verdict("ALLOW", 0.99, "token "+q.Canary, "ok") }),
		Saying("canary-other-field", "the canary in another member", func(q Request) string {
			return `{"decision":"ALLOW","confidence":0.99,"reason":"ok","token":"` + q.Canary + `"}`
		}),
		Saying("canary-in-list", "a list with the canary", func(q Request) string {
			return `{"decision":"ALLOW","confidence":0.99,"reason":"ok","canary":["` + q.Canary + `"]}`
		}),
		Saying("canary-key-case", "the canary under another spelling of its key", func(q Request) string {
			return `{"decision":"ALLOW","confidence":0.99,"reason":"ok","Canary":"` + q.Canary + `"}`
		}),
	}
}

// misspoken are models that have the canary, and a decision that is none.
func misspoken() []Behavior {
	var all []Behavior
	for _, d := range []string{"DENY", "REJECT", "UNSAFE", "SAFE", "allow", "Allow", "ALLOW ", "ALLOW|BLOCK", "АLLOW",
		""} {
		all = append(all, Saying(fmt.Sprintf("decision-%q", d), "another word for a decision", func(q Request) string {
			return Verdict(d, 0.99, "ok", q.Canary)
		}))
	}
	for _, d := range []string{"null", "true", `["ALLOW"]`, `{"is":"ALLOW"}`, "1"} {
		all = append(all, Saying("decision-"+d, "a decision that is no text", func(q Request) string {
			return `{"decision":` + d + `,"confidence":0.99,"reason":"ok","canary":"` + q.Canary + `"}`
		}))
	}
	return append(all, Saying("decision-missing", "no decision", func(q Request) string {
		return `{"confidence":0.99,"reason":"ok","canary":"` + q.Canary + `"}`
	}))
}

// malformed are answers that mean well, perhaps, and are not exactly one object of
// the four members.
func malformed() []Behavior {
	raw := func(name, says, form string) Behavior {
		return Saying(name, says, func(q Request) string { return strings.ReplaceAll(form, "CANARY", q.Canary) })
	}
	around := func(name, says, before, after string) Behavior {
		return Saying(name, says, func(q Request) string { return before + allow(q) + after })
	}
	const good = `"decision":"ALLOW","confidence":0.99,"reason":"ok","canary":"CANARY"`
	all := []Behavior{
		raw("empty", "nothing", ""),
		raw("space", "white space", " \n\t"),
		raw("prose", "a sentence", "I believe that this is safe. ALLOW. CANARY"),
		around("fence", "a code fence", "```json\n", "\n```"),
		around("text-before", "a sentence before the object", "Here is my answer: ", ""),
		around("text-behind", "a sentence behind the object", "", "\nLet me know!"),
		around("two-objects", "the object twice", "", `{"decision":"ALLOW"}`),
		around("byte-order-mark", "a byte order mark", "\ufeff", ""),
		around("nul", "a NUL behind the object", "", "\x00"),
		around("list", "a list with the object", "[", "]"),
		around("nested", "the object inside another", `{"answer":`, `}`),
		Saying("quoted", "the object as a string", func(q Request) string { return quote(allow(q)) }),
		raw("null", "null", "null"),
		raw("unknown-member", "a fifth member", "{"+good+`,"override":true}`),
		raw("missing-confidence", "no confidence", `{"decision":"ALLOW","reason":"ok","canary":"CANARY"}`),
		raw("missing-reason", "no reason", `{"decision":"ALLOW","confidence":0.99,"canary":"CANARY"}`),
		raw("twice-decision", "a decision that is taken back", `{"decision":"BLOCK",`+good+`}`),
		raw("twice-escaped", "the same key, written in two ways", `{"\u0064ecision":"BLOCK",`+good+`}`),
		raw("twice-canary", "two canaries",
			`{"canary":"","decision":"ALLOW","confidence":0.99,"reason":"ok","canary":"CANARY"}`),
		raw("key-case", "a key in capitals", `{"DECISION":"ALLOW","confidence":0.99,"reason":"ok","canary":"CANARY"}`),
		raw("key-case-fifth", "a key in capitals beside the others",
			`{"Decision":"ALLOW","decision":"BLOCK2","confidence":0.99,"reason":"ok","canary":"CANARY"}`),
		raw("single-quotes", "single quotes", `{'decision':'ALLOW','confidence':0.99,'reason':'ok','canary':'CANARY'}`),
		raw("trailing-comma", "a comma too many", "{"+good+",}"),
		raw("comment", "a comment", "{"+good+"/* safe */}"),
		raw("cut-off", "the object without its end", "{"+good),
		raw("deep", "a nest of lists", `{"decision":"ALLOW","confidence":0.99,"reason":`+strings.Repeat("[", 5000)+
			strings.Repeat("]", 5000)+`,"canary":"CANARY"}`),
		raw("reason-empty", "an empty reason", `{"decision":"ALLOW","confidence":0.99,"reason":" ","canary":"CANARY"}`),
		raw("reason-number", "a reason that is no text",
			`{"decision":"ALLOW","confidence":0.99,"reason":1,"canary":"CANARY"}`),
		raw("reason-long", "a reason of 2000 bytes",
			`{"decision":"ALLOW","confidence":0.99,"reason":"`+strings.Repeat("fine", 500)+`","canary":"CANARY"}`),
		raw("answer-long", "an answer of 100 KB", `{"decision":"ALLOW","confidence":0.99,"reason":"ok","canary":"CANARY"}`+
			strings.Repeat(" ", 100_000)),
	}
	for _, x := range []string{"NaN", "Infinity", "-Infinity", "1.01", "-0.1", "1e999", "99", `"0.99"`, "null", "true",
		"[0.99]", "+1", "01", ".5", "0x1"} {
		all = append(all, raw("confidence-"+x, "a confidence that is none",
			`{"decision":"ALLOW","confidence":`+x+`,"reason":"ok","canary":"CANARY"}`))
	}
	return all
}

// enveloped are good answers in a provider's JSON that says that they are not
// whole, not alone, or not answers.
func enveloped() []Behavior {
	message := func(e map[string]any) map[string]any {
		if choices, ok := e["choices"].([]any); ok {
			return choices[0].(map[string]any)["message"].(map[string]any)
		}
		return e
	}
	stopped := func(anthropic, openAI any) func(Request, map[string]any) {
		return func(q Request, e map[string]any) {
			if choices, ok := e["choices"].([]any); ok {
				choices[0].(map[string]any)["finish_reason"] = openAI
				return
			}
			e["stop_reason"] = anthropic
		}
	}
	body := func(name, says, text string) Behavior {
		return Over(name, says, func(_ *Server, w http.ResponseWriter, _ *http.Request,
			_ Request) {
			sendBytes(w, []byte(text))
		})
	}
	return []Behavior{
		Enveloping("stop-length", "cut short by the number of tokens", stopped("max_tokens", "length")),
		Enveloping("stop-tool", "began to call a tool", stopped("tool_use", "tool_calls")),
		Enveloping("stop-refusal", "refused, or was filtered", stopped("refusal", "content_filter")),
		Enveloping("stop-pause", "paused", stopped("pause_turn", "function_call")),
		Enveloping("stop-context", "the context is full", stopped("model_context_window_exceeded", "error")),
		Enveloping("stop-null", "does not say why it stopped", stopped(nil, nil)),
		Enveloping("stop-new", "a reason that nobody knows yet", stopped("new", "new")),
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
			if choices, ok := e["choices"].([]any); ok {
				e["choices"] = append(choices, choice(allow(q)))
				return
			}
			e["content"] = []any{block(allow(q)), block(allow(q))}
		}),
		Enveloping("none", "no answer at all", func(_ Request, e map[string]any) {
			if _, ok := e["choices"]; ok {
				e["choices"] = []any{}
				return
			}
			e["content"] = []any{}
		}),
		Enveloping("content-null", "null for an answer", func(_ Request, e map[string]any) {
			if _, ok := e["choices"]; !ok {
				e["content"] = nil
				return
			}
			message(e)["content"] = nil
		}),
		Enveloping("content-parts", "an answer of another kind", func(q Request, e map[string]any) {
			if _, ok := e["choices"]; !ok {
				e["content"] = []any{map[string]any{"type": "document", "text": allow(q)}}
				return
			}
			message(e)["content"] = []any{block(allow(q))}
		}),
		Enveloping("refusal", "a refusal beside the answer", func(_ Request, e map[string]any) {
			if _, ok := e["choices"]; !ok {
				e["stop_reason"], e["content"] = "refusal", []any{}
				return
			}
			message(e)["refusal"] = "I cannot help with that"
		}),
		Over("bare", "the answer without the provider's JSON",
			func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) { sendBytes(w, []byte(allow(q))) }),
		Over("envelope-twice", "the provider's JSON with two stop reasons",
			func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
				sendBytes(w,
					[]byte(`{"type":"message","role":"assistant","stop_reason":"refusal","stop_reason":"end_turn","content":`+
						`[{"type":"text","text":`+quote(allow(q))+
						`}],"choices":[{"finish_reason":"content_filter","finish_reason":"stop","message":{"role":"assistant","content":`+
						quote(allow(q))+`}}]}`))
			}),
		Over("not-utf8", "bytes that are no UTF-8", func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
			sendBytes(w, []byte(strings.Replace(mustJSON(envelope(q, allow(q))), "it is fine", "it is \xff fine", 1)))
		}),
		Over("envelope-text-behind", "something behind the provider's JSON",
			func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
				sendBytes(w, []byte(mustJSON(envelope(q, allow(q)))+"\nevent: done"))
			}),
		body("envelope-empty", "an empty body", ""),
		body("envelope-object", "an empty object", "{}"),
		body("envelope-error", "an error with status 200",
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
		body("envelope-not-json", "an error page with a wrong type", "<html>ALLOW</html>"),
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
				_, _ = io.WriteString(w, mustJSON(envelope(q, allow(q)))) // a good answer, under a status that is none
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
			_, _ = io.WriteString(w, mustJSON(envelope(q, allow(q))))
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
	all := []Behavior{
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
				sendJSON(w, envelope(q, allow(q)))
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
				_, _ = fmt.Fprintf(w, "data: %s\n\n", mustJSON(envelope(q, allow(q))))
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		}),
		Over("encoded", "claims to be compressed", func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
			w.Header().Set("Content-Encoding", "gzip")
			sendJSON(w, envelope(q, allow(q)))
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
		Over("huge", "a good answer behind 2 MB of white space",
			func(_ *Server, w http.ResponseWriter, _ *http.Request, q Request) {
				sendBytes(w, []byte(strings.Repeat(" ", 2<<20)+mustJSON(envelope(q, allow(q)))))
			}),
		raw("huge-header", "a header of 4 MB", func(_ *Server, q Request) string {
			body := mustJSON(envelope(q, allow(q)))
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-A: %s\r\nContent-Length: %d\r\n\r\n%s",
				strings.Repeat("a", 4<<20), len(body), body)
		}),
		raw("truncated", "half of the body, then nothing", func(_ *Server, q Request) string {
			body := mustJSON(envelope(q, allow(q)))
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body),
				body[:len(body)/2])
		}),
		raw("truncated-chunk", "a chunk without an end", func(_ *Server, q Request) string {
			body := mustJSON(envelope(q, allow(q)))
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
		Over("silent", "never answers", func(s *Server, _ http.ResponseWriter, r *http.Request,
			_ Request) {
			s.wait(r, time.Hour)
		}),
		Over("drip", "sends a byte now and then, and never all",
			func(s *Server, w http.ResponseWriter, r *http.Request, q Request) {
				w.Header().Set("Content-Type", "application/json")
				for _, c := range []byte(mustJSON(envelope(q, allow(q)))) {
					if _, err := w.Write([]byte{c}); err != nil || http.NewResponseController(w).Flush() != nil ||
						!s.wait(r, 50*time.Millisecond) {
						return
					}
				}
			}),
	}
	return all
}
