package hooks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/judges"
	"approver.example/gate"
	"approver.example/httpapi"
	"approver.example/reflexcore/memory"
	"approver.example/shieldcore"
	"approver.example/store/sqlitestore"
)

// A shift is what judges honest calls over many starts: the real stages, a store on
// disk, and people who say yes.
type shift struct {
	t        testing.TB
	path     string
	store    *sqlitestore.Store
	stages   func(approver.KV) (judges, fresh []approver.Stage)
	audit    *daemontest.Ledger
	asked    int
	held     []broadcaster.Who
	replicas []*Decider
}

// A changer makes another call of one that says so.
type changer struct{}

func (changer) Judge(_ context.Context, c approver.ToolCall) (approver.Verdict, error) {
	v := approver.Verdict{Decision: approver.Pass, Severity: approver.High, By: "changer"}
	if c.Command == "change me" {
		v.Decision, v.Rule, v.Args = approver.Modify, "r", json.RawMessage(`{"command":"ls -la","timeout":"3000"}`)
	}
	return v, nil
}

func newShift(t testing.TB) *shift {
	cfg := configs.Default()
	lib, err := configs.NewLibrary(nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := judges.NewReflex(cfg, lib)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := cfg.LoadPolicy()
	if err != nil {
		t.Fatal(err)
	}
	screens, err := judges.LoadScreens()
	if err != nil {
		t.Fatal(err)
	}
	live := &shieldcore.Live{}
	live.Set(policy)
	s := &shift{t: t, path: filepath.Join(t.TempDir(), "db"), audit: &daemontest.Ledger{}}
	s.stages = func(kv approver.KV) ([]approver.Stage, []approver.Stage) {
		m := memory.New(kv, cfg.Reflex.Loop, slog.New(slog.DiscardHandler))
		engine.Memory = func(approver.ToolCall) *memory.Memory { return m }
		j := judges.Judges{Reflex: engine, Policy: live, Screens: screens(cfg.Shield.Classifier, engine.Rules)}
		return append(j.Stages(kv, nil), changer{}), append(j.Fresh(), changer{})
	}
	t.Cleanup(func() { _ = s.store.Close() })
	return s
}

// start starts n daemons on one store, after those before have ended.
func (s *shift) start(n int) {
	first := s.store == nil
	if !first {
		if err := s.store.Close(); err != nil {
			s.t.Fatal(err)
		}
	}
	log := slog.New(slog.DiscardHandler)
	var err error
	if s.store, err = sqlitestore.Open(sqlitestore.Config{Path: s.path}, log); err != nil {
		s.t.Fatal(err)
	}
	if first {
		if err := broadcaster.BeginControls(s.t.Context(), s.store); err != nil {
			s.t.Fatal(err)
		}
	}
	s.replicas = nil
	judges, fresh := s.stages(s.store)
	for range n {
		gate := &gate.Gate{Stages: judges, Fresh: fresh, Tiers: approver.TierScreen, Rewrite: Rewrite, Audit: s.audit,
			Log: log}
		gate.Ask = func(_ context.Context, _ approver.ToolCall, why approver.Verdict) approver.Verdict {
			s.asked++
			return approver.Verdict{Decision: approver.Allow, By: "people", Reason: "approved by Ada"}
		}
		s.replicas = append(s.replicas, &Decider{
			Gate: gate, Audit: s.audit, Log: log, Told: Outcomes{Store: s.store},
			Hold: func(_ context.Context, who broadcaster.Who, _, _ string) (int, error) {
				s.held = append(s.held, who)
				return 0, nil
			},
		})
	}
}

// A toolUse is a call before and after it ran; ran is what becomes of the disk.
type toolUse struct {
	tool        string
	pre, post   string // the input, and what it is at last if that is something else
	dir         string
	ran         func()
	id, session string
	courier     string // the id of the courier; the same for each use of an id unless it is set
}

func (s *shift) send(d *Decider, event string, u toolUse) httpapi.HookAnswer {
	input := u.pre
	if event != "PreToolUse" && u.post != "" {
		input = u.post
	}
	payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q,"tool_name":%q,"tool_input":%s,`+
		`"tool_use_id":%q,"tool_response":{"stdout":"x","stderr":""},"error":"exit 1"}`,
		u.session, u.dir, event, u.tool, input, u.id)
	return d.Hook(context.Background(), httpapi.HookRequest{
		Agent: "claude", CallID: "c" + u.id + u.courier, Payload: []byte(payload),
		Env: map[string]string{"HOME": "/home/ada"}, Peer: approver.Peer{Known: true, UID: 1000},
	})
}

// honestUses are calls as people's agents make them.
func honestUses(t *testing.T, project string) func(i int) toolUse {
	text, err := os.ReadFile("../../reflexcore/testdata/honest.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var line struct{ Command string }
		if err := json.Unmarshal(lines.Bytes(), &line); err == nil && line.Command != "" {
			commands = append(commands, line.Command)
		}
	}
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	file := func(i int) string { return filepath.Join(project, fmt.Sprintf("f%d.txt", i/12)) }
	return func(i int) toolUse {
		u := toolUse{dir: project, session: fmt.Sprint("s", i/100), id: fmt.Sprint("toolu_", i), ran: func() {}}
		set := func(tool, pre, post string) toolUse { u.tool, u.pre, u.post = tool, pre, post; return u }
		switch f := file(i); i % 12 {
		case 0:
			u.ran = func() { _ = os.WriteFile(f, []byte("a"), 0o600) }
			return set("Write", `{"file_path":`+quoted(f)+`,"content":"a"}`, "")
		case 1:
			return set("Edit", `{"file_path":`+quoted(f)+`,"old_string":"a","new_string":"b"}`,
				`{"file_path":`+quoted(f)+`,"old_string":"a","new_string":"b","replace_all":false}`)
		case 2:
			return set("Read", `{"file_path":`+quoted(f)+`,"limit":1}`, "")
		case 3:
			u.ran = func() { _ = os.Remove(f) }
			return set("Bash", `{"command":`+quoted("rm "+f)+`,"description":"d"}`, "")
		case 4:
			return set("Bash", `{"command":"git push --force origin main","description":"push"}`, "")
		case 5:
			return set("AskUserQuestion", `{"questions":[{"question":"q?"}]}`,
				`{"questions":[{"question":"q?"}],"answers":{"q?":"a"},"annotations":{}}`)
		case 6:
			return set("Bash", `{"command":"change me"}`, `{"command":"ls -la","timeout":3000}`)
		case 7:
			return set("WebFetch", `{"url":"https://docs.example.com/x","prompt":"what"}`, "")
		case 8:
			return set("Agent", `{"description":"d","prompt":"look at the tests","subagent_type":"general-purpose"}`, "")
		case 9:
			return set("TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`, "")
		default:
			u.dir = "/home/ada/shop"
			return set("Bash", `{"command":`+quoted(commands[(i*7)%len(commands)])+`}`, "")
		}
	}
}

// The story: a daemon was blind for a quarter of an hour after each start, because
// the report of a call that the former one had let through was like one of a call
// that nobody had judged. Now each report is looked at from the first second, and
// none of a thousand honest calls over twenty restarts is taken for a bypass: not
// those that people approved, nor those that a rule changed, nor those that reach
// another daemon than the one that answered.
func TestHonestAgentsAreNotFrozen(t *testing.T) {
	for _, daemons := range []int{1, 3} {
		t.Run(fmt.Sprint(daemons), func(t *testing.T) {
			s, use, random := newShift(t), honestUses(t, t.TempDir()), rand.New(rand.NewPCG(1, uint64(daemons)))
			s.start(daemons)
			var flight []toolUse
			some := func() *Decider { return s.replicas[random.IntN(daemons)] }
			ran, across := 0, 0
			land := func() {
				event := "PostToolUse"
				if ran%9 == 0 {
					event = "PostToolUseFailure"
				}
				s.send(some(), event, flight[0])
				flight, ran = flight[1:], ran+1
			}
			for i := 0; ran < 1000; i++ {
				u := use(i)
				if a := s.send(some(), "PreToolUse", u); !a.ExitZero {
					continue // it is denied: an honest agent does not run it
				}
				u.ran()
				if flight = append(flight, u); len(flight) == 8 {
					land()
				}
				if i%50 == 49 && i < 1000 {
					across += len(flight)
					s.start(daemons)
				}
			}
			for _, r := range s.audit.Records {
				if r.Event == approver.EventAlarm {
					t.Errorf("alarm about %s %s: %s (%s)", r.Call.Tool, r.Call.Args, r.Note, r.Verdict.Reason)
				}
			}
			if len(s.held) > 0 || s.asked < 50 || across < 100 {
				t.Errorf("%d freezes; %d calls were asked about, %d ran over a restart", len(s.held), s.asked, across)
			}
			t.Logf("%d calls ran, %d asked, %d over a restart", ran, s.asked, across)
		})
	}
}

// The story: people approved a push, and another hook of the same event put another
// command in its place. It ran; the report had the true input under the id of the
// approved call, and only the id was compared. Whatever differs now and does
// something is an alarm and freezes the agent, at once and after a restart.
func TestEveryDifferenceIsAnAlarm(t *testing.T) {
	bash := func(rest string) string { return `{"command":"git push --force origin main"` + rest + `}` }
	for name, u := range map[string]toolUse{
		"something behind it": {tool: "Bash", pre: bash(""),
			post: `{"command":"git push --force origin main && touch pwned"}`},
		"something before it": {tool: "Bash", pre: bash(""),
			post: `{"command":"touch pwned; git push --force origin main"}`},
		"another branch":        {tool: "Bash", pre: bash(""), post: `{"command":"git push --force origin prod"}`},
		"a space more":          {tool: "Bash", pre: bash(""), post: `{"command":"git push --force origin main "}`},
		"another letter's case": {tool: "Bash", pre: bash(""), post: `{"command":"git push --Force origin main"}`},
		"an invisible character": {tool: "Bash", pre: bash(""),
			post: `{"command":"git push --force origin main\u200b"}`},
		"a line more": {tool: "Bash", pre: bash(""),
			post: `{"command":"git push --force origin main\ntouch pwned"}`},
		"in the background":   {tool: "Bash", pre: bash(""), post: bash(`,"run_in_background":true`)},
		"without the sandbox": {tool: "Bash", pre: bash(""), post: bash(`,"dangerouslyDisableSandbox":true`)},
		"another time":        {tool: "Bash", pre: bash(`,"timeout":1000`), post: bash(`,"timeout":2000`)},
		"a time less":         {tool: "Bash", pre: bash(`,"timeout":1000`), post: bash("")},
		"an unknown argument": {tool: "Bash", pre: bash(""), post: bash(`,"shell":"/tmp/sh"`)},
		"an unknown false":    {tool: "Bash", pre: bash(""), post: bash(`,"sandbox":false`)},
		"an unknown null":     {tool: "Bash", pre: bash(""), post: bash(`,"env":null`)},
		"an edit that was simulated": {tool: "Bash", pre: bash(""),
			post: bash(`,"_simulatedSedEdit":{"filePath":"/etc/passwd","newContent":"x"}`)},
		"another file": {tool: "Write", pre: `{"file_path":"/p/a","content":"x"}`,
			post: `{"file_path":"/p/b","content":"x"}`},
		"another text": {tool: "Write", pre: `{"file_path":"/p/a","content":"x"}`,
			post: `{"file_path":"/p/a","content":"y"}`},
		"an empty text": {tool: "Write", pre: `{"file_path":"/p/a","content":"x"}`,
			post: `{"file_path":"/p/a","content":""}`},
		"every place": {tool: "Edit", pre: `{"file_path":"/p/a","old_string":"a","new_string":"b"}`,
			post: `{"file_path":"/p/a","old_string":"a","new_string":"b","replace_all":true}`},
		"one place": {tool: "Edit",
			pre:  `{"file_path":"/p/a","old_string":"a","new_string":"b","replace_all":true}`,
			post: `{"file_path":"/p/a","old_string":"a","new_string":"b"}`},
		"old and new swapped": {tool: "Edit", pre: `{"file_path":"/p/a","old_string":"a","new_string":"b"}`,
			post: `{"file_path":"/p/a","old_string":"b","new_string":"a"}`},
		"another address": {tool: "WebFetch", pre: `{"url":"https://a.example/","prompt":"p"}`,
			post: `{"url":"https://b.example/","prompt":"p"}`},
		"another task": {tool: "Agent", pre: `{"description":"d","prompt":"p"}`,
			post: `{"description":"d","prompt":"q"}`},
		"another description": {tool: "Agent", pre: `{"description":"d","prompt":"p"}`,
			post: `{"description":"e","prompt":"p"}`},
		"a server's argument": {tool: "mcp__db__query", pre: `{"sql":"select 1"}`, post: `{"sql":"select 2"}`},
		"a server's description": {tool: "mcp__db__query", pre: `{"sql":"select 1","description":"a"}`,
			post: `{"sql":"select 1","description":"b"}`},
		"deep inside": {tool: "mcp__db__query", pre: `{"q":{"a":[1,{"b":2}]}}`,
			post: `{"q":{"a":[1,{"b":3}]}}`},
		"another order of a list": {tool: "mcp__db__query", pre: `{"q":[1,2]}`, post: `{"q":[2,1]}`},
		"a number beyond a float": {tool: "mcp__db__query", pre: `{"id":9007199254740993}`,
			post: `{"id":9007199254740992}`},
		"a value under another key": {tool: "mcp__db__query", pre: `{"a":"xy","b":""}`, post: `{"a":"x","b":"y"}`},
		"a key less":                {tool: "mcp__db__query", pre: `{"a":1,"b":2}`, post: `{"a":1}`},
		"nothing at all":            {tool: "mcp__db__query", pre: `{"a":1}`, post: `{}`},
		"other questions": {tool: "AskUserQuestion", pre: `{"questions":[{"question":"q?"}]}`,
			post: `{"questions":[{"question":"r?"}],"answers":{"r?":"a"}}`},
		"what a rule had changed": {tool: "Bash", pre: `{"command":"change me"}`, post: `{"command":"change me"}`},
		"more than a rule had changed": {tool: "Bash", pre: `{"command":"change me"}`,
			post: `{"command":"ls -la","timeout":9000}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, l, _ := newDecider()
			all := []approver.Stage{yes{}, changer{}}
			d.Gate.Stages, d.Gate.Fresh, d.Gate.Rewrite = all, all, Rewrite
			var held []broadcaster.Who
			d.Hold = func(_ context.Context, who broadcaster.Who, by, reason string) (int, error) {
				held = append(held, who)
				return 0, nil
			}
			u.dir, u.id, u.session = "/p", "toolu_1", "s"
			s := &shift{t: t}
			if a := s.send(d, "PreToolUse", u); !a.ExitZero {
				t.Fatalf("the call is not let through: %s", a.Stderr)
			}
			s.send(d, "PostToolUse", u)
			if got := l.Last(); got.Event != approver.EventAlarm ||
				!strings.HasSuffix(got.Note, "what ran is not what was judged") {
				t.Errorf("recorded as %s with %q", got.Event, got.Note)
			}
			want := broadcaster.Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude", Project: "/p", Session: "s"}
			if len(held) != 1 || held[0] != want {
				t.Errorf("frozen: %+v", held)
			}
		})
	}
}

// yes is a stage of rules that let everything go.
type yes struct{}

func (yes) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict{Decision: approver.Pass, Severity: approver.High}, nil
}

// What an approved call was is known to the next daemon too: another input under its
// id is an alarm there, and so is a second report of it.
func TestADifferenceIsSeenAfterARestart(t *testing.T) {
	s := newShift(t)
	s.start(1)
	push := toolUse{tool: "Bash", pre: `{"command":"git push --force origin main"}`, dir: "/home/ada/shop", session: "s",
		id: "toolu_1"}
	if a := s.send(s.replicas[0], "PreToolUse", push); !a.ExitZero || s.asked != 1 {
		t.Fatalf("%+v, %d asked", a, s.asked)
	}
	again := push
	again.id = "toolu_2"
	s.send(s.replicas[0], "PreToolUse", again)
	s.start(2)
	push.post = `{"command":"git push --force origin prod"}`
	s.send(s.replicas[1], "PostToolUse", push)
	if got := s.audit.Last(); got.Event != approver.EventAlarm ||
		!strings.HasSuffix(got.Note, "what ran is not what was judged") {
		t.Errorf("another input is recorded as %s with %q", got.Event, got.Note)
	}
	s.send(s.replicas[0], "PostToolUse", again)
	if got := s.audit.Last(); got.Event != approver.EventRan {
		t.Errorf("the approved call is recorded as %s with %q", got.Event, got.Note)
	}
	// The answer to the report was lost, because the daemon was killed: its courier
	// comes back with it. That is no second run, and must freeze nobody.
	s.start(2)
	s.send(s.replicas[0], "PostToolUse", again)
	if got := s.audit.Last(); got.Event != approver.EventRan || !strings.HasSuffix(got.Note, "the same report again") ||
		len(s.held) != 1 {
		t.Errorf("the report that came back is recorded as %s with %q, %d freezes", got.Event, got.Note, len(s.held))
	}
	again.courier = "2"
	s.send(s.replicas[1], "PostToolUse", again)
	if got := s.audit.Last(); got.Event != approver.EventAlarm || !strings.HasSuffix(got.Note, "it ran a second time") {
		t.Errorf("the second report is recorded as %s with %q", got.Event, got.Note)
	}
	never := toolUse{tool: "Bash", pre: `{"command":"git push --force origin main"}`, dir: "/home/ada/shop", session: "s",
		id: "toolu_3"}
	s.send(s.replicas[0], "PostToolUse", never)
	if got := s.audit.Last(); got.Event != approver.EventAlarm || !strings.HasSuffix(got.Note, "judged afresh: ask") ||
		len(s.held) != 3 {
		t.Errorf("a call that was never judged is recorded as %s with %q, %d freezes", got.Event, got.Note, len(s.held))
	}
}
