package shieldcore_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
	"approver.example/shieldcore"
	"approver.example/store/sqlitestore"
)

// A shop is an installation that judges calls of tools, and whose daemon restarts.
type shop struct {
	t      *testing.T
	path   string
	store  *sqlitestore.Store
	policy *shieldcore.Live
	tools  *shieldcore.Tools
}

func openShop(t *testing.T, policy string) *shop {
	t.Helper()
	s := &shop{t: t, path: filepath.Join(t.TempDir(), "db"), policy: &shieldcore.Live{}}
	p, err := shieldcore.Load("p.yaml", []byte("version: 1\ndefault_ttl: 60s\ntools: {known: ['*']"+policy+"\n"))
	must(t, err)
	s.policy.Set(p)
	s.restart()
	t.Cleanup(func() { _ = s.store.Close() })
	return s
}

// restart closes the store and opens it anew, with nothing in memory.
func (s *shop) restart() {
	s.t.Helper()
	if s.store != nil {
		must(s.t, s.store.Close())
	}
	kv, err := sqlitestore.Open(sqlitestore.Config{Path: s.path}, slog.New(slog.DiscardHandler))
	must(s.t, err)
	s.store = kv
	s.tools = &shieldcore.Tools{Store: kv, Project: func(dir string) string { return strings.TrimSuffix(dir, "/src") }}
}

func (s *shop) judge(call approver.ToolCall, before ...approver.Decision) approver.Verdict {
	s.t.Helper()
	var said []approver.Verdict
	for _, d := range before {
		said = append(said, approver.Verdict{Decision: d})
	}
	v, err := shieldcore.Using{Live: s.policy, Tools: s.tools}.JudgeAfter(s.t.Context(), call, said)
	must(s.t, err)
	return v
}

func (s *shop) answer(call approver.ToolCall, yes bool) {
	s.t.Helper()
	event := map[bool]approver.Event{true: approver.EventApproved, false: approver.EventDenied}[yes]
	must(s.t, s.tools.Answered(s.t.Context(), approver.Record{Event: event, Call: call,
		Resolution: approver.Resolution{Approve: yes, Cause: approver.ByPerson}}))
}

func isNew(v approver.Verdict) bool {
	if v.Rule == shieldcore.RuleFirstUse {
		return true
	}
	for _, f := range v.Chain {
		if f.Rule == shieldcore.RuleFirstUse {
			return true
		}
	}
	return false
}

func use(tool, dir string, uid uint32) approver.ToolCall {
	return approver.ToolCall{Agent: "claude", Tool: tool, Dir: dir, Peer: approver.Peer{Known: true, UID: uid}}
}

// The story: an agent got a new MCP server overnight, and its first call of a tool that nobody had
// ever used in the project ran as all others do. The first use is found, once for each project and
// user, also after a restart of the store.
func TestFirstUseIsRecorded(t *testing.T) {
	s := openShop(t, ", first_use: {decision: pass}}")
	refund := use("mcp__pay__refund", "/home/ada/shop", 1000)
	if v := s.judge(refund, approver.Pass); v.Decision != approver.Pass || !isNew(v) || v.Rule != "" {
		t.Errorf("the first use: %+v", v)
	}
	s.restart()
	for name, c := range map[string]struct {
		call approver.ToolCall
		new  bool
	}{
		"again":               {refund, false},
		"below the project":   {use("mcp__pay__refund", "/home/ada/shop/src", 1000), false},
		"another session":     {func() approver.ToolCall { c := refund; c.Session = "b"; return c }(), false},
		"another tool":        {use("mcp__pay__charge", "/home/ada/shop", 1000), true},
		"another project":     {use("mcp__pay__refund", "/home/ada/site", 1000), true},
		"another user":        {use("mcp__pay__refund", "/home/ada/shop", 1001), true},
		"nobody knows who":    {approver.ToolCall{Tool: "mcp__pay__refund", Dir: "/home/ada/shop"}, true},
		"a tool of its agent": {use("Read", "/home/ada/shop", 1000), false},
		"a shell":             {approver.ToolCall{Tool: "shell", Command: "ls", Dir: "/home/ada/shop"}, false},
	} {
		if v := s.judge(c.call, approver.Pass); isNew(v) != c.new || v.Decision != approver.Pass {
			t.Errorf("%s: %+v", name, v)
		}
	}
	// What another part stops is not used, until people say yes.
	charge := use("mcp__pay__payout", "/home/ada/shop", 1000)
	for range 2 {
		if !isNew(s.judge(charge, approver.Ask)) {
			t.Error("what was stopped counts as used")
		}
	}
	s.answer(charge, true)
	if isNew(s.judge(charge, approver.Ask)) {
		t.Error("what people said yes to is new")
	}
}

// Where the policy asks, a no and silence leave the tool new, and a yes lasts over restarts.
func TestFirstUseIsAsked(t *testing.T) {
	s := openShop(t, ", first_use: {decision: ask, severity: catastrophic}}\n"+
		"rules: [{name: ours.list, tools: [mcp__pay__list], decision: allow}]")
	refund := use("mcp__pay__refund", "/home/ada/shop", 1000)
	asks := func(when string, want bool) {
		t.Helper()
		v := s.judge(refund, approver.Pass)
		if got := v.Decision == approver.Ask && v.Rule == shieldcore.RuleFirstUse &&
			v.Severity == approver.Catastrophic && v.TTL > 0; got != want {
			t.Errorf("%s: %+v", when, v)
		}
	}
	asks("the first use", true)
	asks("after silence", true)
	s.answer(refund, false)
	s.restart()
	asks("after a no", true)
	s.answer(refund, true)
	asks("after a yes", false)
	s.restart()
	asks("after a restart", false)
	// A rule that people wrote for the tool decides.
	list := use("mcp__pay__list", "/home/ada/shop", 1000)
	if v := s.judge(list, approver.Pass); v.Decision != approver.Allow || !isNew(v) {
		t.Errorf("a rule that allows: %+v", v)
	}
	// The stages that judge a call that ran note no use.
	fresh := use("mcp__pay__charge", "/home/ada/shop", 1000)
	for range 2 {
		v, err := shieldcore.Using{Live: s.policy, Tools: s.tools}.Judge(t.Context(), fresh)
		if err != nil || v.Rule != shieldcore.RuleFirstUse {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

// awayKV is a store that does not answer.
type awayKV struct{ approver.KV }

func (awayKV) Get(context.Context, string) ([]byte, approver.Rev, error) {
	return nil, "", errors.New("no route to host")
}

// oddKV has a record of another form under every key.
type oddKV struct{ approver.KV }

func (oddKV) Get(context.Context, string) ([]byte, approver.Rev, error) {
	return []byte(`{"v":9}`), "r", nil
}

// Where the record cannot be read, a tool counts as new: people are asked if the policy asks.
func TestFirstUseWithoutAStore(t *testing.T) {
	s := openShop(t, ", first_use: {decision: ask}}")
	s.tools = &shieldcore.Tools{Store: awayKV{}}
	if v := s.judge(use("mcp__pay__refund", "/shop", 1000), approver.Pass); v.Decision != approver.Ask ||
		!strings.Contains(v.Detail, "cannot be read") || !strings.Contains(v.Detail, "no route to host") {
		t.Errorf("%+v", v)
	}
	s.tools.Store = oddKV{}
	if v := s.judge(use("mcp__pay__refund", "/shop", 1000), approver.Pass); v.Decision != approver.Ask {
		t.Errorf("a record of another form: %+v", v)
	}
	// Without a list of tools nothing is found.
	s.tools = nil
	if v := s.judge(use("mcp__pay__refund", "/shop", 1000), approver.Pass); v.Decision != approver.Pass || isNew(v) {
		t.Errorf("%+v", v)
	}
}

// Tools whose name does not say what they do are what the policy says, and no others.
func TestUnknownVerbs(t *testing.T) {
	for policy, want := range map[string]approver.Decision{
		"}":                                 approver.Pass,
		", unknown_verb: {decision: pass}}": approver.Pass,
		", unknown_verb: {decision: ask}}":  approver.Ask,
		", unknown_verb: {decision: deny}}": approver.Deny,
	} {
		s := openShop(t, policy)
		for tool, unknown := range map[string]bool{
			"mcp__x__frobnicate": true, "frobnicate": true, "mcp__x__delete_item": false, "mcp__x__get": false, "Read": false,
			"Task": false,
		} {
			v := s.judge(use(tool, "/shop", 1000))
			is := v.Rule == shieldcore.RuleUnknownVerb && v.Decision == want
			if is != (unknown && want < approver.Pass) || !is && v.Decision != approver.Pass {
				t.Errorf("%s %s: %+v", policy, tool, v)
			}
		}
	}
}

// Mistakes in both settings are told with their place; what makes one milder loosens.
func TestToolFindingsInFiles(t *testing.T) {
	at := func(text string) []byte {
		return []byte("version: 1\ndefault_ttl: 60s\ntools:\n  known: ['*']\n" + text)
	}
	for text, want := range map[string]string{
		"  first_use: {decision: allow}\n": `p.yaml:5:25: unknown decision "allow": one of pass, ask, deny`,
		"  first_use: {severity: high}\n": "p.yaml:5:3: first_use has no decision: " +
			"add decision: pass, ask or deny",
		"  first_use: {decision: pass, severity: high}\n": "p.yaml:5:41: severity is for a decision that asks: " +
			"leave it out",
		"  unknown_verb: {decision: ask, severity: low}\n":          "p.yaml:5:43: ",
		"  first_usage: {decision: ask}\n":                          `unknown key "first_usage": did you mean "first_use"?`,
		"rules: [{name: first_use, tools: ['*'], decision: ask}]\n": `"first_use" is the name of a built-in finding`,
	} {
		if _, err := shieldcore.Load("p.yaml", at(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	policy := func(text string) *shieldcore.Policy {
		p, err := shieldcore.Load("p.yaml", at(text))
		must(t, err)
		return p
	}
	for _, c := range []struct {
		old, next string
		loosens   bool
	}{
		{"", "  first_use: {decision: pass}\n", false},
		{"  first_use: {decision: pass}\n", "", false},
		{"", "  first_use: {decision: ask}\n", false},
		{"  first_use: {decision: ask}\n", "", true},
		{"  first_use: {decision: ask, severity: catastrophic}\n", "  first_use: {decision: ask}\n", true},
		{"  unknown_verb: {decision: deny}\n", "  unknown_verb: {decision: ask}\n", true},
		{"  unknown_verb: {decision: ask}\n", "  unknown_verb: {decision: deny}\n", false},
	} {
		if got := shieldcore.Compare(policy(c.old), policy(c.next)); got.Loosens() != c.loosens {
			t.Errorf("%q to %q: %s", c.old, c.next, got)
		}
	}
}
