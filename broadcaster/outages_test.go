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
)

// attentive has people told of outages.
func attentive(t *testing.T, kv *memKV, script []step) *routed {
	t.Helper()
	return newRouted(t, kv, script, func(o *Options) { o.OutageAfter, o.RunAgain = 0, time.Second })
}

// notices are the cards of a chat that are about a channel, the newest state of each.
func notices(c *chat) (all []approver.Card) {
	for n := range c.count() {
		if _, card := c.card(n); len(card.Body) == 0 {
			all = append(all, card)
		}
	}
	return all
}

// The story: the token of the Telegram bot was revoked at night. Only the log said so, which nobody reads, and in the
// morning nobody had been asked on Telegram for hours. People on the other channels are told now, once, with
// the cause and what to do, and the message says when it is over.
func TestPeopleAreToldThatAChannelIsOfNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := attentive(t, newMemKV(), nil)
		x.term.come()
		time.Sleep(10 * time.Second)
		x.one.shut(true)
		time.Sleep(55 * time.Second)
		if n := len(notices(x.two.chat)); n != 0 {
			t.Fatalf("%d messages after less than a minute", n)
		}
		time.Sleep(20 * time.Second)
		for _, c := range []*chat{x.two.chat, x.term.chat} {
			all := notices(c)
			if len(all) != 1 || c.count() != 1 {
				t.Fatalf("%s has %d messages", c.name, c.count())
			}
			got := all[0]
			if !strings.Contains(got.Push, "No answers arrive from Telegram") || got.MayTap() || !got.Code.IsZero() ||
				!strings.Contains(got.Result, "from Telegram since 2000-01-01 00:00 UTC: ") ||
				!strings.Contains(got.Result, "put it into token_file") || !strings.Contains(got.Whole(), "approver doctor") ||
				!got.State.Settled() {
				t.Errorf("%s is told %+v", c.name, got)
			}
		}
		time.Sleep(time.Hour)
		x.one.shut(false)
		time.Sleep(maxRunAgain + time.Minute)
		for _, c := range []*chat{x.two.chat, x.term.chat} {
			if all := notices(c); len(all) != 1 || all[0].State != approver.Consumed ||
				!strings.Contains(all[0].Result, "✅ Telegram is back. No answers arrived from there from 2000-01-01 00:00 UTC") {
				t.Errorf("%s is told %+v", c.name, all)
			}
		}
		if x.one.count() != 0 {
			t.Errorf("the channel itself is told %+v", notices(x.one.chat))
		}
	})
}

// How often people are told, and of what.
func TestWhenPeopleAreToldOfAChannel(t *testing.T) {
	for name, c := range map[string]struct {
		script   []step // of discord
		play     func(x *routed)
		min, max int                            // messages on discord
		last     string                         // of the last one
		telegram func(all []approver.Card) bool // on telegram; nil: nothing
	}{
		"a moment": {play: func(x *routed) {
			x.one.shut(true)
			time.Sleep(10 * time.Second)
			x.one.shut(false)
			time.Sleep(time.Hour)
		}},
		"it comes and goes": {play: func(x *routed) {
			for range 12 {
				x.one.shut(true)
				time.Sleep(3 * time.Minute)
				x.one.shut(false)
				time.Sleep(3 * time.Minute)
			}
			time.Sleep(10 * time.Minute)
		}, min: 2, max: 8, last: "is back"},
		"the message cannot be edited": {play: func(x *routed) {
			x.one.shut(true)
			time.Sleep(5 * time.Minute)
			x.two.onUpdate(func(approver.Card) error { return errRefusedForGood })
			x.one.shut(false)
			time.Sleep(10 * time.Minute)
		}, min: 2, max: 2, last: "is back"},
		"the edit fails for a while": {play: func(x *routed) {
			x.one.shut(true)
			time.Sleep(5 * time.Minute)
			x.two.onUpdate(func(approver.Card) error { return errBad })
			x.one.shut(false)
			time.Sleep(10 * time.Minute)
			x.two.onUpdate(nil)
			time.Sleep(5 * time.Minute)
		}, min: 1, max: 1, last: "is back"},
		"the other chat is down at first": {script: slices.Repeat([]step{{err: errBad}}, 6), play: func(x *routed) {
			x.one.shut(true)
			time.Sleep(15 * time.Minute)
		}, min: 1, max: 1, last: "No answers arrive"},
		"it is over before anybody could be told": {script: slices.Repeat([]step{{err: busy(10 * time.Minute)}}, 1),
			play: func(x *routed) {
				x.one.shut(true)
				time.Sleep(2 * time.Minute)
				x.one.shut(false)
				time.Sleep(time.Hour)
			}},
		"no card reaches it": {script: always(step{err: errBad}), play: func(x *routed) {
			x.askAsync(x.t.Context(), testCall("c1"), approver.High)
			time.Sleep(3 * time.Minute)
		}, telegram: func(all []approver.Card) bool {
			return len(all) == 1 && strings.Contains(all[0].Result, "No cards reach Discord (D) since") &&
				strings.Contains(all[0].Result, "502")
		}},
		"no card reached it": {script: slices.Repeat([]step{{err: errBad}}, 12), play: func(x *routed) {
			x.askAsync(x.t.Context(), testCall("c1"), approver.High)
			time.Sleep(3 * time.Minute)
			x.askAsync(x.t.Context(), testCall("c2"), approver.High)
			time.Sleep(3 * time.Minute)
		}, telegram: func(all []approver.Card) bool {
			return len(all) == 1 && strings.Contains(all[0].Result, "Discord is back. No cards reached it (D) from")
		}},
		"it refuses for good": {script: []step{{err: errRefusedForGood}}, play: func(x *routed) {
			x.askAsync(x.t.Context(), testCall("c1"), approver.High)
			time.Sleep(3 * time.Minute)
		}, telegram: func(all []approver.Card) bool {
			return len(all) == 1 && strings.Contains(all[0].Result, "403 the bot was removed")
		}},
		"one card failed, and was not needed any more": {script: []step{{err: errBad}}, play: func(x *routed) {
			answer := x.askAsync(x.t.Context(), testCall("c1"), approver.High)
			time.Sleep(100 * time.Millisecond)
			x.tap(x.one.chat, 0, "1", true)
			<-answer
			time.Sleep(time.Hour)
		}, telegram: func(all []approver.Card) bool { return len(all) == 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := attentive(t, newMemKV(), c.script)
				time.Sleep(10 * time.Second)
				c.play(x)
				all := notices(x.two.chat)
				if len(all) < c.min || len(all) > c.max || len(all) > 0 && !strings.Contains(all[len(all)-1].Result, c.last) {
					t.Errorf("%d messages: %+v", len(all), all)
				}
				if all := notices(x.one.chat); c.telegram != nil && !c.telegram(all) || c.telegram == nil && len(all) > 0 {
					t.Errorf("on telegram: %+v", all)
				}
				x.stop()
			})
		})
	}
}

// Of two daemons on one store that see the same outage, one tells it. If it dies, the other one says when it is over,
// in the same message.
func TestOneOfSeveralDaemonsTellsOfAnOutage(t *testing.T) {
	for name, script := range map[string][]step{
		"at once": nil, "the other chat is down at first": slices.Repeat([]step{{err: errBad}}, 6),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x, y := attentive(t, kv, script), attentive(t, kv, script)
				for _, r := range []*routed{x, y} {
					r.one.shut(true)
				}
				time.Sleep(30 * time.Minute)
				if len(notices(x.two.chat)) == 0 {
					x, y = y, x
				}
				if len(notices(x.two.chat)) != 1 || len(notices(y.two.chat)) != 0 || len(y.two.times()) != 0 {
					t.Fatalf("%d messages, and %d of the other", len(notices(x.two.chat)), len(notices(y.two.chat)))
				}
				x.stop()
				y.two.takeOver(x.two.chat) // it is one chat
				y.one.shut(false)
				time.Sleep(20 * time.Minute)
				if all := notices(y.two.chat); len(all) != 1 || all[0].State != approver.Consumed {
					t.Errorf("%+v", all)
				}
			})
		})
	}
}

// Both see it in the same moment.
func TestTwoDaemonsThatSeeAnOutageAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, both := newMemKV(), [2]*routed{}
		for n := range both {
			both[n] = newRouted(t, kv, nil, func(o *Options) { o.Store = slowReads{kv} })
		}
		is := trouble{Since: time.Now(), Why: "401"}
		_ = inParallel(2, func(n int) error {
			_, err := both[n].outages.look(t.Context(), "telegram", is, pauses{})
			return err
		})
		if n := len(notices(both[0].two.chat)) + len(notices(both[1].two.chat)); n != 1 {
			t.Errorf("%d messages", n)
		}
	})
}

// slowReads answers late what it has.
type slowReads struct{ *memKV }

func (k slowReads) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	defer time.Sleep(10 * time.Millisecond)
	return k.memKV.Get(ctx, key)
}

// A daemon is restarted, and with the new token the channel works: the message of before says so.
func TestARestartEndsAnOutage(t *testing.T) {
	for name, mended := range map[string]bool{"with a new token": true, "with the old one": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x := attentive(t, kv, nil)
				x.one.shut(true)
				time.Sleep(10 * time.Minute)
				x.stop()
				y := newRouted(t, kv, nil, func(o *Options) {
					o.OutageAfter = 0
					o.Channels[0].(*fragile).shut(!mended)
				})
				y.two.takeOver(x.two.chat)
				time.Sleep(20 * time.Minute)
				if all := notices(y.two.chat); len(all) != 1 || (all[0].State == approver.Consumed) != mended {
					t.Errorf("%+v", all)
				}
			})
		})
	}
}

// A chat that does not take the message holds up no card.
func TestTellingOfAnOutageHoldsUpNoCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hung *choosy
		x := newRouted(t, newMemKV(), nil, func(o *Options) {
			o.OutageAfter = 0
			hung = &choosy{fragile: o.Channels[1].(*fragile)}
			o.Channels[1] = hung
		})
		x.one.shut(true)
		for hung.hangs.Load() == 0 {
			time.Sleep(time.Second)
		}
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(100 * time.Millisecond)
		if x.two.count() != 1 || hung.hangs.Load() == 0 {
			t.Fatalf("%d cards, %d messages hang", x.two.count(), hung.hangs.Load())
		}
		x.tap(x.two.chat, 0, "d1", true)
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%v %s", v.Decision, v.Reason)
		}
	})
}

// choosy takes cards of requests, and hangs for every other message.
type choosy struct {
	*fragile
	hangs atomic.Int64
}

func (c *choosy) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if !card.State.Settled() {
		return c.fragile.Post(ctx, to, card)
	}
	c.hangs.Add(1)
	defer c.hangs.Add(-1)
	<-ctx.Done()
	return approver.Ref{}, ctx.Err()
}

// A channel that says itself whether answers arrive, and only hangs, is told of as well.
func TestPeopleAreToldThatAChannelIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := &downed{fragile: &fragile{scripted: &scripted{chat: newChat("telegram")}}}
		x := newRouted(t, newMemKV(), nil, func(o *Options) {
			o.OutageAfter = 0
			o.Channels[0] = down
		})
		down.Succeeded()
		time.Sleep(5 * time.Minute)
		if all := notices(x.two.chat); len(all) > 0 {
			t.Fatalf("while it works: %+v", all)
		}
		down.Failed(errors.New("dial tcp: no route to host"))
		time.Sleep(2 * time.Minute)
		const since = "since 2000-01-01 00:05 UTC: dial tcp"
		if all := notices(x.two.chat); len(all) != 1 || !strings.Contains(all[0].Result, since) {
			t.Errorf("%+v", all)
		}
		down.Succeeded()
		time.Sleep(10 * time.Second)
		if all := notices(x.two.chat); len(all) != 1 || !strings.Contains(all[0].Result, "is back") {
			t.Errorf("%+v", all)
		}
	})
}

type downed struct {
	*fragile
	approver.ReceptionMeter
}

// A channel that ended is run again now and then, which it may take for a new beginning: it is of no use since it first
// ended.
func TestSinceWhenAChannelIsOfNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := &downed{fragile: &fragile{scripted: &scripted{chat: newChat("telegram")}}}
		x := newRouted(t, newMemKV(), nil, func(o *Options) { o.Channels[0] = down })
		x.stop()
		began := time.Now()
		x.Channels.states.ended("telegram", errors.New("401"))
		time.Sleep(time.Minute)
		x.Channels.states.ended("telegram", errors.New("401"))
		down.Failed(errors.New("401"))
		if got := x.Channels.trouble("telegram"); !got.Since.Equal(began) || got.Why != "401" {
			t.Errorf("%+v", got)
		}
	})
}

// pacedFragile is fragile whose platform limits what it takes.
type pacedFragile struct {
	*fragile
	limit approver.Limit
}

// Pace implements [approver.Pacer].
func (p pacedFragile) Pace(to approver.Destination, _ bool) []approver.Limit {
	limit := p.limit
	limit.What = to.Conversation
	return []approver.Limit{limit}
}

// The story: who tells people of a channel waited for room in a full chat for a minute, and did not say meanwhile
// that it was there. So another daemon told it as well.
func TestWhoTellsOfAChannelSaysSoWhileAChatIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRouted(t, newMemKV(), nil, func(o *Options) {
			o.OutageAfter, o.TTL = time.Minute, time.Hour
			o.Channels[1] = pacedFragile{o.Channels[1].(*fragile), approver.Limit{Most: 1, Within: 3 * time.Minute}}
		})
		x.askAsync(t.Context(), testCall("c1"), approver.High) // its card fills the chat
		time.Sleep(time.Second)
		x.one.shut(true)
		told := 0
		for range 5 * 60 {
			time.Sleep(time.Second)
			value, _, err := x.kv.Get(t.Context(), approver.Key("outage", "telegram"))
			if err != nil {
				continue
			}
			if silent := time.Since(decodeOutage(value).At); silent >= outageWord {
				t.Fatalf("it said nothing for %v", silent)
			}
			told++
		}
		if all := notices(x.two.chat); told == 0 || len(all) != 1 {
			t.Errorf("the record was there %d times; the chat is told %+v", told, all)
		}
	})
}
