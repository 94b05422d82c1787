package broadcaster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// yes has a courier's call approved.
func (x *bench) yes(call approver.ToolCall) {
	x.t.Helper()
	answer := x.askAsync(x.t.Context(), call, approver.High)
	synctest.Wait()
	x.tap(x.tg, x.tg.count()-1, "1", true)
	if v := <-answer; v.Decision != approver.Allow {
		x.t.Fatalf("%+v", v)
	}
	synctest.Wait()
}

// The story: Claude Code was killed in the moment of the yes, or refused the call by its
// own rules after it. Every card said "Approved", and nothing ran. Now the cards say what
// is known: that nobody took the yes, or that the agent reported no run of the call; and
// never more than that. What the agent reports is a claim: it changes no decision, a run
// that is reported later is the last word, and nobody tells of another user's call.
func TestWhatBecameOfAYes(t *testing.T) {
	const (
		stands  = "✅ Approved once by Alice via Telegram · 0 s"
		itRan   = stands + " · ran"
		failed  = stands + " · failed"
		failed2 = stands + " · failed with exit code 2"
		untaken = "↩ Approved by Alice via Telegram · 0 s · nobody took the answer: the agent was gone, and most likely " +
			"nothing ran"
		notRun = "↩ Approved by Alice via Telegram · 0 s · the agent reported no run of it: most likely its own rules or " +
			"mode refused it"
	)
	me := approver.Peer{Known: true, UID: 1000}
	type step func(x *bench)
	ack := func(x *bench) { _ = x.Reports.Acknowledge(x.t.Context(), me, "c1") }
	became := func(peer approver.Peer, id string, f Fate, want error) step {
		return func(x *bench) {
			if err := x.Reports.Became(x.t.Context(), peer, id, f); !errors.Is(err, want) {
				x.t.Errorf("%v, want %v", err, want)
			}
		}
	}
	refused, ran := became(me, "c1", NotRun, nil), became(me, "c1", DidRun, nil)
	fails, fails2 := became(me, "c1", DidFail, nil), became(me, "c1", FailedWith(2), nil)
	wait := func(d time.Duration) step { return func(*bench) { time.Sleep(d) } }
	day := 23 * time.Hour
	if testing.Short() {
		day = aLongTime()
	}
	courier := testCall("c1")
	courier.Peer, courier.Acks = me, true
	script := courier
	script.Acks = false
	for _, c := range []struct {
		name  string
		call  approver.ToolCall
		steps []step
		want  string
		tells int // records of not_run
	}{
		{"taken", courier, []step{ack, wait(aLongTime())}, stands, 0},
		{"taken, and it ran", courier, []step{ack, ran, wait(aLongTime())}, itRan, 0},
		{"taken, and it ran, said twice", courier, []step{ack, ran, fails, wait(aLongTime())}, itRan, 0},
		{"taken, and it failed", courier, []step{ack, fails, wait(aLongTime())}, failed, 0},
		{"taken, and it failed with an exit code", courier, []step{ack, fails2, refused, wait(aLongTime())}, failed2, 0},
		{"a script's call failed", script, []step{fails2, wait(aLongTime())}, failed2, 0},
		{"it ran, and the acknowledgment was lost", courier, []step{ran, wait(aLongTime())}, itRan, 0},
		{"not taken, and it is early", courier, []step{wait(14 * time.Second)}, stands, 0},
		{"not taken", courier, []step{wait(20 * time.Second)}, untaken, 0},
		{"not taken, after a day", courier, []step{wait(day)}, untaken, 0},
		{"not taken, and it ran after all", courier, []step{wait(time.Minute), ran, wait(time.Minute)}, itRan, 0},
		{"acknowledged too late", courier, []step{wait(time.Minute), ack, wait(time.Minute)}, stands, 0},
		{"a script acknowledges nothing", script, []step{wait(aLongTime())}, stands, 0},
		{"refused", courier, []step{ack, refused, wait(time.Minute)}, notRun, 1},
		{"refused, told twice", courier, []step{ack, refused, refused, wait(time.Minute)}, notRun, 1},
		{"refused, and the acknowledgment was lost", courier, []step{refused, wait(aLongTime())}, notRun, 1},
		{"not taken, then refused", courier, []step{wait(time.Minute), refused, wait(time.Minute)}, notRun, 1},
		{
			"refused, and it ran after all", courier, []step{ack, refused, wait(time.Minute), ran, wait(time.Minute)}, itRan, 1,
		},
		{
			"it ran after all, then refused once more", courier, []step{
				ack, refused, ran, refused, wait(time.Minute),
			}, itRan, 1,
		},
		{"told by another user", courier, []step{
			ack, became(approver.Peer{Known: true, UID: 1001}, "c1", NotRun, ErrNotBound), wait(time.Minute),
		}, stands, 0},
		{
			"told by root", courier, []step{
				ack, became(approver.Peer{Known: true}, "c1", NotRun, ErrNotBound), wait(time.Minute),
			}, stands, 0,
		},
		{
			"told by nobody", courier, []step{
				ack, became(approver.Peer{}, "c1", NotRun, ErrNotBound), wait(time.Minute),
			}, stands, 0,
		},
		{"of a call that is not known", courier, []step{ack, became(me, "c2", NotRun, nil), wait(time.Minute)}, stands, 0},
		{"nothing is told", courier, []step{ack, became(me, "c1", NoFate, nil), wait(time.Minute)}, stands, 0},
		{"a card that cannot be edited at first", courier, []step{ack, func(x *bench) {
			outage := 3
			x.dc.onUpdate(func(approver.Card) error {
				if outage--; outage >= 0 {
					return errors.New("502")
				}
				return nil
			})
		}, refused, wait(time.Minute)}, notRun, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				x.yes(c.call)
				for _, s := range c.steps {
					s(x)
				}
				synctest.Wait()
				for _, ch := range []*chat{x.tg, x.dc} {
					_, card := ch.card(0)
					if card.Result != c.want || card.OneTap || !card.Code.IsZero() ||
						(card.State == approver.Consumed) != strings.HasPrefix(c.want, stands) {
						t.Errorf("%s shows %+v", ch.name, card)
					}
				}
				if n := x.count(approver.EventNotRun); n != c.tells {
					t.Errorf("not_run is in the audit %d times", n)
				}
				if n := x.count(approver.EventReleased); n != 1 {
					t.Errorf("released %d times", n)
				}
				late, mine := x.tap(x.dc, 0, "d2", true), x.tap(x.tg, 0, "1", true)
				word := "released"
				switch c.want {
				case untaken:
					word = "nobody took"
				case notRun:
					word = "reported no run"
				}
				if !strings.Contains(late.Text, word) || !strings.Contains(mine.Text, word) {
					t.Errorf("later answers hear %q and %q", late.Text, mine.Text)
				}
				before := x.count(approver.EventReleased)
				again, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if v := <-x.askAsync(again, c.call, approver.High); v.Decision == approver.Allow &&
					!strings.HasPrefix(c.want, stands) {
					t.Errorf("the yes was given again: %+v", v)
				}
				if x.count(approver.EventReleased) != before {
					t.Error("it was released again")
				}
			})
		})
	}
}

// What was not released has no fate, and words that are not known claim nothing.
func TestFates(t *testing.T) {
	for _, s := range []approver.State{
		approver.Denied, approver.Pending, approver.Approved, approver.Expired, approver.Withdrawn,
	} {
		for _, f := range []Fate{NoFate, Untaken, NotRun, DidRun, FailedWith(2)} {
			if _, err := (Request{State: s}).setFate("a", f); err == nil {
				t.Errorf("%v is %v", s, f)
			}
		}
	}
	for i, word := range append(fateNames[:], "Ran", "x", " untaken", "failed 0", "failed 256", "failed -1",
		"ran 2", "failed x") {
		var f Fate
		if err := f.UnmarshalText([]byte(word)); err != nil || i < len(fateNames) && int(f) != i || i >= len(fateNames) &&
			f != NoFate {
			t.Errorf("%q is %v, %v", word, f, err)
		}
	}
	for exit, want := range map[int]string{2: "failed 2", 255: "failed 255", 0: "failed", -1: "failed", 256: "failed"} {
		f, back := FailedWith(exit), NoFate
		text, err := f.MarshalText()
		if err != nil || string(text) != want || back.UnmarshalText(text) != nil || back != f || !f.Ran() {
			t.Errorf("%d is %q, and that is %v: %v", exit, text, back, err)
		}
	}
	if text, err := (DidFail + 256).MarshalText(); err != nil || len(text) > 0 {
		t.Errorf("%q, %v", text, err)
	}
}
