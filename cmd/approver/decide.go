package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/blocking"
	"approver.example/configs"
	"approver.example/httpapi"
	"approver.example/reflexcore"
)

// A decider turns what a courier brings into the agent's own answer: decode,
// Gate.Decide, encode.
type decider struct {
	gate    *approver.Gate
	audit   approver.Recorder
	log     *slog.Logger
	started time.Time
	agents  configs.Agents
	// remember, when set, takes what became of a call that was permitted.
	remember func(ctx context.Context, call approver.ToolCall, r reflexcore.Result)
	// outputs, when set, looks at what a call returned before the model reads it.
	outputs *outputs
	// freeze, when set, stops everything after a call that went around the gate.
	freeze func(ctx context.Context, by, reason string) (denied int, err error)

	// began, when set, hears of every call, to know what a session began with.
	began func(approver.ToolCall)

	known outcomes
}

// settleIn is how long after the start a report of a call that ran may be of a
// call that the former process decided.
const settleIn = 15 * time.Minute

// hook is httpapi.Submit's Hook.
func (d *decider) hook(ctx context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
	adapter, ok := agents.For(h.Agent)
	if !ok {
		return d.refuse(ctx, h, nil, fmt.Errorf("unknown agent %q: this approver knows %v", h.Agent, agents.Names()))
	}
	ev, err := adapter.Decode(h.Payload)
	if err != nil {
		return d.refuse(ctx, h, adapter, err)
	}
	call := ev.Call
	call.ID, call.Env, call.Peer, call.At = h.CallID, h.Env, h.Peer, time.Now()
	call.ParkAt = parkAt(h, d.agents.Of(h.Agent), call.At)
	switch ev.Kind {
	case agents.Decide, agents.Prompted:
		d.known.note(ev, unanswered)
		if d.began != nil {
			d.began(call)
		}
		told := adapter.Encode(ev, d.gate.Decide(ctx, call))
		d.known.note(ev, outcomeOf(ctx, told))
		return answer(told)
	case agents.Ran:
		d.ran(ctx, ev, call)
		if d.outputs != nil {
			return answer(d.outputs.answer(ctx, adapter, ev, call))
		}
		return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
	case agents.Notice:
		return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
	default:
		return d.refuse(ctx, h, adapter, fmt.Errorf("the event %q is not one that is understood", ev.Name))
	}
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
func (d *decider) refuse(ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter, cause error) httpapi.HookAnswer {
	v := approver.Verdict{
		By: "agents", Rule: "payload", Severity: approver.High,
		Reason: "approver does not understand this call, so it was blocked: " + cause.Error(), Detail: cause.Error(),
	}
	call := approver.ToolCall{ID: h.CallID, Agent: h.Agent, Peer: h.Peer, At: time.Now()}
	d.log.Warn("a payload was refused", "agent", h.Agent, "call", h.CallID, "uid", h.Peer.UID, "error", cause)
	if _, err := d.audit.Record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v}); err != nil {
		d.log.Error("audit failed", "error", err)
	}
	if adapter == nil {
		return answer(blocking.For(h.Agent, "", v.Reason))
	}
	return answer(adapter.Encode(agents.Event{}, v))
}

// ran records that a call ran. One that was denied ran although it must not
// have, and one that this process never decided went around the gate.
func (d *decider) ran(ctx context.Context, ev agents.Event, call approver.ToolCall) {
	rec := approver.Record{Event: approver.EventRan, At: call.At, Call: call, Note: "tool_use_id " + ev.UseID, Verdict: approver.Verdict{Decision: approver.Pass, Severity: approver.High}}
	if ev.Failure != "" {
		rec.Note += ", it failed"
	}
	alarm := ""
	switch d.known.take(ev) {
	case permitted:
		if d.remember != nil {
			d.remember(ctx, call, reflexcore.Result{Output: ev.Output, Failed: ev.Failure != ""})
		}
	case denied:
		alarm = "it ran although it was denied"
	case unanswered:
		alarm = "it ran before it was answered"
	default:
		if time.Since(d.started) > settleIn {
			alarm = "it ran without a verdict"
		}
	}
	if alarm != "" {
		rec.Event = approver.EventAlarm
		rec.Note += ": " + alarm
		d.log.Error("the hook was bypassed", "what", alarm, "agent", ev.Agent, "use", ev.UseID, "tool", call.Tool, "session", call.Session)
	}
	if _, err := d.audit.Record(ctx, rec); err != nil {
		d.log.Error("audit failed", "error", err)
	}
	if alarm != "" && d.freeze != nil {
		if _, err := d.freeze(context.WithoutCancel(ctx), "approver", "a call went around the gate: "+alarm); err != nil {
			d.log.Error("the freeze after a bypass failed", "error", err)
		}
	}
}

// An outcome is what the agent was told of a call. The zero value is a call that
// is not known.
type outcome uint8

// The outcomes. Of several for the same id, the greatest counts: a second,
// harmless call under the id of a denied one does not wash it clean.
const (
	unanswered outcome = iota + 1 // judged now, or the courier went away meanwhile
	permitted
	denied
)

// outcomeOf is what an agent makes of an answer. A courier that hung up was told
// nothing, and may come back with the same call.
func outcomeOf(ctx context.Context, told agents.Answer) outcome {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return unanswered
	case told.Exit() == 0:
		return permitted
	}
	return denied
}

// maxOutcomes is how many calls are remembered until they run.
const maxOutcomes = 16384

// outcomes remembers the newest calls, between half of maxOutcomes and all of
// it. When the young half is full, it becomes the old one, and what was old is
// forgotten. The zero value remembers nothing yet.
type outcomes struct {
	mu         sync.Mutex
	young, old map[useKey]outcome
}

// A useKey stands for an agent's id of a call, whose length is the agent's
// choice.
type useKey [sha256.Size]byte

func keyOf(ev agents.Event) useKey { return sha256.Sum256([]byte(ev.Agent + "\x00" + ev.UseID)) }

// note remembers an outcome. A prompt may have no id, and is not remembered.
func (o *outcomes) note(ev agents.Event, now outcome) {
	if ev.UseID == "" {
		return
	}
	key := keyOf(ev)
	o.mu.Lock()
	defer o.mu.Unlock()
	now = max(now, o.young[key], o.old[key])
	if _, ok := o.young[key]; !ok && len(o.young) >= maxOutcomes/2 {
		o.young, o.old = nil, o.young
	}
	if o.young == nil {
		o.young = map[useKey]outcome{}
	}
	o.young[key] = now
}

// take returns the outcome and forgets it: a call runs once.
func (o *outcomes) take(ev agents.Event) outcome {
	key := keyOf(ev)
	o.mu.Lock()
	defer o.mu.Unlock()
	was := max(o.young[key], o.old[key])
	delete(o.young, key)
	delete(o.old, key)
	return was
}

// rewrite applies a Modify's arguments to a call, for the second judgement.
func rewrite(call approver.ToolCall, args json.RawMessage) (approver.ToolCall, error) {
	adapter, ok := agents.For(call.Agent)
	if !ok {
		return call, fmt.Errorf("unknown agent %q", call.Agent)
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(call.Raw, &body); err != nil {
		return call, err
	}
	body["tool_input"] = args
	raw, err := json.Marshal(body)
	if err != nil {
		return call, err
	}
	ev, err := adapter.Decode(raw)
	if err != nil {
		return call, err
	}
	changed := ev.Call
	changed.ID, changed.Env, changed.Peer, changed.At, changed.ParkAt = call.ID, call.Env, call.Peer, call.At, call.ParkAt
	return changed, nil
}
