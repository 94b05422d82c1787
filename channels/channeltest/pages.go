package channeltest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/display"
)

// A PagerFixture is a channel on which nobody can answer, with its fake, for one test.
type PagerFixture struct {
	Channel approver.Channel
	// Break makes the service misbehave from now on.
	Break func(fake.Fault)
	// Open are the alerts that people are called by now: what each says, its headline first.
	Open func() []string
	// Sent is all that the service was ever sent.
	Sent func() []string
	Here approver.Destination
	// Secrets are the channel's keys, which no error may show.
	Secrets []string
}

// RunPager checks what of the promises of approver.Channel holds for an approver.Pager, and that nobody can
// answer there. newFixture makes a fresh channel with a healthy fake for each check, and does not call Run.
func RunPager(t *testing.T, newFixture func(t *testing.T) PagerFixture) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, PagerFixture){
		"it takes no answer of any severity":      checkTakesNothing,
		"an alert has the headline and no code":   checkAlert,
		"the end of a request closes its alert":   checkAlertCloses,
		"a second post opens no second alert":     checkAlertOnce,
		"hostile texts appear literally":          checkAlertLiteral,
		"what waits leaves the alert as it is":    checkAlertStays,
		"what does not wait is no alert":          checkAlertWaits,
		"faults are errors that may be over soon": checkAlertFaults,
		"an unknown service is final":             checkAlertUnknown,
		"an ended context opens nothing":          checkAlertEnded,
		"run ends with its context":               checkPagerRun,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, newFixture(t))
		})
	}
}

func (f PagerFixture) post(t *testing.T, card approver.Card) (approver.Ref, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), usual.prompt)
	defer cancel()
	ref, err := f.Channel.Post(ctx, f.Here, card)
	f.clean(t, err)
	return ref, err
}

func (f PagerFixture) update(t *testing.T, ref approver.Ref, card approver.Card) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), usual.prompt)
	defer cancel()
	err := f.Channel.Update(ctx, ref, card)
	f.clean(t, err)
	return err
}

func (f PagerFixture) clean(t *testing.T, err error) {
	t.Helper()
	for _, s := range f.Secrets {
		if err != nil && strings.Contains(err.Error(), s) {
			t.Errorf("the error shows a key: %s", strings.ReplaceAll(err.Error(), s, "<the key>"))
		}
	}
}

func checkTakesNothing(t *testing.T, f PagerFixture) {
	taker, is := f.Channel.(approver.Taker)
	_, pages := f.Channel.(approver.Pager)
	if !is || !pages || taker.Takes(approver.High) || taker.Takes(approver.Catastrophic) {
		t.Error("somebody could answer there")
	}
}

func checkAlert(t *testing.T, f PagerFixture) {
	for _, card := range []approver.Card{high(t), catastrophic(t)} {
		ref, err := f.post(t, card)
		if err != nil || ref.Destination != f.Here || ref.Message == "" || !ref.Partial {
			t.Fatalf("%+v %v", ref, err)
		}
		open := f.Open()
		if last := open[len(open)-1]; !strings.HasPrefix(last, card.Push) || !strings.Contains(last, card.Why[0]) {
			t.Errorf("it says\n%s", last)
		}
		for _, sent := range f.Sent() {
			for what, secret := range map[string]string{
				"the code": card.Code.Reveal(), "a part of the code": strings.TrimPrefix(card.Code.Reveal(), "CONFIRM-"),
				"the command": command(card), "the agent's claim": card.Claimed,
			} {
				if strings.Contains(sent, secret) {
					t.Errorf("the service was sent %s:\n%s", what, sent)
				}
			}
		}
	}
}

func checkAlertCloses(t *testing.T, f PagerFixture) {
	card := high(t)
	ref, err := f.post(t, card)
	if err != nil {
		t.Fatal(err)
	}
	end := settled(card, approver.Denied, "⛔ Denied by Ann · Telegram · 12 s")
	for range 2 { // updating to what is shown is no error
		if err := f.update(t, ref, end); err != nil {
			t.Fatal(err)
		}
	}
	if open := f.Open(); len(open) != 0 {
		t.Errorf("it still rings: %q", open)
	}
}

func checkAlertOnce(t *testing.T, f PagerFixture) {
	card := high(t)
	for range 3 {
		if _, err := f.post(t, card); err != nil {
			t.Fatal(err)
		}
	}
	if open := f.Open(); len(open) != 1 {
		t.Errorf("%d alerts", len(open))
	}
}

func checkAlertLiteral(t *testing.T, f PagerFixture) {
	card := high(t)
	card.Push = display.PushLine("HIGH", `rm "a\b" </script> {{.}} %s `+"`id`", "acme")
	card.Why = []string{strings.Repeat("ö\"", 3000)}
	if _, err := f.post(t, card); err != nil {
		t.Fatal(err)
	}
	if open := f.Open(); len(open) != 1 || !strings.HasPrefix(open[0], card.Push) || !strings.Contains(open[0],
		"more)") {
		t.Errorf("%.400q", open)
	}
}

func checkAlertStays(t *testing.T, f PagerFixture) {
	card := high(t)
	ref, err := f.post(t, card)
	if err != nil {
		t.Fatal(err)
	}
	before := len(f.Sent())
	card.Warnings = append(card.Warnings, "2 identical calls wait.")
	if err := f.update(t, ref, card); err != nil || len(f.Sent()) != before || len(f.Open()) != 1 {
		t.Errorf("%v, %d calls", err, len(f.Sent())-before)
	}
}

func checkAlertWaits(t *testing.T, f PagerFixture) {
	if _, err := f.post(t, settled(high(t), approver.Denied, "⛔ Denied")); !errors.Is(err, approver.ErrFinal) {
		t.Errorf("%v", err)
	}
	if len(f.Sent()) != 0 {
		t.Error("the service was called")
	}
}

func checkAlertFaults(t *testing.T, f PagerFixture) {
	for fault, name := range map[fake.Fault]string{
		fake.Down: "down", fake.Hangs: "hangs", fake.ServerError: "500", fake.Malformed: "malformed",
		fake.Revoked: "revoked",
	} {
		f.Break(fault)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := f.Channel.Post(ctx, f.Here, high(t))
		cancel()
		f.clean(t, err)
		var patience approver.Patience
		if err == nil || errors.Is(err, approver.ErrFinal) || errors.As(err, &patience) || strings.Contains(err.Error(),
			"nginx") {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.Break(fake.RateLimited)
	_, err := f.post(t, high(t))
	var patience approver.Patience
	if !errors.As(err, &patience) || patience.RetryAfter() <= 0 || patience.RetryAfter() > 2*time.Second {
		t.Errorf("at a limit: %v", err)
	}
	f.Break(fake.Healthy)
	if _, err := f.post(t, high(t)); err != nil {
		t.Errorf("once it is over: %v", err)
	}
}

func checkAlertUnknown(t *testing.T, f PagerFixture) {
	to := f.Here
	to.Conversation += "1"
	if _, err := f.Channel.Post(t.Context(), to, high(t)); !errors.Is(err, approver.ErrFinal) {
		t.Errorf("%v", err)
	}
}

func checkAlertEnded(t *testing.T, f PagerFixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Channel.Post(ctx, f.Here, high(t)); err == nil || len(f.Open()) != 0 {
		t.Errorf("%v, %d alerts", err, len(f.Open()))
	}
}

func checkPagerRun(t *testing.T, f PagerFixture) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- f.Channel.Run(ctx, func(context.Context, approver.Reply) approver.Outcome {
			t.Error("somebody answered there")
			return approver.Outcome{}
		})
	}()
	if _, err := f.post(t, high(t)); err != nil {
		t.Error(err)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
	case <-time.After(usual.prompt):
		t.Error("Run did not end")
	}
}
