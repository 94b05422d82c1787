package hooks

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/logging"
	"approver.example/httpapi"
)

// The story goes on: reports with such a session, and one with a folder like it, that
// cannot be read. Each is an alarm and freezes its agent; neither the log nor the audit
// nor the freeze has more of it than its beginning and its hash.
func TestAReportWithALongSessionIsAnAlarm(t *testing.T) {
	long := strings.Repeat("p", 300) + strings.Repeat(daemontest.ForgedLine, 2000)
	for name, c := range map[string]struct{ session, cwd, input, project string }{
		"a long session":                     {long, "/p", `{"command":"ls"}`, "/p"},
		"a long session, and not readable":   {"q" + long, "/p", `{"command":"ls","description":"\ud800"}`, "/p"},
		"a long folder":                      {"s", "/" + long, `{"command":"ls"}`, "/"},
		"both, and not readable":             {long, "/" + long, `{"command":"ls","description":"\ud800"}`, "/"},
		"a folder that is one byte too long": {"s", "/" + strings.Repeat("d", 4096), `{"command":"ls"}`, "/"},
	} {
		for _, event := range []string{"PostToolUse", "PostToolUseFailure"} {
			d, l, _ := newDecider()
			var out bytes.Buffer
			d.Log = logging.New(&out, configs.Log{})
			var held []broadcaster.Who
			d.Hold = func(_ context.Context, who broadcaster.Who, _, why string) (int, error) {
				held = append(held, who)
				if len(why)+len(who.Session)+len(who.Project) > 4096 {
					t.Errorf("%s: the freeze has %d bytes", name, len(why)+len(who.Session)+len(who.Project))
				}
				return 0, nil
			}
			payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q,"tool_name":"Bash","tool_input":%s,`+
				`"tool_use_id":"t","tool_response":{},"error":"e"}`, c.session, c.cwd, event, c.input)
			a := d.Hook(t.Context(),
				httpapi.HookRequest{Agent: "claude", CallID: "c", Event: event, Payload: []byte(payload),
					Peer: approver.Peer{Known: true, UID: 7}})
			if a.ExitZero || len(a.Stderr) == 0 || len(a.Stderr) > 4096 || l.Last().Event != approver.EventAlarm {
				t.Errorf("%s: %.300s, recorded as %s", name, a.Stderr, l.Last().Event)
			}
			if len(held) != 1 || held[0].Project != c.project || held[0].Session == "" || len(held[0].Session) > 256 {
				t.Errorf("%s: held %.600v", name, held)
			}
			if out.Len() == 0 || out.Len() >= daemontest.JournalLine || strings.Contains(out.String(), "msg=approved") {
				t.Errorf("%s: the log has %d bytes: %.400s", name, out.Len(), &out)
			}
		}
		// Before it runs, it is refused, and nobody is asked.
		d, l, _ := newDecider()
		payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash",`+
			`"tool_input":%s,"tool_use_id":"t"}`, c.session, c.cwd, c.input)
		a := d.Hook(t.Context(), httpapi.HookRequest{Agent: "claude", CallID: "c", Payload: []byte(payload)})
		if a.ExitZero || l.Last().Verdict.Rule != "payload" || l.Last().Verdict.Decision != approver.Deny {
			t.Errorf("%s: a call: %+v", name, l.Last().Verdict)
		}
	}
}
