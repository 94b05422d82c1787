// Package hooks answers couriers: it decodes an agent's call, has it decided, and
// encodes the answer. It compares what ran with what was permitted, and checks what tools
// returned before a model reads it.
//
// Read hooks.go first, then outcomes.go, which remembers what an agent was told.
package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/blocking"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
	"approver.example/configs"
	"approver.example/httpapi"
)

// Hook implements the Hook function of [httpapi.Submit].
func (d *Decider) Hook(ctx context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
	adapter, ev, err := d.decode(ctx, h)
	switch {
	case errors.Is(err, errNoTurn):
		return d.noTurn(ctx, h)
	case adapter == nil:
		return d.refuse(ctx, h, nil, err)
	case err != nil, h.Cut, facts.IsReport(h.Agent, h.Event) && ev.Kind != agents.Ran:
		return d.odd(ctx, h, adapter, err)
	}
	call := ev.Call
	call.ID, call.Env, call.Peer, call.At = h.CallID, h.Env, h.Peer, time.Now()
	call.Start, call.Acks = h.Start, true
	if ev.Kind == agents.Prompted {
		call.Prompt = &approver.Prompt{Left: true}
	}
	if d.Container != nil {
		call.Container = d.Container(h.Root)
	}
	call.ParkAt = parkAt(h, d.Agents[call.Agent], call.At)
	if left, short := d.Hooks.Left(call.Agent, h.Deadline); short {
		call.ParkAt = sooner(call.ParkAt, call.At.Add(max(0, left-parkMargin)))
	}
	switch ev.Kind {
	case agents.Decide, agents.Prompted:
		return d.decide(ctx, h, adapter, ev, call)
	case agents.Ran:
		d.ran(ctx, ev, call)
		if d.Outputs != nil {
			return answer(d.Outputs.answer(ctx, adapter, ev, call))
		}
		return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
	case agents.Over:
		d.over(ctx, ev, call)
		return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
	case agents.Notice:
		return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
	case agents.Settings:
		v := d.settings(ctx, ev, call)
		return d.answerRecorded(ctx, adapter, ev, call, v, "the changed settings were not taken")
	default:
		return d.refuse(ctx, h, adapter, fmt.Errorf("the event %q is not one that is understood", ev.Name))
	}
}

// errNoTurn is the reason of a block that nobody reads: the agent's time has run out.
var errNoTurn = errors.New("approver was too busy to check the call, so it was blocked: try it again")

// noTurn blocks a call that was not even decoded, and records it.
func (d *Decider) noTurn(ctx context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
	v := approver.Verdict{By: "gate", Reason: errNoTurn.Error()}
	call := approver.ToolCall{ID: h.CallID, Agent: h.Agent, Peer: h.Peer, At: time.Now()}
	d.record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v})
	return answer(blocking.For(h.Agent, h.Event, v.Reason))
}

// decode decodes a payload in the turn of its user, and returns the adapter that writes the answer;
// it is nil if the agent is not known. A report is decoded even without a turn, so that what ran is
// always compared.
func (d *Decider) decode(ctx context.Context, h httpapi.HookRequest) (agents.Adapter, agents.Event, error) {
	if facts.IsReport(h.Agent, h.Event) {
		if d.Reports.Take(ctx, h.Peer.UID) == nil {
			defer d.Reports.Give(h.Peer.UID)
		}
		return agents.Read(h.Agent, h.Payload)
	}
	if d.Calls.Take(ctx, h.Peer.UID) != nil {
		return nil, agents.Event{}, errNoTurn
	}
	defer d.Calls.Give(h.Peer.UID)
	return agents.Read(h.Agent, h.Payload)
}

// decide returns the answer for a call that wants to run. It notes the answer, to compare it
// with what runs.
func (d *Decider) decide(
	ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter, ev agents.Event, call approver.ToolCall,
) httpapi.HookAnswer {
	if out, done := d.prompted(ctx, adapter, ev, call); done {
		return out
	}
	if out, done := d.again(ctx, adapter, ev, call); done {
		return out
	}
	if ev.Prompt != nil && d.Prompts != nil {
		return d.prompt(ctx, h, adapter, ev, call)
	}
	d.Told.note(ev, call.Peer, use{outcome: unanswered, content: ev.Content})
	if ev.Kind == agents.Decide {
		d.waiting.began(func() useKey { return promptKey(ev, call, ev.Asks()) })
	}
	if d.Began != nil && !canary.Is(call) { // a canary runs in another environment than work
		d.Began(call)
	}
	rules := d.rulesNow()
	asking, expected := d.Told.expect(ctx, ev, call)
	v := d.Gate.Decide(asking, call)
	told := adapter.Encode(ev, v)
	now, asks := use{outcome: outcomeOf(ctx, v, told), content: ev.Content, by: call.ID}, ev.Asks()
	if now.outcome == permitted && v.Args != nil { // the changed call is what runs
		changed, err := rewritten(call, v.Args)
		if err != nil {
			d.Log.Error("the change of a call cannot be read, so it was stopped", "call", call.ID, "error", err)
			now, told = use{outcome: denied},
				adapter.Encode(ev, approver.Verdict{Reason: "the changed call could not be read, so it was stopped"})
		}
		now.content, asks = changed.Content, changed.Asks()
		if err == nil && ev.Derived { // it is reported with the id of the changed call
			ev.UseID, ev.Content = changed.UseID, changed.Content
		}
	}
	d.noteBlocked(ctx, call, v, told)
	now.about = promptKey(ev, call, asks)
	yes := now.outcome == permitted && v.Decision == approver.Allow && v.By == approver.ByPeople
	if yes {
		now.asked = call.ID
		y := promptYes{time.Now(), v.Yes(), rules, call.ID}
		d.Told.yes(now.about, y)
		if now.content == ev.Content { // else the yes was to a changed call, which is not that of the other hook
			d.Told.twinYes(ev, call, y)
		}
	}
	now.lasting = now.outcome != unanswered && !v.Alone()
	if yes && ev.UseID == "" {
		d.Told.askedAbout(now.about, call.ID)
	}
	d.Told.note(ev, call.Peer, now)
	d.noteTold(ev, call, v, now.outcome)
	if now.lasting && !expected.holds(ctx, now, v.Yes().Request) {
		d.keep(ctx, ev, call, now)
	}
	out := answer(told)
	out.Ack = yes
	return out
}

// keep stores what an agent was told.
func (d *Decider) keep(ctx context.Context, ev agents.Event, call approver.ToolCall, now use) {
	if err := d.Told.keep(context.WithoutCancel(ctx), ev, call.Peer, now); err != nil {
		d.Log.Warn("what an agent was told is not kept: after a restart the report of that call will be an alarm", "use",
			ev.UseID, "error", err)
	}
}

// noteBlocked records that an agent was told no although the call was let go, because its protocol has no
// other answer. The record before says that it was let go.
func (d *Decider) noteBlocked(ctx context.Context, call approver.ToolCall, v approver.Verdict, told agents.Answer) {
	if v.Decision <= approver.Ask || told.Exit() == 0 && !told.Blocks {
		return
	}
	d.record(context.WithoutCancel(ctx), approver.Record{
		Event: approver.EventVerdict, At: time.Now(), Call: call, Again: true, Verdict: approver.Verdict{
			By: "agents", Rule: "answer", Severity: approver.High, Reason: strings.TrimSpace(string(told.Stderr)),
			Detail: "the agent was told no: its protocol has no other answer for what was decided: " + v.Decision.String(),
		},
	})
}

// parkMargin is the time reserved before the courier's deadline to tell the agent.
const parkMargin = 2 * time.Second

// parkAt returns when the agent is told to come back; zero means never. The courier's own
// setting has priority: whatever it is, it cannot make the call run.
func parkAt(h httpapi.HookRequest, a configs.Agent, now time.Time) time.Time {
	switch {
	case h.Park:
		return now.Add(h.ParkIn)
	case a.ParkAfter <= 0:
		return time.Time{}
	}
	return now.Add(max(0, min(a.ParkAfter, h.Deadline-parkMargin)))
}

// sooner returns the earlier of two times; a zero one is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// Changes reports whether the agent of a call runs it with other arguments if it is told so.
func Changes(call approver.ToolCall) bool {
	adapter, ok := agents.For(call.Agent)
	if !ok || len(call.Args) == 0 {
		return false
	}
	ev, err := adapter.Decode(call.Raw) // with the same arguments a Rewrite would give no other event
	if err != nil {
		return false
	}
	told := adapter.Encode(ev, approver.Verdict{Decision: approver.Modify, Args: call.Args})
	return told.Exit() == 0 && !told.Blocks
}

// Rewrite applies a Modify's arguments to a call, so that it can be judged again.
func Rewrite(call approver.ToolCall, args json.RawMessage) (approver.ToolCall, error) {
	ev, err := rewritten(call, args)
	if err != nil {
		return call, err
	}
	changed := ev.Call
	changed.ID, changed.Env, changed.Peer, changed.At = call.ID, call.Env, call.Peer, call.At
	changed.ParkAt, changed.Acks, changed.Changes = call.ParkAt, call.Acks, call.Changes
	return changed, nil
}

// rewritten returns the event of a call with other arguments.
func rewritten(call approver.ToolCall, args json.RawMessage) (ev agents.Event, err error) {
	adapter, ok := agents.For(call.Agent)
	if !ok {
		return ev, fmt.Errorf("unknown agent %q", call.Agent)
	}
	return adapter.Rewrite(call.Raw, args)
}

// SettingsRule is Verdict.Rule of what an agent was told about changed settings, which are no call. By is
// "agents".
const SettingsRule = "settings"

// settings returns the verdict on an agent's question whether it may apply changed settings.
func (d *Decider) settings(ctx context.Context, ev agents.Event, call approver.ToolCall) approver.Verdict {
	weak := []string{"approver cannot look at them here"}
	var blind error
	if d.Hooks != nil {
		weak, blind = d.Hooks.Weakens(ev, call.Env)
	}
	if len(weak) == 0 {
		return approver.Verdict{
			Decision: approver.Pass, By: "agents", Rule: SettingsRule, Severity: approver.High,
			Reason: "the hooks hold with the changed settings",
		}
	}
	what := fmt.Sprintf("changed settings of the agent were not taken, because approver's hooks would not hold with "+
		"them: %s", strings.Join(weak, "; "))
	switch {
	case blind != nil:
		what = "changed settings of the agent were not taken, because approver cannot look at them now: " + blind.Error()
		d.Log.Warn("changed settings of the agent were not taken: they CANNOT BE LOOKED AT now", "uid", call.Peer.UID,
			"error", blind)
	case d.Hooks != nil:
		d.Hooks.Refused(ctx, call, what)
	}
	return approver.Verdict{By: "agents", Rule: SettingsRule, Severity: approver.High, Reason: what, Detail: what}
}
