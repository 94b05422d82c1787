package broadcaster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/fingerprint"
)

// The story: a fail-over takes back the last write while cards are being updated. The
// request is pending again, but noted as closed and shown: its real end is never
// recorded and no card is updated.
func TestAFailOverWhileSettling(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithCancelCause(t.Context())
		answer := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		key := approver.Key("req", card.Request)
		x.kv.mu.Lock()
		old, oldDue := x.kv.records[key], x.kv.due[key]
		x.kv.mu.Unlock()
		var once sync.Once
		x.dc.onUpdate(func(approver.Card) error {
			once.Do(func() { // the fail-over
				x.kv.mu.Lock()
				x.kv.records[key] = old
				x.kv.due[key] = oldDue
				x.kv.mu.Unlock()
			})
			return nil
		})
		x.tap(x.tg, 0, "1", false)
		<-answer
		cancel(nil)
		time.Sleep(time.Second)
		r, _, _ := x.Requests.load(t.Context(), card.Request)
		if r.State == approver.Pending && (r.Closed || r.Postings[0].Shown) {
			t.Errorf("a pending request is noted as closed=%v shown=%v", r.Closed, r.Postings[0].Shown)
		}
		time.Sleep(3 * time.Minute)
		r, _, _ = x.Requests.load(t.Context(), card.Request)
		t.Logf("in the end %v closed=%v, audit %v", r.State, r.Closed, x.audit.events(card.Request))
		if r.State == approver.Expired && !slices.Contains(x.audit.events(card.Request), approver.EventExpired) {
			t.Error("its expiry was never recorded")
		}
	})
}

// The story: two hubs, each with a terminal of its own. The hub that settles first
// finds no such message, calls that success, and the other hub's terminal keeps
// the open card.
type ownTerminal struct{ *chat }

func (o ownTerminal) Shows(ref approver.Ref) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.cards[ref.Message]
	return ok
}

func (ownTerminal) Watches() (now, ever int) { return 1, 1 }

func (o ownTerminal) Update(ctx context.Context, ref approver.Ref, c approver.Card) error { // as channels/terminal does
	if !o.Shows(ref) {
		if c.State.Settled() {
			return nil
		}
		return errors.New("the message is gone")
	}
	return o.chat.Update(ctx, ref, c)
}

func TestTwoHubsWithATerminalEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		people := approver.People{}
		people.Add("terminal", []approver.Approver{{ID: "1", Person: "alice"}})
		people.Add("slack", []approver.Approver{{ID: "S1", Person: "bob"}})
		hub := func(host string) (*Broadcaster, *chat, *chat) {
			term, slack := newChat("terminal"), newChat("slack")
			b, err := NewBroadcaster(Options{
				Store: kv, Audit: &memAudit{}, People: people, Channels: []approver.Channel{ownTerminal{term}, slack},
				Destinations: []approver.Destination{
					{Channel: "terminal", Conversation: "local"}, {Channel: "slack", Conversation: "C"},
				},
				Fingerprint: func(_ context.Context, c approver.ToolCall) (approver.Binding, error) {
					return fingerprint.Bind(c, "", nil, nil)
				},
				Limit: func(context.Context, string, approver.ToolCall) error { return nil }, CodeKey: make([]byte, 32),
				Host: host, Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			return b, term, slack
		}
		b1, term1, slack1 := hub("a")
		b2, _, _ := hub("b")
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = b1.Run(ctx) })
		all.Go(func() { _ = b2.Run(ctx) })
		defer func() { stop(); all.Wait() }()
		cctx, leave := context.WithCancel(t.Context())
		done := make(chan approver.Verdict, 1)
		go func() {
			done <- b1.Ask(cctx, testCall("c1"), approver.Verdict{Decision: approver.Ask, Severity: approver.High})
		}()
		synctest.Wait()
		leave()
		<-done
		msg, card := slack1.card(0)
		// Bob says no in Slack, whose events hub 2 receives.
		out := b2.Answers.Reply(t.Context(), approver.Reply{
			Channel: "slack", Conversation: "C", Sender: "S1", Method: approver.ByTap, Request: card.Request, Message: msg,
		})
		time.Sleep(time.Minute)
		if _, c := term1.card(0); c.State == approver.Pending {
			t.Errorf("a minute after %+v the terminal of hub 1 still shows an open card with its buttons", out)
		}
	})
}

// The story: a fail-over takes back the write that replaced a lost card while the
// cards of the ended request are brought up to date. The record has fewer cards
// than were updated: settleOnce panics. The panic is caught, but the mark that
// the request is being settled stays, so this process never settles it again.
func TestAFailOverThatTookACardBack(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		key := approver.Key("req", card.Request)
		var once sync.Once
		x.dc.onUpdate(func(approver.Card) error {
			once.Do(func() {
				r, _, err := x.Requests.load(t.Context(), card.Request)
				if err != nil {
					t.Error(err)
				}
				r.Postings = r.Postings[:1]
				now := time.Now()
				value := x.recordOf(t, r)
				x.kv.mu.Lock()
				x.kv.records[key] = memRecord{value, approver.NewRev()}
				x.kv.due[key] = r.Attention(now)
				x.kv.mu.Unlock()
			})
			return nil
		})
		x.tap(x.tg, 0, "1", false)
		<-answer
		time.Sleep(5 * time.Minute)
		r, _, _ := x.Requests.load(t.Context(), card.Request)
		if !r.Closed {
			t.Errorf("five minutes after one panic: closed=%v, shown=%v; still marked as being settled: %v", r.Closed,
				r.Postings[0].Shown, len(x.tasks.single))
		}
	})
}

// The story: one call id on two connections at once, the first one's record a moment
// later than its index. Both become requests, both are shown, each has a winner
// of its own.
func TestOneCallOnTwoConnectionsIsOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		h := &hookKV{memKV: kv}
		x := newBenchOn(t, kv, h)
		var first atomic.Bool
		h.put = func(_ context.Context, key string, _ []byte, do func() error) error {
			if strings.Contains(key, ":req:") && !first.Swap(true) {
				time.Sleep(300 * time.Millisecond) // its shard is slow
			}
			return do()
		}
		a := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(50 * time.Millisecond)
		b := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(2 * time.Second)
		n := x.tg.count()
		if n > 1 {
			no, yes := x.tap(x.tg, 0, "1", false), x.tap(x.dc, 1, "d2", true)
			t.Errorf("%d cards for one call: a no on one is told %q, a yes on the other %q; the agent hears %v and %v", n,
				no.Text, yes.Text, (<-a).Decision, (<-b).Decision)
			return
		}
		x.tap(x.tg, 0, "1", false)
		<-a
		<-b
	})
}

// The story: the primary dies with a request that the promoted replica has never
// heard of. The agent's hook still waits; it must not wait for an answer to
// nothing. People are asked anew, and the old card is no way around that.
func TestARequestThatTheStoreLostIsAskedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		x.kv.mu.Lock()
		for key := range x.kv.records {
			if !strings.Contains(key, ":call:") && key != controlKey() { // they are on other shards, and were lucky
				delete(x.kv.records, key)
				delete(x.kv.due, key)
			}
		}
		x.kv.mu.Unlock()
		time.Sleep(30 * time.Second)
		if x.tg.count() != 2 {
			t.Fatalf("%d cards", x.tg.count())
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeUnknown {
			t.Errorf("the card of the lost request: %+v", out)
		}
		if _, fresh := x.tg.card(1); fresh.Request == card.Request {
			t.Error("the same request again")
		}
		if out := x.tap(x.tg, 1, "1", true); out.Kind != approver.OutcomeApproved {
			t.Errorf("the new card: %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("the agent hears %v: %s", v.Decision, v.Reason)
		}
	})
}
