package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// call walks a simple command: once for each combination of what its variables
// may be.
func (in *interp) call(c *syntax.CallExpr, std *input, sink *data, background bool) {
	if len(c.Args) == 0 {
		in.settled()
		for _, a := range c.Assigns {
			in.assign(a)
			in.environ(a.Name.Value, in.value(a.Name.Value))
		}
		if in.recalls&recallsLast != 0 {
			in.recall([]data{{}}, background)
		}
		return
	}
	mark := len(in.fields)
	if in.alt.shared {
		lasts := in.lasts
		in.lasts = nil
		in.simple(c, std, sink, background)
		in.tracing(sink)
		in.recall(in.lasts, background)
		in.fields, in.lasts = in.fields[:mark], lasts
		return
	}
	in.alt.choose = false
	stdin, first, omits, lasts := *std, true, in.omits, in.lasts
	in.lasts = nil
	in.every(func() {
		*std = stdin
		if sink == nil || first {
			in.simple(c, std, sink, background)
		} else {
			out := new(data)
			in.simple(c, std, out, background)
			in.fork(sink, out, in.omits != omits)
		}
		in.fields, first = in.fields[:mark], false
	})
	in.tracing(sink)
	in.recall(in.lasts, background)
	in.lasts = lasts
}

// simple walks a simple command with the values that are chosen.
func (in *interp) simple(c *syntax.CallExpr, std *input, sink *data, background bool) {
	mark := len(in.fields)
	defer in.unwritten(len(in.files))
	if in.wires != nil {
		in.wires.readings++
	}
	in.expand(c.Args[:1])                        // with what held before: the assignments come after the words
	for i := mark + 1; i < len(in.fields); i++ { // $(echo c $X)d may be cd
		if f := &in.fields[i]; f.hollow && !f.known() {
			in.saw |= named | partly
		}
	}
	in.expand(c.Args[1:])
	if len(c.Assigns) > 0 {
		locals, local := len(in.vars.locals), in.local
		defer in.vars.unhold(locals)
		in.local = in.isLocalGit(mark)
		for _, a := range c.Assigns {
			in.vars.locals = append(in.vars.locals, in.vars.hold(in.vars.referred(a.Name.Value)))
			in.assign(a)
			in.vars.slot(a.Name.Value).passed = true
			in.environ(a.Name.Value, in.value(a.Name.Value))
			in.handsOver(a.Name.Value)
		}
		in.local = local
	}
	in.standIn(mark)
	n := len(in.fields) - mark
	in.lasts = in.last(mark, in.lasts)
	if n == 0 || in.rep.stopped() {
		return
	}
	if len(in.globals) > 0 {
		in.globally(mark, std, background)
	}
	if in.alt.shared || !says(in.fields[mark].text) {
		in.look(mark)
	}
	if lit, ok := c.Args[0].Parts[0].(*syntax.Lit); ok && len(in.aliases) > 0 && len(c.Args[0].Parts) == 1 {
		in.rep.steps += len(in.aliases) / 64 // looking through many is work
		if in.wellKnown(lit.Value) && slices.ContainsFunc(in.aliases, func(a alias) bool { return a.name == lit.Value }) {
			in.perhapsAlias(lit.Value, mark, std, sink, background)
			return
		}
		if in.alias(lit.Value, mark, std, sink) {
			return
		}
	}
	in.run(mark, std, sink, background)
}

// unwritten walks the process substitutions of a command, >(…), that nothing it does is
// known to write to: they run all the same.
func (in *interp) unwritten(from int) {
	for i := from; i < len(in.files) && !in.rep.stopped(); i++ {
		if f := &in.files[i]; f.sink != nil && !f.ran {
			f.ran = true
			scope := in.enter()
			in.nested(f.sink, &input{unknown, true}, f.to)
			in.leave(scope)
		}
	}
}

// perhapsAlias walks a program or builtin that has an alias as both: a script expands no
// alias, nor does the line that defines it.
func (in *interp) perhapsAlias(name string, mark int, std *input, sink *data, background bool) {
	dir, may, stdin := in.cwd.dir, in.cwd.may, *std
	var out, more data
	scope := in.branch()
	in.alias(name, mark, std, &out)
	entered := in.cwd.dir
	in.join(scope)
	in.cwd.dir, in.cwd.may, *std = dir, may, stdin
	in.run(mark, std, &more, background)
	if in.cwd.dir != entered {
		if entered == dir { // the alias goes nowhere
			entered = in.cwd.dir
		}
		in.cwd.dir = effect.Unknown
		if strings.HasPrefix(entered, "/") {
			in.cwd.may = entered
		}
	}
	if more.text != out.text {
		out.text = effect.Unknown
	}
	out.taint |= more.taint
	sink.append(out)
}

// unhold restores the variables that were held since then.
func (vs *variables) unhold(since int) {
	for len(vs.locals) > since {
		last := len(vs.locals) - 1
		if !vs.locals[last].gone {
			vs.restore(vs.locals[last])
		}
		vs.locals = vs.locals[:last]
	}
}

// alias walks an alias that the text defined, with the words after it.
func (in *interp) alias(name string, mark int, std *input, sink *data) bool {
	found := false
	for i := len(in.aliases) - 1; i >= in.apart.aliases; i-- {
		a := in.aliases[i]
		if a.name != name {
			continue
		}
		text := a.text
		for _, f := range in.fields[mark+1:] {
			word := quote(f.text)
			if strings.HasSuffix(text, " ") { // the next word may be an alias as well
				for j := range in.aliases {
					if in.aliases[j].name == word {
						word = in.aliases[j].text
					}
				}
			}
			text += " " + word
		}
		held := in.aliases
		in.aliases = in.aliases[:i:i] // an alias does not expand itself
		in.aliased = in.wires
		if effect.IsKnown(text) {
			in.source(text, "alias", std, sink)
		} else {
			in.payload(data{text: text}, "alias", std, sink)
		}
		in.aliased = nil
		in.aliases = held
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
	in.oddName(mark)
	in.shakes(in.fields[mark:mark+1], "")
	args := in.fields[mark:]
	for i := range args {
		if f := &args[i]; f.splits || !f.known() {
			in.rep.res.Partial++
			break
		}
	}
	name := args[0]
	if in.calls(mark, std, sink, background) {
		in.rep.ran("", true)
		return
	}
	if b := builtinOf(name.text); b != nil {
		in.rep.ran("", true)
		in.builtin(b, mark, std, sink)
		return
	}
	in.program(mark, std, sink)
}

// note adds a step to the trace.
func (in *interp) note(mark int) {
	if !in.ctx.Explain {
		return
	}
	var b strings.Builder
	var argv []string
	for i, f := range in.fields[mark:] {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(effect.Show(quote(f.text)))
		argv = append(argv, f.text)
	}
	in.rep.res.Steps = append(in.rep.res.Steps, Step{
		Parent: in.rep.step, Depth: in.rep.depth, Via: in.via, Command: b.String(), Argv: argv,
		Dir: in.cwd.dir, May: in.cwd.may, Path: in.value("PATH").text, Remote: in.rep.bits&effect.Remote != 0,
	})
	in.rep.step = len(in.rep.res.Steps) - 1
}

// ran adds to the trace what the present command is: a program of the tables, or one
// of the shell itself.
func (r *report) ran(program string, shell bool) {
	if !r.ctx.Explain || r.step < 0 {
		return
	}
	if s := &r.res.Steps[r.step]; s.Program == "" && !s.Shell { // what it is tried as comes later
		s.Program, s.Shell = program, shell
	}
}

// connected adds to the trace what the present command may read.
func (r *report) connected(std *input) {
	if r.ctx.Explain && r.step >= 0 && std.present {
		s := &r.res.Steps[r.step]
		s.Fed, s.Input = true, std.text
	}
}

// calls walks the function of that name, and where it is defined in a branch those
// that it may be as well. It is false where there may be none.
func (in *interp) calls(mark int, std *input, sink *data, background bool) bool {
	name := in.fields[mark].text
	for i := len(in.funcs) - 1; i >= 0; i-- {
		f := in.funcs[i]
		if f.name != name || i < in.apart.funcs && !f.passed {
			continue
		}
		if i < in.apart.funcs && in.Table.Find(name) != nil { // not every shell takes it over
			f.maybe = true
		}
		if f.body != nil {
			in.invoke(f.body, mark, std, sink, background)
		}
		if !f.maybe {
			return f.body != nil
		}
	}
	return false
}

// invoke walks a function's body.
func (in *interp) invoke(body *syntax.Stmt, mark int, std *input, sink *data, background bool) {
	rounds := 0
	for _, b := range in.active {
		if b == body {
			rounds++
		}
	}
	if rounds > 0 && (background || in.via == "pipe") {
		in.add(effect.Effect{Kind: effect.Kill, Target: "host", Bits: effect.Bulk, By: "fork bomb"})
		rounds++
	}
	if rounds > 2 {
		// A function that calls itself: it ends somehow, or floods the host.
		sink.append(unknown)
		return
	}
	if len(in.active) >= in.rep.lim.Depth {
		in.rep.over(overDepth)
		return
	}
	params := make([]data, 0, len(in.fields)-mark-1)
	for _, p := range in.fields[mark+1:] {
		params = append(params, p.data)
	}
	if rounds > 1 && !slices.Equal(params, in.params) { // it may go on with anything
		for i := range params {
			params[i].text = effect.Unknown
		}
	}
	held, others := in.params, in.others
	in.setPositional(params)
	in.active = append(in.active, body)
	outer, jumped, locals, frame := in.alt.setAside(), in.jumped, len(in.vars.locals), in.vars.frame
	in.vars.frame = locals
	in.jumped = 0
	in.calledAs(in.fields[mark].text)
	in.stmt(body, std, sink)
	in.vars.unhold(locals)
	in.vars.frame = frame
	in.alt.selection, in.jumped = outer, jumped
	in.active = in.active[:len(in.active)-1]
	in.params, in.others = held, others
}

// program walks a command that is no function and no builtin.
func (in *interp) program(mark int, std *input, sink *data) {
	args := in.fields[mark:]
	if in.wires != nil {
		defer func(w *wires) { in.wires = w }(in.wires)
		in.wires = nil
	}
	in.invoked(mark, std, sink)
	if name := in.zshName(args[0].text); name != "" {
		args[0].text = name
	}
	name := args[0]
	in.moved(name.text)
	base := programName(name.text)
	in.startsAgent(mark, base, std)
	in.rep.connected(std)
	words := len(in.words)
	for _, f := range args {
		in.words = append(in.words, f.text)
	}
	argv := in.words[words:]
	a := in.borrow()
	p := &a.parsed
	in.Table.Parse(argv, p)
	from := len(in.rep.res.Effects)
	switch {
	case p.Program == nil && name.glob && strings.IndexByte(name.text, '/') >= 0 && in.rep.level < in.rep.lim.Nesting:
		in.pattern(mark, std, sink)
	case p.Program == nil && (!name.known() || name.splits):
		in.unknownProgram(mark, std, sink)
	case p.Program == nil:
		in.unlisted(mark, std, sink)
	default:
		in.rep.ran(p.Program.Name, false)
		if name.isUnnamed() { // $(cat f)/git may be another program with its own words
			in.add(effect.Effect{Kind: effect.Exec, Target: name.text, What: "any", Taint: name.taint | std.taint, Bits: effect.Partial})
		}
		a.application = application{in: in, p: p, argv: argv, mark: mark, std: std, by: p.Typed(argv)}
		in.configured = in.configured || a.by == "git config"
		in.apply(a, sink)
	}
	in.complains(std, sink)
	if base == "tmux" || base == "byobu" {
		in.terminals(mark)
	}
	in.unpacks(argv)
	in.pieces(argv, base, std.taint|a.taint)
	in.mentions(argv, base, from, p, std)
	for i := range argv[1:] {
		if w := argv[i+1]; len(w) > 1 && w[0] == '-' && !effect.IsKnown(w) {
			in.asFlags(mark, p, std, from)
			break
		}
	}
	in.giveBack(a)
	in.words = in.words[:words]
}

// borrow returns the memory for one command; commands run in commands.
func (in *interp) borrow() *applied {
	if n := len(in.spare); n > 0 {
		a := in.spare[n-1]
		in.spare = in.spare[:n-1]
		return a
	}
	return &applied{}
}

func (in *interp) giveBack(a *applied) {
	if len(in.spare) < 32 {
		a.forget()
		in.spare = append(in.spare, a)
	}
}

// forget drops what the command was, and keeps the memory.
func (a *applied) forget() {
	clear(a.parsed.Uses)
	clear(a.origins)
	a.origins, a.application = a.origins[:0], application{}
}

// invoked notes that a file runs which this text made, or which is given by its
// path. A copy of a program is that program.
func (in *interp) invoked(mark int, std *input, sink *data) {
	name := in.fields[mark]
	f := in.created(name.text)
	if f != nil {
		if v := in.alt.version(f); v.alias != "" && in.Table.Find(v.alias) != nil {
			in.fields[mark].text = v.alias
			return
		}
	}
	if f != nil {
		in.execute(data{f.path, name.taint}, "", in.fields[mark+1:], std, sink, name.text)
	} else if strings.IndexByte(name.text, '/') >= 0 {
		in.execute(name.data, "", in.fields[mark+1:], std, sink, name.text)
	}
}

// created finds a file that this text made, by its path or, where PATH may lead to
// it, by its name.
func (in *interp) created(name string) *virtual {
	if len(in.files) == 0 {
		return nil
	}
	if strings.IndexByte(name, '/') >= 0 {
		return in.file(in.abs(name))
	}
	if in.Table.Find(name) != nil && in.vars.find("PATH") == nil {
		return nil
	}
	for i := len(in.files) - 1; i >= 0; i-- {
		if base := strings.TrimSuffix(in.files[i].path, name); base != in.files[i].path && strings.HasSuffix(base, "/") {
			return &in.files[i]
		}
	}
	return nil
}
