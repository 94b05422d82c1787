package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// hookKV lets a test come between the broadcaster and the store.
type hookKV struct {
	*memKV
	hooks   sync.Mutex // guards the hooks; a test that is under way uses set
	put     func(ctx context.Context, key string, value []byte, do func() error) error
	get     func(key string)
	due     func(shard int)
	confirm func() error
}

// set changes hooks.
func (h *hookKV) set(change func()) {
	h.hooks.Lock()
	defer h.hooks.Unlock()
	change()
}

func (h *hookKV) Confirm(context.Context, string, []byte, approver.Rev) error {
	h.hooks.Lock()
	confirm := h.confirm
	h.hooks.Unlock()
	if confirm != nil {
		return confirm()
	}
	return nil
}

func (h *hookKV) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	do := func() error { return h.memKV.PutBefore(ctx, before, key, value, prev, next, due, keep) }
	h.hooks.Lock()
	put := h.put
	h.hooks.Unlock()
	if put != nil {
		return put(ctx, key, value, do)
	}
	return do()
}

func (h *hookKV) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	h.hooks.Lock()
	get := h.get
	h.hooks.Unlock()
	if get != nil {
		get(key)
	}
	return h.memKV.Get(ctx, key)
}

func (h *hookKV) Due(ctx context.Context, shard, limit int) ([]string, error) {
	h.hooks.Lock()
	hook := h.due
	h.hooks.Unlock()
	if hook != nil {
		hook(shard)
	}
	return h.memKV.Due(ctx, shard, limit)
}

// DueAll implements approver.Sweeper: the shards are looked through one by one.
func (h *hookKV) DueAll(context.Context, int) ([]string, error) { return nil, errors.ErrUnsupported }

// The story: the consume reads the clock before the deadline and then waits in the
// queue of a store whose disk stalls for five seconds (sqlitestore's one writer).
// Nothing looks at the clock again when its turn comes: the call is released
// seconds after the deadline. The expiry, which came later, is behind it in the
// queue and finds a conflict.
func TestNoReleaseAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		h := &hookKV{memKV: kv}
		x := newBenchOn(t, kv, h)
		var due time.Time
		var queue atomic.Int64
		h.put = func(_ context.Context, key string, value []byte, do func() error) error {
			stall := strings.Contains(key, ":req:") && !strings.Contains(string(value), `"state":"pending"`) &&
				!strings.Contains(string(value), `"state":"approved"`)
			if stall && time.Now().Before(due.Add(5*time.Second)) {
				place := time.Duration(queue.Add(1)) * time.Millisecond // first come, first served
				time.Sleep(time.Until(due.Add(5*time.Second)) + place)
			}
			return do()
		}
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		due = card.Due
		time.Sleep(time.Until(due) - 500*time.Millisecond)
		out := x.tap(x.tg, 0, "1", true)
		v := <-answer
		now := time.Now()
		if v.Decision == approver.Allow {
			t.Errorf("released %v after the deadline: %s; person told %+v", now.Sub(due), v.Reason, out)
		}
	})
}

// The story: a write that too few replicas acknowledged does not count. But whoever
// reads the record sees it all the same, and acts on it.
func TestWhatNoReplicaHasDoesNotCount(t *testing.T) {
	for heal, want := range map[time.Duration]approver.Decision{
		time.Hour: approver.Deny, 20 * time.Second: approver.Allow,
	} {
		synctest.Test(t, func(t *testing.T) {
			kv := newMemKV()
			h := &hookKV{memKV: kv}
			x := newBenchOn(t, kv, h)
			var cut atomic.Bool
			var acked sync.Map // what the store said is durable
			var writes atomic.Int64
			h.confirm = func() error {
				if cut.Load() {
					return errors.New("too few replicas acknowledged: 0 of 1")
				}
				return nil
			}
			h.put = func(_ context.Context, key string, value []byte, do func() error) error {
				err := do()
				if err != nil || !strings.Contains(key, ":req:") {
					return err
				}
				writes.Add(1)
				if cut.Load() {
					return errors.New("written, but too few replicas acknowledged: 0 of 1")
				}
				for _, s := range []string{"approved", "consumed"} {
					if strings.Contains(string(value), `"state":"`+s+`"`) {
						acked.Store(s, true)
					}
				}
				return nil
			}
			ctx, cancel := context.WithTimeout(t.Context(), 290*time.Second)
			defer cancel()
			answer := x.askAsync(ctx, testCall("c1"), approver.High)
			synctest.Wait()
			cut.Store(true) // the only replica dies
			from := time.Now()
			out := x.tap(x.tg, 0, "1", true)
			toldAfter := time.Since(from)
			if _, ok := acked.Load("consumed"); !ok && out.Kind == approver.OutcomeApproved {
				t.Errorf("after %v the person is told %q; no write of the yes or of the release was ever acknowledged", toldAfter,
					out.Text)
			}
			healing := time.AfterFunc(heal, func() { cut.Store(false) })
			defer healing.Stop()
			v := <-answer
			_, ok := acked.Load("consumed")
			_, card := x.tg.card(0)
			t.Logf("agent: %v (%s) after %v, acknowledged %v, %d writes of the record; card %q; audit %v", v.Decision, v.Reason,
				time.Since(from), ok, writes.Load(), card.Result, x.audit.events(""))
			if v.Decision == approver.Allow && !ok && cut.Load() {
				t.Error("released although it was never acknowledged")
			}
			if v.Decision != approver.Allow && (out.Kind == approver.OutcomeApproved ||
				strings.Contains(card.Result, "Approved")) {
				t.Error("people were told approved; the agent was not")
			}
			if v.Decision != want || writes.Load() > 400 {
				t.Errorf("the replica is back after %v: the agent hears %v after %d writes", heal, v.Decision, writes.Load())
			}
			cut.Store(false)
		})
	}
}

// The story: a settled request with a card that is still Sending is due for ever.
func TestASettledRequestComesToRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		h := &hookKV{memKV: kv}
		x := newBenchOn(t, kv, h)
		ctx, cancel := context.WithCancelCause(t.Context())
		x.tg.onPost(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }) // hangs
		answer := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		_, card := x.dc.card(0)
		cancel(approver.ErrShuttingDown)
		x.stop() // the daemon stops while one card is on its way
		<-answer
		time.Sleep(10 * time.Minute) // nobody is there until long after the deadline

		opts := x.Options
		opts.Store = h
		tg, dc := newChat("telegram"), newChat("discord")
		opts.Channels = []approver.Channel{tg, dc}
		b, err := NewBroadcaster(opts)
		if err != nil {
			t.Fatal(err)
		}
		var writes atomic.Int64
		h.put = func(_ context.Context, key string, _ []byte, do func() error) error {
			if strings.Contains(key, ":req:") {
				writes.Add(1)
			}
			return do()
		}
		run, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = b.Run(run) }()
		time.Sleep(5 * time.Minute)
		before := writes.Load()
		time.Sleep(5 * time.Minute)
		r, _, _ := b.Requests.load(t.Context(), card.Request)
		stop()
		<-ended
		if writes.Load()-before > 2 {
			t.Errorf("ten minutes after the end (%v, closed %v, phases %v %v) the record is still written: "+
				"%d times in 5 minutes",
				r.State, r.Closed, r.Postings[0].Phase, r.Postings[1].Phase, writes.Load()-before)
		}
	})
}

// The story: the courier leaves while its request is being stored. The verdict is a
// denial, and is recorded as one; nine seconds later a card for that call comes
// to the phones, and stays for the whole TTL.
func TestNoCardForACallThatWasDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		h := &hookKV{memKV: kv}
		x := newBenchOn(t, kv, h)
		h.put = func(ctx context.Context, key string, _ []byte, do func() error) error {
			if strings.Contains(key, ":call:") { // this shard does not answer
				<-ctx.Done()
				return ctx.Err()
			}
			return do()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		answer := x.askAsync(ctx, testCall("c1"), approver.High)
		time.Sleep(2 * time.Second)
		cancel()
		v := <-answer
		h.set(func() { h.put = nil })
		time.Sleep(15 * time.Second) // grace is 3 s
		if _, card := x.tg.card(0); card.Request != "" && card.State == approver.Pending {
			out := x.tap(x.tg, 0, "1", true)
			t.Errorf("the agent was denied (%s; audit %v); 15 s later a live card asks people; a yes is told %+v", v.Reason,
				x.audit.events(""), out)
		}
	})
}

// The story: a crash between the record and its index. The courier comes back: two
// requests, two live cards for one call.
func TestCrashBetweenRecordAndIndexLeavesOneCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBenchOn(t, kv, kv)
		opts := x.Options
		x.stop()
		call := testCall("c1")
		fp, _ := opts.Fingerprint(t.Context(), call)
		// What the dead daemon left: the record, no index.
		now := time.Now()
		b0 := x.Broadcaster
		r := Request{ID: "0190aaaa-0000-7000-8000-000000000001", CallID: call.ID, Holder: "h", Fingerprint: fp.Fingerprint,
			Call: call,
			Verdict: approver.Verdict{
				Decision: approver.Ask, Severity: approver.High,
			}, Created: now, Due: now.Add(2 * time.Minute), Deadline: now.Add(3 * time.Minute), State: approver.Pending}
		if _, err := b0.codes.mint(&r, opts.Destinations, now); err != nil {
			t.Fatal(err)
		}
		value, err := EncodeRequest(b0.Requests.sealer, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := kv.Put(t.Context(), approver.Key("req", r.ID), value, "", approver.NewRev(), r.Attention(now),
			r.Due.Add(approver.DefaultKeepFor)); err != nil {
			t.Fatal(err)
		}
		tg, dc := newChat("telegram"), newChat("discord")
		opts.Channels = []approver.Channel{tg, dc}
		b, err := NewBroadcaster(opts)
		if err != nil {
			t.Fatal(err)
		}
		run, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = b.Run(run) }()
		answer := make(chan approver.Verdict, 1)
		go func() {
			answer <- b.Ask(t.Context(), call, approver.Verdict{Decision: approver.Ask, Severity: approver.High})
		}()
		time.Sleep(20 * time.Second)
		live := 0
		for i := range tg.count() {
			if _, c := tg.card(i); c.State == approver.Pending {
				live++
			}
		}
		if live != 1 {
			t.Errorf("%d live cards for one call", live)
		}
		stop()
		<-ended
		<-answer
	})
}

// The story: the daemon is killed after a request is stored and before its
// question is in the audit. The next one is asked by the same courier, and somebody
// answers by the request's id before a new card goes out. What they were asked is
// in the audit before that they said yes, or nothing is released.
func TestAYesIsNotRecordedWithoutItsQuestion(t *testing.T) {
	for _, fail := range []approver.Event{"", approver.EventAsked} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			call := testCall("c1")
			fp, _ := x.Fingerprint(t.Context(), call)
			now := time.Now()
			r := Request{ID: "0190aaaa-0000-7000-8000-000000000001", CallID: call.ID, Holder: "h", Fingerprint: fp.Fingerprint,
				Call: call,
				Verdict: approver.Verdict{
					Decision: approver.Ask, Severity: approver.High,
				}, Created: now, Due: now.Add(2 * time.Minute), Deadline: now.Add(3 * time.Minute), State: approver.Pending}
			ways, err := x.codes.mint(&r, x.Destinations, now)
			if err == nil {
				err = x.Requests.saveNew(t.Context(), &r, ways, now, "", nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			x.audit.failing(fail)
			answer := x.askAsync(t.Context(), call, approver.High)
			synctest.Wait()
			x.Answers.Reply(t.Context(), approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByID, Request: r.ID,
			})
			v := <-answer
			synctest.Wait()
			events := x.audit.events(r.ID)
			asked, approved := slices.Index(events, approver.EventAsked), slices.Index(events, approver.EventApproved)
			if fail == "" && (v.Decision != approver.Allow || asked < 0 || approved < asked) || fail != "" &&
				v.Decision != approver.Deny {
				t.Errorf("failing %q: %v, %q", fail, v.Decision, events)
			}
		})
	}
}

// recordOf is what the store would hold of r.
func (x *bench) recordOf(t *testing.T, r Request) []byte {
	t.Helper()
	b, err := EncodeRequest(x.Requests.sealer, r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The story: the request was made slowly (the store was away), so the local deadline
// is earlier than the store's. Between both the waiting call asks the store
// every millisecond.
func TestAWaitingCallReadsSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		h := &hookKV{memKV: kv}
		x := newBenchOn(t, kv, h)
		kv.failing(func(string, string) error { return errors.New("down") })
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(12 * time.Second)
		kv.failing(nil)
		time.Sleep(DefaultTTL - 11*time.Second)
		var reads atomic.Int64
		h.set(func() {
			h.get = func(key string) {
				if strings.Contains(key, ":req:") {
					reads.Add(1)
				}
			}
		})
		time.Sleep(10 * time.Second)
		n := reads.Load()
		<-answer
		if n > 100 {
			t.Errorf("one waiting call read its record %d times in 10 s", n)
		}
	})
}

// The story: one node of three hangs (a black hole, not a refusal): each of its shards
// takes a time-out, one after the other, and the clock of all others waits.
func TestASlowShardHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		h := &hookKV{memKV: kv}
		h.due = func(shard int) {
			if shard%3 == 1 {
				time.Sleep(4 * time.Second) // redisstore's bound: dial 2 s + read 2 s
			}
		}
		x := newBenchOn(t, kv, h)
		late := time.Duration(0)
		for i := range 6 { // some shard that lives
			ctx, cancel := context.WithCancel(t.Context())
			answer := x.askAsync(ctx, testCall(fmt.Sprintf("c%d", i)), approver.High)
			synctest.Wait()
			cancel()
			<-answer
			_, card := x.tg.card(-1)
			if approver.ShardOf(card.Request)%3 == 1 {
				continue
			}
			left := time.Now()
			for {
				r := x.loaded(card.Request)
				if r.State.Settled() {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			late = max(late, time.Since(left)-WithdrawGrace)
		}
		if late > 5*time.Second {
			t.Errorf("a withdrawal on a healthy shard came %v late", late)
		}
	})
}
