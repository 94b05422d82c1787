package shieldcore_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/shieldcore"
)

// A genPolicy is a policy made by chance from few words, so that rules meet.
type genPolicy struct {
	fallback string
	ttl      string
	known    []string
	denied   [2][]string // restricted and protected
	rules    []genRule
}

type genRule struct{ name, condition, decision, extra string }

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

func some(r *rand.Rand, words ...string) []string {
	return slices.DeleteFunc(words, func(string) bool { return r.IntN(2) == 0 })
}

func genRuleOf(r *rand.Rand, name string) genRule {
	out := genRule{name: name, condition: pick(r,
		"command: 'git'", "command: 'git push'", "command: 'rm .*'", "tools: [Bash]", "tools: ['*']", "tools: [Read, Write]",
		"paths: ['/etc/**']", "paths: ['/etc/hosts']", "paths: ['**/*.go']", "action_types: [write]",
		"action_types: [read, exec]",
		"command: 'git', when: {agents: [claude]}", "tools: [Bash], command: 'git .*'", "tools: [Write], paths: ['/etc/**']",
	)}
	return out.decided(r)
}

func (g genRule) decided(r *rand.Rand) genRule {
	g.decision, g.extra = pick(r, "allow", "ask", "deny"), ""
	if g.decision == "ask" {
		g.extra = pick(r, "", ", severity: high", ", severity: catastrophic") + pick(r, "", ", ttl: 30s", ", ttl: 90s") +
			pick(r, "", ", approvers: [ada]", ", approvers: [ada, bob]") + pick(r, "", ", channels: [slack]")
	}
	if g.decision != "deny" {
		g.extra += pick(r, "", "", ", min_tier: 1")
	}
	return g
}

func genPolicyOf(r *rand.Rand) genPolicy {
	p := genPolicy{
		fallback: pick(r, "pass", "ask", "deny"), ttl: pick(r, "", "30s", "60s", "90s"),
		known:  some(r, "Bash", "Read", "Write", "mcp__*"),
		denied: [2][]string{some(r, "/vault", "/etc/passwd"), some(r, "/seal", "/etc/hosts")},
	}
	for i := range r.IntN(5) {
		p.rules = append(p.rules, genRuleOf(r, fmt.Sprintf("r%d", i)))
	}
	return p
}

// changed is the policy after an edit such as people make.
func (p genPolicy) changed(r *rand.Rand) genPolicy {
	p.rules = slices.Clone(p.rules)
	at := r.IntN(len(p.rules) + 1)
	switch what := r.IntN(9); {
	case what == 0:
		p.fallback = pick(r, "pass", "ask", "deny")
	case what == 1:
		p.ttl = pick(r, "", "30s", "60s", "90s")
	case what == 2:
		p.known = some(r, "Bash", "Read", "Write", "mcp__*")
	case what == 3:
		p.denied[r.IntN(2)] = some(r, "/vault", "/seal", "/etc/passwd")
	case what == 4 || at == len(p.rules):
		p.rules = slices.Insert(p.rules, at, genRuleOf(r, fmt.Sprintf("n%d", r.Uint32())))
	case what == 5:
		p.rules = slices.Delete(p.rules, at, at+1)
	case what == 6:
		other := r.IntN(len(p.rules))
		p.rules[at], p.rules[other] = p.rules[other], p.rules[at]
	case what == 7:
		p.rules[at] = genRuleOf(r, p.rules[at].name)
	default:
		p.rules[at] = p.rules[at].decided(r)
	}
	return p
}

func (p genPolicy) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\ndefault: {decision: %s}\ntools: {known: [%s]}\n", p.fallback, quoted(p.known))
	fmt.Fprintf(&b, "denylist: {restricted: [%s], protected: [%s]}\n", quoted(p.denied[0]), quoted(p.denied[1]))
	if p.ttl != "" {
		fmt.Fprintf(&b, "default_ttl: %s\n", p.ttl)
	}
	if len(p.rules) > 0 {
		b.WriteString("rules:\n")
	}
	for _, r := range p.rules {
		fmt.Fprintf(&b, "  - {name: %s, %s, decision: %s%s}\n", r.name, r.condition, r.decision, r.extra)
	}
	return b.String()
}

func quoted(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "'" + strings.Join(words, "', '") + "'"
}

// genCalls meet the words of generated policies, together and apart.
func genCalls() (calls []approver.ToolCall) {
	for _, agent := range []string{"claude", "codex"} {
		for _, command := range []string{"git push", "git", "git status", "rm x", "git push; rm x", "ls", "cat /vault",
			"cat /etc/passwd > /seal"} {
			calls = append(calls, approver.ToolCall{Agent: agent, Tool: "Bash", Command: command, Dir: "/src"})
		}
		for _, tool := range []string{"Read", "Write", "mcp__x__get", "mcp__x__delete_file", "Other"} {
			for _, p := range []string{"", "/etc/hosts", "/etc/passwd", "/vault", "/seal", "a.go", "/src/a.txt"} {
				c := approver.ToolCall{Agent: agent, Tool: tool, Dir: "/src"}
				if p != "" {
					c.Paths, c.Args = []string{p}, []byte(`{"file_path":"`+p+`"}`)
				}
				calls = append(calls, c)
				if c.Dir = ""; p == "a.go" { // nobody knows where it is
					calls = append(calls, c)
				}
			}
		}
	}
	return calls
}

// laxer says in what a verdict is milder than the one before, or nothing.
func laxer(old, next approver.Verdict) string {
	if old.Decision != next.Decision {
		if next.Decision > old.Decision {
			return fmt.Sprintf("%s becomes %s", old.Decision, next.Decision)
		}
		return ""
	}
	wider := func(a, b []string) bool { // b asks somebody whom a does not
		return len(a) > 0 && (len(b) == 0 || slices.ContainsFunc(b, func(x string) bool { return !slices.Contains(a, x) }))
	}
	ttl := func(v approver.Verdict) time.Duration {
		if v.TTL == 0 {
			return 120 * time.Second
		}
		return v.TTL
	}
	switch {
	case old.Decision != approver.Ask:
	case next.Severity > old.Severity:
		return "less severe"
	case ttl(next) > ttl(old):
		return "more time"
	case wider(old.Approvers, next.Approvers):
		return "more people"
	case wider(old.Channels, next.Channels):
		return "more channels"
	}
	return ""
}

// checkCompare makes a policy and some edits by chance. Where Compare says that
// nothing loosens, no call may get a milder verdict.
func checkCompare(t *testing.T, seed, edits uint64) (tightens bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, edits))
	before := genPolicyOf(r)
	after := before.changed(r)
	for range edits % 3 {
		after = after.changed(r)
	}
	old, next := mustLoad(t, before.String()), mustLoad(t, after.String())
	change := shieldcore.Compare(old, next)
	if change.Loosens() {
		return false
	}
	for _, call := range genCalls() {
		x, err := old.Judge(t.Context(), call)
		must(t, err)
		y, err := next.Judge(t.Context(), call)
		must(t, err)
		if how := laxer(x, y); how != "" {
			t.Errorf("%s: %q of %s %q %v in %q, but Compare says %q\n--- old: %s decides\n%s--- new: %s decides\n%s",
				how, call.Agent, call.Tool, call.Command, call.Paths, call.Dir, change, x.Rule, before, y.Rule, after)
			break
		}
	}
	return true
}

func FuzzCompare(f *testing.F) {
	f.Add(uint64(1), uint64(1))
	f.Fuzz(func(t *testing.T, seed, edits uint64) { checkCompare(t, seed, edits) })
}

// What the fuzzer looks for, with the same thousands of edits each time. A good
// part of them has to tighten, or nothing is looked at.
func TestCompareNeverCallsALooserPolicyTight(t *testing.T) {
	tight := 0
	const all = 1000
	for seed := range uint64(all) {
		if checkCompare(t, seed, seed/7) {
			tight++
		}
	}
	if tight < all/10 {
		t.Errorf("only %d of %d edits tighten", tight, all)
	}
}
