package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// source walks a text as shell code. The worst way in which a text was parsed is recorded in the
// result.
func (in *interp) source(src, via string, std *input, sink *data) {
	if in.rep.stopped() {
		return
	}
	if in.rep.depth >= in.rep.lim.Depth {
		in.rep.over(overDepth)
		return
	}
	in.rep.steps += 8 + len(src)/256 // parsing costs more than a step
	in.hist.recalled(src)
	r := in.src.parse(src)
	in.rep.res.How = max(in.rep.res.How, r.how)
	in.rep.depth++
	in.rep.res.Layers = max(in.rep.res.Layers, in.rep.depth-1)
	outer := in.via
	if via != "" {
		in.via = via
	}
	switch {
	case r.how == Refused && len(src) > in.rep.lim.Bytes:
		in.oversized(src, std, sink)
	case r.how != Parsed:
		in.broken(src, r.how, std, sink)
	default:
		if r.strange {
			in.syntaxError()
		}
		in.holds(src, r.file)
		from := len(in.rep.res.Effects)
		in.walkStmts(r.file.Stmts, std, sink)
		if r.notBash {
			in.aside(func() { in.linewise(src, from, std, sink) })
		}
	}
	in.rep.depth--
	in.via = outer
}

func (in *interp) walkStmts(list []*syntax.Stmt, std *input, sink *data) {
	for i, s := range list {
		if in.rep.stopped() {
			return
		}
		before, wired := in.jumped, len(in.io.rewired)
		in.walkStmt(s, std, sink)
		if len(in.io.rewired) > wired && i+1 < len(list) {
			in.io.rewiredly(wired, std, sink, func() {
				if in.jumped != before {
					in.mayWalk(list[i+1:], std, sink)
				} else {
					in.walkStmts(list[i+1:], std, sink)
				}
			})
			return
		}
		if in.jumped != before && i+1 < len(list) { // the rest may not run
			in.mayWalk(list[i+1:], std, sink)
			return
		}
	}
}

// mayWalk walks statements that may not run.
func (in *interp) mayWalk(list []*syntax.Stmt, std *input, sink *data) {
	in.inBranch(func() { in.walkStmts(list, std, sink) })
}

// nested walks statements inside the expansion of a command, whose own choices are kept.
func (ex *expander) nested(stmts []*syntax.Stmt, std *input, sink *data) {
	ex.in.alt.afresh(func() { ex.in.walkStmts(stmts, std, sink) })
}

// walkStmt walks a statement with its redirections.
func (in *interp) walkStmt(s *syntax.Stmt, std *input, sink *data) {
	if s.Cmd == nil && len(s.Redirs) == 0 || !in.rep.spend() {
		return
	}
	if out := &in.io.out; (out.path != "" || out.to != nil) && out.sink == sink {
		in.io.captured(s, std)
		return
	}
	if in.rep.level++; in.rep.level > 4*in.rep.lim.Nesting {
		in.rep.over("nesting")
	}
	stdin, stdout, wires := in.io.stdin, in.io.stdout, in.io.wires
	in.io.stdin, in.io.stdout = std, sink
	in.io.wires, in.io.aliased = in.io.aliased, nil
	defer func() {
		in.rep.level--
		in.io.stdin, in.io.stdout, in.io.wires = stdin, stdout, wires
	}()
	if in.traps.changes != nil {
		in.traps.applyChanges()
	}
	if len(s.Redirs) == 0 {
		in.cmd(s, std, sink)
		return
	}
	in.io.redirected(s, std, sink)
}

// walkBody walks the command of a statement after its redirections were applied.
func (dt *descriptorTable) walkBody(s *syntax.Stmt, r *redirected) {
	if !isSimple(s.Cmd) { // the words of simple commands are expanded before the redirections
		dt.stdin, dt.stdout = r.std, r.sink
	}
	if s.Cmd == nil {
		if r.std.present {
			r.sink.add(r.std.data) // $(<FILE)
		}
		return
	}
	choose := dt.in.alt.choose
	dt.in.alt.choose = choose && dt.in.alt.shared
	if slices.ContainsFunc(s.Redirs, dt.mayNotOpen) && dt.in.def.changesShell(s.Cmd) {
		dt.in.dirs.perhaps(func() { dt.in.cmd(s, r.std, r.sink) })
	} else {
		dt.in.cmd(s, r.std, r.sink)
	}
	dt.in.alt.choose = choose
}

// sub walks a text in a subshell.
func (pl *payloadRunner) sub(d data, via string, std *input, sink *data) {
	pl.in.scoped(func() { pl.in.alt.afresh(func() { pl.payload(d, via, std, sink) }) })
}

// aside walks code that may run later, or at any time. Its assignments do not apply to what
// follows, and the files that it writes may or may not exist.
func (in *interp) aside(walk func()) {
	scope := in.enter()
	was, jumped, xtrace := in.io.plumbed(), in.jumped, in.io.xtrace
	in.jumped = 0
	in.rep.steps += 16 // it is walked again when it is called
	in.branches++
	in.alt.afresh(walk)
	in.branches--
	in.jumped, in.io.xtrace = jumped, xtrace
	in.io.replumb(&was)
	in.leave(scope)
}

// perhaps walks code that may not run: its assignments are one more possibility. A directory
// change counts, and the previous directory is kept as another possibility.
func (ds *directories) perhaps(walk func()) {
	scope := ds.in.enterBranch()
	walk()
	dir, may := ds.in.cwd.dir, ds.in.cwd.may
	ds.in.join(scope)
	if dir != scope.dir {
		ds.goesFrom(scope.dir)
		ds.in.cwd.dir, ds.in.cwd.may = dir, may
	}
}

// recalled records which parts of the history a text reads.
func (hs *history) recalled(src string) {
	if hs.recalls&recallsLast == 0 && strings.IndexByte(src, '_') >= 0 && wordset.ContainsAny(src, "$_", "{_", "{!_") {
		hs.recalls |= recallsLast
	}
	if strings.Contains(src, "FUNCNAME") {
		hs.recalls |= recallsName
	}
}

// goesFrom records the directory that cd leaves, which stays the working directory if cd fails. A
// directory of settings or of the system is remembered longer.
func (ds *directories) goesFrom(dir string) {
	ds.in.cwd.before = dir
	if ds.isHidden(dir) {
		ds.in.cwd.beside = dir
	}
}

// isHidden reports whether the files in a directory change what a program or the system does.
func (ds *directories) isHidden(dir string) bool {
	if !effect.IsKnown(dir) || dir == "" || dir[0] != '/' {
		return false
	}
	rest, inside := strings.CutPrefix(dir, ds.in.ctx.Dir+"/")
	return hiddenTops[firstOf(dir)] || strings.HasPrefix(dir[strings.LastIndexByte(dir, '/')+1:], ".") ||
		inside && (strings.HasPrefix(rest, ".") || strings.Contains(rest, "/."))
}

// hiddenTops are such directories of the system.
var hiddenTops = wordset.Of("/etc /boot /dev /usr /bin /sbin /lib /System /Library")

// enter begins a scope for variables, the directory, the parameters and the rest of [scope].
func (in *interp) enter() scope {
	s := scope{
		workdir: in.cwd, positionals: in.par.positionals, zero: in.par.zero, out: in.io.out,
		mark: in.vars.mark, length: len(in.vars.list), readonly: len(in.vars.readonly),
		funcs: len(in.def.funcs), aliases: len(in.def.aliases), apart: in.def.apart,
		hooks: len(in.traps.hooks), rewired: len(in.io.rewired),
	}
	in.vars.mark = s.length
	return s
}

// enterBranch begins a scope that [interp.join] ends.
func (in *interp) enterBranch() scope {
	in.branches++
	return in.enter()
}

// inBranch walks code that may not run: its assignments are one more possibility.
func (in *interp) inBranch(walk func()) {
	scope := in.enterBranch()
	walk()
	in.join(scope)
}

// scoped walks something in a scope of its own and discards its changes to the shell.
func (in *interp) scoped(walk func()) {
	scope := in.enter()
	walk()
	in.leave(scope)
}

// subshell walks something in a scope of its own and then restores the descriptors.
func (in *interp) subshell(walk func()) {
	was := in.io.plumbed()
	in.scoped(walk)
	in.io.replumb(&was)
}

// leave ends a scope and discards the changes in it, as at the end of a subshell.
func (in *interp) leave(s scope) {
	in.traps.runLate(s.hooks)
	clear(in.vars.list[s.length:])
	in.cwd, in.par.positionals, in.par.zero, in.io.out = s.workdir, s.positionals, s.zero, s.out
	in.vars.mark, in.vars.list, in.vars.readonly = s.mark, in.vars.list[:s.length], in.vars.readonly[:s.readonly]
	in.def.funcs, in.def.aliases = in.def.funcs[:s.funcs], in.def.aliases[:min(s.aliases, len(in.def.aliases))]
	in.def.apart, in.io.rewired = s.apart, in.io.rewired[:min(s.rewired, len(in.io.rewired))]
}

// join ends the scope of a branch: its assignments are one more possibility.
func (in *interp) join(s scope) {
	in.branches--
	dir, left := in.cwd.dir, in.par.positionals
	in.vars.mark, in.par.positionals = s.mark, s.positionals
	if left.others != nil || (left.params == nil) != (s.params == nil) || len(left.params) != len(s.params) ||
		len(left.params) > 0 && &left.params[0] != &s.params[0] {
		in.par.joinParams(left)
	}
	for i := s.funcs; i < len(in.def.funcs); i++ {
		in.def.funcs[i].maybe = true
	}
	for i := s.aliases; i < len(in.def.aliases); i++ {
		in.def.aliases[i].maybe = true
	}
	if len(in.vars.list) > s.length {
		changed := slices.Clone(in.vars.list[s.length:])
		clear(in.vars.list[s.length:])
		in.vars.list = in.vars.list[:s.length]
		for _, v := range changed {
			if v.name != "" {
				in.vars.merge(v)
			}
		}
	}
	if in.cwd.dir = s.dir; dir != s.dir {
		in.cwd.dir = effect.Unknown
		if strings.HasPrefix(dir, "/") {
			in.cwd.may = dir // or the previous one
		}
	}
	if in.cwd.may == "" {
		in.cwd.may = s.may
	}
	if in.par.zero != s.zero {
		in.par.zero = data{effect.Unknown, in.par.zero.taint | s.zero.taint}
	}
}

// separately walks something in a process of its own. bare is as in [definitions.newProcess].
func (in *interp) separately(bare bool, walk func()) {
	s := in.def.newProcess(bare)
	walk()
	in.leave(s)
}

// inProcess walks what a command runs in a process of its own: a payload, or its words as another
// command. It counts as one level of nesting.
func (in *interp) inProcess(walk func()) {
	in.rep.level++
	in.separately(false, walk)
	in.rep.level--
}

// newProcess begins the scope of a new process, which [interp.leave] ends. The process has no
// aliases, and only exported functions and variables. If it is unknown whether a variable is
// exported, because it may have come from the environment, both possibilities count. bare says
// that even exported variables may not reach it.
func (df *definitions) newProcess(bare bool) scope {
	s := df.in.enter()
	df.apart = apart{len(df.funcs), len(df.aliases), len(df.active)}
	df.in.par.positionals = positionals{params: []data{}}
	for i := s.length - 1; i >= 0; i-- {
		if v := df.in.vars.list[i]; v.name != "" && (!v.passed || bare) && !alwaysPassed(v.name) &&
			!df.in.vars.hides(i, s.length) {
			df.in.vars.inherit(&v, s.length)
		}
	}
	return s
}

// hides reports whether vs.list has a later variable of the same name as vs.list[i], before index
// end, which hides it.
func (vs *variables) hides(i, end int) bool {
	vs.rep.steps += (end - i) / 16 // a long search costs steps
	return slices.ContainsFunc(vs.list[i+1:end], func(v variable) bool { return v.name == vs.list[i].name })
}

// alwaysPassed reports whether every shell has that variable in its environment, so that
// assignments to it are exported, or sets it itself.
func alwaysPassed(name string) bool {
	switch name {
	case "HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL", "TERM":
		return true
	}
	return isTable(name)
}

// inherit adds a variable as a new process may have it: with its value, or unset. The variables
// of the process begin at index from.
func (vs *variables) inherit(v *variable, from int) {
	vs.rep.steps += (len(vs.list) - from) / 16 // a long search costs steps
	if slices.ContainsFunc(vs.list[from:], func(have variable) bool { return have.name == v.name }) {
		return // a later one of that name hides it
	}
	if v.name == "IFS" { // shells do not inherit it
		vs.list = append(vs.list, variable{name: v.name, data: data{text: " \t\n"}})
		return
	}
	gone := variable{name: v.name, unset: true}
	if _, known := vs.ctx.Env[v.name]; v.array || v.unset || v.ref != "" ||
		vs.ctx.Unset && !known && !v.passed && !vs.exportsAll {
		vs.list = append(vs.list, gone)
		return
	}
	child := variable{name: v.name, data: v.data, forms: slices.Clone(v.forms)}
	if v.forms == nil {
		for _, d := range v.values() {
			child.forms = append(child.forms, variable{name: v.name, data: d, place: v.place && v.alts == nil})
		}
	}
	child.forms = append(child.forms, gone)
	if len(child.forms) > vs.rep.lim.Alternatives {
		child.data, child.forms = data{effect.Unknown, v.taint}, nil
	}
	vs.list = append(vs.list, child)
}
