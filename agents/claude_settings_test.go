package agents

import (
	"strings"
	"testing"

	"approver.example"
)

// A change of settings is taken with a Pass and with nothing else: what is not
// understood exactly, and every other verdict, blocks it.
func TestClaudeConfigChange(t *testing.T) {
	const good = `{"session_id":"s","transcript_path":"/h/.claude/projects/-p/s.jsonl","cwd":"/p",` +
		`"hook_event_name":"ConfigChange","source":"user_settings","file_path":"/h/.claude/settings.json"}`
	ev, err := Claude{}.Decode([]byte(good))
	if err != nil || ev.Kind != Settings || ev.Changed != "/h/.claude/settings.json" || ev.Home != "/h/.claude" ||
		ev.Call.Dir != "/p" || ev.Call.Session != "s" {
		t.Fatalf("%+v, %v", ev, err)
	}
	for d := approver.Deny; d <= approver.Allow; d++ {
		a := Claude{}.Encode(ev, approver.Verdict{Decision: d, Reason: "why"})
		if passes := d == approver.Pass; passes != (a.Exit() == 0) ||
			!passes && string(a.Stdout) != `{"decision":"block","reason":"why"}`+"\n" {
			t.Errorf("%v: exit %d, %s", d, a.Exit(), a.Stdout)
		}
	}
	for old, repl := range map[string]string{
		`"source":"user_settings"`:                `"source":"banana"`,
		`"source":"user_settings",`:               ``,
		`,"file_path":"/h/.claude/settings.json"`: ``,
		`"/h/.claude/settings.json"`:              `"settings.json"`,
		`settings.json"`:                          `settings.json\u0000"`,
		`"cwd":"/p"`:                              `"cwd":"p"`,
		`"session_id":"s",`:                       ``,
		`"/h/.claude/projects/-p/s.jsonl"`:        `5`,
		`"source":`:                               `"source":"skills","source":`,
	} {
		if ev, err := (Claude{}).Decode([]byte(strings.Replace(good, old, repl, 1))); err == nil || ev.Kind != Unknown {
			t.Errorf("%s: %+v", repl, ev)
		}
	}
	elsewhere := strings.Replace(good, "/h/.claude/projects/-p/s.jsonl", "x/projects/s", 1)
	if ev, err := (Claude{}).Decode([]byte(elsewhere)); err != nil || ev.Home != "" {
		t.Errorf("a relative transcript gives the home %q, %v", ev.Home, err)
	}
}
