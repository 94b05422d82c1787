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
	"approver.example/internal/match"
	"approver.example/reflexcore/code"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/filenames"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/grammar"
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
type Limits struct {
	Shell  shell.Limits
	Code   code.Limits
	Decode decode.Limits
	SQL    sqltext.Limits
	Tools  tools.Limits
}

// An Engine judges calls by what they would do. Use [New]; it can be shared.
type Engine struct {
	shell  shell.Analyzer
	limits Limits
	rules  atomic.Pointer[Rules]
	files  disk.Disk
	git    *gitrepo.Reader
	paths  *places.Cache
	flow   atomic.Pointer[flow.Policy]

	program string // the file of the running program
	remotes atomic.Pointer[gitRemotes]
	aliases filenames.Cache

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
	e := &Engine{limits: limits, files: disk.OS{}, git: &gitrepo.Reader{Disk: disk.OS{}}, paths: places.NewCache()}
	if program, err := os.Executable(); err == nil && protected.IsOwnProgram(path.Base(program)) {
		e.program = program
	}
	e.rules.Store(r)
	e.shell = shell.Analyzer{Table: table, Limits: limits.Shell, Secret: e.paths.Secret, Decode: e.decoded, Code: e.code, SQL: e.sql, Top: e.git.Top}
	return e, nil
}

// SetRules puts other rules in force. A call is judged by one set as a whole.
func (e *Engine) SetRules(r *Rules) { e.rules.Store(r) }

// work is one call on its way through the stages.
type work struct {
	call   approver.ToolCall
	around places.Surroundings
	sets   [2]*Rules // the rules in force, and those of the project

	text    string // what is matched: the command, or the arguments of another tool
	layers  []decode.Layer
	folded  []byte
	matched []int

	result    shell.Result // of the command
	part      shell.Result // of a payload
	trees     shell.Trees  // of the texts of both
	steps     []shell.Step // with explain, or where git may run: the commands that run, of the command and of payloads
	sure      bool         // nothing that is only suspected to run is analysed
	binds     bool         // it is for those who bind an approval: files that are loaded are said, too
	other     tools.Result
	effects   []effect.Effect
	facts     facts // of the effects
	self      selfprotect.Check
	places    []places.Place
	complete  bool // patterns were all tried
	gitBudget gitrepo.Budget
	links     disk.Links
	names     filenames.Finder
	mentions  []shell.Mention // files that commands name, of which no effect tells anything
	programs  []shell.Program // those that are started by their path
	findings  []finding
	explain   bool

	odd     shell.Oddity // how the texts were written that run
	oddName string
	layered int
	trips   []trip
	past    *memory.Past // nil: nothing is remembered
	left    []shell.File // what the call leaves in files
	texts   []shell.Text // and the texts of them
	loaded  []loaded     // of skills, commands and agents
	flows   flows
	label   func(string, bool) effect.Taint // flows.label, made once
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
	w.past = e.recall(ctx, call)
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
	w.past = e.recall(ctx, call)
	e.run(w, call)
	w.forget()
	works.Put(w)
}

// Afresh is Judge for a call that has run already: it keeps nothing, and says nothing
// of loops and precedents, which are about calls that are still to run.
func (e *Engine) Afresh(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	w := works.Get().(*work)
	w.past = e.recall(ctx, call)
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
func (e *Engine) ProjectOf(dir string) string { return e.project(dir) }

// forget drops what the call was, and keeps the memory.
func (w *work) forget() {
	clear(w.effects)
	clear(w.layers)
	clear(w.findings)
	clear(w.trips)
	clear(w.texts)
	w.facts.of(nil)
	w.links.Forget()
	w.names.Forget()
	w.trees.Forget()
	*w = work{
		layers: w.layers[:0], folded: w.folded[:0], matched: w.matched[:0], result: w.result, part: w.part, trees: w.trees,
		effects: w.effects[:0], places: w.places[:0], findings: w.findings[:0],
		trips: w.trips[:0], left: w.left[:0], texts: w.texts[:0], facts: w.facts, links: w.links, names: w.names, mentions: w.mentions[:0], programs: w.programs[:0],
		flows: flows{found: w.flows.found[:0]}, label: w.label,
	}
}

// run takes a call through the ten stages.
func (e *Engine) run(w *work, call approver.ToolCall) approver.Verdict {
	w.sets[0] = e.rules.Load()
	if e.Project != nil {
		w.sets[1] = e.Project(call.Dir)
	}
	w.capture(call) // 1
	w.names.Begin(e.files, &w.links, &e.aliases, &w.call, w.around.Home, w.text)
	w.around.Tree = places.InTree(e.files, w.around.Dir)
	w.flows.begin(e, w)
	e.decode(w)     // 2
	e.understand(w) // 3 to 7: whitespace, aliases, compounds, variables, quotes
	w.ownService()
	w.fetched()
	e.match(w) // 8
	e.trip(w)
	w.obeys()
	w.context() // 9
	e.flows(w)
	return w.decideFlow(w.gatekeep(e.verdict(w))) // 10
}

// capture is stage 1: the call as the agent sent it.
func (w *work) capture(call approver.ToolCall) {
	w.call = call
	w.around = places.Around(call.Dir, call.Env["HOME"])
	w.text = call.Command
	if w.text == "" {
		w.text = string(call.Args)
	}
}

// decode is stage 2: what is hidden in encodings.
func (e *Engine) decode(w *work) {
	w.layers = decode.Layers(w.layers, w.text, e.limits.Decode)
}

// understand is stages 3 to 7: one parse and one walk, for shells; the meaning of
// the arguments, for other tools.
func (e *Engine) understand(w *work) {
	place := shell.Context{Dir: w.call.Dir, Env: w.call.Env, Label: w.labels(), Explain: w.explain || w.runsGit(), Trees: &w.trees}
	if w.past != nil {
		place.Known = w.past.Taint
	}
	if w.call.Command != "" {
		e.shell.Analyze(w.call.Command, place, &w.result)
		w.form(&w.result)
		w.effects = append(w.effects, w.result.Effects...)
		w.names.Dotted = append(w.names.Dotted, w.result.Dotted...)
		w.mentions = append(w.mentions, w.result.Mentions...)
		w.programs = append(w.programs, w.result.Programs...)
		w.steps = append(w.steps, w.result.Steps...)
		if isPowerShell(w.call.Command) {
			e.shell.AnalyzeCode(effect.PowerShell, w.call.Command, place, &w.part)
			w.part.Effects = slices.DeleteFunc(w.part.Effects, func(e effect.Effect) bool { return e.Kind == effect.Opaque }) // bash may know it
			w.take(0, 0)
		}
		w.left = append(w.left, w.result.Files...)
		w.texts = append(w.texts, w.result.Texts...)
		for _, t := range w.result.Texts {
			hand := content.Payloads
			if t.Part {
				hand = content.Part
			}
			hand(t.Path, t.Text, e.limits.Tools.Content, func(p effect.Payload) {
				if p.Lang != "" && !e.paths.Classify(p.Path).Prompts() { // what a redirection adds is no whole document
					e.payload(w, p, place)
				}
			})
		}
	} else {
		w.other = tools.Effects(w.call, e.limits.Tools, e.files)
		w.labelled(w.other.Effects)
		w.tainted(w.other.Effects)
		w.effects = append(w.effects, w.other.Effects...)
		for _, p := range w.other.Payloads {
			e.payload(w, p, place)
		}
		e.loads(w, place)
	}
	e.starts(w, place)
	e.gitHooks(w, place)
	e.prompts(w, place)
	e.todos(w, place)
	e.patches(w, place)
	if w.sure || !w.hidden() {
		return
	}
	// Something runs that is not known. What was found encoded may be it.
	for _, layer := range w.layers {
		e.shell.Analyze(layer.Text, place, &w.part)
		w.take(effect.Partial, effect.Decoded)
	}
}

// take adds the effects of the payload that was analysed last.
func (w *work) take(bits effect.Bits, taint effect.Taint) {
	w.left = append(w.left, w.part.Files...)
	if bits&effect.Later == 0 {
		w.texts = append(w.texts, w.part.Texts...)
	}
	w.names.Dotted = append(w.names.Dotted, w.part.Dotted...)
	from := len(w.steps)
	if bits&effect.Later == 0 { // else none of it runs now
		for _, s := range w.part.Steps {
			if s.Parent >= 0 {
				s.Parent += from
			}
			w.steps = append(w.steps, s)
		}
	}
	for _, e := range w.part.Effects {
		if bits&effect.Partial != 0 && e.Kind == effect.Opaque {
			continue // that noise does not parse says nothing
		}
		e.Bits |= bits
		e.Taint |= taint
		if e.Step >= 0 {
			e.Step += from
		}
		if bits&effect.Later != 0 {
			e.Step = -1
		}
		w.effects = append(w.effects, e)
	}
}

// payload analyses what another tool runs, or leaves to be run.
func (e *Engine) payload(w *work, p effect.Payload, place shell.Context) {
	if p.Later && p.Path != "" && content.IsPrompt(p.Path) && e.paths.Classify(p.Path).Prompts() {
		if !e.promptRuns(w, &p) {
			return
		}
		p.Later = false // as the command that it is
	}
	place.Written = p.Later
	switch {
	case p.Later && isSQL(p.Lang): // a migration is written to be read and run by people's tools
		return
	case p.Lang == "":
		w.effects = append(w.effects, effect.Effect{Kind: effect.Opaque, Target: p.Why, Bits: effect.Partial, By: w.call.Tool})
		return
	case p.Lang == effect.Shell || p.Lang == effect.Fish:
		e.shell.Analyze(p.Text, place, &w.part)
	default:
		e.shell.AnalyzeCode(p.Lang, p.Text, place, &w.part)
	}
	bits := effect.Bits(0)
	if p.Later {
		bits = effect.Later
	} else {
		w.form(&w.part)
		w.mentions = append(w.mentions, w.part.Mentions...)
		w.programs = append(w.programs, w.part.Programs...)
	}
	w.take(bits, 0)
}

// match is stage 8: rules over effects, and patterns over text.
func (e *Engine) match(w *work) {
	w.complete = true
	w.facts.of(w.effects)
	w.facts.around, w.facts.paths = &w.around, e.paths
	for i := range w.effects {
		ef := &w.effects[i]
		p, placed := places.Place(0), false
		for _, set := range w.sets {
			if set == nil || set.byKind[ef.Kind].empty() && !isDestruction(ef.Kind) {
				continue
			}
			if !placed {
				p, placed = e.onDisk(w, i, w.around.Of(ef, e.paths)), true
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
		w.patterns(set, w.text, -1)
		for i := range w.layers {
			w.patterns(set, w.layers[i].Text, i)
		}
	}
	// A rule counts up to its end.
	w.findings = slices.DeleteFunc(w.findings, func(f finding) bool { return past(f.rule.Expires, w.call.At) })
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
		if f.effect >= 0 && w.effects[f.effect].Kind == effect.Delete && w.made(&w.effects[f.effect]) && !w.movedIn(f.effect) {
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
	other, err := NewWith(e.rules.Load(), e.limits)
	if err != nil {
		return e // it cannot fail twice
	}
	other.files, other.git, other.Project = d, &gitrepo.Reader{Disk: d}, e.Project
	other.SetFlow(e.flow.Load())
	return other
}
