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

// A Decider turns what a courier brings into the agent's own answer: it decodes the payload,
// calls Gate.Decide and encodes the verdict.
type Decider struct {
	Gate *gate.Gate
	// Calls and Reports share the processors among users. Reports have turns of their own, so
	// that an agent's calls cannot delay the reports of calls.
	Calls, Reports *gate.Turns

	Audit  approver.Recorder
	Log    *slog.Logger
	Agents configs.Agents
	// Remember, if set, records the result of a call that was permitted.
	Remember func(ctx context.Context, call approver.ToolCall, r reflexcore.Result)
	// Outputs, if set, checks what a call returned before the model reads it.
	Outputs *Outputs
	// Hold, if set, freezes the agent of a call that bypassed the gate, in the project
	// that the call ran in. Project returns the project of a directory.
	Hold    func(ctx context.Context, who broadcaster.Who, by, reason string) (denied int, err error)
	Project func(dir string) string
	// Hooks, if set, says whether changed settings would take the hooks away; without it every
	// change of the settings is refused.
	Hooks *hookwatch.Watch
	// Freeze, if set, freezes everything after a call that bypassed the gate.
	Freeze func(ctx context.Context, by, reason string) (denied int, err error)

	// Began, if set, is told of every call except hook tests, to record a session's environment.
	Began func(approver.ToolCall)
	// Container, if set, returns the container of a call whose hook sees the files that root names.
	Container func(root string) *approver.Container

	// Became, if set, tells people whether a call that they approved ran.
	Became func(ctx context.Context, peer approver.Peer, callID string, f broadcaster.Fate) error
	// Missed, if set, is told that the report of a call could not be kept.
	Missed func()

	// Stands returns why an approval no longer covers a call, or nil if it still does. A nil
	// Stands means that none does.
	Stands func(ctx context.Context, y approver.Yes, call approver.ToolCall) error
	Rules  func() string // the version of the rules in force

	// Prompts, if set, decides the agents' own questions: the stages that only depend on the call, and
	// PromptStage. Without it these are judged like calls, and what is not decided is left to the
	// agent's dialog.
	Prompts *gate.Gate
	// Typed, if set, says when somebody last typed at the terminal of a process; see seat.LastTyped.
	Typed func(pid int32) (time.Time, bool)

	Told Outcomes
	// Former are calls that were released before an upgrade; nil has none.
	Former *audit.Released

	waiting questions
}

// afresh judges a call that has run. It takes a turn for reports, but judges even without one.
func (d *Decider) afresh(ctx context.Context, call approver.ToolCall) approver.Verdict {
	if d.Reports.Take(ctx, call.Peer.UID) == nil {
		defer d.Reports.Give(call.Peer.UID)
	}
	return d.Gate.Afresh(ctx, call)
}

func answer(a agents.Answer) httpapi.HookAnswer {
	return httpapi.HookAnswer{Stdout: a.Stdout, Stderr: a.Stderr, ExitZero: a.Exit() == 0}
}

// refuse blocks a call that was not understood, and records it.
func (d *Decider) refuse(
	ctx context.Context, h httpapi.HookRequest, adapter agents.Adapter, cause error,
) httpapi.HookAnswer {
	v := approver.Verdict{
		By: "agents", Rule: "payload", Severity: approver.High,
		Reason: "approver does not understand this call, so it was blocked: " + cause.Error(), Detail: cause.Error(),
	}
	call := approver.ToolCall{ID: h.CallID, Agent: h.Agent, Peer: h.Peer, At: time.Now()}
	if adapter != nil {
		call.Agent = adapter.Name()
	}
	d.Log.Warn("a payload was refused", "agent", call.Agent, "call", h.CallID, "uid", h.Peer.UID, "error", cause)
	d.record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v})
	if adapter == nil {
		return answer(blocking.For(h.Agent, "", v.Reason))
	}
	return answer(blocking.For(adapter.Name(), h.Event, v.Reason))
}

// record writes the audit and reports whether it could; the log says why not.
func (d *Decider) record(ctx context.Context, r approver.Record) bool {
	_, err := d.Audit.Record(ctx, r)
	if err != nil {
		d.Log.Error("audit failed", "error", err)
	}
	return err == nil
}

// answerRecorded returns the agent's answer to an event that no rule judges. If the verdict
// could not be recorded, the answer blocks, and what says what was blocked.
func (d *Decider) answerRecorded(
	ctx context.Context, adapter agents.Adapter, ev agents.Event, call approver.ToolCall, v approver.Verdict, what string,
) httpapi.HookAnswer {
	again := ev.Kind == agents.Decide // no rule judged it here
	if !d.record(ctx, approver.Record{Event: approver.EventVerdict, At: call.At, Call: call, Verdict: v, Again: again}) {
		v = approver.Verdict{Reason: "it could not be recorded, so " + what}
	}
	return answer(adapter.Encode(ev, v))
}

// rulesNow returns the version of the rules in force.
func (d *Decider) rulesNow() string {
	if d.Rules == nil {
		return ""
	}
	return d.Rules()
}
