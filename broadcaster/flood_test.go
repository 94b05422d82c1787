package broadcaster

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// paced is a scripted chat whose platform limits what it takes.
type paced struct {
	*scripted
	limit approver.Limit
}

// Pace implements [approver.Pacer].
func (p paced) Pace(to approver.Destination, _ bool) []approver.Limit {
	limit := p.limit
	limit.What = to.Conversation
	return []approver.Limit{limit}
}

// newPaced has one chat, T, with a limit.
func newPaced(t *testing.T, kv *memKV, limit approver.Limit) *retried {
	t.Helper()
	return newRetriedAs(t, kv, nil, nil, func(s *scripted) approver.Channel { return paced{s, limit} }, placed("T"))
}

// cardsOf counts the messages of each request, and those that are about no request of the bench.
func (x *retried) cardsOf(known map[string]bool) (cards map[string]int, others []string) {
	cards = map[string]int{}
	for n := range x.tg.count() {
		message, card := x.tg.card(n)
		if known != nil && !known[card.Request] {
			others = append(others, message)
			continue
		}
		cards[card.Request]++
	}
	return cards, others
}

// known are the requests that the audit has.
func (x *retried) known() map[string]bool {
	known := map[string]bool{}
	for _, r := range x.audit.recorded() {
		if r.Event == approver.EventAsked {
			known[r.Request] = true
		}
	}
	return known
}

// The story: an agent asked about hundreds of things at once. All cards went out in the same second, the platform
// refused most of them for longer and longer, and the one question that mattered came last. Most calls were denied
// because "no approval channel could be reached", and nobody in the chat knew that there had been more. Now
// the cards come at the pace of the chat, the most urgent first; the chat is told how many more there are, in
// one message; and whoever was not asked about in time hears why.
func TestAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 400
		x := newPaced(t, newMemKV(), approver.Limit{Most: 2, Within: 2 * time.Second})
		var told atomic.Int64
		x.tg.onUpdate(func(c approver.Card) error {
			if strings.Contains(c.Result, "wait for room") {
				told.Add(1)
			}
			return nil
		})
		verdicts := make(chan approver.Verdict, calls)
		began := time.Now()
		for n := range calls {
			go func() {
				verdicts <- x.Ask(t.Context(), testCall(fmt.Sprint("c", n)),
					approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High})
			}()
			time.Sleep(100 * time.Millisecond)
		}
		urgent := x.askAsync(t.Context(), testCall("urgent"), approver.Catastrophic)
		asked := time.Now()
		for !strings.Contains(lastCards(x, 3), "CATASTROPHIC") {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(asked); took > 4*time.Second {
			t.Errorf("the most urgent card came after %v", took)
		}
		if s := x.Channels.State("telegram"); len(s.Crowds) != 1 || s.Crowds[0].Cards < 300 {
			t.Errorf("status says %+v", s.Crowds)
		}
		silent, full := 0, 0
		for range calls {
			v := <-verdicts
			switch {
			case v.Decision != approver.Deny || !v.Unanswered:
				t.Errorf("%+v", v)
			case strings.Contains(v.Reason, "nobody answered"):
				silent++
			case strings.Contains(v.Reason, "its chat was full"):
				full++
			default:
				t.Errorf("%q", v.Reason)
			}
		}
		took := time.Since(began)
		<-urgent
		time.Sleep(5 * time.Minute)
		cards, others := x.cardsOf(x.known())
		if len(cards) != silent+1 || silent < 60 || silent+full != calls {
			t.Errorf("%d cards, %d calls that nobody answered and %d that nobody was asked about", len(cards), silent, full)
		}
		for request, n := range cards {
			if n != 1 {
				t.Errorf("%d cards of %s", n, request)
			}
		}
		times := x.tg.times()
		for i, at := range times {
			if i >= 2 && at.Sub(times[i-2]) < 2*time.Second {
				t.Errorf("three cards within %v", at.Sub(times[i-2]))
			}
		}
		if len(others) != 1 {
			t.Fatalf("%d messages tell how many wait", len(others))
		}
		if card := x.tg.at(others[0]); card.State != approver.Consumed || !strings.Contains(card.Result, "No request waits") {
			t.Errorf("at the end it says %q", card.Result)
		}
		if n := told.Load(); n > 8 {
			t.Errorf("it was edited %d times", n)
		}
		x.senders.mu.Lock()
		defer x.senders.mu.Unlock()
		if s := x.Channels.State("telegram"); len(s.Crowds) != 0 || len(x.senders.of) != 0 {
			t.Errorf("afterwards %+v wait, and %d requests are remembered", s.Crowds, len(x.senders.of))
		}
		for request := range x.known() {
			if r := x.loaded(request); !r.State.Settled() || !r.logged() {
				t.Errorf("%s is %v, closed: %v", request, r.State, r.Closed)
			}
		}
		t.Logf("%d shown, %d not, within %v", silent, full, took)
	})
}

// lastCards are the push lines of the last cards.
func lastCards(x *retried, n int) (all string) {
	for i := range n {
		_, card := x.tg.card(-1 - i)
		all += card.Push + "\n"
	}
	return all
}

// While the cards of a chat wait, it is told how many there are, now and then, and who asks sees them in /pending.
func TestAChatIsToldWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newPaced(t, newMemKV(), approver.Limit{Most: 3, Within: 30 * time.Second})
		var edits atomic.Int64
		x.tg.onUpdate(func(c approver.Card) error {
			if strings.Contains(c.Result, "wait for room") {
				edits.Add(1)
			}
			return nil
		})
		ctx, leave := context.WithCancelCause(t.Context())
		for n := range 10 {
			x.askAsync(ctx, testCall(fmt.Sprint("c", n)), approver.High)
		}
		time.Sleep(35 * time.Second)
		_, others := x.cardsOf(x.known())
		if len(others) != 1 {
			t.Fatalf("%d messages", len(others))
		}
		told := x.tg.at(others[0])
		if !strings.Contains(told.Result, ": 5.") || !strings.Contains(told.Result, "/pending") || told.OneTap ||
			told.State == approver.Pending {
			t.Errorf("it says %q: %+v", told.Result, told)
		}
		out := x.Answers.Reply(t.Context(), approver.Reply{
			Channel: "telegram", Conversation: "T", Sender: "1", Want: approver.WantPending,
		})
		if n := strings.Count(out.Details, "left"); n != 10 {
			t.Errorf("/pending lists %d requests: %s", n, out.Details)
		}
		leave(approver.ErrGone) // every agent has left, so nothing waits any more
		time.Sleep(2 * time.Minute)
		if card := x.tg.at(others[0]); !strings.Contains(card.Result, "No request waits") {
			t.Errorf("then it says %q", card.Result)
		}
		if n := edits.Load(); n > 3 {
			t.Errorf("it was edited %d times", n)
		}
		if cards, others := x.cardsOf(x.known()); len(cards) > 5 || len(others) != 1 {
			t.Errorf("%d cards of requests that had ended, %d messages", len(cards), len(others))
		}
	})
}

// A card that waits for its turn is not posted if its request was answered elsewhere meanwhile, and costs no turn,
// whichever daemon took the answer.
func TestACardThatIsNotNeededAnyMore(t *testing.T) {
	for name, other := range map[string]bool{"this daemon": false, "another daemon": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x := newPaced(t, kv, approver.Limit{Most: 1, Within: 20 * time.Second})
				takes := x
				if other {
					takes = newPaced(t, kv, oneASecond)
				}
				first := x.askAsync(t.Context(), testCall("c1"), approver.High)
				synctest.Wait()
				second := x.askAsync(t.Context(), testCall("c2"), approver.High)
				time.Sleep(time.Second)
				third := x.askAsync(t.Context(), testCall("c3"), approver.High)
				time.Sleep(time.Second)
				request := x.requestOf("c2")
				out := takes.Answers.Reply(t.Context(), approver.Reply{
					Channel: "telegram", Sender: "1", Method: approver.ByID, Request: request, Conversation: "T",
				})
				if v := <-second; v.Decision != approver.Deny || out.Kind != approver.OutcomeDenied {
					t.Fatalf("%+v, %+v", v, out)
				}
				time.Sleep(time.Second)
				if s := x.Channels.State("telegram"); !other && (len(s.Crowds) != 1 || s.Crowds[0].Cards != 1) {
					t.Errorf("then there waits %+v", s.Crowds)
				}
				time.Sleep(42 * time.Second) // one message tells what waits
				if cards, _ := x.cardsOf(x.known()); len(cards) != 2 || cards[request] != 0 || cards[x.requestOf("c3")] != 1 {
					t.Errorf("cards %v", cards)
				}
				x.stop()
				<-first
				<-third
			})
		})
	}
}

// Where several daemons have something to send to one chat, one of them tells it what waits in all of them.
func TestOneOfSeveralDaemonsTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		slow := approver.Limit{Most: 3, Within: 30 * time.Second}
		x, y := newPaced(t, kv, slow), newPaced(t, kv, slow)
		why := approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High, TTL: time.Hour}
		for n := range 10 {
			go x.Ask(t.Context(), testCall(fmt.Sprint("x", n)), why)
			go y.Ask(t.Context(), testCall(fmt.Sprint("y", n)), why)
		}
		time.Sleep(45 * time.Second)
		_, ofX := x.cardsOf(x.known())
		_, ofY := y.cardsOf(y.known())
		if len(ofX)+len(ofY) != 1 {
			t.Fatalf("%d and %d messages tell what waits", len(ofX), len(ofY))
		}
		told := ""
		for _, message := range ofX {
			told = x.tg.at(message).Result
		}
		for _, message := range ofY {
			told = y.tg.at(message).Result
		}
		if !strings.Contains(told, ": 14.") {
			t.Errorf("it says %q", told)
		}
		if n := x.senders.replicas(); n != 2 {
			t.Errorf("%d daemons share the limits", n)
		}
		x.stop()
		y.stop()
	})
}

// requestOf is the request of a call.
func (x *retried) requestOf(call string) string {
	x.t.Helper()
	id, _, err := x.Requests.idByCall(x.t.Context(), call)
	if err != nil {
		x.t.Fatal(err)
	}
	return id
}

// The end of a request is stored at once, although its card has to wait until the chat takes an edit. Another daemon
// leaves that card to the one that waits.
func TestAnEditThatWaitsHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newPaced(t, kv, approver.Limit{Most: 1, Within: 40 * time.Second})
		y := newPaced(t, kv, approver.Limit{Most: 9, Within: time.Second})
		y.tg.onUpdate(func(approver.Card) error {
			t.Error("the other daemon has edited the card")
			return nil
		})
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		message, card := x.tg.card(0)
		x.tap(x.tg.chat, 0, "1", false)
		if v := <-answer; v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		time.Sleep(2 * time.Second)
		if r := x.loaded(card.Request); !r.logged() || x.tg.at(message).State.Settled() {
			t.Errorf("after a moment it is stored: %v, and the card is %v", r.logged(), x.tg.at(message).State)
		}
		time.Sleep(40 * time.Second)
		if shown := x.tg.at(message); !shown.State.Settled() || shown.OneTap {
			t.Errorf("then the card shows %+v", shown)
		}
		time.Sleep(2 * time.Minute)
		if r := x.loaded(card.Request); !r.Postings[0].Shown {
			t.Errorf("%+v", r.Postings[0])
		}
	})
}

// The story: five thousand cards waited, and each noted every few seconds in the store that it still did. Each is
// noted once a minute at most; another daemon lets it wait, and takes it over when the one that has it dies.
func TestCardsThatWaitAreSeldomNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 40
		kv := newMemKV()
		slow := approver.Limit{Most: 1, Within: 5 * time.Second}
		x := newPaced(t, kv, slow)
		ctx, leave := context.WithCancelCause(t.Context())
		why := approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High, TTL: time.Hour}
		for n := range calls {
			go x.Ask(ctx, testCall(fmt.Sprint("c", n)), why)
		}
		y := newPaced(t, kv, slow)
		synctest.Wait()
		writes := 0
		kv.failing(func(op, key string) error {
			if op == "put" && strings.Contains(key, ":req:") {
				writes++
			}
			return nil
		})
		time.Sleep(62 * time.Second)
		kv.failing(nil)
		if n := x.tg.count() - 1; n < 7 || n > 12 || y.tg.count() != 0 { // one message tells what waits
			t.Fatalf("%d cards, %d by the other daemon", n, y.tg.count())
		}
		if writes > 2*calls {
			t.Errorf("%d writes", writes)
		}
		leave(approver.ErrShuttingDown)
		x.stop()
		stopped := time.Now()
		for range 120 {
			if y.tg.count() > 0 {
				break
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(stopped); took > saidFor+sayEvery+5*time.Second {
			t.Errorf("the other daemon took over after %v", took)
		}
		time.Sleep(15 * time.Minute)
		all := map[string]int{}
		for _, z := range []*retried{x, y} {
			for _, r := range z.audit.recorded() {
				if r.Event == approver.EventPosted {
					all[r.Request]++
				}
			}
		}
		if len(all) != calls {
			t.Errorf("%d of %d requests have a card", len(all), calls)
		}
		for request, n := range all {
			if n != 1 {
				t.Errorf("%s has %d cards", request, n)
			}
		}
	})
}

// A call whose card waits for room can be parked: its agent comes back, instead of giving up before people were asked.
func TestACallWhoseCardWaitsCanBeParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newPaced(t, newMemKV(), approver.Limit{Most: 1, Within: time.Minute})
		first := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		call := testCall("c2")
		call.ParkAt = time.Now().Add(20 * time.Second)
		ctx, stop := context.WithTimeout(t.Context(), 40*time.Second)
		defer stop()
		why := approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High, TTL: 10 * time.Minute,
		}
		if v := x.Ask(ctx, call, why); !strings.Contains(v.Reason, "run the same call again later") {
			t.Errorf("%+v", v)
		}
		time.Sleep(2 * time.Minute)
		if r := x.loaded(x.requestOf("c2")); !r.Parked || r.Postings[0].Phase != Posted {
			t.Errorf("parked: %v, its card: %+v", r.Parked, r.Postings[0])
		}
		<-first
	})
}

// What a card costs that waits for its turn.
func TestWhatACardThatWaitsCosts(t *testing.T) {
	longComputation(t)
	const cards = 5000
	x := composed(Options{Channels: []approver.Channel{limits{place: approver.Limit{Most: 1, Within: time.Hour}}}})
	x.Channels.outbox.add(&send{to: placed("T")}) // the chat is full now
	measure := func() (bytes uint64, goroutines int) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse, runtime.NumGoroutine()
	}
	now := time.Now()
	before, running := measure()
	for n := range cards {
		r := Request{ID: fmt.Sprintf("01a22aa6-c49b-75eb-b03a-%012d", n), Due: now.Add(time.Hour)}
		r.Postings = Postings{{To: placed("T"), Until: now.Add(sendingFor)}}
		v := &delivery{poster: x.poster, id: r.ID, began: now, under: []int{0}}
		x.senders.begin(v)
		c := &carried{delivery: v, code: tokens.Code{}, send: sendOf(r, 0, now)}
		c.waits = c
		if end := x.Channels.outbox.add(&c.send); end != nil {
			t.Fatal("it does not wait")
		}
	}
	after, then := measure()
	each := (after - before) / cards
	t.Logf("%d bytes each, %d goroutines in all", each, then-running)
	if each > 2048 || then-running > 5 {
		t.Errorf("a card that waits costs %d bytes, all of them %d goroutines", each, then-running)
	}
	runtime.KeepAlive(x)
}

// BenchmarkTurn is a turn of a chat where five thousand cards wait, and of one where none does.
func BenchmarkTurn(b *testing.B) {
	for _, waiting := range []int{0, 5000} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			o := outboxOf(limits{place: approver.Limit{Most: 1, Within: 1}}, 1)
			first := o.add(&send{to: placed("T")})
			for range waiting {
				s := &send{to: placed("T"), severity: approver.High, since: time.Now(), waits: make(blocked, 1)}
				o.add(s)
			}
			_ = first
			b.ReportAllocs()
			for b.Loop() {
				s := &send{to: placed("U")}
				if end := o.add(s); end != nil {
					end(errUnused)
				}
			}
		})
	}
}
