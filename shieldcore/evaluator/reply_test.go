package evaluator

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
)

const testCanary canary = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

func replyOf(form string) string { return strings.ReplaceAll(form, "CANARY", string(testCanary)) }

const goodReply = `{"decision":"ALLOW","confidence":0.9,"reason":"fine","canary":"CANARY"}`

// What is an answer: JSON is JSON in whatever order, spacing and escapes.
func TestReplies(t *testing.T) {
	for form, want := range map[string]claim{
		goodReply: {"ALLOW", 0.9, "fine"},
		" \n" + `{ "canary" : "CANARY" , "reason" : "a \"b\"\n\u00e9" , "confidence" : 1e0 , "decision" : "BLOCK" }` +
			"\r\n\t": {"BLOCK", 1, "a \"b\"\n\u00e9"},
		`{"decision":"\u0045SCALATE","confidence":0,"reason":"x","canary":"CANARY"}`: {"ESCALATE", 0, "x"},
		`{"decision":"BLOCK","confidence":1e-999,"reason":"` + strings.Repeat("r", maxReason) +
			`","canary":"CANARY"}`: {"BLOCK", 0, strings.Repeat("r", maxReason)},
	} {
		if got, err := parseReply(replyOf(form), testCanary); err != nil || got != want {
			t.Errorf("%s: %+v, %v", form, got, err)
		}
	}
	if _,
		err := parseReply(replyOf(`{"decision":"ALLOW","confidence":1,"reason":"`+strings.Repeat("r", maxReason+1)+
		`","canary":"CANARY"}`), testCanary); err == nil {
		t.Error("a reason of any length")
	}
}

// A number that nobody made is no canary, and a right one matches only itself.
func TestCanary(t *testing.T) {
	for _, none := range []canary{"", canary(strings.Repeat("0", 64)), "0", testCanary[:63], testCanary + "0"} {
		for _, got := range []string{"", string(none), strings.Repeat("0", 64)} {
			if none.matches(got) {
				t.Errorf("%q matches %q", none, got)
			}
		}
		if _, err := parseReply(strings.ReplaceAll(goodReply, "CANARY", string(none)), none); err == nil {
			t.Errorf("%q lets a call go", none)
		}
	}
	a, b := newCanary(), newCanary()
	if a == b || len(a) != 64 || strings.ToLower(string(a)) != string(a) || !a.matches(string(a)) ||
		a.matches(string(b)) || a.matches(strings.ToUpper(string(a))) {
		t.Errorf("%s, %s", a, b)
	}
}

// The canary is in the system prompt once and not in the message; the hash is of
// what is compiled in.
func TestPrompt(t *testing.T) {
	p := newPrompt([]byte(`{"a":"{{canary}} {{boundary}}"}`))
	if strings.Count(p.system, string(p.canary)) != 1 || strings.Contains(p.user, string(p.canary)) ||
		strings.Contains(p.system, "{{") || !strings.Contains(p.user, "{{canary}}") {
		t.Errorf("%s\n%s", p.system, p.user)
	}
	if len(PromptHash()) != 64 || newPrompt(nil).canary == p.canary {
		t.Error(PromptHash())
	}
}

// Nothing but an object of exactly four members with the right canary is an
// answer, by a second and simpler reading.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		goodReply, `{"decision":"BLOCK","confidence":1,"reason":"x","canary":"CANARY"}`, "```json\n" + goodReply + "\n```",
		goodReply + goodReply, "[" + goodReply + "]",
		`{"decision":"DENY","confidence":1,"reason":"x","canary":"CANARY"}`,
		`{"decision":"ALLOW","confidence":NaN,"reason":"x","canary":"CANARY"}`,
		`{"decision":"ALLOW","decision":"BLOCK","confidence":1,"reason":"x","canary":"CANARY"}`,
		`{"Decision":"ALLOW","confidence":1,"reason":"x","canary":"CANARY"}`,
		`{"decision":"ALLOW","confidence":"1","reason":"x","canary":"CANARY"}`,
		`{"decision":"ALLOW","confidence":1,"reason":"CANARY","canary":""}`,
		`{"decision":"ALLOW","confidence":1,"reason":"x","canary":"CANARY","x":0}`, "", "null", `""`, "\ufeff" + goodReply,
		goodReply + "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, form string) {
		if got, err := parseReply(form, testCanary); err == nil && !strings.Contains(form, string(testCanary)) &&
			!strings.Contains(form, `\u`) {
			t.Fatalf("%q without the canary is %+v", form, got)
		}
		reply := replyOf(form)
		for _, none := range []canary{"", canary(strings.Repeat("0", 64)), newCanary()} {
			if got, err := parseReply(reply, none); err == nil {
				t.Fatalf("%q for another canary is %+v", reply, got)
			}
		}
		got, err := parseReply(reply, testCanary)
		if err != nil {
			if got != (claim{}) {
				t.Fatalf("%q: an error and %+v", reply, got)
			}
			return
		}
		dec := json.NewDecoder(strings.NewReader(reply))
		found := map[string]any{}
		for i := 0; ; i++ {
			token, err := dec.Token()
			if err == io.EOF && i == 10 { // two braces, four keys, four values
				break
			}
			if err != nil || i >= 10 {
				t.Fatalf("%q: token %d, %v", reply, i, err)
			}
			if key, ok := token.(string); ok && i%2 == 1 && i < 9 {
				value, err := dec.Token()
				if err != nil {
					t.Fatalf("%q: %v", reply, err)
				}
				found[key] = value
				i++
			}
		}
		confidence, ok := found["confidence"].(float64)
		if len(found) != 4 || found["canary"] != string(testCanary) || found["decision"] != got.decision ||
			found["reason"] != got.reason || !ok || !(confidence >= 0 && confidence <= 1) {
			t.Fatalf("%q: %+v, found %v", reply, got, found)
		}
		switch got.decision {
		case "ALLOW", "BLOCK", "ESCALATE":
		default:
			t.Fatalf("%q: %+v", reply, got)
		}
	})
}

// A provider's JSON never leads to an answer that was not ended.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"type":"message","role":"assistant","stop_reason":"end_turn","content":[{"type":"text"` +
		`,"text":"x"}],"usage":{"input_tokens":5}}`))
	f.Add([]byte(`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"x","tool_calls":` +
		`[],"refusal":null}}],"usage":{"prompt_tokens":5}}`))
	f.Add([]byte(`{"choices":[{"finish_reason":"length","message":null}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		fields, err := members(body)
		if err != nil {
			return
		}
		if got, err := (anthropicDialect{}).answer(fields); err == nil && string(fields["stop_reason"]) != `"end_turn"` &&
			!strings.Contains(string(fields["stop_reason"]), `\u`) || got.read < 0 {
			t.Fatalf("%s: %+v", body, got)
		}
		if got, err := (openAIDialect{}).answer(fields); err == nil &&
			!strings.Contains(string(fields["choices"]), `finish_reason`) && !strings.Contains(string(body), `\u`) ||
			got.read < 0 {
			t.Fatalf("%s: %+v", body, got)
		}
	})
}
