package broadcaster

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A question that is the agent's own offers choices, each of which widens what the agent does unasked.
// So a choice counts only by a button of a card that shows all of it, only for a question that offers
// it, and what the agent is told to remember is what the card showed.

var twoChoices = []approver.Choice{
	{Label: "session: a", Detail: "until this session ends: a"}, {Label: "kept: b", Detail: "kept in a file: b"},
}

// ownQuestion is an Ask of an agent's own question.
func ownQuestion(choices ...approver.Choice) approver.Verdict {
	return approver.Verdict{Decision: approver.Ask, Severity: approver.High, By: "agent", Rule: "prompt", Prompt: true,
		Choices: choices}
}

// inquire asks people in the background.
func (x *bench) inquire(ctx context.Context, call approver.ToolCall, why approver.Verdict) chan approver.Verdict {
	got := make(chan approver.Verdict, 1)
	go func() { got <- x.Ask(ctx, call, why) }()
	synctest.Wait()
	return got
}

func TestChoices(t *testing.T) {
	type change = func(*approver.Verdict, *approver.ToolCall, *approver.Reply)
	choose := func(n int) change {
		return func(_ *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) { r.Choice = n }
	}
	for name, c := range map[string]struct {
		change change
		chosen int // of twoChoices; -1: not approved
	}{
		"once":           {choose(0), 0},
		"the first":      {choose(1), 1},
		"the last":       {choose(2), 2},
		"one too many":   {choose(3), -1},
		"a negative one": {choose(-1), -1},
		"typed to the card": {func(_ *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) {
			r.Choice, r.Method = 1, approver.ByTyped
		}, 1},
		"by id": {func(_ *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) {
			r.Choice, r.Method, r.Message = 1, approver.ByID, ""
		}, 1},
		"by a plain yes": {func(_ *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) {
			r.Choice, r.Method = 1, approver.ByPlain
		}, -1},
		"with a no": {func(_ *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) {
			r.Choice, r.Approve = 1, false
		}, -1},
		"for longer": {func(_ *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) {
			r.Choice, r.Grant = 1, approver.Term{Session: true}
		}, -1},
		"of a rule's question": {func(v *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) {
			v.Prompt, r.Choice = false, 1
		}, -1},
		"of a catastrophic question": {func(v *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) {
			v.Severity, r.Choice = approver.Catastrophic, 1
		}, -1},
		"that nobody can see": {func(v *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) {
			v.Choices = []approver.Choice{{Label: "a", Detail: "b\u202ec"}}
			r.Choice = 1
		}, -1},
		"that is too long": {func(v *approver.Verdict, _ *approver.ToolCall, r *approver.Reply) {
			v.Choices = []approver.Choice{{Label: "a", Detail: strings.Repeat("b", approver.MaxChoiceDetail+1)}}
			r.Choice = 1
		}, -1},
		"of a call that hides a secret": {func(_ *approver.Verdict, call *approver.ToolCall, r *approver.Reply) {
			call.Command = "deploy --token ghp_0123456789abcdefghijABCDEFGHIJ012345"
			r.Choice = 1
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				why, call := ownQuestion(twoChoices...), testCall("c1")
				rep := approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap}
				c.change(&why, &call, &rep)
				got := x.inquire(t.Context(), call, why)
				msg, card := x.tg.card(0)
				rep.Request = card.Request
				if rep.Method != approver.ByID {
					rep.Message = msg
				}
				out := x.Answers.Reply(t.Context(), rep)
				if c.chosen < 0 {
					if out.Kind == approver.OutcomeApproved || out.Kind == approver.OutcomeRecorded {
						t.Fatalf("it counts: %+v", out)
					}
					x.tap(x.tg, 0, "1", false)
					if v := <-got; v.Decision != approver.Deny || v.Yes().Choice != (approver.Choice{}) {
						t.Errorf("%+v", v)
					}
					return
				}
				want, _ := why.Chosen(c.chosen)
				if v := <-got; v.Decision != approver.Allow || v.Yes().Choice != want {
					t.Errorf("%+v with %+v, want %+v", v, v.Yes().Choice, want)
				}
				synctest.Wait()
				r, _, err := x.Requests.load(t.Context(), card.Request)
				if err != nil || r.Resolution.Choice != c.chosen {
					t.Errorf("stored is %+v, %v", r.Resolution, err)
				}
				if line := endLine(r); strings.Contains(line, "and: ") != (c.chosen > 0) || !strings.Contains(line, want.Detail) {
					t.Errorf("the card says %q", line)
				}
				// Who chose, and whoever reads the card of a call that did not run, hear what the agent keeps.
				next, err := r.setFate(r.CallID, NotRun)
				if text := endLine(next); err != nil || !strings.Contains(text, want.Detail) {
					t.Errorf("of a call that did not run the card says %q, %v", text, err)
				}
				once := strings.Contains(out.Text, "this once")
				if once != (c.chosen == 0) || !strings.Contains(out.Text, want.Detail) {
					t.Errorf("the person is told %q", out.Text)
				}
			})
		})
	}
}

// A card offers choices only while its buttons may approve.
func TestCardsWithChoices(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		got := x.inquire(t.Context(), testCall("c1"), ownQuestion(twoChoices...))
		_, card := x.tg.card(0)
		if len(card.Choices) != 2 || card.Choices[1] != twoChoices[1] {
			t.Errorf("the card has %+v", card.Choices)
		}
		x.tap(x.tg, 0, "1", true)
		<-got
		synctest.Wait()
		if r, _, _ := x.Requests.load(t.Context(), card.Request); len(x.Cards.Of(r).Choices) != 0 {
			t.Error("the settled card offers choices")
		}
	})
}

// A yes to the agent's own question is none to a rule's, and the other way round: neither is found
// again, joined or kept for the other.
func TestOwnQuestionsAreApart(t *testing.T) {
	rule := approver.Verdict{Decision: approver.Ask, Severity: approver.High}
	own := ownQuestion()
	if covers(own, rule) || covers(rule, own) || covers(ownQuestion(twoChoices...), own) || !covers(own, own) {
		t.Error("an answer covers another kind of question")
	}
	call := testCall("c1")
	call.Peer.Known = true
	if shareable(call, own) || !shareable(call, rule) {
		t.Error("two calls share a question of the agent's")
	}
	kept := Request{Verdict: own, Fingerprint: "f", Call: testCall("c1"),
		Resolution: approver.Resolution{Grant: approver.Term{For: time.Minute}}}
	if mayLast(kept) {
		t.Error("a yes to it lasts")
	}
}

// The agent's user answered in the agent's own dialog: the question is over at once, and says so.
func TestAnsweredAtTheDesk(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithCancelCause(t.Context())
		got := x.inquire(ctx, testCall("c1"), ownQuestion(twoChoices...))
		_, card := x.tg.card(0)
		cancel(approver.ErrAtDesk)
		if v := <-got; v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		synctest.Wait()
		r, _, err := x.Requests.load(t.Context(), card.Request)
		if err != nil || r.State != approver.Withdrawn || r.Resolution.Cause != approver.AtDesk {
			t.Errorf("%v %+v, %v", r.State, r.Resolution, err)
		}
		if line := endLine(r); !strings.HasPrefix(line, "↩ Answered at the desk") || strings.Contains(line, "context") {
			t.Errorf("the card says %q", line)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeExpired {
			t.Errorf("a yes after it: %+v", out)
		}
	})
}

// Silence is marked, so that an agent with a dialog of its own can leave it open. A no is not.
func TestSilenceIsMarked(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		got := x.inquire(t.Context(), testCall("c1"), ownQuestion())
		if v := <-got; v.Decision != approver.Deny || !v.Unanswered || !v.Prompt {
			t.Errorf("after silence: %+v", v)
		}
	})
	story(t, func(t *testing.T, x *bench) {
		got := x.inquire(t.Context(), testCall("c2"), ownQuestion())
		x.tap(x.tg, 0, "1", false)
		if v := <-got; v.Decision != approver.Deny || v.Unanswered {
			t.Errorf("after a no: %+v", v)
		}
	})
}
