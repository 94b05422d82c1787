package checks

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"approver.example"
	"approver.example/httpapi"
)

// An asker asks people about every call, and keeps when the agent is told to come back.
type asker struct{ parkAt time.Time }

func (a *asker) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict{Decision: approver.Ask}, nil
}

func (a *asker) ask(_ context.Context, call approver.ToolCall, _ approver.Verdict) approver.Verdict {
	a.parkAt = call.ParkAt
	return approver.Verdict{}
}

// The story: somebody set the timeout of the hook to a minute. People were asked for two minutes, the
// courier waited with them, and after one minute Claude Code gave up on the hook and ran the call.
// Now the agent is told to come back before that, and an approval that comes later holds for that call.
func TestAShortenedHookParksInTime(t *testing.T) {
	const courier = 290 * time.Second
	for name, tt := range map[string]struct {
		timeout   string
		remaining time.Duration
		want      time.Duration // zero: never
	}{
		"as installed":          {"", courier, 0},
		"a minute":              {"60", courier, 58 * time.Second},
		"a minute, half gone":   {"60", courier - 30*time.Second, 28 * time.Second},
		"a minute, all gone":    {"60", courier - 70*time.Second, 0},
		"a second":              {"1", courier, 0},
		"one second too short":  {"290", courier, 288 * time.Second},
		"longer than installed": {"3000", courier, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := newClaudeMachine(t)
			if tt.timeout != "" {
				m.write(m.settings, regexp.MustCompile(`"timeout": *\d+`).ReplaceAllString(m.read(), `"timeout":`+tt.timeout))
			}
			m.watch.Look(t.Context())
			a := &asker{}
			m.decide.Gate.Stages, m.decide.Gate.Ask = []approver.Stage{a}, a.ask
			payload := fmt.Sprintf(`{"session_id":"s","transcript_path":"%[1]s/t.jsonl","cwd":"%[1]s",`+
				`"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",`+
				`"tool_input":{"command":"make"},"tool_use_id":"u"}`, m.dir)
			before := time.Now()
			m.decide.Hook(t.Context(), httpapi.HookRequest{
				Agent: "claude", CallID: "c", Payload: []byte(payload), Deadline: tt.remaining,
			})
			switch never := tt.timeout == "" || tt.timeout == "3000"; {
			case never && !a.parkAt.IsZero():
				t.Errorf("it is parked after %s", a.parkAt.Sub(before))
			case !never && (a.parkAt.Before(before.Add(tt.want)) || a.parkAt.After(time.Now().Add(tt.want))):
				t.Errorf("it is parked after %s, want %s", a.parkAt.Sub(before), tt.want)
			}
		})
	}
}
