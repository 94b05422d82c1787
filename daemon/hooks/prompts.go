package hooks

import (
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/configs"
	"approver.example/display"
	"approver.example/httpapi"
	"approver.example/httpapi/peercred"
)

// This file handles an agent's own question: its permissions do not cover a call, and it is about to
// ask its own user. People can answer it in a chat instead. Nothing runs without an answer: what is
// not answered here stays in the agent's dialog, and an agent without a dialog is told no.

// A PromptStage puts an agent's own question before people, if the stages before it neither stop the
// call nor let it go, nor ask about it themselves. A call that rules ask about has no choices: a yes
// to it is for once.
type PromptStage struct{}

// promptBy is Verdict.By of an agent's own question.
const promptBy = "agent"

// Judge implements [approver.Stage].
func (s PromptStage) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	return s.JudgeAfter(ctx, call, nil)
}

// JudgeAfter implements [approver.Informed].
func (PromptStage) JudgeAfter(
	_ context.Context, call approver.ToolCall, before []approver.Verdict,
) (approver.Verdict, error) {
	none := approver.Verdict{Decision: approver.Pass, Severity: approver.High, By: promptBy}
	if call.Prompt == nil || call.Prompt.Left {
		return none, nil
	}
	choices := call.Prompt.Choices
	if len(before) > 0 {
		switch approver.Combine(before).Decision {
		case approver.Pass:
		case approver.Warn: // a rule has something to say about it
			choices = nil
		default:
			return none, nil
		}
	}
	return approver.Verdict{
		Decision: approver.Ask, Severity: approver.High, By: promptBy, Rule: "prompt", Tier: approver.TierPeople,
		Category: "prompt", Confidence: 1, Ruled: true, Prompt: true, Choices: choices,
		Reason: "the agent's own permissions do not cover this call, so a person has to decide",
		Detail: call.Agent + " asks its user: its own permissions do not cover this call. No rule of approver asks about it",
		Says:   display.Summary{Why: display.Sentence("the agent's own permissions do not cover it")},
	}, nil
}

// prompt answers a question that people were not asked about before.
func (d *Decider) prompt(
	ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter, ev agents.Event, call approver.ToolCall,
) httpapi.HookAnswer {
	mode := d.Agents[h.Agent].Asks()
	if mode == configs.PromptsNever || !ev.Prompt.Asks {
		return d.leave(ctx, adapter, ev, call, "it is left to the agent's own dialog")
	}
	call.Prompt = &approver.Prompt{Choices: ev.Prompt.Choices}
	call.ParkAt = time.Time{} // the agent does not come back with a question
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer d.waiting.add(promptKey(ev, call, ev.Asks()), cancel)()
	if mode == configs.PromptsAway && !h.Alone {
		if judged, _ := d.Prompts.Judge(ctx, call); judged.Decision == approver.Ask && judged.Prompt &&
			!d.away(ctx, h, call.At) {
			return d.leave(ctx, adapter, ev, call, "somebody is at the agent's terminal, or nobody can tell")
		}
	}
	if d.Began != nil {
		d.Began(call)
	}
	v := d.Prompts.Decide(ctx, call)
	if isAtDesk(ctx) || v.Decision == approver.Deny && v.Prompt && v.Unanswered && !h.Alone {
		// Nobody said no. The agent's dialog waits for its user, or has been answered.
		return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
	}
	return d.tell(ctx, adapter, ev, call, v)
}

// tell returns the answer to an agent's own question, and notes it. The yes of people is confirmed by
// the courier.
func (d *Decider) tell(
	ctx context.Context, adapter agents.Adapter, ev agents.Event, call approver.ToolCall, v approver.Verdict,
) httpapi.HookAnswer {
	told := adapter.Encode(ev, v)
	what := outcomeOf(ctx, v, told)
	d.noteBlocked(ctx, call, v, told)
	d.noteTold(ev, call, v, what)
	out := answer(told)
	out.Ack = what == permitted && v.Decision == approver.Allow && v.By == approver.ByPeople
	if out.Ack {
		d.Told.askedAbout(promptKey(ev, call, ev.Asks()), call.ID)
	}
	return out
}

// isAtDesk reports that the agent's user has answered.
func isAtDesk(ctx context.Context) bool { return errors.Is(context.Cause(ctx), approver.ErrAtDesk) }

// leave leaves a question to the agent's own dialog, if the rules do not stop the call.
func (d *Decider) leave(
	ctx context.Context, adapter agents.Adapter, ev agents.Event, call approver.ToolCall, why string,
) httpapi.HookAnswer {
	if isAtDesk(ctx) {
		return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
	}
	call.Prompt = &approver.Prompt{Left: true}
	d.Log.Debug("a question of an agent is not put before people", "call", call.ID, "why", why)
	if ev.Mode == "plan" && d.mayGoOn(ctx, call) {
		// No yes of approver's ends a plan, so nobody is asked for one.
		v := approver.Verdict{
			Decision: approver.Pass, By: promptBy, Severity: approver.High,
			Detail: "the agent makes a plan, so its own question is for its own user",
		}
		return d.answerRecorded(ctx, adapter, ev, call, v, "the call was stopped")
	}
	return d.tell(ctx, adapter, ev, call, d.Prompts.Decide(ctx, call))
}

// mayGoOn reports whether the rules do not deny a call.
func (d *Decider) mayGoOn(ctx context.Context, call approver.ToolCall) bool {
	judged, _ := d.Prompts.Judge(ctx, call)
	return judged.Decision > approver.Deny
}

// noteTold notes what an agent was told about its own question. One that is left to its dialog has no
// answer.
func (d *Decider) noteTold(ev agents.Event, call approver.ToolCall, v approver.Verdict, what outcome) {
	if ev.Kind == agents.Prompted && v.Decision != approver.Pass && v.Decision != approver.Warn {
		d.waiting.told(promptKey(ev, call, ev.Asks()), what)
	}
}

// lookAgain is how often the terminal is looked at.
const lookAgain = time.Second

// away waits until nobody has typed at the agent's terminal for AwayAfter since the question appeared,
// and reports true then. It reports false once somebody types: they see it in the agent's dialog. It
// also reports false if the terminal cannot be seen, or ctx ends.
func (d *Decider) away(ctx context.Context, h httpapi.HookRequest, asked time.Time) bool {
	if d.Typed == nil || h.Root != peercred.Root() {
		return false
	}
	after := d.Agents[h.Agent].Away()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		at, ok := d.Typed(h.Peer.PID)
		switch {
		case !ok || at.After(asked):
			return false
		case time.Since(asked) >= after:
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}
