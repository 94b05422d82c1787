package reporting

import (
	"fmt"
	"testing"
	"time"

	"approver.example"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/daemon/daemontest"
	"approver.example/shieldcore"
)

// The story: report said of a call that a rule for the agent's user had denied "judged
// again now, alone: ask", because it judged it as root.
func TestReportJudgesACallAsTheUserItWasOf(t *testing.T) {
	policy := judging.Flags{Policy: daemontest.UIDPolicy(t)}
	at := time.Now()
	record := func(command string, peer approver.Peer, v approver.Verdict) approver.Record {
		call := approver.ToolCall{ID: "c", Agent: "claude", Session: "s", Tool: "Bash", Command: command,
			Args: fmt.Appendf(nil, `{"command":%q}`, command), Dir: "/srv", At: at, Peer: peer}
		return approver.Record{Event: approver.EventVerdict, At: at, Call: call, Verdict: v}
	}
	known := func(uid uint32) approver.Peer { return approver.Peer{Known: true, UID: uid} }
	never := approver.Verdict{Decision: approver.Deny, By: shieldcore.By, Rule: "ours.never"}
	r, err := Cmd{}.read(t.Context(), daemontest.Recorded(t,
		record("make denied", known(daemontest.OneUID), never), record("make otherwise", known(daemontest.OtherUID), never),
		record("make whose", approver.Peer{}, never),
	), at.Add(-time.Hour), at.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	r.again(t.Context(), policy)
	got := map[string]string{}
	for _, c := range r.Rules[0].Commands {
		got[c.Command] = c.Explain + "|" + c.Now
	}
	for command, want := range map[string]string{
		"make denied":    fmt.Sprintf("approver policy explain --uid %d --cwd /srv -- 'make denied'|", daemontest.OneUID),
		"make otherwise": "|ask high by policy/ours.ask, tier 0",
		"make whose":     "|", // of nobody, who may be anybody; no command judges so
	} {
		if got[command] != want {
			t.Errorf("%s: %q", command, got[command])
		}
	}
}
