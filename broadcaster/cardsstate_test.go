package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// cardsIn is the state of the cards in the one destination of a channel.
func (x *retried) cardsIn(channel string) CardsState {
	x.t.Helper()
	cards := x.Channels.State(channel).Cards
	if len(cards) != 1 {
		x.t.Fatalf("%s: %+v", channel, cards)
	}
	return cards[0]
}

// What became of the last cards is known of each chat.
func TestChannelStateHasTheLastPosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRetried(t, newMemKV(), []step{{err: errBad}}, []step{{err: errRefusedForGood}})
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(5 * time.Second)
		tg, dc := x.cardsIn("telegram"), x.cardsIn("discord")
		if tg.Problem != "post: 502 Bad Gateway" || tg.LastPost.IsZero() || !tg.NoneSince.IsZero() ||
			tg.To != x.Destinations[0] {
			t.Errorf("a failure that is over: %+v", tg)
		}
		if !dc.LastPost.IsZero() || dc.NoneSince.IsZero() || !strings.Contains(dc.Problem, "the bot was removed") {
			t.Errorf("a bot that was removed: %+v", dc)
		}
		x.tap(x.tg.chat, 0, "1", true)
		<-answer
	})
}

// The story: somebody deleted a card in the chat, and its request ended. The platform said
// that there is nothing to edit, and status told until the next card that the last one had
// not gone out: it had, and people had read it. Anybody in the chat could make a monitor
// ring. Now an edit that the platform refuses for good says nothing of the chat.
func TestADeletedCardSaysNothingOfTheChat(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		says bool
	}{
		"message to edit not found": {fmt.Errorf("400 message to edit not found: %w", approver.ErrFinal), false},
		"Unknown Message":           {fmt.Errorf("404 Unknown Message: %w", approver.ErrFinal), false},
		"of another bot":            {fmt.Errorf("cant_update_message: %w", approver.ErrFinal), false},
		"of our own making":         {fmt.Errorf("not a message id: %w", approver.ErrFinal), false},
		"it is kicked":              {errRefusedForGood, false},
		"an outage":                 {errBad, true},
		"a time-out":                {context.DeadlineExceeded, true},
		"it is to wait":             {busy(time.Hour), true},
		"no word at all":            {errors.New("EOF"), true},
		"all is well":               {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), nil, nil)
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				x.tg.onUpdate(func(approver.Card) error { return c.err })
				x.tap(x.dc.chat, 0, "d1", false)
				<-answer
				time.Sleep(100 * time.Millisecond)
				tg := x.cardsIn("telegram")
				if !tg.NoneSince.IsZero() || tg.StaleSince.IsZero() == c.says || tg.LastPost.IsZero() {
					t.Errorf("%+v", tg)
				}
				x.tg.onUpdate(nil)
				time.Sleep(time.Second)
				answer = x.askAsync(t.Context(), testCall("c2"), approver.High)
				time.Sleep(time.Second)
				if tg := x.cardsIn("telegram"); !tg.StaleSince.IsZero() {
					t.Errorf("after the next card: %+v", tg)
				}
				x.tap(x.dc.chat, 1, "d1", false)
				<-answer
			})
		})
	}
}

// The story: a channel has two chats, and the bot was removed from one. Its people saw no
// card at all, and status was well: the cards of the other chat had gone out later, and so
// had each edit there. Now each chat is looked at by itself, and an edit is no card.
func TestAChatThatGetsNoCardsIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newBench(t, newMemKV()).Options
		c := &halfDeaf{chat: newChat("telegram")}
		good, bad := approver.Destination{Channel: "telegram", Conversation: "T"}, approver.Destination{
			Channel: "telegram", Conversation: "away",
		}
		o.Store, o.Channels, o.Destinations = newMemKV(), []approver.Channel{c}, []approver.Destination{good, bad}
		if err := BeginControls(t.Context(), o.Store); err != nil {
			t.Fatal(err)
		}
		b, err := NewBroadcaster(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = b.Run(ctx) }()
		<-c.ready
		began := time.Now()
		for n := range 3 {
			answer := make(chan approver.Verdict, 1)
			go func() {
				answer <- b.Ask(t.Context(), testCall(fmt.Sprint("c", n)), approver.Verdict{
					Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High,
				})
			}()
			time.Sleep(time.Second)
			message, card := c.card(-1)
			b.Answers.Reply(t.Context(), approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: "1", Method: approver.ByTap, Request: card.Request,
				Message: message,
			})
			<-answer
			time.Sleep(time.Minute)
			cards := b.Channels.State("telegram").Cards
			if len(cards) != 2 || cards[0].LastPost.IsZero() || !cards[0].NoneSince.IsZero() {
				t.Fatalf("the chat that is there: %+v", cards)
			}
			if got := cards[1]; got.To != bad || !got.LastPost.IsZero() || got.NoneSince.Sub(began) > time.Second ||
				got.NoneSince.IsZero() {
				t.Errorf("the chat that is away: %+v", got)
			}
		}
		// What a card of another daemon's chat meets says nothing of ours.
		_ = b.Channels.updateOne(t.Context(), approver.Ref{
			Destination: approver.Destination{Channel: "telegram", Conversation: "foreign"}, Message: "x",
		}, approver.Card{})
		if cards := b.Channels.State("telegram").Cards; len(cards) != 2 {
			t.Errorf("%+v", cards)
		}
		cancel()
		<-ended
	})
}

// halfDeaf refuses cards to the chat "away".
type halfDeaf struct{ *chat }

func (h *halfDeaf) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if to.Conversation == "away" {
		return approver.Ref{}, errRefusedForGood
	}
	return h.chat.Post(ctx, to, card)
}
