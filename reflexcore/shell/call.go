package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// callExpr walks a simple command: once for each combination of what its variables
// may be.
func (in *interp) callExpr(c *syntax.CallExpr, std *input, sink *data, background bool) {
	if len(c.Args) == 0 {
		in.traps.settled()
		for _, a := range c.Assigns {
			in.assigner.assign(a)
			in.env.affects(a.Name.Value, in.par.valueOf(a.Name.Value))
		}
		if in.hist.recalls&recallsLast != 0 {
			in.hist.recall([]data{{}}, background)
		}
		return
	}
	mark := len(in.exp.fields)
	if in.alt.shared {
		lasts := in.hist.lasts
		in.hist.lasts = nil
		in.simple(c, std, sink, background)
		in.io.tracing(sink)
		in.hist.recall(in.hist.lasts, background)
		in.exp.fields, in.hist.lasts = in.exp.fields[:mark], lasts
		return
	}
	in.alt.choose = false
	stdin, first, omits, lasts := *std, true, in.readings.omits, in.hist.lasts
	in.hist.lasts = nil
	in.readings.every(func() {
		*std = stdin
		if sink == nil || first {
			in.simple(c, std, sink, background)
		} else {
			out := new(data)
			in.simple(c, std, out, background)
			in.readings.fork(sink, out, in.readings.omits != omits)
		}
		in.exp.fields, first = in.exp.fields[:mark], false
	})
	in.io.tracing(sink)
	in.hist.recall(in.hist.lasts, background)
	in.hist.lasts = lasts
}

// simple walks a simple command with the values that are chosen.
func (in *interp) simple(c *syntax.CallExpr, std *input, sink *data, background bool) {
	mark := len(in.exp.fields)
	defer in.unwritten(len(in.fs.list))
	if in.io.wires != nil {
		in.io.wires.readings++
	}
	in.exp.expand(c.Args[:1])                        // with what held before: the assignments come after the words
	for i := mark + 1; i < len(in.exp.fields); i++ { // $(echo c $X)d may be cd
		if f := &in.exp.fields[i]; f.hollow && !f.known() {
			in.readings.saw |= named | partly
		}
	}
	in.exp.expand(c.Args[1:])
	if len(c.Assigns) > 0 {
		locals, local := len(in.vars.locals), in.env.local
		defer in.vars.unhold(locals)
		in.env.local = in.def.isLocalGit(mark)
		for _, a := range c.Assigns {
			in.vars.locals = append(in.vars.locals, in.vars.hold(in.vars.referred(a.Name.Value)))
			in.assigner.assign(a)
			in.vars.slot(a.Name.Value).passed = true
			in.env.affects(a.Name.Value, in.par.valueOf(a.Name.Value))
			in.env.handsOver(a.Name.Value)
		}
		in.env.local = local
	}
	in.readings.standIn(mark)
	n := len(in.exp.fields) - mark
	in.hist.lasts = in.hist.lastWord(mark, in.hist.lasts)
	if n == 0 || in.rep.stopped() {
		return
	}
	if len(in.def.globals) > 0 {
		in.def.globally(mark, std, background)
	}
	if in.alt.shared || !says(in.exp.fields[mark].text) {
		in.readings.look(mark)
	}
	if lit, ok := c.Args[0].Parts[0].(*syntax.Lit); ok && len(in.def.aliases) > 0 && len(c.Args[0].Parts) == 1 {
		in.rep.steps += len(in.def.aliases) / 64 // looking through many is work
		if in.wellKnown(lit.Value) && slices.ContainsFunc(in.def.aliases, func(a alias) bool { return a.name == lit.Value }) {
			in.def.perhapsAlias(lit.Value, mark, std, sink, background)
			return
		}
		if in.def.alias(lit.Value, mark, std, sink) {
			return
		}
	}
	in.run(mark, std, sink, background)
}

// unwritten walks the process substitutions of a command, >(…), that nothing it does is
// known to write to: they run all the same.
func (in *interp) unwritten(from int) {
	for i := from; i < len(in.fs.list) && !in.rep.stopped(); i++ {
		if f := &in.fs.list[i]; f.sink != nil && !f.ran {
			f.ran = true
			scope := in.enter()
			in.exp.nested(f.sink, &input{unknown, true}, f.to)
			in.leave(scope)
		}
	}
}

// perhapsAlias walks a program or builtin that has an alias as both: a script expands no
// alias, nor does the line that defines it.
func (df *definitions) perhapsAlias(name string, mark int, std *input, sink *data, background bool) {
	dir, may, stdin := df.in.cwd.dir, df.in.cwd.may, *std
	var out, more data
	scope := df.in.branch()
	df.alias(name, mark, std, &out)
	entered := df.in.cwd.dir
	df.in.join(scope)
	df.in.cwd.dir, df.in.cwd.may, *std = dir, may, stdin
	df.in.run(mark, std, &more, background)
	if df.in.cwd.dir != entered {
		if entered == dir { // the alias goes nowhere
			entered = df.in.cwd.dir
		}
		df.in.cwd.dir = effect.Unknown
		if strings.HasPrefix(entered, "/") {
			df.in.cwd.may = entered
		}
	}
	if more.text != out.text {
		out.text = effect.Unknown
	}
	out.taint |= more.taint
	sink.add(out)
}

// alias walks an alias that the text defined, with the words after it.
func (df *definitions) alias(name string, mark int, std *input, sink *data) bool {
	found := false
	for i := len(df.aliases) - 1; i >= df.apart.aliases; i-- {
		a := df.aliases[i]
		if a.name != name {
			continue
		}
		text := a.text
		for _, f := range df.in.exp.fields[mark+1:] {
			word := quote(f.text)
			if strings.HasSuffix(text, " ") { // the next word may be an alias as well
				for j := range df.aliases {
					if df.aliases[j].name == word {
						word = df.aliases[j].text
					}
				}
			}
			text += " " + word
		}
		held := df.aliases
		df.aliases = df.aliases[:i:i] // an alias does not expand itself
		df.in.io.aliased = df.in.io.wires
		if effect.IsKnown(text) {
			df.in.source(text, "alias", std, sink)
		} else {
			df.in.payloads.payload(data{text: text}, "alias", std, sink)
		}
		df.in.io.aliased = nil
		df.aliases = held
		if found = true; !a.maybe {
			break
		}
	}
	return found
}

// quote makes a text one word of a shell again.
func quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`;&|<>(){}*?[]~#!") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// run walks the command whose words are in.fields[mark:].
func (in *interp) run(mark int, std *input, sink *data, background bool) {
	if !in.rep.spend() {
		return
	}
	in.rep.res.Commands++
	step := in.rep.step
	defer func() { in.rep.step = step }()
	in.note(mark)
	in.exp.oddName(mark)
	in.shakes(in.exp.fields[mark:mark+1], "")
	args := in.exp.fields[mark:]
	for i := range args {
		if f := &args[i]; f.splits || !f.known() {
			in.rep.res.Partial++
			break
		}
	}
	name := args[0]
	if in.def.calls(mark, std, sink, background) {
		in.rep.ran("", true)
		return
	}
	if b := builtinOf(name.text); b != nil {
		in.rep.ran("", true)
		in.builtin(b, mark, std, sink)
		return
	}
	in.programs.program(mark, std, sink)
}

// note adds a step to the trace.
func (in *interp) note(mark int) {
	if !in.ctx.Explain {
		return
	}
	var b strings.Builder
	var argv []string
	for i, f := range in.exp.fields[mark:] {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(effect.Show(quote(f.text)))
		argv = append(argv, f.text)
	}
	in.rep.res.Steps = append(in.rep.res.Steps, Step{
		Parent: in.rep.step, Depth: in.rep.depth, Via: in.via, Command: b.String(), Argv: argv,
		Dir: in.cwd.dir, May: in.cwd.may, Path: in.par.valueOf("PATH").text, Remote: in.rep.bits&effect.Remote != 0,
	})
	in.rep.step = len(in.rep.res.Steps) - 1
}

// calls walks the function of that name, and where it is defined in a branch those
// that it may be as well. It is false where there may be none.
func (df *definitions) calls(mark int, std *input, sink *data, background bool) bool {
	name := df.in.exp.fields[mark].text
	for i := len(df.funcs) - 1; i >= 0; i-- {
		f := df.funcs[i]
		if f.name != name || i < df.apart.funcs && !f.passed {
			continue
		}
		if i < df.apart.funcs && df.in.Table.Find(name) != nil { // not every shell takes it over
			f.maybe = true
		}
		if f.body != nil {
			df.invoke(f.body, mark, std, sink, background)
		}
		if !f.maybe {
			return f.body != nil
		}
	}
	return false
}

// invoke walks a function's body.
func (df *definitions) invoke(body *syntax.Stmt, mark int, std *input, sink *data, background bool) {
	rounds := 0
	for _, b := range df.active {
		if b == body {
			rounds++
		}
	}
	if rounds > 0 && (background || df.in.via == "pipe") {
		df.in.add(effect.Effect{Kind: effect.Kill, Target: "host", Bits: effect.Bulk, By: "fork bomb"})
		rounds++
	}
	if rounds > 2 {
		// A function that calls itself: it ends somehow, or floods the host.
		sink.add(unknown)
		return
	}
	if len(df.active) >= df.in.rep.lim.Depth {
		df.in.rep.over(overDepth)
		return
	}
	params := make([]data, 0, len(df.in.exp.fields)-mark-1)
	for _, p := range df.in.exp.fields[mark+1:] {
		params = append(params, p.data)
	}
	if rounds > 1 && !slices.Equal(params, df.in.par.params) { // it may go on with anything
		for i := range params {
			params[i].text = effect.Unknown
		}
	}
	held, others := df.in.par.params, df.in.par.others
	df.in.par.setPositional(params)
	df.active = append(df.active, body)
	outer, jumped, locals, frame := df.in.alt.setAside(), df.in.jumped, len(df.in.vars.locals), df.in.vars.frame
	df.in.vars.frame = locals
	df.in.jumped = 0
	df.in.hist.calledAs(df.in.exp.fields[mark].text)
	df.in.stmt(body, std, sink)
	df.in.vars.unhold(locals)
	df.in.vars.frame = frame
	df.in.alt.selection, df.in.jumped = outer, jumped
	df.active = df.active[:len(df.active)-1]
	df.in.par.params, df.in.par.others = held, others
}

// program walks a command that is no function and no builtin.
func (pr *programRunner) program(mark int, std *input, sink *data) {
	args := pr.in.exp.fields[mark:]
	if pr.in.io.wires != nil {
		defer func(w *wires) { pr.in.io.wires = w }(pr.in.io.wires)
		pr.in.io.wires = nil
	}
	pr.invoked(mark, std, sink)
	if name := pr.in.zshName(args[0].text); name != "" {
		args[0].text = name
	}
	name := args[0]
	pr.in.env.moved(name.text)
	base := programName(name.text)
	pr.in.agents.startsAgent(mark, base, std)
	pr.in.rep.connected(std)
	words := len(pr.words)
	for _, f := range args {
		pr.words = append(pr.words, f.text)
	}
	argv := pr.words[words:]
	a := pr.borrow()
	p := &a.parsed
	pr.in.Table.Parse(argv, p)
	from := len(pr.in.rep.res.Effects)
	switch {
	case p.Program == nil && name.glob && strings.IndexByte(name.text, '/') >= 0 && pr.in.rep.level < pr.in.rep.lim.Nesting:
		pr.tryPattern(mark, std, sink)
	case p.Program == nil && (!name.known() || name.splits):
		pr.unknownProgram(mark, std, sink)
	case p.Program == nil:
		pr.unlisted(mark, std, sink)
	default:
		pr.in.rep.ran(p.Program.Name, false)
		if name.isUnnamed() { // $(cat f)/git may be another program with its own words
			pr.in.add(effect.Effect{Kind: effect.Exec, Target: name.text, What: "any", Taint: name.taint | std.taint, Bits: effect.Partial})
		}
		a.begin(pr.in, argv, mark, std, p.Typed(argv))
		pr.in.dirs.configured = pr.in.dirs.configured || a.line.by == "git config"
		pr.apply(a, sink)
	}
	pr.in.io.complains(std, sink)
	if base == "tmux" || base == "byobu" {
		pr.terminals(mark)
	}
	pr.unpacks(argv)
	pr.in.fs.pieces(argv, base, std.taint|a.taint)
	pr.mentions(argv, base, from, p, std)
	for i := range argv[1:] {
		if w := argv[i+1]; len(w) > 1 && w[0] == '-' && !effect.IsKnown(w) {
			pr.in.readings.asFlags(mark, p, std, from)
			break
		}
	}
	pr.giveBack(a)
	pr.words = pr.words[:words]
}

// borrow returns the memory for one command; commands run in commands.
func (pr *programRunner) borrow() *applied {
	if n := len(pr.spare); n > 0 {
		a := pr.spare[n-1]
		pr.spare = pr.spare[:n-1]
		return a
	}
	a := &applied{}
	a.notes.a, a.lists.a = a, a
	return a
}

func (pr *programRunner) giveBack(a *applied) {
	if len(pr.spare) < 32 {
		a.forget()
		pr.spare = append(pr.spare, a)
	}
}

// forget drops what the command was, and keeps the memory.
func (a *applied) forget() {
	clear(a.parsed.Uses)
	clear(a.notes.origins)
	a.notes.origins, a.application = a.notes.origins[:0], application{}
}

// invoked notes that a file runs which this text made, or which is given by its
// path. A copy of a program is that program.
func (pr *programRunner) invoked(mark int, std *input, sink *data) {
	name := pr.in.exp.fields[mark]
	f := pr.in.fs.created(name.text)
	if f != nil {
		if v := pr.in.alt.version(f); v.alias != "" && pr.in.Table.Find(v.alias) != nil {
			pr.in.exp.fields[mark].text = v.alias
			return
		}
	}
	if f != nil {
		pr.in.payloads.execute(data{f.path, name.taint}, "", pr.in.exp.fields[mark+1:], std, sink, name.text)
	} else if strings.IndexByte(name.text, '/') >= 0 {
		pr.in.payloads.execute(name.data, "", pr.in.exp.fields[mark+1:], std, sink, name.text)
	}
}

// created finds a file that this text made, by its path or, where PATH may lead to
// it, by its name.
func (fsys *filesystem) created(name string) *virtual {
	if len(fsys.list) == 0 {
		return nil
	}
	if strings.IndexByte(name, '/') >= 0 {
		return fsys.fileAt(fsys.abs(name))
	}
	if fsys.in.Table.Find(name) != nil && fsys.in.vars.find("PATH") == nil {
		return nil
	}
	for i := len(fsys.list) - 1; i >= 0; i-- {
		if base := strings.TrimSuffix(fsys.list[i].path, name); base != fsys.list[i].path && strings.HasSuffix(base, "/") {
			return &fsys.list[i]
		}
	}
	return nil
}
