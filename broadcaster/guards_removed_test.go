package broadcaster

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// What people read of a removal is what happened: nothing is said of a second one, of a
// reason or of what ended where there was none.
func TestTheLineOfARemoval(t *testing.T) {
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	one := Removal{Person: "ada", By: "bob", At: at}
	with := func(change func(*Removal)) Removal { r := one; change(&r); return r }
	for want, r := range map[string]Removal{
		"ada was removed by bob at 2026-11-23 10:00 UTC": one,
		"ada was removed by bob at 2026-11-23 10:00 UTC (phone lost)": with(func(r *Removal) {
			r.Reason = "phone lost"
		}),
		"ada was removed by bob at 2026-11-23 10:00 UTC, which ended: PAUSED": with(func(r *Removal) { r.Ended = "PAUSED" }),
		"ada was removed by bob at 2026-11-23 10:00 UTC, and anew by eve at 11:00": with(func(r *Removal) {
			r.Last, r.LastBy = at.Add(time.Hour), "eve"
		}),
		"ada was removed by bob at 2026-11-23 10:00 UTC, and anew by eve at 11:00 (again)": with(func(r *Removal) {
			r.Last, r.LastBy, r.LastReason = at.Add(time.Hour), "eve", "again"
		}),
	} {
		if got := strings.ReplaceAll(r.Line(), "2026-11-23 11:00 UTC", "11:00"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c := Controls{Removed: []Removal{one, with(func(r *Removal) { r.Person, r.Back = "eve", at.Add(time.Hour) })}}
	if away := c.Removed.InForce(); len(away) != 1 || away[0].Person != "ada" {
		t.Errorf("away: %+v", away)
	}
}

// The story: somebody was removed, brought back, and removed again. The second removal is
// one of its own: its own time, word and reason, and not the old one's.
func TestARemovalAfterAReturnIsANewOne(t *testing.T) {
	now := time.Now()
	c := Controls{}
	for i, by := range []string{"bob", "eve", "zoe"} {
		at := now.Add(time.Duration(i) * time.Hour)
		if err := c.remove(Removal{Person: "ada", By: by, Reason: by + " said so", Unlisted: true}, at); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := c.restore(c.Removed[0], at.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := c.Removed[0]
	if len(c.Removed) != 1 || !got.At.Equal(now.Add(time.Hour)) || got.By != "eve" || got.Reason != "eve said so" ||
		got.LastBy != "zoe" || !got.Stands() {
		t.Errorf("%+v", c.Removed)
	}
	if err := c.restore(Removal{Person: "nobody"}, now); !errors.Is(err, ErrNotRemoved) {
		t.Errorf("somebody who was not removed: %v", err)
	}
}

// An unlisted removal of somebody who was listed when they were removed and brought back
// takes one of the few places: that they were listed once says nothing of now.
func TestAnEndedRemovalGivesNoPlace(t *testing.T) {
	now := time.Now()
	c := Controls{
		Removed: []Removal{
			{Person: "ada", At: now, Back: now.Add(1)}, {Person: "x:0", At: now, Back: now.Add(1), Unlisted: true},
		},
	}
	for i := range maxUnlisted {
		if err := c.remove(Removal{Person: "x:" + string(rune('a'+i)), Unlisted: true}, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.remove(Removal{Person: "ada", Unlisted: true}, now); !errors.Is(err, errManyGone) {
		t.Errorf("one too many: %v", err)
	}
	c.Removed[0].Back = time.Time{} // she is away, as one whom a list has
	if err := c.remove(Removal{Person: "ada", Unlisted: true}, now); err != nil {
		t.Errorf("who is away already: %v", err)
	}
}

// What people approved stands only while nothing of what they saw has changed, of freezes
// and of removals.
func TestWhatWasSeenOfTheControls(t *testing.T) {
	now := time.Now()
	seen := Controls{Burned: now, Removed: []Removal{{Person: "ada", At: now}}}
	if err := errors.Join(seen.StillAs(nil), seen.StillAs(&seen)); err != nil {
		t.Error(err)
	}
	frozen := seen
	frozen.Burned = now.Add(1)
	if err := frozen.StillAs(&seen); !errors.Is(err, errFrozenSince) {
		t.Errorf("a freeze since: %v", err)
	}
	gone := seen
	gone.Removed = append(gone.Removed[:1:1], Removal{Person: "bob", At: now})
	if err := gone.StillAs(&seen); !errors.Is(err, errRemovedSince) {
		t.Errorf("a removal since: %v", err)
	}
}

// What a removal ended is said once, and what was not in force not at all; the record names
// the accounts, which may be all that a stranger has.
func TestWhatTheRecordSaysOfARemoval(t *testing.T) {
	for name, tt := range map[string]struct {
		pause, observe bool
		want           int // parts of what it ended
	}{"neither": {}, "a pause": {true, false, 1}, "observe mode": {false, true, 1}, "both": {true, true, 2}} {
		story(t, func(t *testing.T, x *bench) {
			if tt.pause {
				if _, err := x.Controls.Pause(t.Context(), nil, time.Minute, true, "Bob"); err != nil {
					t.Fatal(err)
				}
			}
			if tt.observe {
				if _, err := x.Controls.Observe(t.Context(), nil, time.Minute, "Bob"); err != nil {
					t.Fatal(err)
				}
			}
			for i, ids := range [][]approver.Identity{{{Channel: "telegram", ID: "1"}, {Channel: "discord", ID: "d1"}}, nil} {
				if _, err := x.Removals.Remove(t.Context(), Removal{Person: "ada", Identities: ids, By: "op"}); err != nil {
					t.Fatal(err)
				}
				records := x.audit.recorded()
				note := records[len(records)-1].Note
				if got := strings.Contains(note, "; accounts: discord:d1, telegram:1"); got != (i == 0) ||
					strings.Contains(note, "accounts") != got {
					t.Errorf("%s: %s", name, note)
				}
				_, ended, found := strings.Cut(note, "; that ended: ")
				if parts := len(strings.Split(ended, "; ")); i == 0 && (found != (tt.want > 0) || found && parts != tt.want) ||
					i == 1 && found {
					t.Errorf("%s: %s", name, note)
				}
			}
		})
	}
}

// Whether somebody is away is known only from the store's own record. While it is away or
// lost, or a freeze holds in this process alone, nobody is said to be there.
func TestWhetherSomebodyIsAway(t *testing.T) {
	id, ada := approver.Identity{Channel: "telegram", ID: "1"}, approver.Person{ID: "alice"}
	for name, tt := range map[string]struct {
		change    func(x *bench)
		away, err bool
	}{
		"nothing": {func(*bench) {}, false, false},
		"removed": {func(x *bench) { removeAlice(x.t, x.Broadcaster) }, true, false},
		"store away": {
			func(x *bench) { x.kv.failing(func(string, string) error { return errors.New("no quorum") }) }, false, true,
		},
		"record lost": {func(x *bench) { x.kv.replace(controlKey(), memRecord{[]byte("{"), "r"}) }, false, true},
		"removed, bad": {func(x *bench) {
			removeAlice(x.t, x.Broadcaster)
			x.kv.replace(controlKey(), memRecord{[]byte("{"), "r"})
		}, true, true},
		"frozen here": {func(x *bench) {
			x.kv.failing(func(string, string) error { return errors.New("no quorum") })
			_, _ = x.Controls.Freeze(x.t.Context(), "op", "")
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				tt.change(x)
				gone, away, err := x.Approvers.Removal(t.Context(), id, ada)
				if name == "removed, bad" { // either is a no
					if !away && err == nil {
						t.Error("she counts")
					}
				} else if away != tt.away || (err != nil) != tt.err || away && gone.Person == "" {
					t.Errorf("%+v %v, %v", gone, away, err)
				}
				x.kv.failing(nil)
			})
		})
	}
}
