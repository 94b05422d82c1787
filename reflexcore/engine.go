package reflexcore

import (
	"os"
	"path"
	"sync/atomic"

	"approver.example"
	"approver.example/internal/timing"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/dataflow"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/precedent"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/sqltext"
	"approver.example/reflexcore/tools"
)

// Limits bound the analysis of one call. A field that is zero has its default.
type Limits = analysis.Limits

// An Engine judges calls by what they would do. Create it with [New]. It is safe for concurrent use.
type Engine struct {
	analyzer analysis.Analyzer
	rules    atomic.Pointer[Rules]
	flow     atomic.Pointer[flow.Policy]

	program string // the file of the running program
	remotes dataflow.Cache
	asked   asked

	// Project returns the rules of the project that contains dir, nil for none. They only add
	// findings, so they can only tighten. A nil function means no project rules.
	Project func(dir string) *Rules
	// Memory returns the memory for a call. Nil, or a nil function, means that the call is judged by
	// itself.
	Memory func(call approver.ToolCall) *memory.Memory
	// Warns says of which built-in rules HIGH questions are only warnings. A nil function means of none.
	Warns func(rule string) bool
	// Heuristics returns the ids of the heuristics that find something in a call. It is called only if
	// one of them has an exception. A nil function means none.
	Heuristics func(call approver.ToolCall) []string
	// Precedents are the calls that people denied; nil is none.
	Precedents *precedent.Precedents
	// Times counts how long judging takes; nil counts nothing.
	Times *timing.Times
}

// New returns an engine with the built-in grammar. It fails if any rule is not usable, and the error
// names every such rule.
func New(list []Rule, limits Limits) (*Engine, error) {
	r, err := Compile(list)
	if err != nil {
		return nil, err
	}
	return NewWith(r, limits)
}

// NewWith is [New] for rules that are already compiled.
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

// SetRules replaces the rules. A call that is being judged keeps the set that it began with.
func (e *Engine) SetRules(r *Rules) { e.rules.Store(r) }

// Rules returns the rules in force.
func (e *Engine) Rules() *Rules { return e.rules.Load() }

// SetFlow replaces the information flow policy; nil, which is the initial value, is none. A call
// that is being judged keeps the policy that it began with.
func (e *Engine) SetFlow(p *flow.Policy) { e.flow.Store(p) }

// ProjectOf returns the repository that contains dir, or dir itself.
func (e *Engine) ProjectOf(dir string) string { return gitrepo.Project(e.analyzer.Files, dir) }

// WithDisk returns an engine with the same rules that reads another file system.
func (e *Engine) WithDisk(d disk.Disk) *Engine {
	other, err := NewWith(e.rules.Load(), e.analyzer.Limits)
	if err != nil {
		return e // it cannot fail twice
	}
	other.analyzer.On(d)
	other.Project, other.Heuristics, other.Warns = e.Project, e.Heuristics, e.Warns
	other.SetFlow(e.flow.Load())
	return other
}
