package reflexcore

import (
	"context"
	"fmt"
	"slices"

	"approver.example"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/memory"
)

// recall opens the memory for a call; nil without a memory.
func (e *Engine) recall(ctx context.Context, call approver.ToolCall) *memory.Past {
	if e.Memory == nil {
		return nil
	}
	m := e.Memory(call)
	if m == nil {
		return nil
	}
	return m.Open(ctx, memory.Key{Peer: call.Peer, Agent: call.Agent, Project: gitrepo.Project(e.analyzer.Files, call.Dir),
		Session: call.Session}, call.At)
}

// remember puts a call that is not denied into the memory, and adds loop findings to the verdict.
// After an error the call must not run.
func (e *Engine) remember(j *judgment, v approver.Verdict) (approver.Verdict, error) {
	if j.call.Past == nil || v.Decision == approver.Deny {
		return v, nil
	}
	if err := j.call.Past.Err(); err != nil && j.needsTaint() {
		return approver.Verdict{}, err
	}
	if err := j.flows.Remember(v); err != nil {
		return approver.Verdict{}, err
	}
	if err := j.call.Past.Leave(moreThanLabels(j.call.Leaves())); err != nil {
		return approver.Verdict{}, err
	}
	c := loop.Describe(j.call.ToolCall.Tool, j.call.ToolCall.Command, j.call.ToolCall.Args, j.kind())
	var found loop.Finding
	if v.Decision > approver.Modify || v.Escalates() { // otherwise people are asked anyway
		found = j.call.Past.Loop(c)
	}
	j.call.Past.Call(c, e.createdFiles(j))
	j.call.Past.Moved(j.movedTo())
	if found.Rule == "" {
		return v, nil
	}
	looping := approver.Verdict{
		Decision: approver.Warn, Severity: approver.High, By: By, Rule: found.Rule, Category: "loop",
		Confidence: min(1, 0.5+found.Score/3),
		Reason:     found.Reason,
		Detail:     fmt.Sprintf("%d times since call %d of the session, score %.2f", found.Count, found.Since, found.Score),
	}
	looping.Says.Why.Text = whyLoop
	if found.Ask {
		looping.Decision = approver.Ask
	} else if v.Escalates() { // a warning is weaker than the evaluation
		return v, nil
	}
	if v.Escalates() {
		looping.Irreversible, looping.Shadow, looping.Allowed = v.Irreversible, v.Shadow, v.Allowed
		looping.Chain = appendBounded(v.Chain, matchedToo(v))
	}
	if looping.Decision == v.Decision { // two warnings
		looping.Reason = v.Reason + "; " + looping.Reason
	}
	return looping, nil
}

// needsTaint reports whether the call has an effect that taint can make worse. Reads and losses are
// judged without taint.
func (j *judgment) needsTaint() bool {
	for i := range j.call.Effects {
		switch j.call.Effects[i].Kind {
		case effect.Read, effect.NetIn, effect.Delete, effect.Kill, effect.Discard, effect.RemoteDelete, effect.Permission,
			effect.Privilege:
		default:
			return true
		}
	}
	return false
}

// moreThanLabels returns the files whose taint is more than a label.
func moreThanLabels(files []memory.File) []memory.File {
	return slices.DeleteFunc(files, func(f memory.File) bool { return f.Taint&^(effect.Labels|effect.File) == 0 })
}

// createdFiles returns the files that the call would create.
func (e *Engine) createdFiles(j *judgment) []string {
	const most, looks = 8, 32
	var out []string
	for i := range j.call.Effects {
		ef := &j.call.Effects[i]
		if ef.Kind != effect.Write || ef.By == "ln" || effect.Moves(ef) || ef.Bits&^(effect.Append|effect.Force) != 0 ||
			!effect.IsKnown(ef.Target) || len(ef.Target) < 2 || ef.Target[0] != '/' {
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
