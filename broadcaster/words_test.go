package broadcaster

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/fingerprint"
	"approver.example/gate"
)

func TestZeroValuesDeny(t *testing.T) {
	var (
		d   approver.Decision
		s   approver.Severity
		res approver.Resolution
		r   Request
		p   approver.People
		out approver.Outcome
		m   approver.Method
		in  intent.Intent
	)
	if d != approver.Deny || approver.Decision(200).String() != "deny" || s != approver.Catastrophic || res.Approve ||
		m != approver.NoMethod || in.Approve || out.Kind != approver.OutcomeRefused {
		t.Error("a zero value is not the strict one")
	}
	if r.State != approver.Denied || !r.State.Settled() || r.Released("", "") {
		t.Error("a zero request is open")
	}
	if told, _ := r.Told(); told.Approve {
		t.Error("a zero request says yes")
	}
	if _, ok := p.Lookup("telegram", "1"); ok {
		t.Error("an empty approver list admits somebody")
	}
	if _, ok := (approver.People{{Channel: "", ID: ""}: {}}).Lookup("", ""); ok {
		t.Error("an empty identity is somebody")
	}
	if v := new(gate.Gate).Decide(t.Context(), approver.ToolCall{}); v.Decision != approver.Deny {
		t.Errorf("a zero gate says %v", v.Decision)
	}
}

func TestWordsThatAreNotOursStayStrict(t *testing.T) {
	var v approver.Verdict
	for _, doc := range []string{`{"decision":"ALLOW"}`, `{"decision":"yes"}`, `{"decision":""}`} {
		v = approver.Verdict{Decision: approver.Allow}
		if err := json.Unmarshal([]byte(doc), &v); err == nil || v.Decision != approver.Deny {
			t.Errorf("%s: %v, %v", doc, v.Decision, err)
		}
	}
	var r Request
	if err := json.Unmarshal([]byte(`{"state":"aproved"}`), &r); err == nil || r.State != approver.Denied {
		t.Errorf("unknown state: %v, %v", r.State, err)
	}
}

func TestFingerprintBindsEverything(t *testing.T) {
	base := approver.ToolCall{
		Agent: "claude", Tool: "Bash", Args: json.RawMessage(`{"command":"make","n":1}`), Dir: "/repo",
		Env: map[string]string{"PATH": "/bin"}, ID: "a", Session: "s", At: time.Now(),
	}
	fp := func(c approver.ToolCall, policy string, files map[string]string) approver.Fingerprint {
		bound, err := fingerprint.Bind(c, policy, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		return bound.Fingerprint
	}
	want := fp(base, "p", map[string]string{"/repo/Makefile": "x"})
	same := base
	same.ID, same.Session, same.At, same.Claimed = "b", "other", time.Time{}, "a new story"
	if fp(same, "p", map[string]string{"/repo/Makefile": "x"}) != want {
		t.Error("what does not change the run changes the fingerprint")
	}
	for name, change := range map[string]func(*approver.ToolCall){
		"agent":       func(c *approver.ToolCall) { c.Agent = "codex" },
		"tool":        func(c *approver.ToolCall) { c.Tool = "Write" },
		"arguments":   func(c *approver.ToolCall) { c.Args = json.RawMessage(`{"command":"make","n":2}`) },
		"white space": func(c *approver.ToolCall) { c.Args = json.RawMessage(`{"command":"make ","n":1}`) },
		"a huge number": func(c *approver.ToolCall) {
			c.Args = json.RawMessage(`{"command":"make","n":1.0000000000000000001}`)
		},
		"directory":   func(c *approver.ToolCall) { c.Dir = "/other" },
		"environment": func(c *approver.ToolCall) { c.Env = map[string]string{"PATH": "/evil:/bin"} },
		"added environment": func(c *approver.ToolCall) {
			c.Env = map[string]string{"PATH": "/bin", "LD_PRELOAD": "/evil.so"}
		},
	} {
		c := base
		change(&c)
		if fp(c, "p", map[string]string{"/repo/Makefile": "x"}) == want {
			t.Errorf("%s is not bound", name)
		}
	}
	if fp(base, "q", map[string]string{"/repo/Makefile": "x"}) == want ||
		fp(base, "p", map[string]string{"/repo/Makefile": "y"}) == want {
		t.Error("policy or files are not bound")
	}
	if approver.Fingerprint("").Equal("") {
		t.Error("nothing equals nothing")
	}
}

func TestKeys(t *testing.T) {
	for _, id := range []string{"a", "0190-x", strings.Repeat("z", 300)} {
		key := approver.Key("req", id)
		n, err := approver.ShardOfKey(key)
		if err != nil || n != approver.ShardOf(id) || n < 0 || n >= approver.Shards {
			t.Errorf("%s: shard %d, %v", key, n, err)
		}
		if got, ok := idInKey(key); !ok || got != id {
			t.Errorf("idInKey(%s) = %s", key, got)
		}
	}
	for _, key := range []string{
		"", "x", "ap:{64}:req:a", "ap:{0x}:req:a", "ap:{-1}:req:a", "ap:{1}:req:a", "ap:00:req:a",
	} {
		if _, err := approver.ShardOfKey(key); err == nil {
			t.Errorf("ShardOfKey(%q) has no error", key)
		}
	}
}
