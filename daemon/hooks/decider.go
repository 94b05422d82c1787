package hooks

import (
	"context"
	"log/slog"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/blocking"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/hookwatch"
	"approver.example/gate"
	"approver.example/httpapi"
	"approver.example/reflexcore"
)

// A Decider turns what a courier brings into the agent's own answer: decode,
// Gate.Decide, encode.
type Decider struct {
	Gate *gate.Gate
	// Calls and reports share the processors among users. Reports have turns of their own,
	// so that no agent keeps the report of a call out with calls.
	Calls, Reports *gate.Turns

	Audit  approver.Recorder
	Log    *slog.Logger
	Agents configs.Agents
	// Remember, when set, takes what became of a call that was permitted.
	Remember func(ctx context.Context, call approver.ToolCall, r reflexcore.Result)
	// Outputs, when set, looks at what a call returned before the model reads it.
	Outputs *Outputs
	// Hold, when set, freezes the agent of a call that went around the gate, in the
	// project that a directory is in.
	Hold    func(ctx context.Context, who broadcaster.Who, by, reason string) (denied int, err error)
	Project func(dir string) string
	// Hooks, when set, says whether changed settings take the hooks away; without it
	// no change is taken.
	Hooks *hookwatch.Watch
	// Freeze, when set, stops everything after a call that went around the gate.
	Freeze func(ctx context.Context, by, reason string) (denied int, err error)

	// Began, when set, hears of every call but the hook test's, to know what a session began with.
	Began func(approver.ToolCall)

	// Became, when set, tells people what became of a call that they let go.
	Became func(ctx context.Context, peer approver.Peer, callID string, f broadcaster.Fate) error
	// Missed, when set, hears that what was reported of a call is not kept.
	Missed func()

	// Stands says why a yes would not give a call any more; nil is never one that does.
	Stands func(ctx context.Context, y approver.Yes, call approver.ToolCall) error
	Rules  func() string // the version of the rules in force

	Told Outcomes
	// Former are calls that were let go before an upgrade; nil has none.
	Former *audit.Released
}

// afresh judges a call that ran, in a turn for reports if one comes.
func (d *Decider) afresh(ctx context.Context, call approver.ToolCall) approver.Verdict {
	if d.Reports.Take(ctx, call.Peer.UID) == nil {
		defer d.Reports.Give(call.Peer.UID)
	}
	return d.Gate.Afresh(ctx, call)
}

func answer(a agents.Answer) httpapi.HookAnswer {
	return httpapi.HookAnswer{Stdout: a.Stdout, Stderr: a.Stderr, ExitZero: a.Exit() == 0}
}

// refuse blocks what was not understood, and records it.
func (d *Decider) refuse(
	ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter, cause error,
) httpapi.HookAnswer {
	v := approver.Verdict{
		By: "agents", Rule: "payload", Severity: approver.High,
		Reason: "approver does not understand this call, so it was blocked: " + cause.Error(), Detail: cause.Error(),
	}
	call := approver.ToolCall{ID: h.CallID, Agent: h.Agent, Peer: h.Peer, At: time.Now()}
	d.Log.Warn("a payload was refused", "agent", h.Agent, "call", h.CallID, "uid", h.Peer.UID, "error", cause)
	d.record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v})
	if adapter == nil {
		return answer(blocking.For(h.Agent, "", v.Reason))
	}
	return answer(adapter.Encode(agents.Event{}, v))
}

// record records, and reports whether it could; the log says why not.
func (d *Decider) record(ctx context.Context, r approver.Record) bool {
	_, err := d.Audit.Record(ctx, r)
	if err != nil {
		d.Log.Error("audit failed", "error", err)
	}
	return err == nil
}

// answerRecorded is the agent's answer for a verdict on an event that no rule judges. It blocks, and says
// what, where the verdict could not be recorded.
func (d *Decider) answerRecorded(
	ctx context.Context, adapter agents.Adapter, ev agents.Event, call approver.ToolCall, v approver.Verdict, what string,
) httpapi.HookAnswer {
	if !d.record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v}) {
		v = approver.Verdict{Reason: "it could not be recorded, so " + what}
	}
	return answer(adapter.Encode(ev, v))
}

// rulesNow is the version of the rules in force.
func (d *Decider) rulesNow() string {
	if d.Rules == nil {
		return ""
	}
	return d.Rules()
}
