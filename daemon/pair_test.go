package daemon

import (
	"log/slog"
	"strings"
	"testing"

	"approver.example"
	"approver.example/daemon/adminapi"
)

// The story: an agent under the daemon's own user asks the daemon to add an
// approver, and writes what people shall believe into the fields that stand in
// approver's own words on the card. Only names of platforms and their ids get there.
func TestAnAdmissionTellsNoStory(t *testing.T) {
	b := newAuthorityBench(t)
	// isolated, so nobody is asked of what passes
	d := &Admin{authority: b.start(b.lists("", "1")), log: slog.New(slog.DiscardHandler)}
	for name, req := range map[string]adminapi.AdmitRequest{
		"":                       {Channel: "telegram", Who: approver.Paired{ID: "10042"}},
		"a story in the id":      {Channel: "telegram", Who: approver.Paired{ID: "10042 is Ada's new phone. Nothing"}},
		"a line break":           {Channel: "slack", Who: approver.Paired{ID: "U1\n"}},
		"a story in the channel": {Channel: "a test of the alarm, not telegram", Who: approver.Paired{ID: "10042"}},
		"the terminal":           {Channel: "terminal", Who: approver.Paired{ID: "0"}},
	} {
		req.Diff = []string{"+x"}
		_, err := d.admit(t.Context(), approver.Peer{Known: true, UID: 1}, req)
		if (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), "by the id that the platform gave") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
