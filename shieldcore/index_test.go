package shieldcore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"approver.example"
)

// The index leaves out no rule that matches: whatever the policy and the call, the
// verdict is that of trying every rule in turn.
func TestTheIndexLeavesOutNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"git", "push", "rm", "-rf", "ſudo", "SUDO", "sudo", "kubectl", "delete", "ns", "prod", "K8s",
		"\u212a8s", "ab", "a", "--force", "é", "x'y'z", "curl\\\ncurl"}
	pick := func() string { return words[r.IntN(len(words))] }
	patterns := []string{"git push", "(?i)sudo", "rm\\s+-rf", "(?i)k8s", "kubectl (delete|drain) ns", "ab", "x+y", "^git",
		"(push|pull|prod)", "é", "xyz", "curlcurl", "[ab]"}
	checked := 0
	for range 150 {
		var text strings.Builder
		text.WriteString("version: 1\ntools: {known: ['*']}\nrules:\n")
		for i := range 64 + r.IntN(100) {
			fmt.Fprintf(&text, "  - {name: r%d, decision: %s", i, []string{"ask", "deny", "allow"}[r.IntN(3)])
			switch r.IntN(4) {
			case 0:
				fmt.Fprintf(&text, ", tools: [%s]", []string{"Write", "Bash", "'B*'", "mcp__x__y"}[r.IntN(4)])
			case 1:
				fmt.Fprintf(&text, ", action_types: [delete], command: '%s'", patterns[r.IntN(len(patterns))])
			case 2:
				fmt.Fprintf(&text, ", command: '%s'", patterns[r.IntN(len(patterns))])
			default:
				fmt.Fprintf(&text, ", tools: [Bash], command: '%s'", patterns[r.IntN(len(patterns))])
			}
			text.WriteString("}\n")
		}
		p, err := Load("p.yaml", []byte(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		all := *p
		all.index = &index{sieve: p.index.sieve, always: make([]uint64, len(p.index.always)), commands: p.index.commands}
		for i := range p.rules {
			all.index.always[i/64] |= 1 << (i % 64)
		}
		for range 30 {
			call := approver.ToolCall{Tool: []string{"Bash", "Write", "Bash", "mcp__x__y"}[r.IntN(4)]}
			if call.Tool == "Bash" {
				call.Command = strings.Join([]string{pick(), pick(), pick()}, []string{" ", "  ", ""}[r.IntN(3)])
			}
			got, err1 := p.Judge(context.Background(), call)
			want, err2 := all.Judge(context.Background(), call)
			if got.Rule != want.Rule || got.Decision != want.Decision || (err1 == nil) != (err2 == nil) {
				t.Fatalf("%s %q: %s with the index, %s without\n%s", call.Tool, call.Command, got.Rule, want.Rule, text.String())
			}
			if want.Where.Line > 0 {
				checked++
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d calls matched a rule", checked)
	}
}
