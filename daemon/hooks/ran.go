package hooks

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/canary"
	"approver.example/broadcaster"
	"approver.example/reflexcore"
)

// isOf reports whether was is the record of the canary that ran, or no record at all. A record
// of another call under this id means that the call was changed to look like a canary.
func isOf(was use, ev agents.Event) bool {
	return was.outcome == 0 || was.outcome < taken && was.outcome != permitted && was.content == ev.Content
}

// canaryRan records that a canary ran. It did nothing, and whoever started it is told that the
// hook does not work. So there is no alarm, and nothing is frozen.
func (d *Decider) canaryRan(ctx context.Context, ev agents.Event, call approver.ToolCall) {
	d.Log.Warn("a test of the hook ran: the hook does not stop calls", "agent", ev.Agent, "session", call.Session)
	d.record(ctx, approver.Record{
		Event: approver.EventRan, At: time.Now(), Call: call,
		Note:    useOf(ev) + ": a test of the hook, which did not stop it",
		Verdict: approver.Verdict{Decision: approver.Pass, Severity: approver.High, By: canary.By},
	})
}

// hasRun has the cards of a call that people approved say that it ran, or failed.
func (d *Decider) hasRun(ctx context.Context, was use, ev agents.Event, peer approver.Peer) {
	if d.Became == nil || was.outcome != permitted || was.asked == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usePatience)
	defer cancel()
	fate := broadcaster.DidRun
	if ev.Failure != "" {
		fate = broadcaster.FailedWith(ev.ExitCode())
	}
	if err := d.Became(ctx, peer, was.asked, fate); err != nil {
		d.Log.Warn("it could not be noted that a call ran", "call", was.asked, "error", err)
	}
}

// againstANo says that a call ran although the agent's own question was answered with no.
const againstANo = "the agent's own question about it was answered with no here, so its own user said yes, or it " +
	"went around that answer"

// notKept notes that a call may have run without this being recorded, so that the end of its
// turn must not report it as not run.
func (d *Decider) notKept() {
	if d.Missed != nil {
		d.Missed()
	}
}

// ran records that a call ran. It raises an alarm if the call was denied, or differs from the
// one that was judged. A call that was never judged here is judged now.
func (d *Decider) ran(ctx context.Context, ev agents.Event, call approver.ToolCall) {
	rec := approver.Record{Event: approver.EventRan, At: call.At, Call: call, Note: useOf(ev),
		Verdict: approver.Verdict{Decision: approver.Pass, Severity: approver.High}}
	if exit := ev.ExitCode(); exit > 0 {
		rec.Note += ", it failed with exit code " + strconv.Itoa(exit)
	} else if ev.Failure != "" {
		rec.Note += ", it failed"
	}
	was, err := d.Told.take(ctx, ev, call.Peer, call.ID)
	asks := was.asks(ev, call)
	no := d.waiting.ran(keyOf(ev, call.Peer), asks)
	if canary.Is(call) && err == nil && isOf(was, ev) {
		d.canaryRan(ctx, ev, call)
		return
	}
	if err != nil {
		d.Log.Warn("the store cannot say what an agent was told, or not keep that the call ran", "use", ev.UseID, "error",
			err)
		d.notKept()
	}
	alarm := d.bypass(ctx, ev, call, was, &rec)
	if alarm == "" && no {
		// No alarm: where there is a dialog, the agent's user may have been faster.
		rec.Note += ": " + againstANo
		d.Log.Warn("a call ran against an answer", "what", againstANo, "agent", ev.Agent, "use", ev.UseID, "tool",
			call.Tool, "session", call.Session, "uid", call.Peer.UID)
	}
	if alarm == "" {
		d.Told.spent(asks, was.asked)
		d.hasRun(ctx, was, ev, call.Peer)
	} else {
		rec.Event = approver.EventAlarm
		rec.Note += ": " + alarm
		d.Log.Error("the hook was bypassed", "what", alarm, "agent", ev.Agent, "use", ev.UseID, "tool", call.Tool, "session",
			call.Session, "uid", call.Peer.UID)
	}
	d.record(ctx, rec)
	if alarm != "" {
		d.stop(context.WithoutCancel(ctx), call, "a call went around the gate: "+alarm)
	}
}

// bypass says how a call bypassed the gate; empty if it did not.
func (d *Decider) bypass(
	ctx context.Context, ev agents.Event, call approver.ToolCall, was use, rec *approver.Record,
) string {
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

// stop freezes the agent of a call, and everything if so configured.
func (d *Decider) stop(ctx context.Context, call approver.ToolCall, why string) {
	if d.Hold != nil {
		who := broadcaster.Who{Peer: call.Peer, Agent: call.Agent, Project: call.Dir, Session: call.Session}
		switch {
		case call.Dir == "": // it is not known where it ran
			who.Project = "/"
		case d.Project != nil:
			who.Project = d.Project(call.Dir)
		}
		if _, err := d.Hold(ctx, who, "approver", why); err != nil {
			d.Log.Error("the freeze of an agent after a bypass failed", "what", why, "agent", call.Agent, "uid", call.Peer.UID,
				"error", err)
		}
	}
	if d.Freeze != nil {
		if _, err := d.Freeze(ctx, "approver", why); err != nil {
			d.Log.Error("the freeze after a bypass failed", "what", why, "error", err)
		}
	}
}

// useOf names a call in a note by its id, which the agent chose. One with spaces is quoted, because it
// could read like a note of approver's own.
func useOf(ev agents.Event) string {
	id := ev.UseID
	if strings.ContainsFunc(id, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) || r == '"' }) {
		id = strconv.Quote(id)
	}
	return "tool_use_id " + id
}
