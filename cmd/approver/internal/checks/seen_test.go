package checks

import (
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
)

// doctor told one freeze twice, and once with the section about a lost store. Now what
// holds is one finding, with what ends it.
func TestDoctorTellsAFreezeOnce(t *testing.T) {
	at := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	agent := broadcaster.Hold{Freeze: broadcaster.Freeze{At: at, By: "approver", Reason: "it ran although it was denied"},
		Who: broadcaster.Who{Agent: "claude", Project: "/repo"}}
	for name, tt := range map[string]struct {
		doc       adminapi.Status
		text, fix string
	}{
		"by a person": {adminapi.Status{Control: "FROZEN by uid 7",
			Freeze: &broadcaster.Freeze{By: "uid 7", Reason: "try it"}}, "the reason given: try it", "sudo approver unfreeze"},
		"by approver": {adminapi.Status{Control: "FROZEN because the store is older",
			Freeze: &broadcaster.Freeze{By: "approver", Reason: "the store is older"}}, "FROZEN because",
			"The store is not believed"},
		"one agent": {adminapi.Status{Control: "FROZEN: claude", Held: []broadcaster.Hold{agent}},
			"claude in /repo: since 2026-11-23 06:00:00 UTC by approver, because it ran although it was denied",
			"Lifting the freeze of one agent"},
		"two agents": {adminapi.Status{Control: "FROZEN: claude", Held: []broadcaster.Hold{agent, agent}},
			"because it ran", "Lifting the freeze of one agent"},
		"paused": {adminapi.Status{Control: "PAUSED until", Pause: &broadcaster.Pause{}}, "PAUSED",
			"approver pause --end"},
		"observed":      {adminapi.Status{Control: "OBSERVING"}, "OBSERVING", "approver enforce"},
		"rules as ever": {adminapi.Status{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var d doctor
			d.mode(tt.doc)
			if tt.text == "" {
				if len(d.found) != 0 {
					t.Errorf("%+v", d.found)
				}
				return
			}
			how := finding.Warn
			if name == "by approver" { // status fails, too
				how = finding.Fail
			}
			d.has(t, "mode", how, tt.text)
			if len(d.found) != 1 || !strings.Contains(d.found[0].Fix, tt.fix) {
				t.Errorf("%+v", d.found)
			}
			if name == "by approver" && strings.Count(d.found[0].Text, "the store is older") != 1 {
				t.Errorf("said twice: %s", d.found[0].Text)
			}
		})
	}
}

// audit verify listed an alarm, and doctor said that all was in order.
func TestDoctorSeesTheAlarmsOfTheAudit(t *testing.T) {
	cfg := configs.Config{Dir: t.TempDir()}
	key, err := audit.LoadOrCreateKey(cfg.AuditKey())
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(t.Context(), audit.Options{Dir: cfg.AuditDir(), ID: "here", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	record := func(r approver.Record) {
		t.Helper()
		if _, err := log.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	record(approver.Record{Event: approver.EventStarted})
	var calm doctor
	calm.cfg = cfg
	calm.audit(t.Context(), 0)
	calm.has(t, "audit", finding.OK, "in order, with ")
	record(approver.Record{Event: approver.EventAlarm, Alarm: approver.AlarmHooks, Note: "the hook is gone"})
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := doctor{cfg: cfg}
	d.audit(t.Context(), 0)
	d.has(t, "audit", finding.Warn, "1 alarm, the last (hooks) at seq")
	if len(d.found) != 1 || !strings.Contains(d.found[0].Text, "the hook is gone") ||
		!strings.Contains(d.found[0].Fix, "--accept-alarms ") {
		t.Errorf("%+v", d.found)
	}
	d = doctor{cfg: cfg}
	d.audit(t.Context(), 1000)
	d.has(t, "audit", finding.OK, "in order, with ")
}

// check said "0 problems, 0 warnings" of a configuration in which nobody can approve.
func TestNobodyApprovesByTheConfiguration(t *testing.T) {
	cfg := configs.Default()
	if why := nobodyApproves(cfg); !strings.HasPrefix(why, "nobody can approve ANY request: no channel") {
		t.Error(why)
	}
	daemon := adminapi.Status{Nobody: "nobody can approve ANY request: of terminal no approver counts. Pair a chat"}
	if all := nobodyNow(cfg, daemon); len(all) != 1 {
		t.Errorf("told twice: %q", all)
	}
	if all := nobodyNow(cfg, adminapi.Status{Nobody: "nobody can approve a CATASTROPHIC request: x"}); len(all) != 2 {
		t.Errorf("%q", all)
	}
}
