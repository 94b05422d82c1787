package broadcaster

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// The story: what the store keeps of a call has no environment, so a changed command was judged in another
// one than it would run in, and nothing ran. It is judged as the call that waits, with nothing changed but
// its command, and what is judged is what is released.
func TestTheChangedCallIsTheOneThatWaits(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		call := editable("c1")
		call.Env, call.Start = map[string]string{"HOME": "/home/ann"}, "/elsewhere"
		x.tune(func(o *Options) {
			of := o.Fingerprint
			o.Fingerprint = func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
				bound, err := of(ctx, call)
				bound.Fingerprint += approver.Fingerprint(call.Env["HOME"])
				return bound, err
			}
		})
		answer := x.asked(call, asking(approver.High))
		var judged approver.ToolCall
		x.judgedBy(func(ctx context.Context, call approver.ToolCall) approver.Verdict {
			judged = call
			return judging(ctx, call)
		})
		out := x.Answers.Reply(t.Context(), x.editReply("1", "git push"))
		want, _ := call.WithCommand("git push")
		if v := <-answer; out.Kind != approver.OutcomeApproved || v.Decision != approver.Allow {
			t.Errorf("%+v, the agent hears %q", out, v.Reason)
		}
		if !reflect.DeepEqual(judged, want) {
			t.Errorf("judged was\n%+v\nand what runs is\n%+v", judged, want)
		}
	})
}

// A courier that waits in another process has its call there: who takes the answer cannot judge it as it
// would run, so the agent is told to run the changed command as a new call.
func TestAnEditOfACallThatWaitsElsewhere(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.asked(editable("c1"), asking(approver.High))
		x.waiting.remove(x.only(t).Holder)
		out := x.Answers.Reply(t.Context(), x.editReply("1", "git push"))
		if v := <-answer; out.Kind != approver.OutcomeDenied || v.Decision != approver.Deny ||
			!strings.Contains(v.Reason, `{"command":"git push"}`) {
			t.Errorf("%+v, the agent hears %q", out, v.Reason)
		}
	})
}

// A command that needs or wants another look than a change gets is refused.
func TestAnEditThatNeedsASecondLook(t *testing.T) {
	for name, v := range map[string]approver.Verdict{
		"needs": {Decision: approver.Ask, Severity: approver.High, MinTier: approver.TierEvaluation},
		"wants": {Decision: approver.Pass, Severity: approver.High, WantTier: approver.TierEvaluation},
	} {
		story(t, func(t *testing.T, x *bench) {
			x.asked(editable("c1"), asking(approver.High))
			x.judgedBy(func(context.Context, approver.ToolCall) approver.Verdict { return v })
			out := x.Answers.Reply(t.Context(), x.editReply("1", "git push"))
			if out.Kind != approver.OutcomeRefused || x.only(t).State != approver.Pending {
				t.Errorf("%s: %+v", name, out)
			}
		})
	}
}

// While a record fails, or the store, people are told once, and what they lifted stays lifted.
func TestADeedFreezesAndTellsOnce(t *testing.T) {
	for _, before := range []bool{false, true} {
		story(t, func(t *testing.T, x *bench) {
			answer := x.askAsync(t.Context(), hookCall("c1"), approver.High)
			time.Sleep(time.Second)
			if before {
				other := x.askAsync(t.Context(), hookCall("c0"), approver.High)
				time.Sleep(time.Second)
				x.wants(approver.WantDisown, 0, "1")
				<-other
				time.Sleep(time.Second)
			}
			x.audit.failing(approver.EventDisowned)
			cards := x.dc.count()
			x.wants(approver.WantDisown, 0, "1")
			<-answer
			time.Sleep(time.Minute)
			if err := x.Controls.Unfreeze(t.Context(), "root"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if n := x.dc.count() - cards; n > 1 || n == 0 && !before {
				t.Errorf("people were told %d times", n)
			}
			if c, _, _ := x.Controls.Load(t.Context()); c.FrozenText() != "" {
				t.Error("it is frozen anew")
			}
			x.audit.failing("")
			time.Sleep(time.Minute)
			for _, r := range x.audit.all(approver.EventDisowned) {
				if n := x.count(approver.EventDisowned); n > 1 && !before || n > 2 {
					t.Errorf("%s is in the audit %d times", r.Request, n)
				}
			}
			if x.count(approver.EventDisowned) == 0 {
				t.Error("it is not in the audit")
			}
		})
	}
}

// The freeze holds although its record failed: people are told of it.
func TestADisownWhoseFreezeIsNotRecorded(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.askAsync(t.Context(), hookCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.audit.failing(approver.EventFrozen)
		cards := x.dc.count()
		x.wants(approver.WantDisown, 0, "1")
		time.Sleep(time.Minute)
		x.audit.failing("")
		time.Sleep(time.Minute)
		if n := x.dc.count() - cards; n != 1 {
			t.Errorf("people were told %d times", n)
		}
	})
}
