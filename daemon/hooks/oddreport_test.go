package hooks

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/daemontest"
	"approver.example/httpapi"
)

const honestReport = `{"session_id":"s","cwd":"/p","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{` +
	`"command":"ls"},"tool_response":{"stdout":"x"},"tool_use_id":"toolu_1"}`

// The story: ls was judged and let go. Another hook put git push --force in its place
// (updatedInput), with half of a surrogate pair beside it. The report of that was
// refused as a payload that is not understood, with no alarm: the swap stayed hidden.
// A report that cannot be read is an alarm now, and freezes the agent.
func TestRanReportThatCannotBeRead(t *testing.T) {
	swap := func(old, repl string) string {
		out := strings.Replace(honestReport, old, repl, 1)
		if out == honestReport {
			t.Fatal(old)
		}
		return out
	}
	input := func(s string) string { return swap(`{"command":"ls"}`, s) }
	for name, tt := range map[string]struct {
		payload, event, project string
	}{
		"half a pair in the description": {input(`{"command":"git push --force","description":"\ud800"}`), "PostToolUse",
			"/p"},
		"half a pair, no flag":       {input(`{"command":"git push --force","description":"\ud800"}`), "", "/p"},
		"half a pair in the command": {input(`{"command":"git push \udc00"}`), "PostToolUse", "/p"},
		"NUL in the command":         {input(`{"command":"git push\u0000"}`), "PostToolUse", "/p"},
		"deep arguments": {input(`{"command":"x","y":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) +
			`}`), "PostToolUse", "/p"},
		"a key twice":             {input(`{"command":"ls","command":"rm x"}`), "PostToolUse", "/p"},
		"arguments are a list":    {input(`["rm"]`), "PostToolUse", "/p"},
		"no command":              {input(`{}`), "PostToolUse", "/p"},
		"no arguments":            {swap(`"tool_input":{"command":"ls"},`, ``), "PostToolUse", "/p"},
		"no id":                   {swap(`,"tool_use_id":"toolu_1"`, ``), "PostToolUse", "/p"},
		"an empty id":             {swap(`toolu_1`, ``), "PostToolUse", "/p"},
		"a long id":               {swap(`toolu_1`, strings.Repeat("x", 2000)), "PostToolUse", "/p"},
		"a tool with a blank":     {swap(`Bash`, `Ba sh`), "PostToolUse", "/p"},
		"no session":              {swap(`"session_id":"s",`, ``), "PostToolUse", "/p"},
		"no folder":               {swap(`"cwd":"/p",`, ``), "PostToolUse", "/"},
		"a relative folder":       {swap(`"/p"`, `"p"`), "PostToolUse", "/"},
		"an event twice":          {swap(`"cwd"`, `"hook_event_name":"PreToolUse","cwd"`), "PostToolUse", "/p"},
		"another event":           {swap(`PostToolUse`, `Notification`), "PostToolUse", "/p"},
		"the event before a tool": {swap(`PostToolUse`, `PreToolUse`), "PostToolUse", "/p"},
		"invalid UTF-8":           {input("{\"command\":\"git push \xff\"}"), "PostToolUse", "/p"},
		"cut off":                 {honestReport[:90], "PostToolUse", "/p"},
		"cut off, no flag":        {honestReport[:90], "", "/p"},
		"more behind":             {honestReport + "{}", "PostToolUse", "/p"},
		"no JSON":                 {"rm", "PostToolUseFailure", "/"},
		"nothing":                 {"", "PostToolUse", "/"},
		"a list":                  {"[" + honestReport + "]", "", "/"},
	} {
		t.Run(name, func(t *testing.T) {
			d, l, _ := newDecider()
			var held []broadcaster.Who
			d.Hold = func(_ context.Context, who broadcaster.Who, _, _ string) (int, error) {
				held = append(held, who)
				return 0, nil
			}
			send(t.Context(), d, "PreToolUse", "ls", "toolu_1")
			a := d.Hook(t.Context(),
				httpapi.HookRequest{Agent: "claude", CallID: "c", Event: tt.event, Payload: []byte(tt.payload),
					Peer: approver.Peer{Known: true, UID: 7}})
			if a.ExitZero || len(a.Stderr) == 0 {
				t.Errorf("answered %+v", a)
			}
			if got := l.Last(); got.Event != approver.EventAlarm || got.Call.Peer.UID != 7 {
				t.Errorf("recorded as %s: %s", got.Event, got.Note)
			}
			if len(held) != 1 || held[0].Project != tt.project || held[0].Agent != "claude" || held[0].Peer.UID != 7 {
				t.Errorf("held %+v", held)
			}
		})
	}
}

// What a call returned is not the agent's alone: a long, deep or odd result of a call
// that is the one that was judged freezes nobody, and hides no other call.
func TestRanReportWithAnOddResult(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for name, tt := range map[string]struct {
		old, repl, event string
		cut              bool
	}{
		"deep":          {`{"stdout":"x"}`, deep, "PostToolUse", false},
		"deep, no flag": {`{"stdout":"x"}`, deep, "", false},
		"a key twice":   {`{"stdout":"x"}`, `{"a":1,"a":2}`, "PostToolUse", false},
		"invalid UTF-8": {`{"stdout":"x"}`, "\"\xff\"", "PostToolUse", false},
		"none":          {`"tool_response":{"stdout":"x"},`, ``, "PostToolUse", false},
		"cut":           {`{"stdout":"x"}`, `null`, "PostToolUse", true},
		"an empty error": {`PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"x"}`,
			`PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"ls"},"error":""`, "PostToolUseFailure", false},
		"half a pair": {`PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"x"}`,
			`PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"ls"},"error":"\ud800"`, "", false},
	} {
		for command, want := range map[string]approver.Event{"ls": approver.EventRan, "rm x": approver.EventAlarm} {
			d, l, _ := newDecider()
			held := 0
			d.Hold = func(context.Context, broadcaster.Who, string, string) (int, error) { held++; return 0, nil }
			send(t.Context(), d, "PreToolUse", "ls", "toolu_1")
			payload := strings.Replace(strings.Replace(honestReport, tt.old, tt.repl, 1), `{"command":"ls"}`,
				fmt.Sprintf(`{"command":%q}`, command), 1)
			d.Hook(t.Context(), httpapi.HookRequest{Agent: "claude", CallID: "c", Event: tt.event, Cut: tt.cut,
				Payload: []byte(payload)})
			if got := l.Last(); got.Event != want || (held > 0) != (want == approver.EventAlarm) {
				t.Errorf("%s, %s: recorded as %s (%s), held %d", name, command, got.Event, got.Note, held)
			}
		}
	}
}

// A call that has not run and is not understood is refused, and freezes nobody.
func TestRefusedBeforeItRanIsNoAlarm(t *testing.T) {
	for _, payload := range []string{
		strings.Replace(honestReport, "PostToolUse", "PreToolUse", 1)[:120], "", "{}", "[]", "x",
		`{"hook_event_name":"PreToolUse","tool_input":{"hook_event_name":"PostToolUse"}}`,
		`{"x":"\"hook_event_name\":\"PostToolUse\""`, `{"hook_event_name":5}`,
	} {
		d, l, _ := newDecider()
		d.Hold = func(context.Context, broadcaster.Who, string, string) (int, error) {
			t.Errorf("%s: held", payload)
			return 0, nil
		}
		a := d.Hook(t.Context(), httpapi.HookRequest{Agent: "claude", CallID: "c", Payload: []byte(payload)})
		if a.ExitZero || l.Last().Event != approver.EventVerdict {
			t.Errorf("%s: %+v, %s", payload, a, l.Last().Event)
		}
	}
}

// The story: ls was judged, another hook put the form of a canary in its place, with a
// mkdir of its own first in PATH, and the report was taken for a test of the hook. It
// is one only if no other call is recorded under its id.
func TestACanaryHidesNoSwap(t *testing.T) {
	for name, tt := range map[string]struct {
		before []string
		want   approver.Event
	}{
		"nothing before":       {nil, approver.EventRan},
		"the canary, denied":   {[]string{daemontest.CanaryCommand + "deny"}, approver.EventAlarm},
		"ls":                   {[]string{"ls"}, approver.EventAlarm},
		"a denied call":        {[]string{"deny"}, approver.EventAlarm},
		"a denied call and ls": {[]string{"deny", "ls"}, approver.EventAlarm},
		"ls and a denied call": {[]string{"ls", "deny"}, approver.EventAlarm},
		"two denied calls":     {[]string{"deny", "deny x"}, approver.EventAlarm},
		"a canary of another token": {[]string{strings.Replace(daemontest.CanaryCommand, "0123", "1123", 1)},
			approver.EventAlarm},
		"the canary itself, let go first": {[]string{daemontest.CanaryCommand}, approver.EventAlarm},
	} {
		d, l, _ := newDecider()
		for _, c := range tt.before {
			send(t.Context(), d, "PreToolUse", c, "toolu_1")
		}
		send(t.Context(), d, "PostToolUse", daemontest.CanaryCommand, "toolu_1")
		got := l.Last()
		if name == "the canary itself, let go first" {
			tt.want = approver.EventRan // it was judged, and is the same
		}
		if got.Event != tt.want {
			t.Errorf("%s: recorded as %s: %s", name, got.Event, got.Note)
		}
	}
}
