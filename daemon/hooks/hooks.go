// Package hooks answers what couriers bring: it decodes an agent's call, has it decided, and
// encodes the answer; it compares what ran with what was permitted, and looks at what tools
// returned before a model reads it.
//
// Read hooks.go first, then outcomes.go, which keeps what an agent was told.
package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/blocking"
	"approver.example/agents/canary"
	"approver.example/audit"
	"approver.example/configs"
	"approver.example/daemon/hookwatch"
	"approver.example/httpapi"
	"approver.example/httpapi/wire"
	"approver.example/reflexcore"
)

// A Decider turns what a courier brings into the agent's own answer: decode,
// Gate.Decide, encode.
type Decider struct {
	Gate *approver.Gate
	// Calls and reports share the processors among users. Reports have turns of their own,
	// so that no agent keeps the report of a call out with calls.
	Calls, Reports *approver.Turns

	Audit  approver.Recorder
	Log    *slog.Logger
	Agents configs.Agents
	// Remember, when set, takes what became of a call that was permitted.
	Remember func(ctx context.Context, call approver.ToolCall, r reflexcore.Result)
	// Outputs, when set, looks at what a call returned before the model reads it.
	Outputs *outputs
	// Hold, when set, freezes the agent of a call that went around the gate, in the
	// project that a directory is in.
	Hold    func(ctx context.Context, who approver.Who, by, reason string) (denied int, err error)
	Project func(dir string) string
	// Hooks, when set, says whether changed settings take the hooks away; without it
	// no change is taken.
	Hooks *hookwatch.Watch
	// Freeze, when set, stops everything after a call that went around the gate.
	Freeze func(ctx context.Context, by, reason string) (denied int, err error)

	// Began, when set, hears of every call but the hook test's, to know what a session began with.
	Began func(approver.ToolCall)

	// Became, when set, tells people what became of a call that they let go.
	Became func(ctx context.Context, peer approver.Peer, callID string, f approver.Fate) error
	// Missed, when set, hears that what was reported of a call is not kept.
	Missed func()

	// Stands says why a yes would not give a call any more; nil is never one that does.
	Stands func(ctx context.Context, y approver.Yes, call approver.ToolCall) error
	Rules  func() string // the version of the rules in force

	Told Outcomes
	// Former are calls that were let go before an upgrade; nil has none.
	Former *audit.Released
}

// Hook is httpapi.Submit's Hook.
func (d *Decider) Hook(ctx context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
	adapter, ok := agents.For(h.Agent)
	if !ok {
		return d.refuse(ctx, h, nil, fmt.Errorf("unknown agent %q: this approver knows %v", h.Agent, agents.Names()))
	}
	ev, err := d.decode(ctx, h, adapter)
	if errors.Is(err, errNoTurn) {
		return d.noTurn(ctx, h, adapter)
	}
	if err != nil || h.Cut || wire.IsReport(h.Agent, h.Event) && ev.Kind != agents.Ran {
		return d.odd(ctx, h, adapter, err)
	}
	call := ev.Call
	call.ID, call.Env, call.Peer, call.At = h.CallID, h.Env, h.Peer, time.Now()
	call.Acks = true
	call.ParkAt = parkAt(h, d.Agents.Of(h.Agent), call.At)
	switch ev.Kind {
	case agents.Decide, agents.Prompted:
		return d.decide(ctx, adapter, ev, call)
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
		if _, err := d.Audit.Record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v}); err != nil {
			d.Log.Error("audit failed", "error", err)
			v = approver.Verdict{Reason: "it could not be recorded, so the changed settings were not taken"}
		}
		return answer(adapter.Encode(ev, v))
	default:
		return d.refuse(ctx, h, adapter, fmt.Errorf("the event %q is not one that is understood", ev.Name))
	}
}

// errNoTurn is what nobody reads: the agent's time is over.
var errNoTurn = errors.New("approver was too busy to check the call, so it was blocked: try it again")

// noTurn blocks a call that was not even read, and records it.
func (d *Decider) noTurn(ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter) httpapi.HookAnswer {
	v := approver.Verdict{By: "gate", Reason: errNoTurn.Error()}
	call := approver.ToolCall{ID: h.CallID, Agent: h.Agent, Peer: h.Peer, At: time.Now()}
	if _, err := d.Audit.Record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v}); err != nil {
		d.Log.Error("audit failed", "error", err)
	}
	return answer(adapter.Encode(agents.Event{}, v))
}

// decode reads a payload in the turn of its user. A report is read even if none comes:
// what ran is compared in any case.
func (d *Decider) decode(ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter) (agents.Event, error) {
	if wire.IsReport(h.Agent, h.Event) {
		if d.Reports.Take(ctx, h.Peer.UID) == nil {
			defer d.Reports.Give(h.Peer.UID)
		}
		return adapter.Decode(h.Payload)
	}
	if d.Calls.Take(ctx, h.Peer.UID) != nil {
		return agents.Event{}, errNoTurn
	}
	defer d.Calls.Give(h.Peer.UID)
	return adapter.Decode(h.Payload)
}

// afresh judges a call that ran, in a turn for reports if one comes.
func (d *Decider) afresh(ctx context.Context, call approver.ToolCall) approver.Verdict {
	if d.Reports.Take(ctx, call.Peer.UID) == nil {
		defer d.Reports.Give(call.Peer.UID)
	}
	return d.Gate.Afresh(ctx, call)
}

// decide is what the agent is told of a call that wants to run. What it was told is
// noted, to be compared with what ran.
func (d *Decider) decide(ctx context.Context, adapter agents.Adapter, ev agents.Event, call approver.ToolCall) httpapi.HookAnswer {
	if out, done := d.prompted(ctx, adapter, ev, call); done {
		return out
	}
	d.Told.note(ev, call.Peer, use{outcome: unanswered, content: ev.Content})
	if d.Began != nil && !canary.Is(call) { // which comes from another environment than work does
		d.Began(call)
	}
	rules := d.rulesNow()
	v := d.Gate.Decide(ctx, call)
	told := adapter.Encode(ev, v)
	now := use{outcome: outcomeOf(ctx, v, told), content: ev.Content}
	if now.outcome == permitted && v.Args != nil { // what runs is what was made of it
		changed, err := rewritten(call, v.Args)
		if err != nil {
			d.Log.Error("the change of a call cannot be read, so it was stopped", "call", call.ID, "error", err)
			now, told = use{outcome: denied}, adapter.Encode(ev, approver.Verdict{Reason: "the changed call could not be read, so it was stopped"})
		}
		now.content = changed.Content
	}
	yes := now.outcome == permitted && v.Decision == approver.Allow && v.By == approver.ByPeople
	if yes {
		now.asked = call.ID
		d.Told.yes(ev, call, now.content, promptYes{time.Now(), v.Yes(), rules})
	}
	now.lasting = now.outcome != unanswered && !v.Alone()
	d.Told.note(ev, call.Peer, now)
	if now.lasting {
		if err := d.Told.keep(context.WithoutCancel(ctx), ev, call.Peer, now); err != nil {
			d.Log.Warn("what an agent was told is not kept: after a restart the report of that call will be an alarm", "use", ev.UseID, "error", err)
		}
	}
	out := answer(told)
	out.Ack = yes
	return out
}

// parkMargin is kept free before the courier's deadline to tell the agent.
const parkMargin = 2 * time.Second

// parkAt is when the agent is told to come back; zero is never. The courier's own
// wish goes first: whatever it is, the call does not run by it.
func parkAt(h httpapi.HookRequest, a configs.Agent, now time.Time) time.Time {
	switch {
	case h.Park:
		return now.Add(h.ParkIn)
	case a.ParkAfter <= 0:
		return time.Time{}
	}
	return now.Add(max(0, min(a.ParkAfter, h.Deadline-parkMargin)))
}

func answer(a agents.Answer) httpapi.HookAnswer {
	return httpapi.HookAnswer{Stdout: a.Stdout, Stderr: a.Stderr, ExitZero: a.Exit() == 0}
}

// refuse blocks what was not understood, and records it.
func (d *Decider) refuse(ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter, cause error) httpapi.HookAnswer {
	v := approver.Verdict{
		By: "agents", Rule: "payload", Severity: approver.High,
		Reason: "approver does not understand this call, so it was blocked: " + cause.Error(), Detail: cause.Error(),
	}
	call := approver.ToolCall{ID: h.CallID, Agent: h.Agent, Peer: h.Peer, At: time.Now()}
	d.Log.Warn("a payload was refused", "agent", h.Agent, "call", h.CallID, "uid", h.Peer.UID, "error", cause)
	if _, err := d.Audit.Record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v}); err != nil {
		d.Log.Error("audit failed", "error", err)
	}
	if adapter == nil {
		return answer(blocking.For(h.Agent, "", v.Reason))
	}
	return answer(adapter.Encode(agents.Event{}, v))
}

// ran records that a call ran. One that was denied ran although it must not have;
// one that is not what was judged was changed behind the gate's back; and one that
// was never judged here is judged now.
func (d *Decider) ran(ctx context.Context, ev agents.Event, call approver.ToolCall) {
	rec := approver.Record{Event: approver.EventRan, At: call.At, Call: call, Note: "tool_use_id " + ev.UseID, Verdict: approver.Verdict{Decision: approver.Pass, Severity: approver.High}}
	if ev.Failure != "" {
		rec.Note += ", it failed"
	}
	was, err := d.Told.take(ctx, ev, call.Peer, call.ID)
	if canary.Is(call) && err == nil && isOf(was, ev) {
		d.canaryRan(ctx, ev, call)
		return
	}
	if err != nil {
		d.Log.Warn("the store cannot say what an agent was told, or not keep that the call ran", "use", ev.UseID, "error", err)
		d.notKept()
	}
	alarm := d.bypass(ctx, ev, call, was, &rec)
	if alarm == "" {
		d.hasRun(ctx, was, call.Peer)
	}
	if alarm != "" {
		rec.Event = approver.EventAlarm
		rec.Note += ": " + alarm
		d.Log.Error("the hook was bypassed", "what", alarm, "agent", ev.Agent, "use", ev.UseID, "tool", call.Tool, "session", call.Session, "uid", call.Peer.UID)
	}
	if _, err := d.Audit.Record(ctx, rec); err != nil {
		d.Log.Error("audit failed", "error", err)
	}
	if alarm != "" {
		d.stop(context.WithoutCancel(ctx), call, "a call went around the gate: "+alarm)
	}
}

// bypass says how a call went around the gate; empty if it did not.
func (d *Decider) bypass(ctx context.Context, ev agents.Event, call approver.ToolCall, was use, rec *approver.Record) string {
	switch was.outcome {
	case permitted:
		if was.content != ev.Content || ev.Content == (agents.Content{}) {
			return "what ran is not what was judged"
		}
		if d.Remember != nil {
			d.Remember(ctx, call, reflexcore.Result{Output: ev.Output, Failed: ev.Failure != ""})
		}
		return ""
	case denied:
		return "it ran although it was denied"
	case unanswered:
		return "it ran before it was answered"
	case taken:
		if was.report != "" && was.report == call.ID && was.content == ev.Content {
			rec.Note += ": the same report again"
			return ""
		}
		return "it ran a second time"
	}
	v := d.afresh(ctx, call)
	if v.Decision < approver.Warn && d.Former.Take(call) {
		rec.Note += ": it was released before approver was upgraded"
		return ""
	}
	if v.Decision < approver.Warn {
		rec.Verdict = v
		return "it ran without a verdict; judged afresh: " + v.Decision.String()
	}
	rec.Note += ": it ran without a verdict here; judged afresh: " + v.Decision.String()
	return ""
}

// stop freezes the agent of a call, and everything if it is configured so.
func (d *Decider) stop(ctx context.Context, call approver.ToolCall, why string) {
	if d.Hold != nil {
		who := approver.Who{Peer: call.Peer, Agent: call.Agent, Project: call.Dir, Session: call.Session}
		switch {
		case call.Dir == "": // it is not known where it ran
			who.Project = "/"
		case d.Project != nil:
			who.Project = d.Project(call.Dir)
		}
		if _, err := d.Hold(ctx, who, "approver", why); err != nil {
			d.Log.Error("the freeze of an agent after a bypass failed", "what", why, "agent", call.Agent, "uid", call.Peer.UID, "error", err)
		}
	}
	if d.Freeze != nil {
		if _, err := d.Freeze(ctx, "approver", why); err != nil {
			d.Log.Error("the freeze after a bypass failed", "what", why, "error", err)
		}
	}
}

// Rewrite applies a Modify's arguments to a call, for the second judgement.
func Rewrite(call approver.ToolCall, args json.RawMessage) (approver.ToolCall, error) {
	ev, err := rewritten(call, args)
	if err != nil {
		return call, err
	}
	changed := ev.Call
	changed.ID, changed.Env, changed.Peer, changed.At = call.ID, call.Env, call.Peer, call.At
	changed.ParkAt, changed.Acks = call.ParkAt, call.Acks
	return changed, nil
}

// rewritten is the event of a call with other arguments.
func rewritten(call approver.ToolCall, args json.RawMessage) (ev agents.Event, err error) {
	adapter, ok := agents.For(call.Agent)
	if !ok {
		return ev, fmt.Errorf("unknown agent %q", call.Agent)
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(call.Raw, &body); err != nil {
		return ev, err
	}
	body["tool_input"] = args
	raw, err := json.Marshal(body)
	if err != nil {
		return ev, err
	}
	return adapter.Decode(raw)
}
