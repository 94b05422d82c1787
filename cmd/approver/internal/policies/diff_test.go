package policies

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/daemon/daemontest"
	"approver.example/shieldcore"
)

// A call that two users made is judged for each of them when two policies are compared.
func TestDiffJudgesEachUsersCall(t *testing.T) {
	at := time.Now()
	var records []approver.Record
	for _, uid := range []uint32{61007, daemontest.OneUID, daemontest.OtherUID} {
		call := approver.ToolCall{
			ID: "c", Agent: "claude", Session: "s", Tool: "Bash", Command: "make x",
			Args: json.RawMessage(`{"command":"make x"}`), Dir: "/srv", At: at,
			Peer: approver.Peer{Known: true, UID: uid},
		}
		records = append(records, approver.Record{Event: approver.EventVerdict, At: at, Call: call,
			Verdict: approver.Verdict{Decision: approver.Pass}})
	}
	dir := daemontest.Recorded(t, records...)
	becomes, err := LoadPolicy(daemontest.UIDPolicy(t))
	if err != nil {
		t.Fatal(err)
	}
	was,
		err := shieldcore.Load("was", []byte("version: 1\ntools: {known: [Bash]}\nrules:\n  - {name: a, command: '^ls', "+
		"decision: deny}\n"))
	if err != nil {
		t.Fatal(err)
	}
	out := daemontest.PrintedOut(t, func() {
		if err := (policyDiffCmd{}).replay(t.Context(), dir, was, becomes); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(out, "3 calls, 3 different, 2 changed") || !strings.Contains(out, "(ours.never)") ||
		!strings.Contains(out, "(ours.ask)") {
		t.Errorf("%s", out)
	}
}
