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
	// Times counts how long judging takes; nil counts nothing.
	Times *timing.Times
}

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

// ProjectOf is the repository that a directory is in, or else the directory.
func (e *Engine) ProjectOf(dir string) string { return gitrepo.Project(e.analyzer.Files, dir) }

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
