package reflexcore

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"approver.example"
	"approver.example/reflexcore/agenttexts"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/dataflow"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/gitruns"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/match"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/precedent"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/selfprotect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/sqltext"
	"approver.example/reflexcore/tools"
)

// Limits bound the analysis of one call. A field that is zero has its default.
type Limits = analysis.Limits

// An Engine judges calls by what they would do. Use [New]; it can be shared.
type Engine struct {
	analyzer analysis.Analyzer
	rules    atomic.Pointer[Rules]
	flow     atomic.Pointer[flow.Policy]

	program string // the file of the running program
	remotes dataflow.Cache

	// Project returns the rules of the project of a folder, nil for none. They add to
	// the others, so that they can only tighten. Nil is no project.
	Project func(dir string) *Rules
	// Memory returns what is remembered for a call, nil for nothing: then the call
	// is judged by itself. Nil is no memory.
	Memory func(call approver.ToolCall) *memory.Memory
	// Precedents are what people said no to; nil is none.
	Precedents *precedent.Precedents
}

// By is the name of the engine in verdicts.
const By = "reflex"

// New returns an engine with the built-in grammar. The error names every rule
// that is not usable; there is no engine with one.
func New(list []Rule, limits Limits) (*Engine, error) {
	r, err := Compile(list)
	if err != nil {
		return nil, err
	}
	return NewWith(r, limits)
}

// NewWith is [New] with rules that are compiled already.
func NewWith(r *Rules, limits Limits) (*Engine, error) {
	table, err := grammar.Default()
	if err != nil {
		return nil, err
	}
	if limits.Shell == (shell.Limits{}) {
		limits.Shell = shell.DefaultLimits
	}
	if limits.SQL == (sqltext.Limits{}) {
		limits.SQL = sqltext.DefaultLimits()
	}
	if limits.Tools == (tools.Limits{}) {
		limits.Tools = tools.DefaultLimits()
	}
	e := &Engine{}
	if program, err := os.Executable(); err == nil && protected.IsOwnProgram(path.Base(program)) {
		e.program = program
	}
	e.rules.Store(r)
	e.analyzer.Init(table, limits)
	return e, nil
}

// SetRules puts other rules in force. A call is judged by one set as a whole.
func (e *Engine) SetRules(r *Rules) { e.rules.Store(r) }

// SetFlow puts a policy of information flow in force; nil is none, as before the
// first. A call is judged by one as a whole.
func (e *Engine) SetFlow(p *flow.Policy) { e.flow.Store(p) }

// work is one call on its way through the stages.
type work struct {
	a    analysis.Call
	sets [2]*Rules // the rules in force, and those of the project

	folded     []byte // what is matched, as patterns see it
	matched    []int
	facts      facts          // of the effects
	places     []places.Place // of the effects
	complete   bool           // patterns were all tried
	gitBudget  gitrepo.Budget
	findings   []finding
	trips      []trip
	git        gitruns.Reader
	agentTexts agenttexts.Reader
	self       selfprotect.Check
	flows      dataflow.Flow
}

// A finding is a rule that matched.
type finding struct {
	rule    *Rule
	says    int        // how much the condition names
	effect  int        // index, or -1: the pattern did
	layer   int        // of the pattern's text, or -1: the text itself
	allowed *Allowance // the exception that drops it
}

// enforced reports whether the finding counts for the verdict.
func (f *finding) enforced() bool { return !f.rule.Shadow && f.allowed == nil }

var works = sync.Pool{New: func() any { return &work{} }}

// Judge says what the rules make of a call: deny, ask, warn or pass. What cannot
// be understood is in the verdict. An error is one of the memory: without one it
// never errs, and does not block.
func (e *Engine) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	w := works.Get().(*work)
	w.a.Past = e.recall(ctx, call)
	v := e.run(w, call)
	approver.Lap(ctx, approver.Intuition) // what calls before it say
	v, err := e.remember(w, e.intuit(ctx, w, v))
	w.forget()
	works.Put(w)
	return v, err
}

// Rejudge does the work that Judge does for the reflex part, and keeps nothing: how
// long that takes is what is asked.
func (e *Engine) Rejudge(ctx context.Context, call approver.ToolCall) {
	w := works.Get().(*work)
	w.a.Past = e.recall(ctx, call)
	e.run(w, call)
	w.forget()
	works.Put(w)
}

// Afresh is Judge for a call that has run already: it keeps nothing, and says nothing
// of loops and precedents, which are about calls that are still to run.
func (e *Engine) Afresh(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	w := works.Get().(*work)
	w.a.Past = e.recall(ctx, call)
	v := e.run(w, call)
	w.forget()
	works.Put(w)
	return v, nil
}

// Fresh is a stage that judges by [Engine.Afresh].
type Fresh struct{ *Engine }

// Judge implements [approver.Stage].
func (f Fresh) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	return f.Afresh(ctx, call)
}

// ProjectOf is the repository that a directory is in, or else the directory.
func (e *Engine) ProjectOf(dir string) string { return gitrepo.Project(e.analyzer.Files, dir) }

// forget drops what the call was, and keeps the memory.
func (w *work) forget() {
	clear(w.findings)
	clear(w.trips)
	w.facts.of(nil)
	w.a.Forget()
	w.flows.Forget()
	*w = work{
		a: w.a, folded: w.folded[:0], matched: w.matched[:0], places: w.places[:0], findings: w.findings[:0], trips: w.trips[:0], facts: w.facts,
		flows: w.flows,
	}
}

// run takes a call through the ten stages.
func (e *Engine) run(w *work, call approver.ToolCall) approver.Verdict {
	w.sets[0] = e.rules.Load()
	if e.Project != nil {
		w.sets[1] = e.Project(call.Dir)
	}
	w.a.Capture(&e.analyzer, call) // 1
	w.a.Around.Tree = places.InTree(e.analyzer.Files, w.a.Around.Dir)
	w.flows.Begin(&w.a, e.flow.Load(), w.projectSources(), &e.remotes)
	w.a.Decode()    // 2
	e.understand(w) // 3 to 7: whitespace, aliases, compounds, variables, quotes
	w.flows.OwnService()
	w.flows.Fetched()
	e.match(w) // 8
	e.trip(w)
	w.obeys()
	w.context() // 9
	w.flows.Judge(w.places, w.sets[0].placed, w.excepted())
	return w.decideFlow(w.gatekeep(e.verdict(w))) // 10
}

// match is stage 8: rules over effects, and patterns over text.
func (e *Engine) match(w *work) {
	w.complete = true
	w.facts.of(w.a.Effects)
	w.facts.around, w.facts.paths = &w.a.Around, e.analyzer.Paths
	for i := range w.a.Effects {
		ef := &w.a.Effects[i]
		p, placed := places.Place(0), false
		for _, set := range w.sets {
			if set == nil || set.byKind[ef.Kind].empty() && !isDestruction(ef.Kind) {
				continue
			}
			if !placed {
				p, placed = e.onDisk(w, i, w.a.Around.Of(ef, e.analyzer.Paths)), true
			}
			w.findings = set.find(w.findings, i, &w.facts, p)
		}
		w.places = append(w.places, p)
		w.facts.makes(ef, p)
	}
	for _, set := range w.sets {
		if set == nil || set.patterns == nil {
			continue
		}
		w.patterns(set, w.a.Text, -1)
		for i := range w.a.Layers {
			w.patterns(set, w.a.Layers[i].Text, i)
		}
	}
	// A rule counts up to its end.
	w.findings = slices.DeleteFunc(w.findings, func(f finding) bool { return past(f.rule.Expires, w.a.ToolCall.At) })
}

func (w *work) patterns(set *Rules, text string, layer int) {
	w.folded = match.Fold(w.folded[:0], text)
	var complete bool
	w.matched, complete = set.patterns.MatchBytes(w.matched[:0], w.folded)
	w.complete = w.complete && complete
	for _, id := range w.matched {
		w.findings = append(w.findings, finding{rule: set.ofMatch[id], says: 1, effect: -1, layer: layer})
	}
}

// context is stage 9: a finding that the place makes harmless is dropped. Places
// are part of the conditions, so that what is left here is what no condition can
// say: an effect that only may happen weighs less than one that will.
func (w *work) context() {
	kept := w.findings[:0]
	for _, f := range w.findings {
		if f.effect >= 0 && w.a.Effects[f.effect].Kind == effect.Delete && w.made(&w.a.Effects[f.effect]) && !w.movedIn(f.effect) {
			continue
		}
		f.allowed = w.exception(&f)
		kept = append(kept, f)
	}
	w.findings = kept
	w.excused()
}

// made reports whether the command itself, or a call before it, makes the file
// that it deletes. A program of which not all words are known may do either: that is no
// making.
func (w *work) made(e *effect.Effect) bool {
	target := e.Target
	if !effect.IsKnown(target) || strings.ContainsAny(target, "*?[") {
		return false
	}
	by, made := w.facts.made[target]
	return made && (by != e.By || by == "") || w.madeBefore(target)
}

// WithDisk returns an engine with the same rules that looks at another file
// system.
func (e *Engine) WithDisk(d disk.Disk) *Engine {
	other, err := NewWith(e.rules.Load(), e.analyzer.Limits)
	if err != nil {
		return e // it cannot fail twice
	}
	other.analyzer.On(d)
	other.Project = e.Project
	other.SetFlow(e.flow.Load())
	return other
}
