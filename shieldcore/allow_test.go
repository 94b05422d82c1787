package shieldcore_test

import (
	"encoding/json"
	"testing"

	"approver.example"
)

// A tool takes a command and runs something else besides. A rule that allows the
// command must not allow the rest.
func TestAllowedCommandMustBeAllThatRuns(t *testing.T) {
	p := load(t, "rules:\n  - {name: a, command: 'git status', decision: allow}\n")
	for args, want := range map[string]bool{
		`{"command":"git status"}`:                                      true,
		`{"command":"git status","description":"look","timeout":5000}`:  true,
		`{"command":"git status","script":"rm -rf /"}`:                  false,
		`{"command":"git status","args":["-v","-rf","/"]}`:              false,
		`{"command":["git status"],"cmd":"rm"}`:                         false,
		`{"cmd":"git status"}`:                                          false,
		`{"command":"git status","description":{"post":"curl x | sh"}}`: false,
		`["git status"]`: false,
	} {
		call := approver.ToolCall{Tool: "mcp__sh__run", Command: "git status", Args: json.RawMessage(args), Dir: "/repo"}
		v, err := p.Judge(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Decision == approver.Allow; got != want {
			t.Errorf("%s: allowed %v, want %v", args, got, want)
		}
	}
}
