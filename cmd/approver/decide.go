package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/httpapi"
)

// A decider turns what a courier brings into the agent's own answer: decode,
// Gate.Decide, encode.
type decider struct {
	gate    *approver.Gate
	audit   approver.Recorder
	log     *slog.Logger
	started time.Time

	mu   sync.Mutex
	seen map[string]time.Time // tool use ids that were decided
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
	switch ev.Kind {
	case agents.Decide, agents.Prompted:
		v := d.gate.Decide(ctx, call)
		d.remember(ev)
		return answer(adapter.Encode(ev, v))
	case agents.Ran:
		d.ran(ctx, ev, call)
		return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
	case agents.Notice:
		return answer(adapter.Encode(ev, approver.Verdict{Decision: approver.Pass}))
	default:
		return d.refuse(ctx, h, adapter, fmt.Errorf("the event %q is not one that is understood", ev.Name))
	}
}

func answer(a agents.Answer) httpapi.HookAnswer {
	return httpapi.HookAnswer{Stdout: a.Stdout, Stderr: a.Stderr, ExitZero: a.Exit() == 0}
}

// refuse blocks what was not understood, and records it.
func (d *decider) refuse(ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter, cause error) httpapi.HookAnswer {
	v := approver.Verdict{
		By: "agents", Rule: "payload", Reason: "approver does not understand this call, so it was blocked: " + cause.Error(), Detail: cause.Error(),
	}
	call := approver.ToolCall{ID: h.CallID, Agent: h.Agent, Peer: h.Peer, At: time.Now()}
	d.log.Warn("a payload was refused", "agent", h.Agent, "call", h.CallID, "uid", h.Peer.UID, "error", cause)
	if _, err := d.audit.Record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v}); err != nil {
		d.log.Error("audit failed", "error", err)
	}
	if adapter == nil {
		// An empty answer that blocks makes the courier give its own.
		return httpapi.HookAnswer{Stderr: []byte(v.Reason)}
	}
	return answer(adapter.Encode(agents.Event{}, v))
}

// remember notes which calls were decided, so that one that ran without a
// verdict shows.
func (d *decider) remember(ev agents.Event) {
	if ev.UseID == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[string]time.Time{}
	}
	if len(d.seen) > 8192 {
		for id, at := range d.seen {
			if time.Since(at) > settleIn {
				delete(d.seen, id)
			}
		}
	}
	d.seen[ev.Agent+"/"+ev.UseID] = time.Now()
}

// ran records that a call ran. One that this process never decided means that
// somebody went around the gate.
func (d *decider) ran(ctx context.Context, ev agents.Event, call approver.ToolCall) {
	d.mu.Lock()
	_, known := d.seen[ev.Agent+"/"+ev.UseID]
	delete(d.seen, ev.Agent+"/"+ev.UseID)
	d.mu.Unlock()
	rec := approver.Record{Event: approver.EventRan, At: call.At, Call: call, Note: "tool_use_id " + ev.UseID, Verdict: approver.Verdict{Decision: approver.Pass, Severity: approver.High}}
	if ev.Failure != "" {
		rec.Note += ", it failed"
	}
	if !known && ev.UseID != "" && time.Since(d.started) > settleIn {
		rec.Event = approver.EventAlarm
		rec.Note += ": it ran without a verdict"
		d.log.Error("a call ran that was never decided here: the hook was bypassed", "agent", ev.Agent, "tool", call.Tool, "session", call.Session)
	}
	if _, err := d.audit.Record(ctx, rec); err != nil {
		d.log.Error("audit failed", "error", err)
	}
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
	changed.ID, changed.Env, changed.Peer, changed.At = call.ID, call.Env, call.Peer, call.At
	return changed, nil
}
