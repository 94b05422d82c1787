package gate

import (
	"context"
	"log/slog"
	"testing"

	"approver.example"
	"approver.example/display"
)

// saying returns a verdict with a sentence on why, and perhaps a title.
func saying(d approver.Decision, by, why, title string) approver.Verdict {
	return approver.Verdict{Decision: d, Severity: approver.High, By: by, Rule: by, Confidence: 0.9, Appealable: true,
		Says: display.Summary{Title: display.Phrase{Text: title}, Why: display.Phrase{Text: why}, Part: title}}
}

// Whoever decides says why; what another stage knows of the call stays on the card, and Sum says the rest.
func TestSaysOfTheDecidingStage(t *testing.T) {
	reflex := saying(approver.Ask, "reflex", "it deletes", "Delete x")
	policy := saying(approver.Ask, "policy", "we ask", "")
	policy.Severity = approver.Catastrophic
	evaluator := saying(approver.Ask, "evaluator", "it is not sure", "")
	escalates := reflex
	escalates.MinTier = approver.TierEvaluation
	warns := saying(approver.Warn, "heuristics", "only a warning", "Warn")
	for name, c := range map[string]struct {
		found      []approver.Verdict
		evaluator  *approver.Verdict
		why, title string
	}{
		"alone":     {[]approver.Verdict{reflex}, nil, "it deletes", "Delete x"},
		"policy":    {[]approver.Verdict{reflex, policy}, nil, "we ask", "Delete x"},
		"denied":    {[]approver.Verdict{reflex, saying(approver.Deny, "policy", "never", "")}, nil, "never", "Delete x"},
		"evaluated": {[]approver.Verdict{escalates}, &evaluator, "it deletes", "Delete x"},
		"warned":    {[]approver.Verdict{warns, policy}, nil, "we ask", "summed up"},
	} {
		g := &Gate{Log: slog.New(slog.DiscardHandler), Audit: &memAudit{}, Tiers: approver.TierScreen,
			Sum: func(approver.ToolCall) display.Summary {
				return display.Summary{Title: display.Phrase{Text: "summed up"}, Why: display.Phrase{Text: "not this"}}
			}}
		for _, v := range c.found {
			g.Stages = append(g.Stages, sure(v))
		}
		if c.evaluator != nil {
			g.Evaluator = sure(*c.evaluator)
		}
		var got approver.Verdict
		g.Ask = func(_ context.Context, _ approver.ToolCall, why approver.Verdict) approver.Verdict {
			got = why
			return why
		}
		if v := g.Decide(t.Context(), approver.ToolCall{}); v.Decision == approver.Deny && got.By == "" {
			got = v
		}
		if got.Says.Why.Text != c.why || got.Says.Title.Text != c.title {
			t.Errorf("%s: got %q and %q, want %q and %q", name, got.Says.Why.Text, got.Says.Title.Text, c.why, c.title)
		}
	}
}

// sure is a stage that always returns the same verdict.
type sure approver.Verdict

func (v sure) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict(v), nil
}

// An appeal says whose word people are asked about, and what was blocked for another reason does not
// give the old one.
func TestSaysOfAppealsAndBlocks(t *testing.T) {
	v := saying(approver.Deny, "reflex", "it deletes %s", "Delete x")
	v.Says.Why.Args = []string{"x"}
	if got := asked(v, approver.Appeal{Of: "1"}); got.Says.Why.Plain() !=
		"A rule denies this call, and the agent appeals: it deletes x" || got.Says.Title.Text != "Delete x" {
		t.Errorf("got %+v", got.Says)
	}
	if got := v.Blocked("nobody", ""); !got.Says.Why.IsZero() || got.Says.Title.Text != "Delete x" {
		t.Errorf("got %+v", got.Says)
	}
}

// The answer to an appeal is only for a call that its card was about, word for word: so the denied call that comes
// back is said in the same words as the appeal. Without them no answer to an appeal ever counted.
func TestAnAppealAndItsCallSayTheSame(t *testing.T) {
	people := &appealed{}
	g := &Gate{Log: slog.New(slog.DiscardHandler), Audit: &memAudit{}, Appeals: &Appeals{People: people},
		Stages: []approver.Stage{sure(saying(approver.Deny, "reflex", "never", ""))},
		Sum: func(approver.ToolCall) display.Summary {
			return display.Summary{Title: display.Phrase{Text: "summed up"}}
		}}
	call := approver.ToolCall{ID: "one", Peer: approver.Peer{Known: true, UID: 1000}}
	if v := g.Decide(t.Context(), call); v.Decision != approver.Deny {
		t.Fatalf("the verdict is %v", v.Decision)
	}
	if _, err := g.Appeal(t.Context(), call.Peer, call.ID, "please"); err != nil {
		t.Fatal(err)
	}
	if len(people.says) != 2 || people.says[0] != "summed up" || people.says[1] != "summed up" {
		t.Errorf("they say %q", people.says)
	}
}

// appealed is an Asker that nobody answers.
type appealed struct{ says []string }

func (a *appealed) Appeal(_ context.Context, _ approver.ToolCall, why approver.Verdict) (approver.Appealed, error) {
	a.says = append(a.says, why.Says.Title.Text)
	return approver.Appealed{}, nil
}

func (a *appealed) Appealed(
	_ context.Context, _ approver.ToolCall, why approver.Verdict,
) (v approver.Verdict, ok bool, err error) {
	a.says = append(a.says, why.Says.Title.Text)
	return v, false, nil
}

// The story: a panic while a call was said left its card without words. An answer for longer than once holds while
// the words are the same, and no words are the same as no words. Such a call is blocked.
func TestWhatCannotBeSaidIsBlocked(t *testing.T) {
	for _, d := range []approver.Decision{approver.Ask, approver.Deny} {
		people := &appealed{}
		g := &Gate{Log: slog.New(slog.DiscardHandler), Audit: &memAudit{}, Appeals: &Appeals{People: people},
			Stages: []approver.Stage{sure(saying(d, "reflex", "it deletes", ""))},
			Sum:    func(approver.ToolCall) display.Summary { panic("no words") },
			Ask: func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict {
				t.Errorf("%s: people were asked", d)
				return approver.Verdict{Decision: approver.Allow}
			}}
		if v := g.Decide(t.Context(), approver.ToolCall{ID: "one"}); v.Decision != approver.Deny || len(people.says) > 0 {
			t.Errorf("%s: the verdict is %v, people said %q", d, v.Decision, people.says)
		}
	}
}
