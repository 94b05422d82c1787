package reflexcore

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"approver.example"
	"approver.example/reflexcore/code"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/match"
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
	rules  *rules
	files  tools.FS
	paths  *memo
}

// By is the name of the engine in verdicts.
const By = "reflex"

// New returns an engine with the built-in grammar. The error names every rule
// that is not usable; there is no engine with one.
func New(list []Rule, limits Limits) (*Engine, error) {
	table, err := grammar.Default()
	if err != nil {
		return nil, err
	}
	r, err := compile(list)
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
	e := &Engine{limits: limits, rules: r, files: tools.OS{}, paths: newMemo()}
	e.shell = shell.Analyzer{Table: table, Limits: limits.Shell, Secret: e.paths.secret, Decode: e.decoded, Code: e.code, SQL: e.sql}
	return e, nil
}

// work is one call on its way through the stages.
type work struct {
	call   approver.ToolCall
	around surroundings

	text    string // what is matched: the command, or the arguments of another tool
	layers  []decode.Layer
	folded  []byte
	matched []int

	result   shell.Result // of the command
	part     shell.Result // of a payload
	other    tools.Result
	effects  []effect.Effect
	places   []Place
	complete bool // patterns were all tried
	findings []finding
	explain  bool
}

// A finding is a rule that matched.
type finding struct {
	rule   int
	effect int // index, or -1: the pattern did
	layer  int // of the pattern's text, or -1: the text itself
}

var works = sync.Pool{New: func() any { return &work{} }}

// Judge says what the rules make of a call: deny, ask, warn or pass. It does not
// block and never errs; what cannot be understood is in the verdict.
func (e *Engine) Judge(_ context.Context, call approver.ToolCall) (approver.Verdict, error) {
	w := works.Get().(*work)
	v := e.run(w, call)
	w.forget()
	works.Put(w)
	return v, nil
}

// forget drops what the call was, and keeps the memory.
func (w *work) forget() {
	clear(w.effects)
	clear(w.layers)
	*w = work{
		layers: w.layers[:0], folded: w.folded[:0], matched: w.matched[:0], result: w.result, part: w.part,
		effects: w.effects[:0], places: w.places[:0], findings: w.findings[:0],
	}
}

// run takes a call through the ten stages.
func (e *Engine) run(w *work, call approver.ToolCall) approver.Verdict {
	w.capture(call)     // 1
	e.decode(w)         // 2
	e.understand(w)     // 3 to 7: whitespace, aliases, compounds, variables, quotes
	e.match(w)          // 8
	w.context()         // 9
	return e.verdict(w) // 10
}

// capture is stage 1: the call as the agent sent it.
func (w *work) capture(call approver.ToolCall) {
	w.call = call
	w.around = surroundings{dir: strings.TrimSuffix(call.Dir, "/"), home: strings.TrimSuffix(call.Env["HOME"], "/")}
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
	place := shell.Context{Dir: w.call.Dir, Env: w.call.Env, Explain: w.explain}
	if w.call.Command != "" {
		e.shell.Analyze(w.call.Command, place, &w.result)
		w.effects = append(w.effects, w.result.Effects...)
	} else {
		w.other = tools.Effects(w.call, e.limits.Tools, e.files)
		w.effects = append(w.effects, w.other.Effects...)
		for _, p := range w.other.Payloads {
			e.payload(w, p, place)
		}
	}
	if !w.hidden() {
		return
	}
	// Something runs that is not known. What was found encoded may be it.
	for _, layer := range w.layers {
		e.shell.Analyze(layer.Text, place, &w.part)
		w.take(effect.Partial, effect.Decoded)
	}
}

// hidden reports whether something runs of which not all is known.
func (w *work) hidden() bool {
	for i := range w.effects {
		if e := &w.effects[i]; e.Kind == effect.Opaque || e.Kind == effect.Exec && (e.Bits&effect.Partial != 0 || e.Taint&effect.Decoded != 0) {
			return true
		}
	}
	return false
}

// take adds the effects of the payload that was analysed last.
func (w *work) take(bits effect.Bits, taint effect.Taint) {
	for _, e := range w.part.Effects {
		if bits&effect.Partial != 0 && e.Kind == effect.Opaque {
			continue // that noise does not parse says nothing
		}
		e.Bits |= bits
		e.Taint |= taint
		w.effects = append(w.effects, e)
	}
}

// payload analyses what another tool runs, or leaves to be run.
func (e *Engine) payload(w *work, p effect.Payload, place shell.Context) {
	switch p.Lang {
	case "":
		w.effects = append(w.effects, effect.Effect{Kind: effect.Opaque, Target: p.Why, Bits: effect.Partial, By: w.call.Tool})
		return
	case effect.Shell, effect.Fish:
		e.shell.Analyze(p.Text, place, &w.part)
	default:
		e.shell.AnalyzeCode(p.Lang, p.Text, place, &w.part)
	}
	bits := effect.Bits(0)
	if p.Later {
		bits = effect.Later
	}
	w.take(bits, 0)
}

// match is stage 8: rules over effects, and patterns over text.
func (e *Engine) match(w *work) {
	w.complete = true
	all := uint32(0)
	for i := range w.effects {
		all |= 1 << w.effects[i].Kind
	}
	for i := range w.effects {
		ef := &w.effects[i]
		p := Place(0)
		if len(e.rules.byKind[ef.Kind]) > 0 {
			p = w.around.place(ef, e.paths)
		}
		w.places = append(w.places, p)
		for j := range e.rules.byKind[ef.Kind] {
			c := &e.rules.byKind[ef.Kind][j]
			if n := len(w.findings); c.holds(ef, p, all) && (n == 0 || w.findings[n-1] != finding{c.rule, i, -1}) {
				w.findings = append(w.findings, finding{c.rule, i, -1})
			}
		}
	}
	if e.rules.patterns == nil {
		return
	}
	e.patterns(w, w.text, -1)
	for i := range w.layers {
		e.patterns(w, w.layers[i].Text, i)
	}
}

func (e *Engine) patterns(w *work, text string, layer int) {
	w.folded = match.Fold(w.folded[:0], text)
	var complete bool
	w.matched, complete = e.rules.patterns.MatchBytes(w.matched[:0], w.folded)
	w.complete = w.complete && complete
	for _, id := range w.matched {
		w.findings = append(w.findings, finding{e.rules.ofMatch[id], -1, layer})
	}
}

// context is stage 9: a finding that the place makes harmless is dropped. Places
// are part of the conditions, so that what is left here is what no condition can
// say: an effect that only may happen weighs less than one that will.
func (w *work) context() {
	kept := w.findings[:0]
	for _, f := range w.findings {
		if f.effect >= 0 && w.effects[f.effect].Kind == effect.Delete && w.made(w.effects[f.effect].Target) {
			continue
		}
		kept = append(kept, f)
	}
	w.findings = kept
}

// made reports whether the command itself makes the file that it deletes.
func (w *work) made(target string) bool {
	if !effect.IsKnown(target) || strings.ContainsAny(target, "*?[") {
		return false
	}
	for i := range w.effects {
		if e := &w.effects[i]; e.Kind == effect.Write && e.Target == target && e.Bits == 0 && w.places[i]&(Temp|Project) != 0 && w.places[i]&(Whole|Git|System) == 0 {
			return true
		}
	}
	return false
}

// verdict is stage 10: the strictest finding counts.
func (e *Engine) verdict(w *work) approver.Verdict {
	best := -1
	for i, f := range w.findings {
		if best < 0 || stricter(&e.rules.list[f.rule], &e.rules.list[w.findings[best].rule]) {
			best = i
		}
	}
	if best < 0 && !w.complete {
		return approver.Verdict{
			Decision: approver.Ask, Severity: approver.Catastrophic, By: By, Rule: "too_complex", Category: "evasion", Confidence: 0.5,
			Reason: "the command is too complex to be checked: split it into simple commands",
		}
	}
	if best < 0 {
		return approver.Verdict{Decision: approver.Pass, Severity: approver.High, By: By}
	}
	f := w.findings[best]
	r := &e.rules.list[f.rule]
	return approver.Verdict{
		Decision: r.Decision, Severity: r.Severity, By: By, Rule: r.ID, Where: r.Where, Category: r.Category, Confidence: r.Confidence,
		Reason: w.reason(r, f), Detail: w.detail(f),
	}
}

// stricter reports whether a finding of a goes before one of b.
func stricter(a, b *Rule) bool {
	switch {
	case a.Decision != b.Decision:
		return a.Decision < b.Decision
	case a.Severity != b.Severity:
		return a.Severity < b.Severity
	}
	return a.Confidence > b.Confidence
}

// reason is one sentence for the agent: what was seen, and what to do instead.
func (w *work) reason(r *Rule, f finding) string {
	text := r.Reason
	if f.effect >= 0 {
		if e := &w.effects[f.effect]; e.Target != "" && e.Taint&effect.Secret == 0 {
			text += " (" + short(effect.Show(e.Target)) + ")"
		}
	}
	if r.Cure != "" {
		text += ": " + r.Cure
	}
	return text
}

// detail is for people: what leads to the finding.
func (w *work) detail(f finding) string {
	if f.effect < 0 {
		if f.layer >= 0 {
			return "found in text that was encoded as " + w.layers[f.layer].Via
		}
		return ""
	}
	e := &w.effects[f.effect]
	text := e.By + ": " + e.String()
	for _, source := range w.sources(f.effect) {
		text += fmt.Sprintf("; from %s (%s)", w.effects[source], w.effects[source].By)
	}
	return short(text)
}

// sources are the effects that the taint of an effect came from.
func (w *work) sources(i int) []int {
	var out []int
	taint := w.effects[i].Taint
	for j := range w.effects[:i] {
		e := &w.effects[j]
		switch {
		case e.Kind == effect.Read && taint&e.Taint&effect.Secret != 0, e.Kind == effect.NetIn && taint&effect.Network != 0 && e.Target != w.effects[i].Target:
			out = append(out, j)
		}
	}
	return out
}

// short cuts a text for a reason.
func short(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && text[cut]&0xc0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}
