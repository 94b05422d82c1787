package broadcaster

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// notes are those of the records of an event.
func (x *bench) notes(e approver.Event) (all []string) {
	x.audit.mu.Lock()
	defer x.audit.mu.Unlock()
	for _, r := range x.audit.records {
		if r.Event == e {
			all = append(all, r.Note)
		}
	}
	return all
}

// The story: the disk of the audit was full when somebody froze everything, and one agent,
// and took a person away. All of that held, and no audit ever said so. Now it is recorded
// once when the audit works again: by the same daemon, by the next one, and before a lift.
func TestTheAuditGetsMissingRecords(t *testing.T) {
	away := func(x *bench) error {
		_, err := x.Removals.Remove(context.Background(), Removal{Person: "alice", By: "uid 7", Reason: "left"})
		return err
	}
	for name, do := range map[string]struct {
		event approver.Event
		act   func(x *bench) error
		want  string
	}{
		"a freeze": {approver.EventFrozen, func(x *bench) error {
			_, err := x.Controls.Freeze(context.Background(), "uid 7", "it runs wild")
			return err
		}, "frozen by uid 7: it runs wild"},
		"of an agent": {approver.EventFrozen, func(x *bench) error {
			_, err := x.Controls.Hold(context.Background(), Who{Agent: "claude", Project: "/p"}, "approver", "it lied")
			return err
		}, "claude in /p frozen by approver: it lied"},
		"a removal": {approver.EventPolicy, away, "alice REMOVED by uid 7: left"},
	} {
		for how, anew := range map[string]bool{"": false, ", and the daemon was restarted": true} {
			t.Run(name+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := newBench(t, newMemKV())
					x.audit.failing(do.event)
					if err := do.act(x); err == nil {
						t.Error("nobody is told that it is not recorded")
					}
					time.Sleep(10 * time.Second)
					if n := len(x.notes(do.event)); n != 0 {
						t.Errorf("%d records", n)
					}
					if anew {
						x = x.restart(time.Second)
					}
					x.audit.failing("")
					time.Sleep(10 * time.Second)
					got := x.notes(do.event)
					if len(got) != 1 || !strings.HasPrefix(got[0], do.want) || !strings.HasSuffix(got[0], recordedLate) {
						t.Errorf("recorded: %q", got)
					}
					if c, err := LoadControls(t.Context(), x.kv); err != nil || !c.Unrecorded.IsZero() {
						t.Errorf("the store still says that something is owed: %v, %v", c.Unrecorded, err)
					}
				})
			})
		}
	}
}

// A lift is recorded behind the freeze that it ends.
func TestALiftIsRecordedBehindItsFreeze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		time.Sleep(time.Second) // the daemon has looked
		x.audit.failing(approver.EventFrozen)
		if _, err := x.Controls.Freeze(t.Context(), "uid 7", ""); err == nil {
			t.Error("nobody is told that it is not recorded")
		}
		if err := x.Controls.Unfreeze(t.Context(), "Ada"); err == nil || x.count(approver.EventUnfrozen) != 0 {
			t.Errorf("lifted without a record of the freeze: %v", err)
		}
		x.audit.failing("")
		if err := x.Controls.Unfreeze(t.Context(), "Ada"); err != nil || x.count(approver.EventFrozen) != 1 ||
			x.count(approver.EventUnfrozen) != 1 {
			t.Errorf("%v: %d and %d records", err, x.count(approver.EventFrozen), x.count(approver.EventUnfrozen))
		}
	})
}

// The story: Redis was away, somebody froze everything, and Redis came back empty. The freeze
// was written into it, and nobody was told that it had lost all that it knew. Whoever writes
// controls in the place of those that were lost, the loss is told first, once.
func TestALossIsToldBeforeSomethingIsInItsPlace(t *testing.T) {
	for name, do := range map[string]func(x *bench) error{
		"a freeze": func(x *bench) error { _, err := x.Controls.Freeze(context.Background(), "uid 7", "r"); return err },
		"a removal": func(x *bench) error {
			_, err := x.Removals.Remove(context.Background(), Removal{Person: "alice", By: "uid 7"})
			return err
		},
		"a lift": func(x *bench) error { return x.Controls.Unfreeze(context.Background(), "Ada") },
		"a freeze that was held here": func(x *bench) error {
			if x.fullFor(true); x.Mark.holding() == nil {
				if _, err := x.Controls.Freeze(context.Background(), "uid 7", "r"); err == nil {
					return errors.New("the store took it")
				}
			}
			x.works()
			return nil
		},
		"nobody": func(*bench) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				var log bytes.Buffer
				synctest.Wait()
				x.tune(func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
				if err := BeginControls(t.Context(), x.kv); err != nil {
					t.Fatal(err)
				}
				time.Sleep(3 * time.Second)
				x.taken(func(key string) bool { return key == controlKey() })
				if err := do(x); err != nil {
					t.Error(err)
				}
				if name == "a freeze" {
					c, err := LoadControls(t.Context(), x.kv)
					if err != nil || c.Freeze.By != "approver" || c.Freeze.Reason != vanished+"; r (uid 7)" {
						t.Errorf("status says %+v, %v", c.Freeze, err)
					}
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if n := strings.Count(log.String(), "STORE ALARM"); n != 1 {
					t.Errorf("%d alarms in the log: %s", n, &log)
				}
				told := slices.DeleteFunc(x.notes(approver.EventAlarm), func(s string) bool {
					return !strings.HasPrefix(s, vanished)
				})
				if len(told) != 1 {
					t.Errorf("alarms in the audit: %q", told)
				}
			})
		})
	}
}
