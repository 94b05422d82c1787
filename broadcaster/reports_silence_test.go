package broadcaster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
)

const (
	toldStands  = "✅ Approved once by Alice via Telegram · 0 s"
	toldRan     = toldStands + " · ran"
	toldUntaken = "↩ Approved by Alice via Telegram · 0 s · nobody took the answer: the agent was gone, and most " +
		"likely nothing ran"
	toldNotRun = "↩ Approved by Alice via Telegram · 0 s · the agent reported no run of it: most likely its own rules " +
		"or mode refused it"
)

// The story: an approved call ran while the store or the daemon was away, so that its
// acknowledgment or its report was not noted. The card then said that nobody took the yes,
// or that the agent reported no run, and the audit said so too. Now silence says something
// only to a process that was there, with its store, from the release on and took whatever
// it was told; what the store did not take is noted once it is back; and who speaks up late
// corrects the card.
func TestSilenceSaysNothingOfWhatWasNotHeard(t *testing.T) {
	me, stranger := approver.Peer{Known: true, UID: 1000}, approver.Peer{Known: true, UID: 1001}
	type step func(x **bench)
	away := func(yes bool) step { return func(x **bench) { (*x).failing(func(string, string) bool { return yes }) } }
	wait := func(d time.Duration) step { return func(*(*bench)) { time.Sleep(d) } }
	within := func(f func(ctx context.Context, x *bench) error) step {
		return func(x **bench) {
			ctx, cancel := context.WithTimeout((*x).t.Context(), 3*time.Second)
			defer cancel()
			_ = f(ctx, *x)
		}
	}
	tells := func(f Fate) step {
		return within(func(ctx context.Context, x *bench) error { return x.Reports.Became(ctx, me, "c1", f) })
	}
	ack := within(func(ctx context.Context, x *bench) error { return x.Reports.Acknowledge(ctx, me, "c1") })
	restart := func(down time.Duration) step { return func(x **bench) { *x = (*x).restart(down) } }
	missed := func(x **bench) { (*x).uptime.missed() }
	cut := func(do func(ctx context.Context, x *bench) error) step { // the courier's own time is over
		return func(x **bench) {
			ctx, cancel := context.WithCancel((*x).t.Context())
			cancel()
			_ = do(ctx, *x)
		}
	}
	lost, back, ran, notRun := away(true), away(false), tells(DidRun), tells(NotRun)
	for name, c := range map[string]struct {
		steps []step
		want  string
		says  []approver.Event // beside those until the release
	}{
		"the store is away for all": {
			[]step{lost, ack, ran, wait(5 * time.Second), back}, toldRan, []approver.Event{approver.EventAcked},
		},
		"for the acknowledgment": {
			[]step{lost, ack, wait(5 * time.Second), back}, toldStands, []approver.Event{approver.EventAcked},
		},
		"for the report": {
			[]step{ack, lost, ran, wait(5 * time.Second), back}, toldRan, []approver.Event{approver.EventAcked},
		},
		"for the report alone": {
			[]step{lost, ran, wait(5 * time.Second), back}, toldRan, []approver.Event{approver.EventAcked},
		},
		"and nothing comes": {[]step{lost, wait(5 * time.Second), back}, toldStands, []approver.Event{approver.EventAcked}},
		"for a minute":      {[]step{lost, ack, wait(time.Minute), back}, toldStands, []approver.Event{approver.EventAcked}},
		"and a restart": {[]step{lost, ack, func(x **bench) {
			(*x).stop()
			(*x).failing(func(string, string) bool { return false })
			*x = newBench((*x).t, (*x).kv)
		}}, toldStands, []approver.Event{approver.EventAcked}},
		"for less than a look": {[]step{
			lost, cut(func(ctx context.Context, x *bench) error { return x.Reports.Acknowledge(ctx, me, "c1") }), back,
		}, toldStands, []approver.Event{approver.EventAcked}},
		"a report, for less than a look": {[]step{
			ack, lost, cut(func(ctx context.Context, x *bench) error {
				return x.Reports.Became(ctx, me, "c1", DidRun)
			}), notRun, back,
		}, toldRan, []approver.Event{approver.EventAcked}},
		"then the turn is over": {
			[]step{
				lost, ran, wait(2 * time.Second), back, wait(time.Second), notRun,
			}, toldRan, []approver.Event{approver.EventAcked},
		},
		"the turn is over after an outage": {
			[]step{
				ack, lost, wait(2 * time.Second), back, wait(2 * time.Second), notRun,
			}, toldStands, []approver.Event{approver.EventAcked},
		},
		"the turn is over in an outage": {
			[]step{ack, lost, notRun, back}, toldStands, []approver.Event{approver.EventAcked},
		},
		"a restart": {
			[]step{restart(time.Second)}, toldStands, []approver.Event{approver.EventAcked},
		},
		"a restart in a long time": {[]step{restart(time.Hour)}, toldStands, []approver.Event{approver.EventAcked}},
		"a restart, and the turn is over": {
			[]step{ack, restart(9 * time.Second), notRun}, toldStands, []approver.Event{approver.EventAcked},
		},
		"a restart, not acked, turn is over": {
			[]step{restart(9 * time.Second), wait(time.Second), notRun}, toldStands, []approver.Event{approver.EventAcked},
		},
		"something was not taken in": {[]step{missed}, toldStands, []approver.Event{approver.EventAcked}},
		"not taken in, and the turn is over": {
			[]step{ack, missed, notRun}, toldStands, []approver.Event{approver.EventAcked},
		},
		"not taken in, and it is over later": {
			[]step{ack, missed, wait(time.Minute), notRun}, toldStands, []approver.Event{approver.EventAcked},
		},
		"a late acknowledgment": {
			[]step{wait(time.Minute), ack}, toldStands, []approver.Event{approver.EventAcked, approver.EventAcked},
		},
		"a late one, twice": {
			[]step{wait(time.Minute), ack, ack}, toldStands, []approver.Event{approver.EventAcked, approver.EventAcked},
		},
		"a late one, in an outage": {
			[]step{
				wait(time.Minute), lost, ack, wait(time.Minute), back,
			}, toldStands, []approver.Event{approver.EventAcked, approver.EventAcked},
		},
		"a late run, in an outage": {
			[]step{wait(time.Minute), lost, ran, wait(time.Minute), back}, toldRan, []approver.Event{approver.EventAcked},
		},
		"a run after the turn, in an outage": {
			[]step{
				ack, notRun, lost, ran, wait(time.Minute), back,
			}, toldRan, []approver.Event{approver.EventAcked, approver.EventNotRun},
		},
		// And what is known is still told.
		"all is well, and nobody took it": {nil, toldUntaken, []approver.Event{approver.EventAcked}},
		"all is well, and it did not run": {
			[]step{ack, notRun}, toldNotRun, []approver.Event{approver.EventAcked, approver.EventNotRun},
		},
		"an outage after it was said": {
			[]step{wait(time.Minute), lost, wait(time.Minute), back}, toldUntaken, []approver.Event{approver.EventAcked},
		},
		"a restart after it was said": {
			[]step{wait(time.Minute), restart(time.Second)}, toldUntaken, []approver.Event{approver.EventAcked},
		},
		"somebody else acknowledges it": {[]step{
			lost, within(func(ctx context.Context, x *bench) error {
				return x.Reports.Acknowledge(ctx, stranger, "c1")
			}), wait(time.Minute), back,
		}, toldStands, []approver.Event{approver.EventAcked}},
		"somebody else acknowledges it late": {[]step{
			wait(time.Minute), within(func(ctx context.Context, x *bench) error {
				return x.Reports.Acknowledge(ctx, stranger, "c1")
			}),
		}, toldUntaken, []approver.Event{approver.EventAcked}},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, first *bench) {
				call := testCall("c1")
				call.Peer, call.Acks = me, true
				first.uptime.missed() // before the release it is no matter
				time.Sleep(time.Second)
				first.yes(call)
				x := first
				for _, s := range c.steps {
					s(&x)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				card := x.Cards.Of(x.only(t))
				if card.Result != c.want || (card.State == approver.Consumed) != strings.HasPrefix(c.want, toldStands) {
					t.Errorf("the card says %v %q", card.State, card.Result)
				}
				var says []approver.Event
				for _, y := range slices.Compact([]*bench{first, x}) {
					for _, rec := range y.audit.recorded() {
						if rec.Event == approver.EventAcked || rec.Event == approver.EventNotRun {
							says = append(says, rec.Event)
						}
						if c.want == toldStands && rec.Once == rec.Request+":acked" && strings.Contains(rec.Note, "no courier said") &&
							!strings.Contains(name, "late") {
							t.Errorf("the audit says %q", rec.Note)
						}
					}
				}
				if !slices.Equal(says, c.says) {
					t.Errorf("the audit says %v, want %v", says, c.says)
				}
				if x.Reports.pending.has("c1") {
					t.Error("something is still to be noted")
				}
			})
		})
	}
}

// only is the one request that there is.
func (x *bench) only(t *testing.T) Request {
	t.Helper()
	id, _, err := x.Requests.idByCall(t.Context(), "c1")
	if err != nil {
		t.Fatal(err)
	}
	r := x.loaded(id)
	return r
}

// The story: with several daemons, the one to which a courier says that it has the yes was
// restarted, and another one, which had been there all the time, said that nobody took it.
// Only the process that released a call heard its courier, and only it says so.
func TestAnotherDaemonDoesNotSayThatNobodyTookIt(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		other := newBench(t, x.kv)
		call := testCall("c1")
		call.Peer, call.Acks = approver.Peer{Known: true, UID: 1000}, true
		x.yes(call)
		x.stop()
		time.Sleep(time.Minute)
		r := other.only(t)
		if card := other.Cards.Of(r); card.Result != toldStands || r.Acked.IsZero() {
			t.Errorf("%q, acked %v", card.Result, r.Acked)
		}
		if n := other.count(approver.EventAcked); n != 1 ||
			!strings.Contains(other.audit.recorded()[len(other.audit.recorded())-1].Note, "not known") {
			t.Errorf("%d records: %+v", n, other.audit.recorded())
		}
	})
	story(t, func(t *testing.T, x *bench) { // it does not get in ahead of who knows
		_ = newBench(t, x.kv)
		call := testCall("c1")
		call.Peer, call.Acks = approver.Peer{Known: true, UID: 1000}, true
		x.yes(call)
		time.Sleep(time.Minute)
		if card := x.Cards.Of(x.only(t)); card.Result != toldUntaken {
			t.Errorf("%q", card.Result)
		}
	})
}

// Notes are few, and one that does not fit makes silence say nothing.
func TestNotesAreBounded(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		time.Sleep(1100 * time.Millisecond) // between two looks of the background
		since := time.Now()
		if !x.uptime.heardSince(since) || x.uptime.heardSince(time.Time{}) {
			t.Error("it is not known since when")
		}
		gone := errors.New("connection refused")
		for range maxPendingNotes {
			if err := x.Reports.noteOrKeep(t.Context(), "c", func(context.Context) error { return gone }); err != nil {
				t.Fatal(err)
			}
		}
		if !x.uptime.heardSince(since) {
			t.Error("all of them are kept")
		}
		if err := x.Reports.noteOrKeep(t.Context(), "c", func(context.Context) error { return gone }); !errors.Is(err, gone) {
			t.Errorf("%v", err)
		}
		if x.uptime.heardSince(since) {
			t.Error("one was dropped, and silence still says something")
		}
		for _, final := range []error{
			ErrNotBound, ErrTooSoon, approver.ErrNotFound, approver.ErrTampered, sealing.ErrUnknownKey,
		} {
			if err := x.Reports.noteOrKeep(t.Context(), "d", func(context.Context) error { return final }); !errors.Is(err,
				final) || x.Reports.pending.has("d") {
				t.Errorf("%v is kept", final)
			}
		}
	})
}

// Two couriers told that they have their answers while the store was away. The record of
// the first request came back unreadable, and the note of the second waited behind it for
// ever: its time never ended. A note that cannot be stored holds up no other.
func TestANoteThatNeverFitsHoldsUpNone(t *testing.T) {
	for _, junk := range []string{"", "\x00\x01", "[]", "{}"} {
		story(t, func(t *testing.T, x *bench) {
			var ids []string
			for _, id := range []string{"a", "b"} {
				call := peerCall(id, 1000)
				call.Command, call.Args, call.Acks = "echo "+id, []byte(`{"command":"echo `+id+`"}`), true
				verdict := x.askAsync(t.Context(), call, approver.High)
				time.Sleep(time.Second)
				_, card := x.tg.card(-1)
				ids = append(ids, card.Request)
				x.tap(x.tg, -1, "1", true)
				if v := <-verdict; v.Decision != approver.Allow {
					t.Fatal(v)
				}
			}
			var away atomic.Bool
			away.Store(true)
			x.kv.failing(func(string, string) error {
				if away.Load() {
					return approver.ErrAway
				}
				return nil
			})
			for _, id := range []string{"a", "b"} {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				if err := x.Reports.Acknowledge(ctx, peerCall(id, 1000).Peer, id); err != nil {
					t.Fatal(err)
				}
				cancel()
			}
			x.kv.replace(approver.Key("req", ids[0]), memRecord{[]byte(junk), approver.NewRev()})
			away.Store(false)
			time.Sleep(time.Minute)
			if r, _, err := x.Requests.load(t.Context(), ids[1]); err != nil || r.Acked.IsZero() || x.Reports.pending.has("b") {
				t.Errorf("the record %q: b was acknowledged at %v, %v", junk, r.Acked, err)
			}
			if x.Reports.pending.has("a") {
				t.Errorf("the record %q: the note of what cannot be read is kept", junk)
			}
		})
	}
}
