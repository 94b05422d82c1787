package broadcaster

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: somebody has Alice's phone, and lets her approve a pause of everything, for an
// hour. The owner removes her. Before, each call went on for the rest of the hour, also a
// CATASTROPHIC one, and nothing said so. Now whoever is removed, also by a daemon that does
// not know them: the pause and observe mode are over at once, on the other daemon and after
// a restart too, and neither comes back with whoever was removed.
func TestARemovalEndsAPauseAndObserveMode(t *testing.T) {
	start := map[string]func(x *bench) error{
		"a pause": func(x *bench) error {
			_, err := x.Controls.Pause(x.t.Context(), nil, MaxPause, true, "Alice")
			return err
		},
		"a pause of HIGH calls": func(x *bench) error {
			_, err := x.Controls.Pause(x.t.Context(), nil, MaxPause, false, "Alice")
			return err
		},
		"observe mode": func(x *bench) error {
			_, err := x.Controls.Observe(x.t.Context(), nil, MaxObserve, "Alice")
			return err
		},
		"both": func(x *bench) error {
			_, err := x.Controls.Pause(x.t.Context(), nil, MaxPause, true, "Alice")
			_, err2 := x.Controls.Observe(x.t.Context(), nil, MaxObserve, "Alice")
			return errors.Join(err, err2)
		},
	}
	for name, begin := range start {
		for _, gone := range []Removal{
			{
				Person: "alice", Identities: []approver.Identity{{Channel: "telegram", ID: "1"}}, By: "uid 7",
			}, {Person: "bob", By: "uid 7"}, {Person: "x:1", Unlisted: true, By: "uid 7"},
		} {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x, other := newBench(t, kv), newBench(t, kv)
				// that there was one before changes nothing
				if _, err := x.Removals.Remove(t.Context(), Removal{Person: "x:1", Unlisted: true, By: "uid 7"}); err != nil {
					t.Fatal(err)
				}
				if err := begin(x); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				over := func(where string, y *bench) {
					t.Helper()
					_, paused := y.Controls.PausedFor(t.Context(), approver.High)
					_, observing := y.Controls.Observing(t.Context(), approver.Verdict{})
					if c, now, err := y.Controls.Load(t.Context()); err != nil || paused || observing || c.Notice(now) != "" {
						t.Errorf("%s, %s is removed, %s: paused %v, observing %v, %q, %v", name, gone.Person, where, paused, observing,
							c.Notice(now), err)
					}
				}
				if _, err := x.Removals.Remove(t.Context(), gone); err != nil {
					t.Fatal(err)
				}
				over("here", x)
				over("on the other daemon", other)
				over("after a restart", newBench(t, kv))
				ended := away(t, x.Broadcaster, gone.Person)
				want := map[string][]string{
					"a pause": {
						"PAUSED until", "by Alice: nobody is asked",
					}, "a pause of HIGH calls": {"PAUSED until", "HIGH calls are not asked"},
					"observe mode": {"OBSERVING until"}, "both": {"PAUSED until", "OBSERVING until"},
				}[name]
				note := ""
				for _, r := range x.audit.all(approver.EventPolicy) {
					if strings.Contains(r.Note, "REMOVED by") {
						note = r.Note
					}
				}
				for _, words := range want {
					if !strings.Contains(ended.Line(), "which ended: ") || !strings.Contains(ended.Line(), words) ||
						!strings.Contains(note, words) {
						t.Errorf("%s: the list says %q, the audit %q", name, ended.Line(), note)
					}
				}
				if _, err := x.Removals.Remove(t.Context(), gone); err != nil ||
					away(t, x.Broadcaster, gone.Person).Ended != ended.Ended {
					t.Errorf("%s: a second removal forgets what the first one ended: %v", name, err)
				}
				if err := x.Removals.Restore(t.Context(), away(t, x.Broadcaster, gone.Person), "uid 0"); err != nil {
					t.Fatal(err)
				}
				over("and brought back", x)
			})
		}
	}
}

// The story: Alice is asked for a pause and says yes, in the moment in which she is removed.
// The pause was begun after her removal and so outlived it. What people were asked about is
// compared in the very write that begins it; observe mode and the end of a freeze likewise.
func TestWhatWasApprovedBeforeARemovalDoesNotBeginAfterIt(t *testing.T) {
	for name, does := range map[string]func(x *bench, asked Controls) error{
		"pause": func(x *bench, asked Controls) error {
			_, err := x.Controls.Pause(x.t.Context(), &asked, time.Minute, true, "Alice")
			return err
		},
		"observe": func(x *bench, asked Controls) error {
			_, err := x.Controls.Observe(x.t.Context(), &asked, time.Hour, "Alice")
			return err
		},
		"unfreeze": func(x *bench, asked Controls) error { return x.Controls.UnfreezeAs(x.t.Context(), asked, "Alice") },
	} {
		for what, meanwhile := range map[string]func(x *bench){
			"nothing":        func(*bench) {},
			"she is removed": func(x *bench) { removeAlice(x.t, x.Broadcaster) },
			"and brought back": func(x *bench) {
				removeAlice(x.t, x.Broadcaster)
				_ = x.Removals.Restore(x.t.Context(), away(x.t, x.Broadcaster, "alice"), "uid 0")
			},
			"removed anew": func(x *bench) {
				_, _ = x.Removals.Remove(x.t.Context(), Removal{Person: "carol", By: "uid 7"})
			},
			"somebody comes back": func(x *bench) {
				_ = x.Removals.Restore(x.t.Context(), away(x.t, x.Broadcaster, "carol"), "uid 0")
			},
		} {
			story(t, func(t *testing.T, x *bench) {
				if _, err := x.Removals.Remove(t.Context(), Removal{Person: "carol", By: "uid 7"}); err != nil {
					t.Fatal(err)
				}
				if name == "unfreeze" {
					if _, err := x.Controls.Freeze(t.Context(), "uid 7", "r"); err != nil {
						t.Fatal(err)
					}
				}
				asked, _, err := x.Controls.Load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				meanwhile(x)
				err = does(x, asked)
				c, now, readErr := x.Controls.Load(t.Context())
				loose := c.Notice(now) != "" != (name == "unfreeze")
				if readErr != nil || loose != (what == "nothing") || (err == nil) != loose || err != nil &&
					!errors.Is(err, errRemovedSince) {
					t.Errorf("%s, %s: %v, then %q", name, what, err, c.Notice(now))
				}
			})
		}
	}
}
