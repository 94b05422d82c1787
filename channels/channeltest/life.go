package channeltest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

var lifeChecks = []check{
	{"Run ends with its context and leaves nothing behind", checkRunEnds},
	{"Run ends while a reply is being judged", checkRunEndsInReply},
	{"an answer that takes four seconds is not lost", checkSlowReply},
	{"one slow answer does not hold up another person", checkSlowNeighbour},
	{"two people tapping at once both get through", checkTwoAtOnce},
	{"a panic in the reply function does not end Run", checkPanic},
	{"a nil reply function refuses everything", checkNilReply},
}

func checkRunEnds(t *testing.T, m maker) {
	b, _, ref := posted(t, m, high)
	b.tap(b.Approver, ref, fake.ApproveButton)
	b.wantReplies(1)
	if err := b.stop(); err != nil {
		t.Errorf("Run returned %v, want no error or the context's", err)
	}
	b.noLeak()
}

func checkRunEndsInReply(t *testing.T, m maker) {
	b := startWith(t, m, never)
	ref, _ := b.post(b.Here, high(t))
	b.tap(b.Approver, ref, fake.ApproveButton)
	b.eventually("the reply", func() bool { return len(b.got()) == 1 })
	if err := b.stop(); err != nil {
		t.Errorf("Run returned %v, want no error or the context's", err)
	}
	b.noLeak()
}

func checkSlowReply(t *testing.T, m maker) {
	b := startWith(t, m, func(ctx context.Context, r approver.Reply) approver.Outcome {
		select {
		case <-time.After(4 * time.Second):
		case <-ctx.Done():
		}
		return approver.Outcome{Kind: approver.OutcomeApproved, Text: outcomeFor(r)}
	})
	ref, _ := b.post(b.Here, high(t))
	b.tap(b.Approver, ref, fake.ApproveButton)
	b.eventually("the outcome", func() bool { return len(b.got()) > 0 && b.wasTold(b.Approver, outcomeFor(b.got()[0])) })
	b.wantReplies(1)
	b.alive()
}

func checkSlowNeighbour(t *testing.T, m maker) {
	slow := make(chan struct{})
	t.Cleanup(sync.OnceFunc(func() { close(slow) }))
	var first string
	b := startWith(t, m, func(ctx context.Context, r approver.Reply) approver.Outcome {
		if r.Request == first {
			select {
			case <-slow:
			case <-ctx.Done():
			}
		}
		return approver.Outcome{Kind: approver.OutcomeApproved, Text: outcomeFor(r)}
	})
	one, two := high(t), high(t)
	first = one.Request
	refOne, _ := b.post(b.Here, one)
	refTwo, _ := b.post(b.Here, two)
	b.tap(b.Approver, refOne, fake.ApproveButton)
	b.eventually("the first reply", func() bool { return len(b.got()) == 1 })
	b.tap(b.Second, refTwo, fake.DenyButton)
	if !within(3*time.Second, func() bool { return len(b.told(b.Second)) > 0 }) {
		t.Fatalf("the second person's answer waits for the first one's")
	}
	if got := b.wantReplies(2)[1]; got.Request != two.Request || got.Sender != b.Second {
		t.Errorf("the second reply is %+v", got)
	}
}

func checkTwoAtOnce(t *testing.T, m maker) {
	b, card, ref := posted(t, m, high)
	var wg sync.WaitGroup
	for user, button := range map[string]fake.Button{b.Approver: fake.ApproveButton, b.Second: fake.DenyButton} {
		wg.Go(func() {
			if err := b.Fake.Tap(user, ref.Conversation, ref.Message, button); err != nil {
				t.Errorf("tap of %s: %v", user, err)
			}
		})
	}
	wg.Wait()
	by := map[string]approver.Reply{}
	for _, r := range b.wantReplies(2) {
		b.wantTapOf(r, card, ref)
		by[r.Sender] = r
	}
	for user, approve := range map[string]bool{b.Approver: true, b.Second: false} {
		r, ok := by[user]
		if !ok || r.Approve != approve {
			t.Fatalf("%s has the reply %+v", user, r)
		}
		b.eventually("the outcome of "+user, func() bool { return b.wasTold(user, outcomeFor(r)) })
	}
	if b.wasTold(b.Approver, outcomeFor(by[b.Second])) || b.wasTold(b.Second, outcomeFor(by[b.Approver])) {
		t.Errorf("a person was told the other one's outcome")
	}
}

func checkPanic(t *testing.T, m maker) {
	b := startWith(t, m, func(_ context.Context, r approver.Reply) approver.Outcome {
		if r.Approve {
			panic("a bug in the core")
		}
		return approver.Outcome{Kind: approver.OutcomeDenied, Text: outcomeFor(r)}
	})
	ref, _ := b.post(b.Here, high(t))
	for i := range 5 {
		b.tap(b.Approver, ref, fake.ApproveButton)
		b.wantReplies(i + 1)
	}
	b.alive()
	for _, text := range b.told(b.Approver) {
		if strings.Contains(text, "a bug in the core") {
			t.Errorf("the person was told of our panic: %q", text)
		}
	}
	b.tap(b.Second, ref, fake.DenyButton)
	r := b.wantReplies(6)[5]
	b.eventually("the outcome after the panic", func() bool { return b.wasTold(b.Second, outcomeFor(r)) })
}

func checkNilReply(t *testing.T, m maker) {
	b := &bench{Fixture: m.fixture(t), times: m.times, t: t, ended: make(chan struct{})}
	b.run(nil)
	card := high(t)
	ref, _ := b.post(b.Here, card)
	told := within(b.patience, func() bool {
		b.Fake.Type(b.Approver, b.Here.Conversation, "/deny "+card.Code.Reveal())
		return within(time.Second, func() bool { return len(b.told(b.Approver)) > 0 })
	})
	if !told {
		t.Errorf("nobody told the approver that the answer is refused")
	}
	b.tap(b.Approver, ref, fake.ApproveButton)
	time.Sleep(b.quiet)
	b.alive()
}

var faultChecks = []check{
	{"down", func(t *testing.T, m maker) { checkFault(t, m, fake.Down, 2*time.Second) }},
	{"hangs", func(t *testing.T, m maker) { checkFault(t, m, fake.Hangs, 3*time.Second) }},
	{"server error", func(t *testing.T, m maker) { checkFault(t, m, fake.ServerError, 3*time.Second) }},
	{"malformed", func(t *testing.T, m maker) { checkFault(t, m, fake.Malformed, 3*time.Second) }},
	{"rate limited", checkRateLimited},
	{"rate limited longer than the context", checkRateLimitedTooLong},
	{"revoked", checkRevoked},
	{"a hanging update ends with its context", checkHangingUpdate},
}

// checkFault sees that posting fails in time while the platform misbehaves, and
// that the channel works again afterwards without a new Run.
func checkFault(t *testing.T, m maker, fault fake.Fault, limit time.Duration) {
	b := start(t, m)
	before := high(t)
	refBefore, _ := b.post(b.Here, before)

	b.Fake.Break(fault)
	began := time.Now()
	ref, err := b.tryPost(b.Here, high(t), 3*time.Second)
	took := time.Since(began)
	if err == nil || ref.Message != "" {
		t.Errorf("Post returned %+v and the error %v", ref, err)
	}
	if took > limit+500*time.Millisecond {
		t.Errorf("Post took %v, want at most %v", took, limit)
	}
	b.wantPassing(err)
	time.Sleep(b.fault) // Run meets the fault too, and must outlive it
	b.alive()

	b.Fake.Break(fake.Healthy)
	b.waitReady()
	card := high(t)
	b.eventually("a card to be posted again", func() bool {
		ref, err = b.tryPost(b.Here, card, b.prompt)
		return err == nil
	})
	wantButtons(t, b.shown(ref), true)
	b.tap(b.Approver, ref, fake.ApproveButton)
	b.wantTapOf(b.wantReplies(1)[0], card, ref)
	b.restored(refBefore, before)
	if err := b.stop(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	b.noLeak()
}

// restored checks that a card from before a fault can still be settled, or is
// gone and known to be gone.
func (b *bench) restored(ref approver.Ref, card approver.Card) {
	b.t.Helper()
	if p, ok := b.Channel.(approver.Presence); ok && !p.Shows(ref) {
		return // the core posts it anew
	}
	result := "⛔ Denied by Ann"
	wantSettled(b.t, b.update(ref, settled(card, approver.Denied, result)), card, "⛔", result)
}

func checkRateLimited(t *testing.T, m maker) {
	b := start(t, m)
	card := high(t)
	b.Fake.Break(fake.RateLimited)
	ref, err := b.tryPost(b.Here, card, b.patience)
	if err != nil {
		t.Fatalf("Post gave up although there was time for the platform's retry: %v", err)
	}
	if n := b.showing(b.Here.Conversation, command(card)); n != 1 {
		t.Errorf("%d messages show the command", n)
	}
	b.Fake.Break(fake.RateLimited)
	result := "⛔ Denied by Ann"
	wantSettled(t, b.update(ref, settled(card, approver.Denied, result)), card, "⛔", result)
	b.alive()
}

func checkRateLimitedTooLong(t *testing.T, m maker) {
	b := start(t, m)
	b.Fake.Break(fake.RateLimited)
	began := time.Now()
	if _, err := b.tryPost(b.Here, high(t), 300*time.Millisecond); err == nil {
		t.Errorf("Post succeeded within 300 ms although the platform wanted a second")
	}
	if took := time.Since(began); took > 900*time.Millisecond {
		t.Errorf("Post took %v, its context 300 ms", took)
	}
}

func checkRevoked(t *testing.T, m maker) {
	b := start(t, m)
	b.Fake.Break(fake.Revoked)
	if !b.FatalRevoked {
		return // there is no token that could be revoked
	}
	if _, err := b.tryPost(b.Here, high(t), b.prompt); err == nil {
		t.Errorf("Post succeeded with a revoked token")
	}
	select {
	case <-b.ended:
	case <-time.After(b.recovery):
		t.Fatalf("Run goes on although the token is revoked")
	}
	if b.err == nil {
		t.Errorf("Run ended without an error although its context lives")
	}
	b.clean(b.err)
	b.noLeak()
}

func checkHangingUpdate(t *testing.T, m maker) {
	b, card, ref := posted(t, m, high)
	b.Fake.Break(fake.Hangs)
	began := time.Now()
	_ = b.tryUpdate(ref, settled(card, approver.Expired, "⌛ Expired"), time.Second)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("Update took %v, its context one second", took)
	}
	b.Fake.Break(fake.Healthy)
	b.waitReady()
	result := fmt.Sprintf("⌛ Expired after %d s · blocked", 120)
	b.eventually("the update to succeed", func() bool {
		return b.tryUpdate(ref, settled(card, approver.Expired, result), b.prompt) == nil
	})
	// Where several screens show the card, Update returns after the first.
	b.eventually("the card to show its end", func() bool { return strings.Contains(b.shown(ref).Text, result) })
	wantSettled(t, b.shown(ref), card, "⌛", result)
}
