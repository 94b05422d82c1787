package broadcaster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// isOver fails unless a card shows the end: no buttons, no code, and what became of it.
func isOver(t *testing.T, c approver.Card) {
	t.Helper()
	if !c.State.Settled() || c.OneTap || !c.Code.IsZero() || c.Result == "" {
		t.Errorf("LIVE BUTTONS: the card shows %v, one tap %v, code %v, %q", c.State, c.OneTap, !c.Code.IsZero(), c.Result)
	}
}

// The story: the daemon was killed after the platform took a card and before that was
// noted, and the request ended before another daemon replaced the card. No record knew the
// message. Each tap on it hung for eight seconds and was told to use the newest card, of
// which there was none, and the buttons stayed for ever. Now a tap there is answered at
// once with what became of the request, and the card is brought up to date, also where
// the platform is away at that moment.
func TestATapOnACardThatNoNoteKnows(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"answered elsewhere", "expired while down", "answered by a yes"} {
		for _, method := range []approver.Method{approver.ByTap, approver.ByTyped} {
			for _, approve := range []bool{true, false} {
				for _, away := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, %v %v, platform away %v", how, method, approve, away), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { tapOrphan(t, how, method, approve, away) })
					})
				}
			}
		}
	}
}

func tapOrphan(t *testing.T, how string, method approver.Method, approve, away bool) {
	x := newBench(t, newMemKV())
	var disk *memKV // what the kill leaves
	x.tg.onPost(func(context.Context) error {
		time.Sleep(100 * time.Millisecond)
		disk = newMemKV()
		x.kv.mu.Lock()
		disk.records, disk.due = maps.Clone(x.kv.records), maps.Clone(x.kv.due)
		x.kv.mu.Unlock()
		return nil
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	answer := x.askAsync(ctx, testCall("c1"), approver.High)
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	id, card := x.tg.card(0)
	cancel(approver.ErrShuttingDown)
	x.stop()
	<-answer
	if how == "expired while down" {
		time.Sleep(3 * time.Minute)
	}
	opts := x.Options
	opts.Store = disk
	tg, dc := newChat("telegram"), newChat("discord")
	tg.takeOver(x.tg)
	dc.takeOver(x.dc)
	opts.Channels = []approver.Channel{tg, dc}
	b, err := NewBroadcaster(opts)
	if err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = b.Run(run) }()
	time.Sleep(time.Second)
	if how != "expired while down" {
		m, c := dc.card(0)
		b.Answers.Reply(t.Context(), approver.Reply{Channel: "discord", Conversation: "D", Sender: "d1",
			Approve: how == "answered by a yes", Method: approver.ByTap, Request: c.Request, Message: m})
	}
	time.Sleep(30 * time.Minute)
	if away {
		until := time.Now().Add(time.Minute)
		tg.onUpdate(func(approver.Card) error {
			if time.Now().Before(until) {
				return errBad
			}
			return nil
		})
	}
	at := time.Now()
	out := b.Answers.Reply(t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "2", Approve: approve, Method: method, Request: card.Request,
		Message: id,
	})
	if took := time.Since(at); took > time.Second || !strings.HasPrefix(out.Text, "Too late:") {
		t.Errorf("after %v: %+v", took, out)
	}
	time.Sleep(2 * time.Minute)
	isOver(t, tg.at(id))
	stop()
	<-ended
}

// The story: an edit that counted a second call reached the platform after the answer, and
// put the buttons back on a card whose end the record took for shown. The daemon tried to
// mend that from memory, while the platform was away for longer than it tried, or was
// killed. Two hours later the buttons were there. Now what is to be done is in the record;
// and whoever presses such a button proves that it is there, and has it taken away.
func TestALateEditDoesNotBringButtonsBack(t *testing.T) {
	for _, outage := range []time.Duration{0, time.Second, 12 * time.Second, time.Minute, 10 * time.Minute} {
		t.Run("then an outage of "+outage.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				var fast, away atomic.Bool
				x.tg.onUpdate(func(c approver.Card) error {
					if c.State == approver.Pending && !fast.Load() {
						time.Sleep(3 * time.Second)
						fast.Store(true)
						away.Store(outage > 0)
						time.AfterFunc(outage, func() { away.Store(false) })
						return nil
					}
					if away.Load() {
						return errBad
					}
					return nil
				})
				one := x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
				time.Sleep(time.Second)
				two := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
				time.Sleep(time.Second) // the edit is on its way
				x.tap(x.dc, 0, "d1", false)
				<-one
				<-two
				time.Sleep(outage + 20*time.Second)
				_, c := x.tg.card(0)
				isOver(t, c)
			})
		})
	}
}

// What a tap on a card of a request that has ended does, however the buttons came to stay:
// the platform carried an edit out later than we thought, or the card was given up, or one
// of two daemons could not change it.
func TestATapProvesThatTheButtonsAreThere(t *testing.T) {
	for name, spoil := range map[string]func(*Posting){
		"a late edit":             func(p *Posting) { p.Shown = true },
		"given up after a day":    func(p *Posting) { p.Shown, p.GivenUp = false, true },
		"refused to all":          func(p *Posting) { p.Shown, p.GivenUp, p.Refused = false, true, []string{"a", "b"} },
		"refused to this process": func(p *Posting) { p.Shown, p.Refused = false, []string{"a"} },
		"a record of before":      func(p *Posting) { p.Shown, p.Attempts = true, 10 },
	} {
		for _, method := range []approver.Method{approver.ByTap, approver.ByPlain, approver.ByTyped} {
			t.Run(name+" "+method.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := newRetried(t, newMemKV(), nil, nil)
					answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
					time.Sleep(time.Second)
					id, live := x.tg.card(0)
					x.tap(x.dc.chat, 0, "d1", false)
					<-answer
					time.Sleep(time.Minute)
					x.tg.put(id, live)
					if _, err := x.Requests.change(t.Context(), live.Request, func(r Request, _ time.Time) (Request, error) {
						r.Postings = slices.Clone(r.Postings)
						for i := range r.Postings {
							spoil(&r.Postings[i])
						}
						return r, nil
					}); err != nil {
						t.Fatal(err)
					}
					out := x.Answers.Reply(t.Context(), approver.Reply{
						Channel: "telegram", Conversation: "T", Sender: "2", Approve: true, Method: method, Request: live.Request,
						Message: id,
					})
					if out.Kind != approver.OutcomeTooLate {
						t.Errorf("%+v", out)
					}
					time.Sleep(5 * time.Second)
					_, c := x.tg.card(0)
					isOver(t, c)
				})
			})
		}
	}
}

// The story: two daemons shared a store, and one of them could not change the cards of the
// other for good: its bot was not in that chat. It came first, and its refusal ended the
// tries of both, so the card kept its buttons. Now a refusal is one process's own; a card
// that nobody can change is given up, and tried by none again and again.
func TestWhatIsFinalForOneDaemonIsNotForAll(t *testing.T) {
	for name, others := range map[string]bool{"another one may": true, "nobody else is there": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), nil, nil)
				var edits atomic.Int32
				x.tg.onUpdate(func(approver.Card) error { edits.Add(1); return errRefusedForGood })
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				id, card := x.tg.card(0)
				var able *chat
				if others {
					opts := x.Options
					able = newChat("telegram")
					able.takeOver(x.tg.chat)
					opts.Channels = []approver.Channel{able, newChat("discord")}
					b, err := NewBroadcaster(opts)
					if err != nil {
						t.Fatal(err)
					}
					run, stop := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() { defer close(ended); _ = b.Run(run) }()
					defer func() { stop(); <-ended }()
				}
				x.tap(x.dc.chat, 0, "d1", false)
				<-answer
				time.Sleep(5 * time.Second)
				if others {
					isOver(t, able.at(id))
				}
				time.Sleep(time.Minute)
				r := x.loaded(card.Request)
				now := time.Now()
				if edits.Load() != 1 || !r.Attention(now).IsZero() || r.Postings[0].Shown != others {
					t.Errorf("%d edits, due %v, %+v", edits.Load(), r.Attention(now).Sub(now), r.Postings[0])
				}
				if x.log.count("another one may") != 1 || x.log.count("is given up") != map[bool]int{false: 1}[others] {
					t.Errorf("the log:\n%s", x.log.b.String())
				}
			})
		})
	}
}

// The story: a yes waited for its agent, and the platform of another card was away for ten
// seconds at that moment. Its buttons and code stayed for the twelve minutes that the yes
// waited, and a no there was told that somebody had answered while the call ran. Now such
// cards are brought up to date like those of a request that is settled: from the record.
func TestACardOfAYesThatWaitsIsBroughtUpToDate(t *testing.T) {
	for name, c := range map[string]struct {
		outage  time.Duration
		restart bool
	}{
		"no outage": {0, false}, "an outage of seconds": {10 * time.Second, false}, "of minutes": {8 * time.Minute, false},
		"and a restart": {2 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), nil, nil)
				call := testCall("c1")
				call.ParkAt = time.Now().Add(10 * time.Second)
				<-x.askAsync(t.Context(), call, approver.High)
				back := time.Now().Add(c.outage)
				x.tg.onUpdate(func(approver.Card) error {
					if time.Now().Before(back) {
						return errBad
					}
					return nil
				})
				if out := x.tap(x.dc.chat, 0, "d1", true); out.Kind != approver.OutcomeRecorded {
					t.Errorf("%+v", out)
				}
				b, chats := x.Broadcaster, []*chat{x.tg.chat, x.dc.chat}
				if c.restart {
					time.Sleep(time.Minute)
					x.stop()
					time.Sleep(2 * time.Minute)
					var err error
					opts := x.Options
					tg, dc := newChat("telegram"), newChat("discord")
					tg.takeOver(x.tg.chat)
					dc.takeOver(x.dc.chat)
					opts.Channels, chats = []approver.Channel{tg, dc}, []*chat{tg, dc}
					if b, err = NewBroadcaster(opts); err != nil {
						t.Fatal(err)
					}
					run, stop := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() { defer close(ended); _ = b.Run(run) }()
					defer func() { stop(); <-ended }()
				}
				time.Sleep(max(time.Until(back), 0) + 6*time.Second)
				_, card := chats[0].card(0)
				if card.State == approver.Pending || card.OneTap || !card.Code.IsZero() ||
					!strings.Contains(card.Result, "waits for the agent") {
					t.Errorf("%v, one tap %v, %q", card.State, card.OneTap, card.Result)
				}
				// What becomes of it then is shown, too.
				if v := b.Ask(t.Context(), testCall("c2"), approver.Verdict{
					Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High,
				}); v.Decision != approver.Allow {
					t.Errorf("%v %s", v.Decision, v.Reason)
				}
				time.Sleep(20 * time.Second)
				for n := range 2 {
					_, card := chats[n].card(0)
					if isOver(t, card); strings.Contains(card.Result, "waits for the agent") {
						t.Errorf("%q", card.Result)
					}
				}
			})
		})
	}
}

// The story: the platform took a card and lost its answer, and refused the next try for
// good. The call was denied within two seconds as one that no channel could be reached
// for, while a card with buttons was before people, whose taps came too late. Now such a
// card may be there, so its people have their time.
func TestACardThatMayBeThereHasItsTime(t *testing.T) {
	lost, refused := step{err: errBad, taken: true}, step{err: errRefusedForGood}
	for name, c := range map[string]struct {
		script []step
		times  int // how often it is pressed
		allow  bool
	}{
		"lost, then refused":       {append([]step{lost}, always(refused)...), 1, true},
		"lost twice, then refused": {append([]step{lost, lost}, always(refused)...), 1, true},
		"cut off, then refused": {
			append([]step{{err: context.DeadlineExceeded, taken: true}}, always(refused)...), 1, true,
		},
		"it was not taken, refused": {append([]step{{err: errBad}}, always(refused)...), 0, false},
		"nobody presses":            {append([]step{lost}, always(refused)...), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), c.script, always(refused))
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(20 * time.Second)
				select {
				case v := <-answer:
					t.Fatalf("%v %s", v.Decision, v.Reason)
				default:
				}
				for range c.times {
					message, _ := x.tg.card(0)
					if out := x.press(message, true); out.Kind != approver.OutcomeApproved {
						t.Errorf("%+v", out)
					}
				}
				if v := <-answer; (v.Decision == approver.Allow) != c.allow {
					t.Errorf("%v %s", v.Decision, v.Reason)
				}
				if x.tg.count() == 0 {
					return
				}
				// Whenever somebody presses it, it loses its buttons.
				time.Sleep(aLongTime())
				message, _ := x.tg.card(0)
				x.press(message, false)
				time.Sleep(10 * time.Second)
				_, card := x.tg.card(0)
				isOver(t, card)
			})
		})
	}
	t.Run("refused at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := newRetried(t, newMemKV(), always(refused), always(refused))
			began := time.Now()
			if v := <-x.askAsync(t.Context(), testCall("c1"), approver.High); v.Decision == approver.Allow ||
				time.Since(began) > time.Second {
				t.Errorf("after %v: %v %s", time.Since(began), v.Decision, v.Reason)
			}
		})
	})
}

// The cards of a request are forgotten once they show its end: each question looked through those of the last
// 22 minutes.
func TestCardsOfARequestThatIsOverAreForgotten(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		for _, id := range []string{"c1", "c2"} {
			answer := x.askAsync(t.Context(), testCall(id), approver.High)
			synctest.Wait()
			if len(x.editor.live.of) != 1 {
				t.Errorf("%s waits, and the cards of %d requests are known", id, len(x.editor.live.of))
			}
			n := len(x.tg.cards) - 1
			x.tap(x.tg, n, "1", false)
			<-answer
			synctest.Wait()
			if len(x.editor.live.of) != 0 {
				t.Errorf("after %s the cards of %d requests are known", id, len(x.editor.live.of))
			}
		}
	})
}

// An edit that only brings the number of calls up to date counts as younger than it is, and one that brings a fresh
// code as older. That one waits for its turn only until another code is made.
func TestHowUrgentAnEditIs(t *testing.T) {
	now := time.Now()
	ago := now.Add(-time.Minute)
	for name, c := range map[string]struct {
		card     liveCard
		since    time.Duration // before now
		patience time.Duration
	}{
		"a number":            {liveCard{}, -countPatience, PostTimeout},
		"a number that waits": {liveCard{since: ago}, time.Minute - countPatience, PostTimeout},
		"a fresh code":        {liveCard{owes: true, since: ago, by: now.Add(time.Hour)}, time.Minute, PostTimeout},
		"soon another one":    {liveCard{owes: true, since: ago, by: now.Add(time.Second)}, time.Minute, time.Second},
		"it is too late":      {liveCard{owes: true, since: ago, by: now.Add(-time.Second)}, time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			since, patience := c.card.turn(now)
			if got := now.Sub(since); got != c.since || patience != c.patience {
				t.Errorf("it has waited for %v, and waits for %v more", got, patience)
			}
		})
	}
}
