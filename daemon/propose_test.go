package daemon

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/shieldcore"
)

// The rule that is proposed allows the one call and no other; where it could not be
// as narrow, there is none.
func TestExactRule(t *testing.T) {
	base := approver.ToolCall{
		Agent: "claude", Tool: "Bash", Dir: "/home/ada's/x", Peer: approver.Peer{Known: true, UID: 1000},
	}
	base.Command = "git commit -m 'a.b it' --author=x"
	rule, err := exactRule(base)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := shieldcore.Load("p",
		[]byte("version: 1\ntools: {known: [Bash, Zsh]}\ndefault: {decision: ask}\nrules:\n"+rule))
	if err != nil {
		t.Fatalf("%v\n%s", err, rule)
	}
	if v, err := policy.Judge(t.Context(), base); err != nil || v.Decision != approver.Allow {
		t.Errorf("%+v, %v\n%s", v, err, rule)
	}
	for name, change := range map[string]func(*approver.ToolCall){
		"longer":  func(c *approver.ToolCall) { c.Command += " x" },
		"pattern": func(c *approver.ToolCall) { c.Command = "git commit -m 'axb it' --author=x" },
		"lines":   func(c *approver.ToolCall) { c.Command += "\nrm -rf /" },
		"before":  func(c *approver.ToolCall) { c.Command = "rm x\n" + c.Command },
		"dir":     func(c *approver.ToolCall) { c.Dir += "/y" },
		"no dir":  func(c *approver.ToolCall) { c.Dir = "" },
		"user":    func(c *approver.ToolCall) { c.Peer.UID++ },
		"nobody":  func(c *approver.ToolCall) { c.Peer = approver.Peer{} },
		"agent":   func(c *approver.ToolCall) { c.Agent = "codex" },
		"tool":    func(c *approver.ToolCall) { c.Tool = "Zsh" },
	} {
		other := base
		change(&other)
		if v, err := policy.Judge(t.Context(), other); err != nil || v.Decision == approver.Allow {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	for name, change := range map[string]func(*approver.ToolCall){
		"two commands": func(c *approver.ToolCall) { c.Command = "a && b" },
		"no command":   func(c *approver.ToolCall) { c.Command = "" },
		"no dir":       func(c *approver.ToolCall) { c.Dir = "" },
		"odd dir":      func(c *approver.ToolCall) { c.Dir = "/a/../b" },
		"a line":       func(c *approver.ToolCall) { c.Dir = "/a\n- b" },
		"a secret": func(c *approver.ToolCall) {
			c.Command = "curl -H 'Authorization: Bearer " +
				"abcdefghijklmnop0123456789' x"
		},
		"approver": func(c *approver.ToolCall) { c.Control = "unfreeze" },
	} {
		other := base
		change(&other)
		if rule, err := exactRule(other); err == nil {
			t.Errorf("%s:\n%s", name, rule)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
