package channeltest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

// These checks are for a channel that speaks with a platform: what its errors mean
// for the next try, and whether it knows that answers arrive. A channel without a
// platform is no approver.Receiver and skips them; one with a platform asserts in its
// own conformance test that it is one.
var contractChecks = []check{
	{"an error at a rate limit says how long to wait", checkPatience},
	{"an unknown conversation is final", checkUnknownIsFinal},
	{"a conversation that is gone is final", checkGone},
	{"a message that was deleted is final", checkDeleted},
	{"it receives once Run has started, and not while the platform is away", checkReception},
	{"a fault in posting alone keeps answers coming", checkReceptionLimited},
	{"a revoked token is no reception", checkReceptionRevoked},
}

// receiver is the channel's word on whether answers arrive. A channel without a
// platform has none, and its check ends here.
func (m maker) receiver(t *testing.T) approver.Receiver {
	t.Helper()
	r, ok := m.fixture(t).Channel.(approver.Receiver)
	if !ok {
		t.Skip("the channel is no approver.Receiver, so it has no platform that could be away")
	}
	return r
}

// wantPassing sees that an error of a channel with a platform may be over in a moment.
func (b *bench) wantPassing(err error) {
	b.t.Helper()
	if _, ok := b.Channel.(approver.Receiver); !ok || err == nil {
		return
	}
	var patience approver.Patience
	switch {
	case errors.Is(err, approver.ErrFinal):
		b.t.Errorf("the error is final, so nobody tries again: %v", err)
	case errors.As(err, &patience):
		b.t.Errorf("the platform asked for no patience: %v", err)
	}
}

func checkPatience(t *testing.T, m maker) {
	m.receiver(t)
	b := start(t, m)
	b.Fake.Break(fake.RateLimited) // for a second
	_, err := b.tryPost(b.Here, high(t), 300*time.Millisecond)
	var patience approver.Patience
	switch {
	case err == nil:
		t.Error("Post succeeded within 300 ms although the platform wanted a second")
	case errors.Is(err, approver.ErrFinal):
		t.Errorf("a rate limit is final: %v", err)
	case !errors.As(err, &patience):
		t.Errorf("the error does not say how long to wait: %v", err)
	case patience.RetryAfter() <= 0 || patience.RetryAfter() > 2*time.Second:
		t.Errorf("it says to wait %v, the platform at most a second", patience.RetryAfter())
	}
}

func wantFinal(t *testing.T, err error) {
	t.Helper()
	var patience approver.Patience
	switch {
	case err == nil:
		t.Error("there is no error")
	case !errors.Is(err, approver.ErrFinal):
		t.Errorf("the error is not final, so the same is tried until the deadline: %v", err)
	case errors.As(err, &patience):
		t.Errorf("the error is final and asks for patience: %v", err)
	}
}

func checkUnknownIsFinal(t *testing.T, m maker) {
	m.receiver(t)
	b := start(t, m)
	to := b.Here
	to.Conversation += "1"
	_, err := b.tryPost(to, high(t), b.prompt)
	wantFinal(t, err)
}

func checkGone(t *testing.T, m maker) {
	m.receiver(t)
	b := start(t, m)
	if b.Gone == nil {
		t.Skip("the fixture cannot remove the bot from a conversation")
	}
	b.Gone(b.There.Conversation)
	_, err := b.tryPost(b.There, high(t), b.prompt)
	wantFinal(t, err)
	b.alive()
	b.post(b.Here, high(t)) // the other conversation is none the worse
}

func checkDeleted(t *testing.T, m maker) {
	m.receiver(t)
	b := start(t, m)
	if b.Delete == nil {
		t.Skip("the fixture cannot delete a message")
	}
	card := high(t)
	ref, _ := b.post(b.Here, card)
	b.Delete(ref.Conversation, ref.Message)
	wantFinal(t, b.tryUpdate(ref, settled(card, approver.Expired, "⌛ Expired"), b.prompt))
}

func checkReception(t *testing.T, m maker) {
	if now := m.receiver(t).Reception(); now.Up || !now.Since.IsZero() {
		t.Errorf("before Run it says %+v", now)
	}
	began := time.Now()
	b := start(t, m)
	r, _ := b.Channel.(approver.Receiver)
	b.eventually("the channel to say that it receives", func() bool { return r.Reception().Up })
	if now := r.Reception(); now.Since.Before(began) || now.Good.Before(now.Since) {
		t.Errorf("after Run has begun it says %+v", now)
	}
	b.Fake.Break(fake.Down)
	if !within(b.recovery, func() bool { return !r.Reception().Up }) {
		t.Fatalf("it still receives %v after the platform went away: %+v", b.recovery, r.Reception())
	}
	now := r.Reception()
	if now.Bad.IsZero() || now.Problem == "" || strings.Contains(now.Problem, "\n") || now.Since.Before(now.Good) {
		t.Errorf("while the platform is away it says %+v", now)
	}
	b.clean(errors.New(now.Problem))
	b.Fake.Break(fake.Healthy)
	b.waitReady()
	if !within(b.recovery, func() bool { return r.Reception().Up }) {
		t.Fatalf("an answer has come, and it says %+v", r.Reception())
	}
	if err := b.stop(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	b.noLeak()
}

func checkReceptionLimited(t *testing.T, m maker) {
	m.receiver(t)
	b := start(t, m)
	r, _ := b.Channel.(approver.Receiver)
	b.eventually("the channel to say that it receives", func() bool { return r.Reception().Up })
	to := b.Here
	to.Conversation += "1"
	if _, err := b.tryPost(to, high(t), b.prompt); err == nil {
		t.Error("posting to nowhere succeeds")
	}
	if now := r.Reception(); !now.Up {
		t.Errorf("a card that could not be posted says nothing of answers: %+v", now)
	}
}

func checkReceptionRevoked(t *testing.T, m maker) {
	m.receiver(t)
	b := start(t, m)
	if !b.FatalRevoked {
		return // there is no token that could be revoked
	}
	b.Fake.Break(fake.Revoked)
	select {
	case <-b.ended:
	case <-time.After(b.recovery):
		t.Fatalf("Run goes on although the token is revoked")
	}
	r, _ := b.Channel.(approver.Receiver)
	now := r.Reception()
	if now.Up || now.Problem == "" {
		t.Errorf("Run has ended with %v, and the channel says %+v", b.err, now)
	}
	b.clean(errors.New(now.Problem))

	// Once the token is good again, the same channel can be run again.
	b.Fake.Break(fake.Healthy)
	b.ended = make(chan struct{})
	b.run(b.reply)
	b.waitReady()
	if !within(b.recovery, func() bool { return r.Reception().Up }) {
		t.Errorf("it was run again, an answer has come, and it says %+v", r.Reception())
	}
}
