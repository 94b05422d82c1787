package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/gate"
	"approver.example/httpapi"
	"approver.example/httpapi/peercred"
)

// The agent's own questions: whom they reach and when, and that nothing runs by silence.

// rules say what approver's own rules find in a command.
type rules struct{}

func (rules) Judge(_ context.Context, call approver.ToolCall) (approver.Verdict, error) {
	v := approver.Verdict{Decision: approver.Pass, Severity: approver.High, By: "policy", Rule: "r", Reason: "a rule"}
	for word, d := range map[string]approver.Decision{"deny": approver.Deny, "ask": approver.Ask, "warn": approver.Warn,
		"allow": approver.Allow} {
		if strings.HasPrefix(call.Command, word) {
			v.Decision = d
		}
	}
	return v, nil
}

// questioned is a decider with people who answer with one verdict, and what they were asked.
type questioned struct {
	mu sync.Mutex
	*Decider
	asked []approver.Verdict
	calls []approver.ToolCall
}

func newQuestioned(
	mode configs.Prompts, say func(ctx context.Context, why approver.Verdict) approver.Verdict,
) *questioned {
	d, audit, _ := newDecider()
	q := &questioned{Decider: d}
	g := &gate.Gate{Audit: audit, Log: d.Log, Ask: func(ctx context.Context, call approver.ToolCall,
		why approver.Verdict) approver.Verdict {
		q.mu.Lock()
		q.asked, q.calls = append(q.asked, why), append(q.calls, call)
		q.mu.Unlock()
		return say(ctx, why)
	}}
	prompts := *g
	g.Stages, prompts.Stages = []approver.Stage{rules{}}, []approver.Stage{rules{}, PromptStage{}}
	d.Gate, d.Prompts = g, &prompts
	d.Agents = configs.Agents{"claude": {Prompts: mode, AwayAfter: 30 * time.Second}}
	d.Stands = func(context.Context, approver.Yes, approver.ToolCall) error { return nil }
	return q
}

func (q *questioned) question(ctx context.Context, command string, alone bool) httpapi.HookAnswer {
	const suggestions = `[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`
	return q.Hook(ctx, httpapi.HookRequest{
		Agent: "claude", CallID: "q " + command, Peer: approver.Peer{Known: true, UID: 7, PID: 77}, Alone: alone,
		Root: peercred.Root(), Deadline: time.Minute, Payload: fmt.Appendf(nil, `{"session_id":"s","cwd":"/p",`+
			`"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":%q},"permission_suggestions":%s}`,
			command, suggestions),
	})
}

func word(a httpapi.HookAnswer) string {
	switch {
	case strings.Contains(string(a.Stdout), `"behavior":"allow"`) && a.ExitZero:
		return "allow"
	case strings.Contains(string(a.Stdout), `"behavior":"deny"`) && !a.ExitZero:
		return "deny"
	case a.ExitZero && len(a.Stdout)+len(a.Stderr) == 0:
		return "silence"
	}
	return fmt.Sprintf("%+v %s", a, a.Stdout)
}

func people(
	d approver.Decision, change ...func(*approver.Verdict),
) func(context.Context, approver.Verdict) approver.Verdict {
	return func(_ context.Context, why approver.Verdict) approver.Verdict {
		why.Decision, why.By, why.Reason = d, approver.ByPeople, "said by Ada"
		for _, f := range change {
			f(&why)
		}
		return why
	}
}

func TestWhoIsAskedAnOwnQuestion(t *testing.T) {
	unanswered := func(v *approver.Verdict) { v.Unanswered = true }
	yes, no, silence := people(approver.Allow), people(approver.Deny), people(approver.Deny, unanswered)
	for name, c := range map[string]struct {
		mode    configs.Prompts
		command string
		alone   bool
		say     func(context.Context, approver.Verdict) approver.Verdict
		want    string
		asked   string // "", rule or own
	}{
		"alone, yes":              {configs.PromptsAway, "touch", true, yes, "allow", "own"},
		"alone, no":               {configs.PromptsAway, "touch", true, no, "deny", "own"},
		"alone, silence":          {configs.PromptsAway, "touch", true, silence, "deny", "own"},
		"the default, alone":      {"", "touch", true, yes, "allow", "own"},
		"the default, unseen":     {"", "touch", false, yes, "silence", ""},
		"always, a dialog, yes":   {configs.PromptsAlways, "touch", false, yes, "allow", "own"},
		"always, a dialog, no":    {configs.PromptsAlways, "touch", false, no, "deny", "own"},
		"a dialog, silence":       {configs.PromptsAlways, "touch", false, silence, "silence", "own"},
		"never, alone":            {configs.PromptsNever, "touch", true, yes, "silence", ""},
		"never, a rule asks":      {configs.PromptsNever, "ask", true, yes, "allow", "rule"},
		"a rule denies":           {configs.PromptsAlways, "deny", true, yes, "deny", ""},
		"never, a rule denies":    {configs.PromptsNever, "deny", true, yes, "deny", ""},
		"a rule asks":             {configs.PromptsAlways, "ask", true, yes, "allow", "rule"},
		"a rule asks, silence":    {configs.PromptsAlways, "ask", false, silence, "deny", "rule"},
		"a rule asks, unseen":     {configs.PromptsAway, "ask", false, yes, "allow", "rule"},
		"a rule allows":           {configs.PromptsAlways, "allow", true, no, "allow", ""},
		"a rule warns":            {configs.PromptsAlways, "warn", true, yes, "allow", "own"},
		"people who say modify":   {configs.PromptsAlways, "touch", true, people(approver.Modify), "deny", "own"},
		"a freeze meanwhile":      {configs.PromptsAlways, "touch", false, people(approver.Deny), "deny", "own"},
		"a mode nobody can write": {"sometimes", "touch", false, yes, "allow", "own"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQuestioned(c.mode, c.say)
			answer := q.question(t.Context(), c.command, c.alone)
			if got := word(answer); got != c.want {
				t.Errorf("the answer is %s, want %s", got, c.want)
			}
			// Only a yes of people is used up, which the courier has to confirm.
			if used := c.want == "allow" && c.asked != ""; answer.Ack != used {
				t.Errorf("it is to be confirmed: %v", answer.Ack)
			}
			switch {
			case c.asked == "" && len(q.asked) > 0, c.asked != "" && len(q.asked) != 1:
				t.Fatalf("people were asked %d times", len(q.asked))
			case c.asked == "":
				return
			}
			why := q.asked[0]
			if why.Prompt != (c.asked == "own") || why.Severity != approver.High {
				t.Errorf("people were asked %+v", why)
			}
			if offers := c.asked == "own" && c.command != "warn"; (len(why.Choices) > 0) != offers {
				t.Errorf("people were offered %+v", why.Choices)
			}
			if !q.calls[0].ParkAt.IsZero() {
				t.Error("a question is parked, and the agent does not come back with it")
			}
		})
	}
}

// Away means that nobody types. Before the time is over nobody is asked; a key after the question
// appeared leaves it to the dialog for good.
func TestAway(t *testing.T) {
	for name, c := range map[string]struct {
		idle  time.Duration // of the terminal when the question comes
		key   time.Duration // after it somebody types; zero: nobody does
		takes time.Duration
		want  string
	}{
		"gone for long":          {time.Hour, 0, 30 * time.Second, "allow"},
		"gone just now":          {time.Second, 0, 30 * time.Second, "allow"},
		"somebody is there":      {10 * time.Second, 3 * time.Second, 3 * time.Second, "silence"},
		"somebody comes back":    {time.Hour, 20 * time.Second, 20 * time.Second, "silence"},
		"the key comes too late": {time.Hour, 40 * time.Second, 30 * time.Second, "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQuestioned(configs.PromptsAway, people(approver.Allow))
				began := time.Now()
				q.Typed = func(pid int32) (time.Time, bool) {
					if pid != 77 {
						t.Errorf("the terminal of %d is looked at", pid)
					}
					if c.key > 0 && time.Since(began) >= c.key {
						return began.Add(c.key), true
					}
					return began.Add(-c.idle), true
				}
				got := word(q.question(t.Context(), "touch", false))
				if took := time.Since(began); got != c.want || took < c.takes || took > c.takes+lookAgain {
					t.Errorf("%s after %v, want %s after %v", got, took, c.want, c.takes)
				}
			})
		})
	}
	t.Run("the terminal of another system", func(t *testing.T) {
		q := newQuestioned(configs.PromptsAway, people(approver.Allow))
		q.Typed = func(int32) (time.Time, bool) {
			t.Error("it is looked at, and its processes have other numbers here")
			return time.Now().Add(-time.Hour), true
		}
		if q.away(t.Context(), httpapi.HookRequest{Agent: "claude", Root: "elsewhere"}, time.Now().Add(-time.Hour)) {
			t.Error("somebody is said to be away")
		}
	})
	t.Run("no terminal", func(t *testing.T) {
		q := newQuestioned(configs.PromptsAway, people(approver.Allow))
		q.Typed = func(int32) (time.Time, bool) { return time.Time{}, false }
		if got := word(q.question(t.Context(), "touch", false)); got != "silence" || len(q.asked) > 0 {
			t.Errorf("%s, asked %d", got, len(q.asked))
		}
	})
}

// The agent's user said yes in the dialog: Claude Code does not end the hook, so the report of the call
// ends the question. Reports of other calls, sessions and users do not.
func TestAReportEndsAQuestion(t *testing.T) {
	report := func(command string) string { return `"tool_name":"Bash","tool_input":{"command":"` + command + `"}` }
	for name, c := range map[string]struct {
		event, more, session, dir string
		uid                       uint32
		ends                      bool
	}{
		"it ran":           {"PostToolUse", report("touch") + `,"tool_use_id":"1","tool_response":{}`, "s", "/p", 7, true},
		"it failed":        {"PostToolUseFailure", report("touch") + `,"tool_use_id":"1","error":"no"`, "s", "/p", 7, true},
		"its turn is over": {"PostToolBatch", `"tool_calls":[{"tool_use_id":"1"}]`, "s", "/p", 7, true},
		// Of a call that changes the folder, Claude Code reports the new one.
		"it ran, and left the folder": {"PostToolUse", report("touch") + `,"tool_use_id":"1","tool_response":{}`, "s",
			"/p/sub", 7, true},
		"its turn is over in another folder": {"PostToolBatch", `"tool_calls":[{"tool_use_id":"1"}]`, "s", "/p/sub", 7, true},
		"another turn":                       {"PostToolBatch", `"tool_calls":[{"tool_use_id":"2"}]`, "s", "/p", 7, false},
		"another call": {"PostToolUse", report("other") + `,"tool_use_id":"2","tool_response":{}`, "s", "/p", 7,
			false},
		"another session": {"PostToolUse", report("touch") + `,"tool_use_id":"3","tool_response":{}`, "t", "/p", 7,
			false},
		"another user": {"PostToolUse", report("touch") + `,"tool_use_id":"1","tool_response":{}`, "s", "/p", 8,
			false},
		"another folder": {"PostToolUse", report("touch") + `,"tool_use_id":"3","tool_response":{}`, "s", "/p/sub",
			7, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var why error
				q := newQuestioned(configs.PromptsAlways, func(ctx context.Context, v approver.Verdict) approver.Verdict {
					select {
					case <-ctx.Done():
						why = context.Cause(ctx)
					case <-time.After(time.Minute):
					}
					return v.Blocked("nobody", "nobody")
				})
				send := func(event, more, session, dir string, uid uint32) {
					q.Hook(t.Context(), httpapi.HookRequest{
						Agent: "claude", CallID: event + more, Peer: approver.Peer{Known: true, UID: uid}, Deadline: time.Minute,
						Payload: []byte(`{"session_id":"` + session + `","cwd":"` + dir + `","hook_event_name":"` + event + `",` +
							more + `}`),
					})
				}
				send("PreToolUse", report("touch")+`,"tool_use_id":"1"`, "s", "/p", 7)
				send("PreToolUse", report("other")+`,"tool_use_id":"2"`, "s", "/p", 7)
				got := make(chan string)
				go func() { got <- word(q.question(t.Context(), "touch", false)) }()
				synctest.Wait()
				send(c.event, c.more, c.session, c.dir, c.uid)
				synctest.Wait()
				want := "deny"
				if c.ends {
					want = "silence"
				}
				if answer := <-got; answer != want || errors.Is(why, approver.ErrAtDesk) != c.ends {
					t.Errorf("%s, %v", answer, why)
				}
				if len(q.waiting.all) != 0 {
					t.Errorf("%d questions are left", len(q.waiting.all))
				}
			})
		})
	}
}

// A rule that allows does not let a call go that plan mode holds back, nor would people who say yes to a
// rule's question: so they are not asked, and the record does not say that the call was let go. What a rule
// denies is denied there, too.
func TestPlanModeHolds(t *testing.T) {
	for command, want := range map[string]string{"allow": "silence", "ask": "silence", "touch": "silence",
		"deny": "deny"} {
		q := newQuestioned(configs.PromptsAlways, people(approver.Allow))
		a := q.Hook(t.Context(), httpapi.HookRequest{
			Agent: "claude", CallID: "c", Peer: approver.Peer{Known: true, UID: 7}, Deadline: time.Minute, Alone: true,
			Payload: fmt.Appendf(nil, `{"session_id":"s","cwd":"/p","hook_event_name":"PermissionRequest",`+
				`"permission_mode":"plan","tool_name":"Bash","tool_input":{"command":%q}}`, command),
		})
		if word(a) != want || len(q.asked) > 0 {
			t.Errorf("%s: %s, want %s; people were asked %d times", command, word(a), want, len(q.asked))
		}
		recorded := map[string]approver.Decision{"silence": approver.Pass, "deny": approver.Deny}[want]
		if last := q.Audit.(*daemontest.Ledger).Last(); last.Verdict.Decision != recorded {
			t.Errorf("%s: recorded as %v, and the agent was told %s", command, last.Verdict.Decision, want)
		}
	}
}

// People said yes to the call itself, and Claude Code asks about it as well. That is one question: the
// yes answers both, but not what plan mode refuses.
func TestAYesAnswersTheOwnQuestion(t *testing.T) {
	for _, c := range []struct {
		mode  configs.Prompts
		claim string
		want  string
	}{
		{configs.PromptsAway, "default", "allow"}, {"", "default", "allow"}, {configs.PromptsAlways, "", "allow"},
		{configs.PromptsAway, "plan", "silence"}, {configs.PromptsNever, "default", "silence"},
	} {
		q := newQuestioned(c.mode, people(approver.Allow))
		send := func(event string) httpapi.HookAnswer {
			return q.Hook(t.Context(), httpapi.HookRequest{
				Agent: "claude", CallID: event, Peer: approver.Peer{Known: true, UID: 7}, Deadline: time.Minute, Alone: true,
				Payload: fmt.Appendf(nil, `{"session_id":"s","cwd":"/p","hook_event_name":%q,"permission_mode":%q,`+
					`"tool_name":"Bash","tool_input":{"command":"ask"},"tool_use_id":"1"}`, event, c.claim),
			})
		}
		send("PreToolUse")
		if got := word(send("PermissionRequest")); got != c.want || len(q.asked) != 1 {
			t.Errorf("%+v: %s, asked %d times", c, got, len(q.asked))
		}
	}
}

// The story: people said yes to a call, and Claude Code refused it by a rule of its own. Within the minute it
// asked about the same call again, which nothing had put before people, and the old yes answered that. A yes
// ends with the turn of its call.
func TestAYesEndsWithItsTurn(t *testing.T) {
	said := []string{"yes", "no"}
	q := newQuestioned(configs.PromptsAlways, func(ctx context.Context, why approver.Verdict) approver.Verdict {
		d := map[string]approver.Decision{"yes": approver.Allow, "no": approver.Deny}[said[0]]
		said = said[1:]
		return people(d)(ctx, why)
	})
	send := func(event, more string) httpapi.HookAnswer {
		return q.Hook(t.Context(), httpapi.HookRequest{
			Agent: "claude", CallID: event, Peer: approver.Peer{Known: true, UID: 7}, Deadline: time.Minute,
			Payload: fmt.Appendf(nil, `{"session_id":"s","cwd":"/p","hook_event_name":%q,"tool_name":"Bash",`+
				`"tool_input":{"command":"ask"},%s}`, event, more),
		})
	}
	send("PreToolUse", `"tool_use_id":"1"`)
	send("PostToolBatch", `"tool_calls":[{"tool_use_id":"1"}]`)
	if got := word(send("PermissionRequest", `"permission_mode":"default"`)); got != "deny" || len(q.asked) != 2 {
		t.Errorf("%s, asked %d times", got, len(q.asked))
	}
}

// The story: people said yes to the agent's own question, and another program's hook said no to it. The
// card said "Approved", and nothing more. The yes is one to the call that was asked about: what becomes
// of that call is told of it. Where nobody can say which call it was about, nothing is told.
func TestWhatBecameOfAnApprovedQuestion(t *testing.T) {
	deny := people(approver.Deny)
	for name, c := range map[string]struct {
		say  func(context.Context, approver.Verdict) approver.Verdict
		play func(*playedTurn) httpapi.HookAnswer
		want string
	}{
		"refused": {nil, steps("pre a 1; prompt a; over 1"), "call2 not_run uid 7"},
		"it ran":  {nil, steps("pre a 1; prompt a; post a 1; over 1"), "call2 ran uid 7"},
		"it ran after all": {nil, steps("pre a 1; prompt a; over 1; post a 1"),
			"call2 not_run uid 7, call2 ran uid 7"},
		"one of two": {nil, steps("pre a 1; pre b 2; prompt a; prompt b; post b 2; over 1 2"),
			"call4 ran uid 7, call3 not_run uid 7"},
		"the turn goes on":      {nil, steps("pre a 1; prompt a"), ""},
		"another turn":          {nil, steps("pre a 1; prompt a; over 2"), ""},
		"denied":                {deny, steps("pre a 1; prompt a; over 1"), ""},
		"no such call":          {nil, steps("pre a 1; prompt b; over 1"), ""},
		"the call alone":        {nil, steps("prompt a; post a 1; over 1"), ""},
		"two that are the same": {nil, steps("pre a 1; pre a 2; prompt a; post a 1; over 1 2"), ""},
		"refused, and made again": {nil, steps("pre a 1; prompt a; over 1; pre a 2; prompt a; post a 2; over 2"),
			"call2 not_run uid 7, call5 ran uid 7"},
		"a call that rules ask about has its own yes": {nil, steps("pre ask 1; prompt ask; over 1"), "call1 not_run uid 7"},
		"judged like a call": {nil, func(s *playedTurn) httpapi.HookAnswer {
			s.pre("a", "1")
			s.d.Prompts, s.d.Gate.Stages = nil, []approver.Stage{s.people}
			return steps("prompt a; over 1")(s)
		}, "call2 not_run uid 7"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.say == nil {
				c.say = people(approver.Allow)
			}
			s := newTurn(t)
			q := newQuestioned(configs.PromptsAlways, c.say)
			q.Became, s.d = s.d.Became, q.Decider
			c.play(s)
			if got := strings.Join(s.told, ", "); got != c.want {
				t.Errorf("people are told %q, want %q", got, c.want)
			}
		})
	}
}
