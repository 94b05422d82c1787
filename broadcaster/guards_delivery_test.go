package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: several daemons share a store, and one of them looks at an open request. It
// may replace only what nobody can see. A card that another daemon is still posting, that
// is on another machine's terminal, or in a chat that only another daemon has, is not lost:
// replacing it would void the code that people have before them.
func TestWhichCardsAreLost(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		now := time.Now()
		up, down := &volatile{chat: x.dc, up: true}, &volatile{chat: x.dc}
		x.tune(func(o *Options) { o.Host = "here" })
		for name, tt := range map[string]struct {
			p        Posting
			terminal approver.Channel
			lost     bool
		}{
			"on its way":                         {Posting{Phase: Sending, Until: now.Add(1)}, nil, false},
			"its sender has vanished":            {Posting{Phase: Sending, Until: now}, nil, true},
			"long ago":                           {Posting{Phase: Sending, Until: now.Add(-time.Hour)}, nil, true},
			"posted":                             {Posting{Phase: Posted, Until: now.Add(-time.Hour)}, nil, false},
			"given up":                           {Posting{Phase: Failed, Until: now.Add(-time.Hour)}, nil, false},
			"replaced":                           {Posting{Phase: Void, Until: now.Add(-time.Hour)}, nil, false},
			"on a terminal that is there":        {Posting{Phase: Posted}, up, false},
			"on a terminal that has gone":        {Posting{Phase: Posted}, down, true},
			"failed on a terminal that has gone": {Posting{Phase: Failed}, down, false},
			"replaced on a terminal":             {Posting{Phase: Void}, down, false},
			"on its way to a terminal":           {Posting{Phase: Sending, Until: now.Add(1)}, down, false},
			"of this machine's terminal":         {Posting{Phase: Posted, Hub: "here"}, down, true},
			"of another machine's terminal":      {Posting{Phase: Posted, Hub: "there"}, down, false},
			"on its way at another machine":      {Posting{Phase: Sending, Hub: "there", Until: now.Add(-1)}, down, false},
			"in a chat that only others have": {
				Posting{To: approver.Destination{Channel: "slack"}, Phase: Sending, Until: now.Add(-1)}, nil, false,
			},
		} {
			if tt.p.To.Channel == "" {
				tt.p.To = approver.Destination{Channel: "discord", Conversation: "D"}
			}
			x.Channels.byName["discord"] = x.dc
			if tt.terminal != nil {
				x.Channels.byName["discord"] = tt.terminal
			}
			r := Request{Postings: []Posting{{To: approver.Destination{Channel: "telegram"}, Phase: Posted}, tt.p}}
			var want []int
			if tt.lost {
				want = []int{1}
			}
			if got := x.poster.lostPostings(r, now); !slices.Equal(got, want) {
				t.Errorf("%s: %v", name, got)
			}
		}
		x.Channels.byName["discord"] = x.dc
	})
}

// The story: Telegram took half a minute for a card, and the daemon that posted it could
// not write to the store meanwhile. Another daemon took it for dead and put a new card
// with a new code before people. Then the old card arrived, and its daemon could write
// again: the old card must not count beside the new one, and goes out of sight.
func TestACardThatArrivesAfterItWasReplaced(t *testing.T) {
	for _, ended := range []bool{false, true} {
		t.Run(fmt.Sprint("the request has ended: ", ended), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				mine := &hookKV{memKV: kv}
				x := newBenchOn(t, kv, mine)
				arrive := make(chan struct{})
				x.tg.onPost(func(context.Context) error { <-arrive; return nil })
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				mine.set(func() {
					mine.put = func(_ context.Context, _ string, _ []byte, _ func() error) error { return errors.New("cut off") }
				})
				other := newBench(t, kv)
				// messages have names of their own
				if _, err := other.tg.Post(t.Context(), approver.Destination{Conversation: "T"}, approver.Card{}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(sendingFor + 10*time.Second)
				if other.tg.count() != 2 {
					t.Fatalf("the other daemon has posted %d cards", other.tg.count())
				}
				if ended {
					other.tap(other.tg, 1, "1", false)
				}
				mine.set(func() { mine.put = nil })
				close(arrive)
				time.Sleep(5 * time.Second)
				_, old := x.tg.card(0)
				_, live := other.tg.card(1)
				if old.OneTap || !old.Code.IsZero() || old.Result == "" || strings.Contains(old.Result, "Replaced") == ended {
					t.Errorf("the old card shows %+v", old)
				}
				r := x.loaded(live.Request)
				if voids := slices.DeleteFunc(slices.Clone(r.Postings),
					func(p Posting) bool { return p.Phase != Void }); len(voids) != 1 || voids[0].takesCode() {
					t.Errorf("replaced: %+v", voids)
				}
				if !ended {
					out := other.Answers.Reply(t.Context(), approver.Reply{
						Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap,
						Request: live.Request, Message: "T-1",
					})
					if out.Kind != approver.OutcomeApproved {
						t.Errorf("the new card: %+v", out)
					}
				}
				<-answer
			})
		})
	}
}

// The story: the store was away for seconds at the very moment at which a card reached the
// phones. Its message was never noted, so after the next look a second card with another
// code came for the same question. The note waits for the store.
func TestTheNoteOfACardWaitsForTheStore(t *testing.T) {
	for _, away := range []time.Duration{time.Second, 5 * time.Second, 8 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			x.tg.onPost(func(context.Context) error {
				x.kv.failing(func(string, string) error { return errors.New("no quorum") })
				time.AfterFunc(away, func() { x.kv.failing(nil) })
				return nil
			})
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			time.Sleep(time.Minute)
			_, card := x.tg.card(0)
			r, _, err := x.Requests.load(t.Context(), card.Request)
			if err != nil || x.tg.count() != 1 {
				t.Fatalf("%v: %d cards, %v", away, x.tg.count(), err)
			}
			for _, p := range r.Postings {
				if p.Phase != Posted || p.Ref.Message == "" {
					t.Errorf("%v: %s is noted as %v %q", away, p.To.Channel, p.Phase, p.Ref.Message)
				}
			}
			if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
				t.Errorf("%v: %+v", away, out)
			}
			<-answer
		})
	}
}

// The story: the library of one platform panicked at a card. That took the whole daemon
// down, and with it every question that was open elsewhere.
func TestAChannelThatPanicsTakesNothingDown(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.tg.onPost(func(context.Context) error { panic("nil map") })
		x.dc.onUpdate(func(approver.Card) error { panic("nil map") })
		var log lines
		x.tune(func(o *Options) { o.Log = log.log() })
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		if cards := x.Channels.State("telegram").Cards; len(cards) != 1 || cards[0].Problem != "panic: nil map" {
			t.Errorf("status says %+v", cards)
		}
		if out := x.tap(x.dc, 0, "d1", true); out.Kind != approver.OutcomeApproved {
			t.Errorf("the other channel: %+v", out)
		}
		<-answer
		time.Sleep(10 * time.Second)
		if cards := x.Channels.State("discord").Cards; len(cards) != 1 || cards[0].StaleSince.IsZero() ||
			cards[0].EditProblem != "panic: nil map" {
			t.Errorf("status says %+v", cards)
		}
		if log.count("guards_delivery_test.go") == 0 {
			t.Error("the log does not say where it was")
		}
	})
}

// A nameless chat takes cards and does not say which message they are.
type nameless struct{ *chat }

func (n nameless) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	_, err := n.chat.Post(ctx, to, card)
	return approver.Ref{}, err
}

// A platform that took a card and gave no message id has shown nobody a card that could
// ever be brought up to date: status says that no card went out there.
func TestAPlatformThatNamesNoMessage(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.Channels.byName["telegram"] = nameless{x.tg}
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		cards := x.Channels.State("telegram").Cards
		if len(cards) != 1 || cards[0].NoneSince.IsZero() || !strings.Contains(cards[0].Problem, "no message id") {
			t.Errorf("status says %+v", cards)
		}
		x.tap(x.dc, 0, "d1", false)
		<-answer
	})
}

// The story: a card was tried again and again while its store was away, and then while it
// had been replaced or found by its button. It is given up only for the latter: a store
// that is away for a moment does not end the tries, and a card that nobody wants any more
// is not posted beside the one that took its place.
func TestHowLongACardIsWanted(t *testing.T) {
	away := func(x *bench, _ *Request) {
		time.AfterFunc(3*time.Second, func() { x.kv.failing(func(string, string) error { return errors.New("no quorum") }) })
		time.AfterFunc(8*time.Second, func() { x.kv.failing(nil) })
	}
	phase := func(p Phase) func(*bench, *Request) {
		return func(_ *bench, r *Request) {
			r.Postings = slices.Clone(r.Postings)
			for i := range r.Postings {
				if r.Postings[i].To.Channel == "telegram" {
					r.Postings[i].Phase, r.Postings[i].Ref.Message = p, "T-9"
				}
			}
		}
	}
	for name, tt := range map[string]struct {
		change func(*bench, *Request)
		tries  bool
	}{
		"nothing happens":          {func(*bench, *Request) {}, true},
		"the store is away":        {away, true},
		"it was replaced":          {phase(Void), false},
		"it was found":             {phase(Posted), false},
		"another gave it up":       {phase(Failed), false},
		"a fail-over took it back": {func(_ *bench, r *Request) { r.Postings = r.Postings[:0] }, false},
		"the request was withdrawn": {
			func(x *bench, r *Request) { _, _ = x.Controls.Freeze(x.t.Context(), "op", "") }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), []step{{err: busy(5 * time.Second)}}, nil)
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				_, card := x.dc.card(0)
				r := x.loaded(card.Request)
				tt.change(x.bench, &r)
				if name != "the store is away" && name != "the request was withdrawn" {
					x.put(t, r)
				}
				time.Sleep(20 * time.Second)
				if got := len(x.tg.times()) > 1; got != tt.tries {
					t.Errorf("it is tried again: %v", got)
				}
				x.stop()
				<-answer
			})
		})
	}
}

// The story: one card of a request could not be posted, and the daemon that tried it last
// said that nobody could be reached. Another daemon's card was before people, or on its
// way. Only a request of which no card can be anywhere is denied at once.
func TestWhoDeniesThatNobodyWasReached(t *testing.T) {
	for name, tt := range map[string]struct {
		p      Posting
		denied bool
	}{
		"no other card":               {Posting{Phase: Failed}, true},
		"another card was replaced":   {Posting{Phase: Void}, true},
		"a replaced one may be there": {Posting{Phase: Void, Unsure: true}, true},
		"another card is there":       {Posting{Phase: Posted}, false},
		"another card is on its way":  {Posting{Phase: Sending}, false},
		"another card may be there":   {Posting{Phase: Failed, Unsure: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				_, card := x.tg.card(0)
				r, _, err := x.Requests.load(t.Context(), card.Request)
				if err != nil {
					t.Fatal(err)
				}
				tt.p.To, tt.p.Until = r.Postings[0].To, time.Now().Add(time.Hour)
				r.Postings = []Posting{{To: r.Postings[1].To, Phase: Failed}, tt.p}
				x.put(t, r)
				x.poster.noteUnreachable(t.Context(), r.ID)
				r, _, err = x.Requests.load(t.Context(), r.ID)
				if err != nil || r.State.Settled() != tt.denied || tt.denied && r.Resolution.Cause != approver.Unreachable {
					t.Errorf("%v %v, %v", r.State, r.Resolution.Cause, err)
				}
				x.stop()
				<-answer
			})
		})
	}
}

// The story: two daemons saw at once that a card was lost. While one made its new card, the
// other had posted one, the card was noted after all, or somebody had answered. A second
// card then went out, with a code that counted for nothing, or with buttons for a request
// that had ended.
func TestALostCardIsReplacedOnce(t *testing.T) {
	for name, change := range map[string]func(r *Request, now time.Time){
		"nothing happens": nil,
		"it is replaced": func(r *Request, now time.Time) {
			p := r.Postings[0]
			p.Phase, p.Until = Sending, now.Add(time.Hour)
			r.Postings[0].Phase = Void
			r.Postings = append(r.Postings, p)
		},
		"another card is there": func(r *Request, _ time.Time) {
			p := r.Postings[1]
			p.Ref.Message = "T-7"
			r.Postings = append(r.Postings, p)
		},
		"it is found": func(r *Request, _ time.Time) {
			r.Postings[0].Phase, r.Postings[0].Ref.Message = Posted, "T-0"
		},
		"somebody else posts":   func(r *Request, now time.Time) { r.Postings[0].Until = now.Add(time.Hour) },
		"its question is ended": func(r *Request, now time.Time) { *r, _ = r.End(approver.Denied, approver.Revoked, now) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := &hookKV{memKV: newMemKV()}
				x := newBenchOn(t, kv.memKV, kv)
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				kv.failing(func(op, _ string) error { // the clock is this test's
					if op == "due" {
						return errors.New("later")
					}
					return nil
				})
				_, card := x.tg.card(0)
				r := x.loaded(card.Request)
				r.Postings = slices.Clone(r.Postings)
				slices.SortFunc(r.Postings, func(a, b Posting) int { return strings.Compare(b.To.Channel, a.To.Channel) })
				r.Postings[0].Phase, r.Postings[0].Ref, r.Postings[0].Until = Sending, approver.Ref{}, time.Now()
				x.put(t, r)
				var once atomic.Bool
				kv.set(func() { // the new code is stored first
					kv.put = func(_ context.Context, key string, _ []byte, do func() error) error {
						if !strings.Contains(key, "}:req:") && !once.Swap(true) && change != nil {
							_, err := x.Requests.change(x.t.Context(), r.ID, func(r Request, now time.Time) (Request, error) {
								r.Postings = slices.Clone(r.Postings)
								change(&r, now)
								return r, nil
							})
							if err != nil {
								t.Error(err)
							}
						}
						return do()
					}
				})
				x.poster.repost(t.Context(), r.ID)
				if !once.Load() {
					t.Fatal("no code was stored")
				}
				want := 2
				if change != nil {
					want = 1
				}
				if got := x.tg.count(); got != want {
					t.Errorf("%d cards", got)
				}
				kv.set(func() { kv.put = nil })
				kv.failing(nil)
				x.stop()
				<-answer
			})
		})
	}
}

// What an agent is told of who could not be asked is true of each way in which channels
// are configured.
func TestWhyNobodyCouldBeAsked(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.stop() // it looks at its parts
		chat, terminal := approver.Destination{Channel: "telegram"}, approver.Destination{Channel: "discord"}
		x.Channels.byName["discord"] = unwatched{x.dc}
		for _, tt := range []struct {
			configured, asked []approver.Destination
			want              string
		}{
			{[]approver.Destination{terminal}, []approver.Destination{terminal},
				"nobody watches the discord (approver watch), and no other channel is configured"},
			{[]approver.Destination{terminal, chat}, []approver.Destination{terminal},
				"nobody watches the discord (approver watch), and this was to be asked nowhere else"},
			{[]approver.Destination{chat, terminal}, []approver.Destination{terminal, chat}, "The operator finds why"},
			{[]approver.Destination{chat}, []approver.Destination{chat}, "The operator finds why"},
			{[]approver.Destination{chat}, nil, "no channel is configured for it"},
		} {
			x.tune(func(o *Options) { o.Destinations = tt.configured })
			var r Request
			for _, to := range tt.asked {
				r.Postings = append(r.Postings, Posting{To: to})
			}
			if got, _ := x.Channels.unreached(r); !strings.Contains(got, tt.want) {
				t.Errorf("%v of %v: %s", tt.asked, tt.configured, got)
			}
		}
		x.Channels.byName["discord"] = x.dc
	})
}
