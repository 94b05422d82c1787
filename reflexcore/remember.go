package reflexcore

import (
	"context"
	"fmt"
	"slices"

	"approver.example"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/places"
)

// A Result is what a call returned: its output, or the error that it failed with.
type Result struct {
	Output string
	Failed bool
}

// Ran takes what became of a call that was judged before. Without a memory it
// does nothing.
func (e *Engine) Ran(ctx context.Context, call approver.ToolCall, r Result) {
	past := e.recall(ctx, call)
	if past == nil {
		return
	}
	c := loop.Describe(call.Tool, call.Command, call.Args, loop.Run)
	past.Ran(c.Hash, loop.Measure(r.Output, r.Failed))
	if f := e.flow.Load(); f == nil || f.Mode == flow.Off {
		return
	}
	w := works.Get().(*work)
	w.a.Past = past
	e.run(w, call)
	w.flows.Ran()
	w.forget()
	works.Put(w)
}

// recall opens what is known of the agent's session; nil without a memory.
func (e *Engine) recall(ctx context.Context, call approver.ToolCall) *memory.Past {
	if e.Memory == nil {
		return nil
	}
	m := e.Memory(call)
	if m == nil {
		return nil
	}
	return m.Open(ctx, memory.Key{Peer: call.Peer, Agent: call.Agent, Project: gitrepo.Project(e.analyzer.Files, call.Dir), Session: call.Session}, call.At)
}

// remember puts a call that is not denied into the memory, and adds to the verdict
// what the calls before it say. An error means that the call must not run.
func (e *Engine) remember(w *work, v approver.Verdict) (approver.Verdict, error) {
	if w.a.Past == nil || v.Decision == approver.Deny {
		return v, nil
	}
	if err := w.a.Past.Err(); err != nil && w.opens() {
		return approver.Verdict{}, err
	}
	if err := w.flows.Remember(v); err != nil {
		return approver.Verdict{}, err
	}
	if err := w.a.Past.Leave(moreThanLabels(w.a.Leaves())); err != nil {
		return approver.Verdict{}, err
	}
	c := loop.Describe(w.a.ToolCall.Tool, w.a.ToolCall.Command, w.a.ToolCall.Args, w.kind())
	var found loop.Finding
	if v.Decision > approver.Modify || v.Escalates() { // else the agent would not be told, and people are asked anyway
		found = w.a.Past.Loop(c)
	}
	w.a.Past.Call(c, e.makes(w))
	w.a.Past.Moved(w.movedTo())
	if found.Rule == "" {
		return v, nil
	}
	looping := approver.Verdict{
		Decision: approver.Warn, Severity: approver.High, By: By, Rule: found.Rule, Category: "loop", Confidence: min(1, 0.5+found.Score/3),
		Reason: found.Reason, Detail: fmt.Sprintf("%d times since call %d of the session, score %.2f", found.Count, found.Since, found.Score),
	}
	if found.Ask {
		looping.Decision = approver.Ask
	} else if v.Escalates() { // a warning is less than the evaluation
		return v, nil
	}
	if v.Escalates() {
		looping.Irreversible, looping.Shadow, looping.Allowed = v.Irreversible, v.Shadow, v.Allowed
		looping.Chain = appendBounded(v.Chain, approver.Finding{By: v.By, Rule: v.Rule, Decision: v.Decision, Severity: v.Severity, Confidence: v.Confidence, Note: "matched too"})
	}
	if looping.Decision == v.Decision { // two warnings
		looping.Reason = v.Reason + "; " + looping.Reason
	}
	return looping, nil
}

// opens reports whether the call does what taint could stop. Looking, and losing
// what is there, is judged without it.
func (w *work) opens() bool {
	for i := range w.a.Effects {
		switch w.a.Effects[i].Kind {
		case effect.Read, effect.NetIn, effect.Delete, effect.Kill, effect.Discard, effect.RemoteDelete, effect.Permission, effect.Privilege:
		default:
			return true
		}
	}
	return false
}

// moreThanLabels are the files that more than a label is left in.
func moreThanLabels(files []memory.File) []memory.File {
	return slices.DeleteFunc(files, func(f memory.File) bool { return f.Taint&^(effect.Labels|effect.File) == 0 })
}

// madeBefore reports whether an earlier call of the session made the file.
func (w *work) madeBefore(target string) bool {
	if w.a.Past == nil || !w.a.Past.Made(target) || slices.ContainsFunc(w.movedTo(), func(to string) bool { return disk.Below(to, target) }) {
		return false
	}
	p := w.a.Around.Path(target, &effect.Effect{Kind: effect.Delete, Target: target})
	return p&(places.Temp|places.Project) != 0 && p&(places.Whole|places.Git|places.System|places.Top|places.Root) == 0
}

// movedTo is where the call moves files: what is there is no longer only what was
// made.
func (w *work) movedTo() []string {
	var out []string
	for i := range w.a.Effects {
		if e := &w.a.Effects[i]; e.Kind == effect.Write && effect.Moves(e) {
			out = append(out, e.Target)
		}
	}
	return out
}

// makes are the files that the call would make.
func (e *Engine) makes(w *work) []string {
	const most, looks = 8, 32
	var out []string
	for i := range w.a.Effects {
		ef := &w.a.Effects[i]
		if ef.Kind != effect.Write || ef.By == "ln" || effect.Moves(ef) || ef.Bits&^(effect.Append|effect.Force) != 0 || !effect.IsKnown(ef.Target) || len(ef.Target) < 2 || ef.Target[0] != '/' {
			continue
		}
		if i >= looks || len(out) == most {
			break
		}
		if !disk.Exists(e.analyzer.Files, ef.Target) {
			out = append(out, ef.Target)
		}
	}
	return out
}
