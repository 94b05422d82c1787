package checks

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/audit"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/configs"
)

// The story: two records of the audit said of one event that Ada, and that Bob, had said yes. The chain
// was sound, and doctor was the command that somebody ran. It fails, names both records, and is content
// only once somebody has looked into the last of them.
func TestDoctorFindsRecordsThatDiffer(t *testing.T) {
	cfg := configs.Default()
	cfg.Dir = t.TempDir()
	key, err := audit.LoadOrCreateKey(cfg.AuditKey())
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(t.Context(), audit.Options{Dir: cfg.AuditDir(), ID: "here", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	yes := func(request, person string) {
		t.Helper()
		if _, err := log.Record(t.Context(), approver.Record{
			Event: approver.EventApproved, Request: request, Once: request + ":approved",
			Call: approver.ToolCall{ID: "c", Agent: "claude", Tool: "Bash", Command: "make deploy"},
			Resolution: approver.Resolution{Approve: true, Cause: approver.ByPerson,
				Person: approver.Person{ID: person}, Identity: approver.Identity{Channel: "slack", ID: "U1"}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	look := func(accepted uint64) *doctor {
		d := &doctor{cfg: cfg}
		d.audit(t.Context(), accepted)
		return d
	}
	yes("r1", "ada")
	yes("r1", "ada") // a crash may repeat one
	look(0).has(t, "audit", finding.OK, "in order")
	yes("r1", "bob")
	yes("r2", "ada")
	yes("r2", "eve")
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys, err := audit.LoadKeys(cfg.AuditKey() + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	report, err := audit.Verify(t.Context(), []string{cfg.AuditDir()}, keys, nil)
	if err != nil || report.Differing.Count != 2 {
		t.Fatalf("%+v, %v", report.Differing, err)
	}
	first, last := report.Differing.Newest[0], report.Differing.Newest[1]
	for name, tt := range map[string]struct {
		accepted uint64
		how      finding.Result
		text     string
	}{
		"nobody looked": {0, finding.Fail,
			"the record " + last.ID + " says otherwise than " + last.First + " of the same event, in person"},
		"somebody looked at the first": {first.Seq, finding.Fail, "the record " + last.ID + " says otherwise"},
		"somebody looked at both":      {last.Seq, finding.OK, "in order"},
	} {
		d := look(tt.accepted)
		d.has(t, "audit", tt.how, tt.text)
		if fails := tt.how == finding.Fail; fails != strings.Contains(d.found[0].Fix, "--accept-alarms") ||
			len(d.found) != 1 {
			t.Errorf("%s: %+v", name, d.found)
		}
	}
}
