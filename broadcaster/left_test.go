package broadcaster

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// lostAnswer posts, and never hears of it.
type lostAnswer struct{ soloNetted }

func (s lostAnswer) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	_, _ = s.netted.Post(ctx, to, card)
	<-ctx.Done()
	return approver.Ref{}, ctx.Err()
}

// The story: the platform carried out a post and its answer was lost. The daemon left the card to another one, which
// posted it too, and took the first one for invisible: a no on it did not count.
func TestACardThatWasLeftMayBeVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, lease := newMemKV(), &oneLease{}
		var both [2]*routed
		var chats [2]*netted
		for n := range both {
			both[n], chats[n], _ = newNettedPair(t, kv, func(o *Options) {
				o.Shared = true
				o.Store = replica{kv, lease, string(rune('a' + n)), func() bool { return false }}
				o.Channels[0] = soloNetted{o.Channels[0].(*netted)}
				if n == 0 {
					o.Channels[0] = lostAnswer{o.Channels[0].(soloNetted)}
				}
				o.Destinations = o.Destinations[:1]
			})
		}
		time.Sleep(10 * time.Second)
		chats[0].away.Store(true)
		time.Sleep(2 * time.Minute)
		if now := both[0].Channels.State("telegram").Hearing(); !now.Elsewhere {
			t.Fatalf("the other one does not receive: %+v", now)
		}
		chats[0].away.Store(false) // only who receives is settled: b
		answer := both[0].askAsync(t.Context(), testCall("c1"), approver.High)
		if !until(20*time.Second, func() bool { return chats[0].count() > 0 }) {
			t.Fatal("nobody was asked")
		}
		until(20*time.Second, func() bool { return chats[1].count() > 0 })
		time.Sleep(time.Second)
		msg, card := chats[0].card(0)
		out := both[1].Answers.Reply(t.Context(), approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1",
			Approve: false, Method: approver.ByTap, Request: card.Request, Message: msg + "x", Shown: card.Upto})
		if v := <-answer; out.Kind != approver.OutcomeDenied || !strings.Contains(v.Reason, "Alice") {
			t.Errorf("%+v, and the agent reads %q", out, v.Reason)
		}
	})
}

type seatedNetted struct{ soloNetted }

func (seatedNetted) Seats() int { return 4 }

// The story: two daemons had seats of one app, and the network of one was cut. Its people were told that no answers
// arrive, and its cards were not left to the other, which received all the time.
func TestTheOtherSeatReceives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv, lease := newMemKV(), &oneLease{}
		var both [2]*routed
		var chats, others [2]*netted
		for n := range both {
			both[n], chats[n], others[n] = newNettedPair(t, kv, func(o *Options) {
				o.Shared = true
				o.OutageAfter = 0
				o.Store = replica{kv, lease, string(rune('a' + n)), func() bool { return false }}
				o.Channels[0] = seatedNetted{soloNetted{o.Channels[0].(*netted)}}
			})
		}
		time.Sleep(10 * time.Second)
		chats[0].away.Store(true)
		time.Sleep(10 * time.Minute)
		for n := range both {
			if told := notices(others[n].chat); len(told) > 0 {
				t.Errorf("people were told: %+v", told)
			}
		}
		others[0].away.Store(true)
		others[1].away.Store(true)
		both[0].askAsync(t.Context(), testCall("c1"), approver.High)
		if !until(30*time.Second, func() bool { return chats[1].count() > 0 }) {
			t.Error("the card is not left to the one that receives")
		}
	})
}
