package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// netted is a chat that says whether answers arrive. Its bot may be shut out, or its network be away.
type netted struct {
	*fragile
	approver.ReceptionMeter
	away atomic.Bool
	runs atomic.Int64
}

func newNetted(name string) *netted {
	return &netted{fragile: &fragile{scripted: &scripted{chat: newChat(name)}}}
}

func (n *netted) Run(ctx context.Context, _ approver.ReplyFunc) error {
	n.runs.Add(1)
	defer n.Stopped()
	for {
		switch {
		case n.away.Load():
			n.Failed(errors.New("dial tcp: no route to host"))
		case n.shutOut():
			err := errors.New("401: make a new token and put it into token_file")
			n.Failed(err)
			return err
		default:
			n.Succeeded()
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// Post fails while the network is away, and while the bot is shut out.
func (n *netted) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	switch {
	case n.away.Load():
		return approver.Ref{}, errors.New("dial tcp: no route to host")
	case n.shutOut():
		return approver.Ref{}, errors.New("401: put a new token into token_file")
	}
	return n.fragile.Post(ctx, to, card)
}

// soloNetted is netted where one process receives.
type soloNetted struct{ *netted }

func (s soloNetted) LeaseName() string { return s.name + ":1" }

// newNettedPair is a daemon with two chats that may be shut out or away.
func newNettedPair(t *testing.T, kv *memKV, change func(o *Options)) (x *routed, one, two *netted) {
	t.Helper()
	one, two = newNetted("telegram"), newNetted("discord")
	x = newRouted(t, kv, nil, func(o *Options) {
		o.Channels[0], o.Channels[1] = one, two
		if change != nil {
			change(o)
		}
	})
	x.one, x.two, x.tg, x.dc = one.fragile, two.fragile, one.chat, two.chat
	return x, one, two
}

// until waits for a condition, for so long at most.
func until(most time.Duration, is func() bool) bool {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return is()
}

// The story: the tokens had been revoked for an hour, and each channel slept before it tried again. An operator put
// a new token in its place, and for minutes each call was still denied at once: all channels had ended. A call
// that finds no way wakes them now, and is asked if one of them works.
func TestATokenThatWasGivenAgainIsUsedAtOnce(t *testing.T) {
	for name, says := range map[string]bool{"a channel that says whether answers arrive": true, "another one": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRouted(t, newMemKV(), nil, nil)
				if says {
					x.stop()
					x, _, _ = newNettedPair(t, newMemKV(), nil)
				}
				for n := range 5 { // at any time of the rest
					x.one.shut(true)
					x.two.shut(true)
					time.Sleep(10*time.Minute + time.Duration(n)*25*time.Second)
					x.one.shut(false)
					cards := x.one.count()
					answer := x.askAsync(t.Context(), testCall(fmt.Sprint("c", n)), approver.High)
					if !until(runsApart+steadyAfter+3*time.Second, func() bool { return x.one.count() > cards }) {
						t.Fatal("nobody was asked")
					}
					x.tap(x.one.chat, -1, "1", true)
					if v := <-answer; v.Decision != approver.Allow {
						t.Errorf("%v %s", v.Decision, v.Reason)
					}
				}
			})
		})
	}
}

// However many calls reach nobody, the platform is asked once in ten seconds, and each of them is denied soon.
func TestManyCallsWakeAChannelRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, one, two := newNettedPair(t, newMemKV(), nil)
		x.one.shut(true)
		x.two.shut(true)
		time.Sleep(10 * time.Minute)
		before, began := one.runs.Load()+two.runs.Load(), time.Now()
		var answers []<-chan approver.Verdict
		for n := range 120 {
			call := testCall(fmt.Sprint("c", n))
			call.Args = fmt.Appendf(nil, `{"command":"make %d"}`, n)
			answers = append(answers, x.askAsync(t.Context(), call, approver.High))
			time.Sleep(500 * time.Millisecond)
		}
		for _, answer := range answers {
			if v := <-answer; v.Decision != approver.Deny || !strings.Contains(v.Reason, "only people can mend") {
				t.Errorf("%v %s", v.Decision, v.Reason)
			}
		}
		if took := time.Since(began); took > time.Minute+runsApart+time.Second {
			t.Errorf("after %v", took)
		}
		if runs := one.runs.Load() + two.runs.Load() - before; runs > 2*8 {
			t.Errorf("the platforms were asked %d times", runs)
		}
	})
}

// The story: the tokens were revoked and given again, and then the network was away. Agents, people and the status were
// told of revoked tokens for as long as that lasted, and looked for a cure that was done already. What keeps a channel
// away now is what they are told, and it is waited for: a network comes back by itself.
func TestTheReasonIsThatOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, one, two := newNettedPair(t, newMemKV(), func(o *Options) { o.OutageAfter = 0 })
		x.term.come()
		x.one.shut(true)
		x.two.shut(true)
		time.Sleep(10 * time.Minute)
		told := func() (all string) {
			for _, c := range notices(x.term.chat) {
				all += c.Result + "\n"
			}
			return all
		}
		if all := told(); strings.Count(all, "token_file") != 2 {
			t.Fatalf("people were told %q", all)
		}
		x.term.leave()
		one.away.Store(true)
		two.away.Store(true)
		x.one.shut(false)
		x.two.shut(false)
		began := time.Now()
		v := <-x.askAsync(t.Context(), testCall("c1"), approver.High)
		if took := time.Since(began); v.Decision != approver.Deny || took != DefaultTTL {
			t.Errorf("after %v: %v %s", took, v.Decision, v.Reason)
		}
		if strings.Contains(v.Reason+v.Detail, "only people") || strings.Contains(v.Reason+v.Detail, "token_file") ||
			!strings.Contains(v.Detail, "telegram: dial tcp: no route to host") || strings.Contains(v.Reason, "dial tcp") {
			t.Errorf("the agent is told %q, people %q", v.Reason, v.Detail)
		}
		for _, name := range []string{"telegram", "discord"} {
			if why := x.Channels.State(name).Hearing().Why; why != "dial tcp: no route to host" {
				t.Errorf("the status says %q", why)
			}
			if err := x.Channels.Deaf(name); err == nil || strings.Contains(err.Error(), "token_file") {
				t.Errorf("a card waits for %v", err)
			}
		}
		x.term.come()
		time.Sleep(2 * time.Minute)
		if all := told(); strings.Contains(all, "token_file") || strings.Count(all, "no route to host") != 2 {
			t.Errorf("people are told %q", all)
		}
		one.away.Store(false)
		time.Sleep(10 * time.Second)
		if all := told(); strings.Count(all, "Telegram is back") != 1 {
			t.Errorf("people are told %q", all)
		}
		one.shut(true) // anew
		two.away.Store(false)
		two.shut(true)
		x.term.leave()
		time.Sleep(10 * time.Minute)
		v = <-x.askAsync(t.Context(), testCall("c2"), approver.High)
		if !strings.Contains(v.Reason, "only people can mend") || !strings.Contains(v.Detail, "token_file") {
			t.Errorf("the agent is told %q, people %q", v.Reason, v.Detail)
		}
	})
}

// The story: of two daemons that share a store, one had lost its tokens, and the other one worked. A call of the first
// was denied at once, although the other could have asked. The card is left to it now, for a while.
func TestAnotherDaemonAsksWhereThisOneCannot(t *testing.T) {
	for name, c := range map[string]struct {
		begin    func(x, y *routed)
		then     func(x *routed)
		from, to time.Duration // when the card is there
		on       func(x, y *routed) *routed
		allow    bool
	}{
		"the other one works": {
			begin: func(*routed, *routed) {}, to: runsApart + 3*time.Second,
			on: func(_, y *routed) *routed { return y }, allow: true,
		},
		"it is shut out as well": {
			begin: func(_, y *routed) { y.one.shut(true); y.two.shut(true) }, to: 2*runsApart + 2*othersGrace + 5*time.Second,
		},
		"it is gone": {
			begin: func(_, y *routed) { y.stop() }, to: runsApart + othersGrace + 3*time.Second,
		},
		"it is gone, and the channel is back meanwhile": {
			begin: func(_, y *routed) { y.stop() },
			then: func(x *routed) {
				until(time.Minute, func() bool {
					open, _ := x.Requests.Open(x.t.Context())
					return len(open) == 1 && open[0].Postings[0].Left != ""
				})
				x.one.shut(false)
				x.Channels.states.ended("telegram", nil)
			},
			to: runsApart + othersGrace + 5*time.Second,
			on: func(x, _ *routed) *routed { return x }, allow: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				shared := func(o *Options) { o.Shared, o.RunAgain, o.TTL = true, 5*time.Second, 5*time.Minute }
				x, y := newRouted(t, kv, nil, shared), newRouted(t, kv, nil, shared)
				x.one.shut(true)
				x.two.shut(true)
				c.begin(x, y)
				time.Sleep(10 * time.Minute)
				began := time.Now()
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				if c.then != nil {
					go c.then(x)
				}
				if c.on != nil {
					who := c.on(x, y)
					if !until(c.to, func() bool { return who.one.count() > 0 }) {
						t.Fatal("nobody was asked")
					}
					who.tap(who.one.chat, 0, "1", true)
				}
				v := <-answer
				if took := time.Since(began); (v.Decision == approver.Allow) != c.allow || took > c.to+time.Second {
					t.Errorf("after %v: %v %s", took, v.Decision, v.Reason)
				}
				if !c.allow && !strings.Contains(v.Reason, "only people can mend") {
					t.Errorf("the agent is told %q", v.Reason)
				}
				for _, rec := range x.audit.recorded() {
					if rec.Request != "" {
						if n := len(x.loaded(rec.Request).Postings); n > 6 {
							t.Errorf("%d postings", n)
						}
						break
					}
				}
			})
		})
	}
}

// A daemon whose own network is away, while another one receives, leaves its cards to that one.
func TestADaemonWithoutANetworkLeavesItsCards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, lease := newMemKV(), &oneLease{}
		var both [2]*routed
		var chats [2]*netted
		for n := range both {
			both[n], chats[n], _ = newNettedPair(t, kv, func(o *Options) {
				o.Shared = true
				o.Store = replica{kv, lease, string(rune('a' + n)), func() bool { return false }}
				o.Channels[0] = soloNetted{o.Channels[0].(*netted)}
				o.Destinations = o.Destinations[:1]
			})
		}
		time.Sleep(10 * time.Second)
		chats[0].away.Store(true)
		time.Sleep(2 * time.Minute)
		if now := both[0].Channels.State("telegram").Hearing(); !now.Elsewhere {
			t.Fatalf("the other one does not receive: %+v", now)
		}
		answer := both[0].askAsync(t.Context(), testCall("c1"), approver.High)
		if !until(20*time.Second, func() bool { return chats[1].count() > 0 }) {
			t.Fatal("nobody was asked")
		}
		both[1].tap(chats[1].chat, 0, "1", true)
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%v %s", v.Decision, v.Reason)
		}
	})
}

// A card that a crash left without a trace may be before people, and its buttons count: its request is not denied
// although no other card can be shown.
func TestACardThatMayBeVisibleIsAWay(t *testing.T) {
	gone := Posting{To: approver.Destination{Channel: "telegram"}, Phase: Void, Unsure: true}
	synctest.Test(t, func(t *testing.T) {
		x := newRouted(t, newMemKV(), nil, nil)
		x.one.shut(true)
		time.Sleep(10 * time.Minute)
		next := Posting{To: gone.To, Phase: Sending}
		if got := x.Channels.route(Request{Postings: Postings{next}}, time.Time{}); got != closed {
			t.Errorf("without it: %v", got)
		}
		page := Posting{To: gone.To, Phase: Posted, Page: true} // which shows nobody the request
		if got := x.Channels.route(Request{Postings: Postings{next, page}}, time.Time{}); got != closed {
			t.Errorf("with a page: %v", got)
		}
		if got := x.Channels.route(Request{Postings: Postings{gone, next}}, time.Time{}); got != open {
			t.Errorf("with it: %v", got)
		}
	})
}

// A card is left to the others once, and nobody takes it for one that may be visible: its process said that it is not.
func TestACardIsLeftOnce(t *testing.T) {
	b := composed(Options{Shared: true, process: "this"})
	to := approver.Destination{Channel: "telegram", Conversation: "T"}
	left := Posting{To: to, Phase: Sending, Left: "this"}
	for name, c := range map[string]struct {
		before Postings
		leaves bool
	}{
		"the first":          {nil, true},
		"left before":        {Postings{left}, false},
		"left by another":    {Postings{{To: to, Left: "that"}}, true},
		"left elsewhere":     {Postings{{To: approver.Destination{Channel: "discord"}, Left: "this"}}, true},
		"not left by anyone": {Postings{{To: to}}, true},
	} {
		if got := b.poster.leaves(Request{Postings: c.before}, Posting{To: to}); got != c.leaves {
			t.Errorf("%s: %v", name, got)
		}
	}
	lost := left
	lost.Left = ""
	left.replaced(false)
	lost.replaced(false)
	if left.Unsure || !lost.Unsure {
		t.Errorf("left: %v, lost: %v", left.Unsure, lost.Unsure)
	}
}

// pacedSolo is soloNetted whose platform limits what it takes.
type pacedSolo struct {
	soloNetted
	limit approver.Limit
}

// Pace implements [approver.Pacer].
func (p pacedSolo) Pace(to approver.Destination, _ bool) []approver.Limit {
	limit := p.limit
	limit.What = to.Conversation
	return []approver.Limit{limit}
}

// A card that waits for its turn is tried no longer for that: it is not left to another daemon because the chat is
// full.
func TestACardThatWaitsForItsTurnIsNotLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, lease := newMemKV(), &oneLease{}
		var both [2]*routed
		for n := range both {
			both[n], _, _ = newNettedPair(t, kv, func(o *Options) {
				o.Shared, o.TTL = true, 10*time.Minute
				o.Store = replica{kv, lease, string(rune('a' + n)), func() bool { return false }}
				o.Channels[0] = pacedSolo{soloNetted{o.Channels[0].(*netted)}, approver.Limit{Most: 1, Within: 6 * time.Second}}
				o.Destinations = o.Destinations[:1]
			})
		}
		time.Sleep(30 * time.Second)
		x, y := both[0], both[1]
		if !x.Channels.State("telegram").Hearing().Elsewhere {
			x, y = y, x
		}
		if now := x.Channels.State("telegram").Hearing(); !now.Elsewhere {
			t.Fatalf("the other one does not receive: %+v", now)
		}
		x.one.plays([]step{{err: errBad}, {err: errBad}})
		x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Minute)
		id, _, err := x.Requests.idByCall(t.Context(), "c1")
		if err != nil {
			t.Fatal(err)
		}
		if r := x.loaded(id); len(r.Postings) != 1 || r.Postings[0].Phase != Posted || y.one.count() > 0 {
			t.Errorf("%+v", r.Postings)
		}
	})
}

// A card that waits for room in a chat is on its way: its call is not denied because the other chats are shut out, and
// if its time ends first, its agent hears that the chat was full.
func TestACardThatWaitsForItsTurnIsAWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRouted(t, newMemKV(), nil, func(o *Options) {
			o.Channels[1] = pacedFragile{o.Channels[1].(*fragile), approver.Limit{Most: 1, Within: 20 * time.Minute}}
			o.Destinations = o.Destinations[:2]
		})
		x.one.shut(true)
		time.Sleep(5 * time.Minute)
		first := testCall("c0") // its card fills the chat
		first.Command, first.Args = "make", []byte(`{"command":"make"}`)
		x.askAsync(t.Context(), first, approver.High)
		time.Sleep(time.Second)
		began := time.Now()
		v := <-x.askAsync(t.Context(), testCall("c1"), approver.High)
		if took := time.Since(began); took < DefaultTTL-time.Second || !strings.Contains(v.Reason, "was full") {
			t.Errorf("after %v: %s", took, v.Reason)
		}
	})
}
