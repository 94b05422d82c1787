package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

func asIs(s string) string { return s }

func lineFor(rec approver.Record) Line { return newRedactor(asIs).lineOf(rec, "host.test", testTime) }

// Every event and verdict in the words of decisions.jsonl. What is not known
// is BLOCKED.
func TestDecisions(t *testing.T) {
	yes := approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: approver.Person{ID: "anna"}}
	no := approver.Resolution{Cause: approver.ByPerson, Person: approver.Person{ID: "anna"}}
	silence := approver.Resolution{Cause: approver.TimedOut}
	verdict := func(d approver.Decision) approver.Record {
		return approver.Record{Event: approver.EventVerdict, Verdict: approver.Verdict{Decision: d}}
	}
	event := func(e approver.Event, r approver.Resolution) approver.Record {
		return approver.Record{Event: e, Resolution: r}
	}
	for _, tt := range []struct {
		rec      approver.Record
		decision string
		approved string // "", "true", "false"
	}{
		{approver.Record{}, Blocked, ""},
		{event("unheard-of", yes), Blocked, "false"},
		{verdict(approver.Deny), Blocked, ""},
		{verdict(approver.Ask), Pending, ""},
		{verdict(approver.Modify), Allowed, ""},
		{verdict(approver.Warn), Warned, ""},
		{verdict(approver.Pass), Passed, ""},
		{verdict(approver.Allow), Allowed, ""},
		{verdict(approver.Decision(99)), Blocked, ""},
		{event(approver.EventAsked, approver.Resolution{}), Pending, ""},
		{event(approver.EventPosted, approver.Resolution{}), Pending, ""},
		{event(approver.EventApproved, yes), Approved, "true"},
		{event(approver.EventApproved, approver.Resolution{}), Blocked, "false"},
		{event(approver.EventReleased, yes), Approved, "true"},
		{event(approver.EventReleased, no), Blocked, "false"},
		{event(approver.EventDenied, no), Rejected, "false"},
		{event(approver.EventDenied, approver.Resolution{Cause: approver.Unreachable}), Blocked, "false"},
		{event(approver.EventExpired, silence), Blocked, "false"}, // silence is no person's no
		{event(approver.EventWithdrawn, approver.Resolution{Cause: approver.AgentGone}), Blocked, "false"},
		{event(approver.EventRefused, approver.Resolution{}), "", ""},
		{event(approver.EventRan, approver.Resolution{}), "", ""},
		{event(approver.EventAlarm, approver.Resolution{}), "", ""},
		{event(approver.EventHooks, approver.Resolution{}), "", ""},
		{event(approver.EventStarted, approver.Resolution{}), "", ""},
		{event(approver.EventStopped, approver.Resolution{}), "", ""},
	} {
		l := lineFor(tt.rec)
		approved := ""
		if l.Approved != nil {
			approved = fmt.Sprint(*l.Approved)
		}
		if l.Decision != tt.decision || approved != tt.approved {
			t.Errorf("%s %v %+v: decision %q approved %q, want %q %q",
				tt.rec.Event, tt.rec.Verdict.Decision, tt.rec.Resolution, l.Decision, approved, tt.decision, tt.approved)
		}
	}
}

func TestLineHasEverything(t *testing.T) {
	call := shell("rm -rf build")
	call.Peer, call.Paths = approver.Peer{Known: true, UID: 4_000_000_000}, []string{"build", "dist"}
	rec := approver.Record{
		Event: approver.EventReleased, At: testTime.In(time.FixedZone("x", 3600)), Request: "req-1", Once: "once-1",
		Fingerprint: approver.Fingerprint(strings.Repeat("ab", 32)), Call: call,
		Verdict: approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "rm", Where: approver.Position{File: "policy.yaml", Line: 3, Col: 5},
			Category: "delete", Severity: approver.High, Reason: "needs a person", Detail: "deletes a folder", Confidence: 0.75,
			Args: json.RawMessage(`{"command":"rm -r build"}`),
		},
		Resolution: approver.Resolution{
			Approve: true, Cause: approver.ByPerson, Person: approver.Person{ID: "anna", Name: "Anna"},
			Identity: approver.Identity{Channel: "telegram", ID: "10042"}, Conversation: "-100", Method: approver.ByTap,
			At: testTime,
		},
		Took: 1500 * time.Microsecond, Note: "a note",
	}
	got, err := display.EncodeJSON(lineFor(rec))
	must(t, err)
	want := `{"v":1,"event":"released","timestamp":"2026-03-01T12:00:00Z","module":"Shell","method":"Bash",` +
		`"args":{"command":"rm -rf ` +
		`build"},"decision":"APPROVED","decisionTime":1.5,"decision_time_ms":1.5,"reason":"needs a ` +
		`person","eventType":"released",` +
		`"tool":"Bash","severity":"HIGH","reasons":["delete","policy/rm","person"],"target":"build","argsHash":"` +
		hashOf(call.Args) + `",` +
		`"summary":"rm -rf ` +
		`build","requireToken":false,"approved":true,"decisionInput":"tap","session_id":"s-1","cwd":"/home/u/project",` +
		`"user":"4000000000","hostname":"host.test",` +
		`"request":"req-1","call":"0123456789abcdef0123456789abcdef","agent":"claude","peer_uid":4000000000,` +
		`"session":"s-1",` +
		`"dir":"/home/u/project","command":"rm -rf build","fingerprint":"` + strings.Repeat("ab", 32) + `",` +
		`"verdict":{"decision":"ask","by":"policy","rule":"rm","where":{"file":"policy.yaml","line":3,"col":5},` +
		`"category":"delete",` +
		`"severity":"HIGH","reason":"needs a person","detail":"deletes a folder","confidence":0.75,"args":{"command":"rm ` +
		`-r build"},` +
		`"argsHash":"` + hashOf(rec.Verdict.Args) + `"},` +
		`"resolution":{"approve":true,"cause":"person","person":{"id":"anna","name":"Anna"},"identity":{` +
		`"channel":"telegram","id":"10042"},` +
		`"conversation":"-100","method":"tap","at":"2026-03-01T12:00:00Z"},"took_ms":1.5,"note":"a note","once":"once-1"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	back, err := ParseLine(got)
	must(t, err)
	if again, err := display.EncodeJSON(back); err != nil || string(again) != want {
		t.Errorf("read and written again: %s, %v", again, err)
	}
}

// The alarm that an agent's hooks are weakened names the agent and the file in fields of their own.
func TestLineOfWeakenedHooks(t *testing.T) {
	l := lineFor(approver.Record{
		Event: approver.EventAlarm, Alarm: approver.AlarmHooks, Note: "weakened",
		Call: approver.ToolCall{Agent: "claude", Paths: []string{"/home/u/.claude/settings.json"}},
	})
	if l.Agent != "claude" || l.Target != "/home/u/.claude/settings.json" || l.Alarm != "hooks" || l.Tool != "" {
		t.Errorf("%+v", l)
	}
}

// What the older decisions.jsonl calls requireToken and decisionInput held the
// code in clear. Here they say whether one is needed and how the answer came.
func TestLineSaysIfACodeIsNeeded(t *testing.T) {
	code, err := tokens.Mint(6)
	must(t, err)
	for _, tt := range []struct {
		rec    approver.Record
		need   string // "", "true", "false"
		input  string
		target string
	}{
		{rec: approver.Record{Event: approver.EventVerdict, Verdict: approver.Verdict{Decision: approver.Ask}}},
		{rec: approver.Record{Event: approver.EventVerdict, Request: "r"}},
		{rec: approver.Record{Event: approver.EventAsked, Request: "r", Verdict: approver.Verdict{Decision: approver.Ask}},
			need: "true"},
		{rec: approver.Record{Event: approver.EventAsked, Request: "r",
			Verdict: approver.Verdict{Decision: approver.Ask, Severity: 99}}, need: "true"},
		{rec: approver.Record{Event: approver.EventAsked, Request: "r",
			Verdict: approver.Verdict{Decision: approver.Ask, Severity: approver.High}}, need: "false"},
		{rec: approver.Record{Event: approver.EventReleased, Request: "r", Verdict: approver.Verdict{Decision: approver.Ask},
			Reply:      approver.Reply{Code: code},
			Resolution: approver.Resolution{Approve: true, Cause: approver.ByPerson, Method: approver.ByCode}}, need: "true",
			input: "code"},
		{rec: approver.Record{Event: approver.EventExpired, Resolution: approver.Resolution{Cause: approver.TimedOut}}},
		{rec: approver.Record{Call: approver.ToolCall{Tool: "Write", Paths: []string{"a", "b"}, URLs: []string{"http://x"}}},
			target: "a"},
		{rec: approver.Record{Call: approver.ToolCall{Tool: "Fetch", URLs: []string{"http://x", "http://y"}}},
			target: "http://x"},
	} {
		l := lineFor(tt.rec)
		need := ""
		if l.RequireToken != nil {
			need = fmt.Sprint(*l.RequireToken)
		}
		if need != tt.need || l.Input != tt.input || l.Target != tt.target {
			t.Errorf("%+v: requireToken %q, decisionInput %q, target %q", tt.rec, need, l.Input, l.Target)
		}
		if b, err := display.EncodeJSON(l); err != nil ||
			strings.Contains(string(b), strings.TrimPrefix(code.Reveal(), tokens.Prefix)) {
			t.Errorf("%s, %v", b, err)
		}
	}
}

func TestLineOfARefusedReply(t *testing.T) {
	code, err := tokens.Mint(6)
	must(t, err)
	l := lineFor(approver.Record{
		Event: approver.EventRefused, Outcome: approver.OutcomeLocked,
		Reply: approver.Reply{Channel: "slack", Conversation: "C1", Sender: "U1", Name: "Eve", Approve: true,
			Method: approver.ByCode, Code: code},
	})
	got, err := display.EncodeJSON(l)
	must(t, err)
	want := `"reply":{"channel":"slack","conversation":"C1","sender":"U1","name":"Eve","approve":true,"method":"code"},` +
		`"outcome":"locked"`
	if !strings.Contains(string(got), want) ||
		strings.Contains(string(got), strings.TrimPrefix(code.Reveal(), tokens.Prefix)) {
		t.Errorf("%s", got)
	}
	for k := range approver.OutcomeRecorded + 1 {
		if outcomeName(k) == "" {
			t.Errorf("outcome %d has no name", k)
		}
	}
	if outcomeName(200) != "refused" {
		t.Error("an unknown outcome is not a refusal")
	}
}

func TestOddValuesStayJSON(t *testing.T) {
	for name, rec := range map[string]approver.Record{
		"not a number": {Event: approver.EventVerdict, Verdict: approver.Verdict{Confidence: math.NaN()}},
		"infinite":     {Event: approver.EventVerdict, Verdict: approver.Verdict{Confidence: math.Inf(1)}},
		"bad UTF-8":    {Event: approver.EventVerdict, Note: "a\xffb", Call: approver.ToolCall{Tool: "\xc3\x28"}},
		"args no JSON": {Event: approver.EventVerdict,
			Call: approver.ToolCall{Tool: "x", Args: json.RawMessage(`{"a":`)}},
		"two values":       {Event: approver.EventVerdict, Call: approver.ToolCall{Tool: "x", Args: json.RawMessage(`1 2`)}},
		"control and bidi": {Event: approver.EventVerdict, Note: "\x00\x1b[2J\u202e\n"},
	} {
		b, err := display.EncodeJSON(lineFor(rec))
		if err != nil || !json.Valid(b) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
		if _, err := ParseLine(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	l := lineFor(approver.Record{Event: approver.EventVerdict, Note: "a\xffb"})
	if l.Note != `a⟨\xFF⟩b` {
		t.Errorf("a byte that is no character became %q", l.Note)
	}
}

// Whatever an agent sends, the line fits, and says what it leaves out.
func TestLongTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	for name, c := range map[string]string{"a": "a", "control": "\x01", "bad UTF-8": "\xff", "quote": `"`,
		"words": "a b "} {
		for _, size := range []int{20_000, 100_000, 500_000} {
			s := strings.Repeat(c, size/len(c))
			args, err := json.Marshal(map[string]string{"command": s})
			must(t, err)
			rec := approver.Record{
				Event: approver.EventReleased, Request: s, Once: s, Note: s, Fingerprint: approver.Fingerprint(s),
				Call: approver.ToolCall{ID: s, Agent: s, Session: s, Tool: s, Command: s, Args: args, Dir: s, Paths: []string{s}},
				Verdict: approver.Verdict{
					By: s, Rule: s, Reason: s, Detail: s, Category: s, Args: args, Where: approver.Position{File: s},
				},
				Resolution: approver.Resolution{
					Person: approver.Person{ID: s, Name: s}, Identity: approver.Identity{Channel: s, ID: s}, Conversation: s,
				},
			}
			l := lineFor(rec)
			b, err := display.EncodeJSON(l)
			if err != nil || len(b)+sealLength > MaxLine {
				t.Errorf("%s × %d: a line of %d bytes, %v", name, size, len(b), err)
			}
			if !strings.Contains(l.Command, "bytes hidden") && !strings.Contains(l.Command, "bytes not shown") &&
				len(l.Command) < size {
				t.Errorf("%s × %d: the command was cut to %d bytes without a word", name, size, len(l.Command))
			}
			if !strings.Contains(l.Summary, "bytes more)") && !strings.Contains(l.Summary, "bytes not shown") ||
				len(l.Summary) > summaryLimit+100 {
				t.Errorf("%s × %d: summary %q", name, size, l.Summary)
			}
			if l.ArgsHash != hashOf(args) {
				t.Errorf("%s × %d: the hash is not that of the exact arguments", name, size)
			}
		}
	}
}

func TestParseLineRefuses(t *testing.T) {
	for _, s := range []string{"", "null", "[]", `{"v":2,"event":"verdict"}`, `{"v":1}`,
		`{"checkpoint":{},"v":1,"event":"x"}`, `{"v":"1"}`} {
		if l, err := ParseLine([]byte(s)); err == nil {
			t.Errorf("%s was read as %+v", s, l)
		}
	}
}

func TestArgsAreRedacted(t *testing.T) {
	r := newRedactor(func(s string) string { return strings.ReplaceAll(s, "hunter2", "‹redacted›") })
	for in, want := range map[string]string{
		``: ``,
		`{"a":"say hunter2","b":[{"c":"hunter2"}]}`: `{"a":"say ‹redacted›","b":[{"c":"‹redacted›"}]}`,
		`{"hunter2":1}`: `{"‹redacted›":1}`,
		`{"password":"x","API_Key":"y","token":"","max_tokens":5}`: `{"password":"‹hidden›","API_Key":"‹hidden›",` +
			`"token":"","max_tokens":5}`,
		`{"n":12345678901234567890,"f":1.10}`: `{"n":12345678901234567890,"f":1.10}`,
		`"hunter2"`:                           `"‹redacted›"`,
		"{ \"a\\\"b\" : [ \"x\\\\\", true ] ,\n\"secret\" : [\"y\"], \"secret\":{\"z\":\"w\"} }": `{"a\"b":["x\\",true],` +
			`"secret":["‹hidden›"],"secret":{"z":"‹hidden›"}}`,
		`{"a":{"my_token":["x",{"y":"z"},"x"],"b":"c"},"d":"e"}`: `{"a":{"my_token":["‹hidden›",{"y":"‹hidden›"},` +
			`"‹hidden›"],"b":"c"},"d":"e"}`,
		`{"x":"<a> && b"}`:               `{"x":"<a> && b"}`,
		`{"broken hunter2`:               `"{\"broken ‹redacted›"`,
		`"CONFIRM-7KQ4MX"`:               `"CONFIRM-******"`,
		`{"code":"\u0043ONFIRM-7KQ4MX"}`: `{"code":"CONFIRM-******"}`,
	} {
		if got := string(r.args(json.RawMessage(in))); got != want {
			t.Errorf("args(%s) = %s, want %s", in, got, want)
		}
	}
	if got := string(r.args(json.RawMessage(`"` + strings.Repeat("x", maxRedact) + `"`))); !strings.Contains(got,
		"bytes not shown, sha256") {
		t.Errorf("huge arguments: %.100s", got)
	}
}

// The secret is put in every text that a record has, and must come out of none:
// confirmation codes without help, the rest through Redact.
func TestNoSecretReachesTheLog(t *testing.T) {
	code, err := tokens.Mint(8)
	must(t, err)
	bare := strings.TrimPrefix(code.Reveal(), tokens.Prefix)
	const github = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	s := "x " + code.Reveal() + " " + strings.ToLower(code.Reveal()) + " " + github
	args, err := json.Marshal(map[string]any{"command": s, "list": []string{s}, s: 1})
	must(t, err)
	o, _ := options(t)
	l := open(t, o)
	for _, e := range []approver.Event{
		approver.EventVerdict, approver.EventAsked, approver.EventApproved, approver.EventRefused, approver.EventAlarm,
		approver.Event(code.Reveal()),
	} {
		record(t, l, approver.Record{
			Event: e, Request: code.Reveal(), Once: code.Reveal(), Note: s, Fingerprint: approver.Fingerprint(code.Reveal()),
			Call: approver.ToolCall{
				ID: code.Reveal(), Agent: s, Session: s, Tool: s, Command: s, Args: args, Dir: s, Paths: []string{s},
				URLs:    []string{s},
				Claimed: s, Env: map[string]string{"A": s}, Raw: args,
			},
			Verdict: approver.Verdict{By: s, Rule: s, Reason: s, Detail: s, Category: s, Args: args,
				Where: approver.Position{File: s}},
			Resolution: approver.Resolution{
				Person: approver.Person{ID: s, Name: s}, Identity: approver.Identity{Channel: s, ID: s}, Conversation: s,
			},
			Reply: approver.Reply{Channel: s, Conversation: s, Sender: s, Name: s, Request: s, Message: s, Code: code},
		})
	}
	closeLog(t, l)
	for name, b := range snapshot(t, o.Dir) {
		for _, secret := range []string{bare, strings.ToLower(bare), github, github[4:]} {
			if strings.Contains(string(b), secret) {
				t.Errorf("%s holds the secret %q: %.2000s", name, secret, b)
			}
		}
	}
}

// Redact never sees a code, so it cannot leave something behind from which one
// can be computed, such as its hash.
func TestRedactNeverSeesACode(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	r := newRedactor(func(s string) string {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, s)
		return s + " CONFIRM-ACDEFG" // and what it adds is masked too
	})
	got := r.mask("say CONFIRM-7KQ4MX", wordLimit)
	if got != "say CONFIRM-****** CONFIRM-******" {
		t.Errorf("got %q", got)
	}
	if strings.Contains(strings.Join(seen, " "), "7KQ4MX") {
		t.Errorf("redact saw %q", seen)
	}
}

// A text that is too long to be searched for secrets is not shown.
func TestHugeTextsAreNotShown(t *testing.T) {
	r := newRedactor(func(s string) string {
		if len(s) > maxRedact {
			t.Errorf("%d bytes were searched", len(s))
		}
		return s
	})
	s := strings.Repeat("secret ", maxRedact/7+1)
	if got := r.mask(s, commandLimit); strings.Contains(got, "secret") ||
		!strings.Contains(got, fmt.Sprintf("%d bytes not shown", len(s))) {
		t.Errorf("%.200s", got)
	}
}

func TestRedactorRemembersWithinBounds(t *testing.T) {
	calls := 0
	r := newRedactor(func(s string) string { calls++; return s })
	for range 3 {
		r.mask("again", wordLimit)
	}
	if calls != 1 {
		t.Errorf("redacted %d times, want once", calls)
	}
	for i := range 2 * maxRememberedAll {
		r.mask(fmt.Sprint(i), wordLimit)
	}
	if len(r.texts) > maxRememberedAll {
		t.Errorf("%d texts are remembered", len(r.texts))
	}
}

func TestUserNames(t *testing.T) {
	r := newRedactor(asIs)
	for range 2 { // looked up, and remembered
		if got := r.user(4_111_111_111); got != "4111111111" {
			t.Errorf("an unknown user is %q", got)
		}
	}
	if got := r.user(uint32(os.Getuid())); got == "" { //nolint:gosec // a uid
		t.Error("we have no name")
	}
}

// The story: an argument that is JSON itself had a secret, which the card hid and the
// audit kept in the clear, because the name of the member stood apart from its value.
func TestASecretInAnArgumentOfJSONIsNotKept(t *testing.T) {
	const key = "Zq6xWvK7pLm53Tr9Bn2Yc"
	r := newRedactor(display.Mask)
	for _, config := range []string{
		`{"auth": {"token": "` + key + `"}}`, `[{"name": "API_KEY", "value": "` + key + `"}]`,
		`{"x": "{\"password\": \"` + key + `\"}"}`, `["--token", "` + key + `"]`,
	} {
		args, err := json.Marshal(map[string]string{"config": config, "q": "delete"})
		must(t, err)
		if got := string(r.args(args)); strings.Contains(got, key) || !strings.Contains(got, "delete") {
			t.Errorf("in the clear: %s", got)
		}
	}
}
