package reflexcore

import (
	"context"
	"time"

	"approver.example"
	"approver.example/internal/timing"
	"approver.example/reflexcore/agenttexts"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/gitruns"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/tripwire"
	"approver.example/reflexcore/wordset"
)

// Judge returns the verdict of the rules: deny, ask, warn or pass. A call that cannot be understood
// is a verdict, too. An error comes from the memory: without one Judge never fails or blocks.
func (e *Engine) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	j := judgments.Get().(*judgment)
	j.call.Past = e.recall(ctx, call)
	v := e.run(j, call)
	start := time.Now()
	v, err := e.remember(j, e.matchPrecedents(ctx, j, v)) // what calls before it say
	e.Times.Took(timing.Intuition, time.Since(start))
	v.Found = j.found()
	if v.Decision != approver.Ask || err != nil || !e.asked.keep(call, j, v) {
		j.release()
	}
	return v, err
}

// run takes a call through the ten stages.
func (e *Engine) run(j *judgment, call approver.ToolCall) approver.Verdict {
	j.sets[0] = e.rules.Load()
	if e.Project != nil {
		j.sets[1] = e.Project(call.Dir)
	}
	j.call.Capture(&e.analyzer, call) // 1
	j.call.Around.Tree = places.InTree(e.analyzer.Files, j.call.Around.Dir)
	j.heuristics = e.Heuristics
	j.flows.Begin(&j.call, e.flow.Load(), j.projectSources(), &e.remotes)
	j.call.Decode() // 2
	e.understand(j) // 3 to 7: whitespace, aliases, compounds, variables, quotes
	j.flows.OwnService()
	j.flows.Fetched()
	e.match(j) // 8
	e.trip(j)
	j.matchDemands()
	j.applyContext() // 9
	j.flows.Judge(j.places, j.sets[0].placed, j.exceptedEffects())
	return j.decideFlow(j.gatekeep(j.verdict())) // 10
}

// shellTools are tools that do what their command says, and nothing else. The command of another tool may be
// one for its own program, such as drop or FLUSHALL.
var shellTools = wordset.Of("Bash PowerShell Monitor")

// understand is stages 3 to 7: what the call itself would do, and what it makes run later that no
// hook sees.
func (e *Engine) understand(j *judgment) {
	place := j.call.Context(j.flows.Labels())
	texts := &j.agentTexts
	*texts = agenttexts.Reader{Call: &j.call, Place: place}
	if j.call.ToolCall.Command != "" {
		j.call.ReadCommand(place)
		if !shellTools[j.call.ToolCall.Tool] && len(j.call.ToolCall.Args) > 0 {
			j.call.ReadTool(place) // what its name and its other arguments say
		}
	} else {
		j.call.ReadTool(place)
		texts.Loads()
	}
	if j.call.ToolCall.Command != "" {
		j.call.ReadScripts(place)
	}
	texts.Starts()
	git := &j.git
	*git = gitruns.Reader{Call: &j.call, Place: place, AgentTexts: texts}
	git.Hooks()
	texts.Written()
	if !j.call.Sure { // else only what runs is wanted
		texts.Orders(e.asks(j))
	}
	git.Todos()
	git.Patches()
	git.AgentPatches()
	j.call.ReadHidden(place)
}

// asks returns what says by which rule a command would be denied or need the code; nil within such a judgment.
func (e *Engine) asks(j *judgment) func(command string) string {
	switch {
	case j.inText:
		return nil
	case j.asksBy == e:
		return j.asks
	}
	j.asksBy, j.asks = e, func(command string) string { return e.askedIn(&j.call, command) }
	return j.asks
}

// askedIn returns by which rule a command that a call writes down would be denied or need the code.
func (e *Engine) askedIn(call *analysis.Call, command string) (rule string) {
	block := judgments.Get().(*judgment)
	block.inText = true
	of := call.ToolCall
	v := e.run(block, approver.ToolCall{Agent: of.Agent, Tool: "Bash", Command: command, Dir: of.Dir, Env: of.Env,
		At: of.At})
	// What a button would be enough for is asked when an agent runs it, too, and so is a start of another
	// agent, and an installer that everybody knows: documents are full of them.
	if v.Decision == approver.Deny || v.Decision == approver.Ask && v.Severity == approver.Catastrophic &&
		block.complete && v.Rule != "tripwire.self" && (v.Rule != "run_download" || !tripwire.Installs(command)) {
		rule = v.Rule
	}
	block.release()
	return rule
}

// projectSources returns the sources of labels that the project adds.
func (j *judgment) projectSources() flow.Sources {
	if j.sets[1] == nil {
		return flow.Sources{}
	}
	return j.sets[1].Sources
}

// applyContext is stage 9. It drops deletes of files that the session itself made, and findings with
// an exception. Other facts about places are part of the rules' conditions.
func (j *judgment) applyContext() {
	kept := j.findings[:0]
	for _, f := range j.findings {
		if f.effect >= 0 && j.call.Effects[f.effect].Kind == effect.Delete && j.wasMade(&j.call.Effects[f.effect]) &&
			!j.movedIn(f.effect) {
			continue
		}
		f.allowed = j.exception(&f)
		kept = append(kept, f)
	}
	j.findings = kept
	j.widenExceptions()
}

// exceptedEffects returns the effects that have a finding with an exception.
func (j *judgment) exceptedEffects() (out []int) {
	for i := range j.findings {
		if f := &j.findings[i]; f.allowed != nil && f.effect >= 0 {
			out = append(out, f.effect)
		}
	}
	return out
}

// Fresh is a stage that judges calls that have already run. It stores nothing, and skips loops and
// precedents, which matter only before a call runs.
type Fresh struct{ *Engine }

// Judge implements [approver.Stage].
func (f Fresh) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	j := judgments.Get().(*judgment)
	j.call.Past = f.recall(ctx, call)
	v := f.run(j, call)
	v.Found = j.found()
	j.release()
	return v, nil
}

// A Result is what a call returned: its output, or the error that it failed with.
type Result struct {
	Output string
	Failed bool
}

// Ran records the result of a call that was judged before. Without a memory it does nothing.
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
	j := judgments.Get().(*judgment)
	j.call.Past = past
	e.run(j, call)
	j.flows.Ran()
	j.release()
}
