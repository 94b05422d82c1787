package shell

import (
	"cmp"
	"slices"
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// callExpr walks a simple command, once for each combination of the values that its variables may
// have.
func (in *interp) callExpr(c *syntax.CallExpr, std *input, sink *data, background bool) {
	if len(c.Args) == 0 {
		in.traps.beforeChange()
		for _, a := range c.Assigns {
			in.assigner.assignment(a)
			in.env.affects(a.Name.Value, in.par.valueOf(a.Name.Value))
		}
		if in.hist.recalls&recallsLast != 0 {
			in.hist.recall([]data{{}}, background)
		}
		return
	}
	if in.def.installsText(c) || in.def.installsByPowerShell(c) {
		defer in.rep.markInstaller(len(in.rep.res.Effects))
	}
	lasts := in.hist.lasts
	in.hist.lasts = nil
	if in.alt.shared {
		mark := len(in.exp.fields)
		in.simpleCommand(c, std, sink, background)
		in.exp.fields = in.exp.fields[:mark]
	} else {
		in.readCommand(c, std, sink, background)
	}
	in.io.tracing(sink)
	in.hist.recall(in.hist.lasts, background)
	in.hist.lasts = lasts
}

// readCommand walks a simple command in each of its possible readings.
func (in *interp) readCommand(c *syntax.CallExpr, std *input, sink *data, background bool) {
	in.alt.choose = false
	mark, stdin, first, omits := len(in.exp.fields), *std, true, in.readings.omits
	in.readings.every(func() {
		*std = stdin
		if sink == nil || first {
			in.simpleCommand(c, std, sink, background)
		} else {
			out := new(data)
			in.simpleCommand(c, std, out, background)
			in.readings.fork(sink, out, in.readings.omits != omits)
		}
		in.exp.fields, first = in.exp.fields[:mark], false
	})
}

// simpleCommand walks a simple command with the values that are chosen.
func (in *interp) simpleCommand(c *syntax.CallExpr, std *input, sink *data, background bool) {
	mark := len(in.exp.fields)
	defer in.unwritten(len(in.fs.list))
	if in.io.wires != nil {
		in.io.wires.readings++
	}
	in.exp.expand(c.Args[:1]) // with the old values: the assignments come after the words
	in.asTool(c.Args, mark)
	for i := mark + 1; i < len(in.exp.fields); i++ { // $(echo c $X)d may be cd
		if f := &in.exp.fields[i]; f.hollow && !f.known() {
			in.readings.doubts |= named | partly
		}
	}
	in.exp.expand(c.Args[1:])
	if len(c.Assigns) > 0 {
		locals, local := len(in.vars.locals), in.env.local
		defer in.vars.unhold(locals)
		in.env.local = in.def.isLocalGit(mark)
		for _, a := range c.Assigns {
			in.vars.locals = append(in.vars.locals, in.vars.hold(in.vars.referred(a.Name.Value)))
			in.assigner.assignment(a)
			in.vars.slot(a.Name.Value).passed = true
			in.env.affects(a.Name.Value, in.par.valueOf(a.Name.Value))
			in.env.handsOver(a.Name.Value)
			in.programs.saysCommand(a.Name.Value, in.par.valueOf(a.Name.Value))
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
	if in.alt.shared || !sayers[in.exp.fields[mark].text] {
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
	in.runWords(mark, std, sink, background)
}

// asTool takes a command's first word that is $CC or $EDITOR for the program that is usually meant, unless
// the text or a file that it sources has set the variable, or another command runs the text, which may have
// set it as dotenv does. An earlier call that set it was judged by what that runs: this holds only for
// variables that the table knows. The words of a compiler are then those of the one that is meant; what
// shows or edits files is no question for plain files of the project only. Without quotes the variable may
// also be empty, so that the next word is the program.
func (in *interp) asTool(words []*syntax.Word, mark int) {
	if len(in.exp.fields) != mark+1 || in.exp.fields[mark].text != effect.Unknown || in.rep.depth != 1 {
		return
	}
	p := onlyPart(words[0])
	if !isPlainVariable(p, "") || in.vars.clobbered {
		return
	}
	name := p.(*syntax.ParamExp).Param.Value
	if !in.vars.isTool(name) || !in.Table.Variable(name) || !wordset.Has(compilerVariables, name) &&
		(!wordset.Has(viewerVariables, name) || !arePlainFiles(words[1:])) {
		return
	}
	if f := &in.exp.fields[mark]; !f.quoted && in.alt.pick("program of "+name, 2) == 1 {
		in.exp.fields = in.exp.fields[:mark]
	} else {
		*f = field{data: data{text: tools[name][0], taint: f.taint}, quoted: true}
	}
}

// Those of [tools] that are compilers, and those that show or edit a file.
const (
	compilerVariables = "CC CXX CPP LD AR"
	viewerVariables   = "EDITOR VISUAL GIT_EDITOR PAGER BROWSER"
)

// arePlainFiles reports whether words are the names of files below the working directory, and no option,
// address or command of an editor (+cmd).
func arePlainFiles(words []*syntax.Word) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w *syntax.Word) bool {
		text, ok := literalText(w)
		return !ok || text == "" || strings.ContainsAny(text[:1], "-+/@") || strings.ContainsAny(text, ":$`") ||
			slices.Contains(strings.Split(text, "/"), "..")
	})
}

// unwritten walks the process substitutions >(…) of a command to which no write is known: they run
// all the same.
func (in *interp) unwritten(from int) {
	for i := from; i < len(in.fs.list) && !in.rep.stopped(); i++ {
		if f := &in.fs.list[i]; f.sink != nil && !f.ran {
			f.ran = true
			in.scoped(func() { in.exp.nested(f.sink, &input{unknown, true}, f.to) })
		}
	}
}

// runWords walks the command whose words are in.exp.fields[mark:].
func (in *interp) runWords(mark int, std *input, sink *data, background bool) {
	if !in.rep.spend() {
		return
	}
	in.rep.res.Commands++
	step := in.rep.step
	defer func() { in.rep.step = step }()
	in.note(mark)
	in.exp.oddName(mark)
	in.noteClobbered(in.exp.fields[mark:mark+1], "")
	if slices.ContainsFunc(in.exp.fields[mark:], func(f field) bool { return f.splits || !f.known() }) {
		in.rep.res.Partial++
	}
	if in.def.calls(mark, std, sink, background) {
		in.rep.noteProgram("", true)
		return
	}
	in.runOwn(mark, std, sink)
}

// runOwn walks a command that is not a function.
func (in *interp) runOwn(mark int, std *input, sink *data) {
	if b := in.builtinOf[in.exp.fields[mark].text]; b != nil {
		in.rep.noteProgram("", true)
		in.builtin(b, mark, std, sink)
		return
	}
	in.programs.runProgram(mark, std, sink)
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

// runProgram walks a command that is neither a function nor a builtin.
func (pr *programRunner) runProgram(mark int, std *input, sink *data) {
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
	if name.text == "cargo" && len(args) > 1 && strings.HasPrefix(args[1].text, "+") {
		args[1].text = "+stable" // whichever toolchain, and no empty word
	}
	pr.in.env.moved(name.text)
	base := agentcli.ProgramName(name.text)
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
	case p.Program == nil && name.glob && strings.IndexByte(name.text, '/') >= 0 &&
		pr.in.rep.level < pr.in.rep.lim.Nesting:
		pr.tryPattern(mark, std, sink)
	case p.Program == nil && (!name.known() || name.splits):
		pr.unknownProgram(mark, std, sink)
	case p.Program == nil:
		pr.unlisted(mark, std, sink)
	default:
		pr.in.rep.noteProgram(p.Program.Name, false)
		if name.isUnnamed() { // $(cat f)/git may be another program with its own words
			pr.in.add(effect.Effect{Kind: effect.Exec, Target: name.text, What: "any", Taint: name.taint | std.taint,
				Bits: effect.Partial})
		}
		a.take(pr.in, argv, mark, std, p.Typed(argv))
		pr.in.dirs.configured = pr.in.dirs.configured || a.line.by == "git config"
		pr.apply(a, sink)
		if !p.Dry {
			pr.saysMore(pr.in.exp.fields[mark+1:], p.Uses, a.line.by)
		}
	}
	if !p.Dry {
		pr.actsElsewhere(argv, cmp.Or(a.line.by, name.text))
	}
	if errors := pr.in.io.err; errors != nil && errors != sink { // it may have written there
		errors.add(data{effect.Unknown, std.taint})
	}
	if base == "tmux" || base == "byobu" {
		pr.terminals(mark)
	}
	pr.unpacks(argv)
	pr.in.fs.notePieces(base, p.Uses, std.taint|a.taint)
	pr.mentions(argv, base, from, p, std)
	if slices.ContainsFunc(argv[1:], func(w string) bool { return len(w) > 1 && w[0] == '-' && !effect.IsKnown(w) }) {
		pr.in.readings.asFlags(mark, p, std, from)
	}
	pr.giveBack(a)
	pr.words = pr.words[:words]
}

// invoked notes that a command runs a file that this text made, or that is given by its path. A
// copy of a listed program counts as that program.
func (pr *programRunner) invoked(mark int, std *input, sink *data) {
	name := pr.in.exp.fields[mark].data
	p := name
	if f := pr.in.fs.created(name.text); f != nil {
		if v := pr.in.alt.version(f); v.alias != "" && pr.in.Table.Find(v.alias) != nil {
			pr.in.exp.fields[mark].text = v.alias
			return
		}
		p.text = f.path
	} else if strings.IndexByte(name.text, '/') < 0 {
		return
	}
	pr.in.payloads.execute(p, "", pr.in.exp.fields[mark+1:], std, sink, name.text)
}

// noteClobbered notes that a command runs the value of a variable that a file may have set, see
// [variables.clobber].
func (in *interp) noteClobbered(words []field, by string) {
	if i := slices.IndexFunc(words, func(f field) bool { return f.clobbered }); i >= 0 {
		in.add(unknownCode("any", words[i].taint|effect.File, by))
	}
}

// runAs walks args as the arguments of the named program, in a process of its own.
func (in *interp) runAs(name string, args []field, std *input, sink *data) {
	mark := len(in.exp.fields)
	in.exp.push(field{data: data{text: name}})
	in.exp.pushAll(args)
	in.inProcess(func() { in.runWords(mark, std, sink, false) })
	in.exp.fields = in.exp.fields[:mark]
}
