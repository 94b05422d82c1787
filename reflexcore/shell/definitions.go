package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// unsetFunction removes a function.
func (df *definitions) unsetFunction(name string) {
	if slices.ContainsFunc(df.funcs, func(have function) bool { return have.name == name }) {
		df.funcs = append(df.funcs, function{name: name})
	}
}

func (df *definitions) setAlias(name, text string) {
	if len(df.aliases) >= df.in.rep.lim.Fields {
		df.in.rep.over("aliases")
		return
	}
	if df.in.wellKnown(name) {
		df.shadowedByAlias(name, text)
	}
	df.aliases = append(df.aliases, alias{name: name, text: text})
}

// perhapsAlias walks a program or builtin that has an alias both with and without it: scripts
// expand no aliases, nor does the line that defines one.
func (df *definitions) perhapsAlias(name string, mark int, std *input, sink *data, background bool) {
	dir, may, stdin := df.in.cwd.dir, df.in.cwd.may, *std
	var out, more data
	entered := ""
	df.in.inBranch(func() {
		df.alias(name, mark, std, &out)
		entered = df.in.cwd.dir
	})
	df.in.cwd.dir, df.in.cwd.may, *std = dir, may, stdin
	df.in.runWords(mark, std, &more, background)
	if df.in.cwd.dir != entered {
		if entered == dir { // the alias does not change the folder
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

// alias walks an alias that the text defined, with the words after it. It is false if there is
// none.
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

// calls walks the function that the command names. Where it was defined in a branch, earlier
// definitions are walked as well. It is false if the name may not be a function.
func (df *definitions) calls(mark int, std *input, sink *data, background bool) bool {
	name := df.in.exp.fields[mark].text
	for i := len(df.funcs) - 1; i >= 0; i-- {
		f := df.funcs[i]
		if f.name != name || i < df.apart.funcs && !f.passed {
			continue
		}
		if i < df.apart.funcs && df.in.Table.Find(name) != nil { // not every shell imports it
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
	params := dataOf(df.in.exp.fields[mark+1:])
	if rounds > 1 && !slices.Equal(params, df.in.par.params) { // it may go on with anything
		for i := range params {
			params[i].text = effect.Unknown
		}
	}
	held := df.in.par.positionals
	df.in.par.setPositional(params)
	df.active = append(df.active, body)
	jumped, locals, frame := df.in.jumped, len(df.in.vars.locals), df.in.vars.frame
	df.in.vars.frame = locals
	df.in.jumped = 0
	df.in.hist.calledAs(df.in.exp.fields[mark].text)
	df.in.alt.afresh(func() { df.in.walkStmt(body, std, sink) })
	df.in.vars.unhold(locals)
	df.in.vars.frame, df.in.jumped = frame, jumped
	df.active = df.active[:len(df.active)-1]
	df.in.par.positionals = held
}

// imported walks a function that shells import from their environment. Whether one of them calls
// it is not known, so it counts as called, and as one that may exist.
func (df *definitions) imported(name string, value data) {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "%%"), "()")
	if value.known() && !strings.HasPrefix(strings.TrimSpace(value.text), "()") {
		return // no shell takes it for a function
	}
	from := len(df.funcs)
	if strings.HasPrefix(value.text, effect.Unknown) {
		df.in.payloads.payload(value, "function", &input{}, nil)
		return
	}
	df.in.payloads.payload(data{df.in.arena.concat(name, " ", value.text), value.taint}, "function", &input{}, nil)
	if from < len(df.funcs) {
		df.walkExported(name)
	}
	for i := from; i < len(df.funcs); i++ {
		df.funcs[i].maybe = true
	}
}

// isLocalGit reports whether a command is a git command that only reads the repository:
// GIT_SSH_COMMAND=./x git status. The program that the variable names still counts as run, like
// any program: a partial clone may fetch more.
func (df *definitions) isLocalGit(mark int) bool {
	words := df.in.exp.fields[mark:]
	if len(words) < 2 || words[0].text != "git" || len(df.funcs)+len(df.aliases) > 0 {
		return false
	}
	if slices.ContainsFunc(words, func(w field) bool { return !w.known() || w.splits || w.glob }) {
		return false
	}
	if words[1].text == "remote" {
		return len(words) == 2 || len(words) == 3 && (words[2].text == "-v" || words[2].text == "--verbose")
	}
	return wordset.Has(`status log diff show rev-parse rev-list ls-files describe blame shortlog for-each-ref show-ref
		cat-file merge-base --version version`, words[1].text)
}

func (df *definitions) declare(c *syntax.FuncDecl, std *input, sink *data) {
	names := c.Names
	if c.Name != nil {
		names = []*syntax.Lit{c.Name}
	}
	if len(names) == 0 { // an anonymous function runs at once
		df.in.walkStmt(c.Body, std, sink)
		return
	}
	for _, n := range names {
		if len(df.funcs) >= df.in.rep.lim.Fields {
			df.in.rep.over("functions")
			return
		}
		if df.in.wellKnown(n.Value) {
			df.shadowedBy(n.Value, c.Body)
		}
		df.funcs = append(df.funcs, function{name: n.Value, body: c.Body})
		if wordset.Has(`command_not_found_handle command_not_found_handler precmd preexec chpwd zshexit TRAPEXIT TRAPZERR
			TRAPDEBUG`, n.Value) { // the shell calls it by itself
			df.in.traps.hooked(n.Value, func(std *input) { df.in.walkStmt(c.Body, std, nil) })
		}
	}
	df.in.traps.callsDeclared()
}

// globally walks a command as zsh does when some of its words are global aliases.
func (df *definitions) globally(mark int, std *input, background bool) {
	n, some := len(df.in.exp.fields), false
	for i := mark; i < n; i++ {
		f := df.in.exp.fields[i]
		at := slices.IndexFunc(df.globals, func(a alias) bool { return !f.quoted && f.text == a.name })
		if at < 0 {
			df.in.exp.push(f)
			continue
		}
		some = true
		for w := range strings.FieldsSeq(df.globals[at].text) {
			df.in.exp.push(field{data: data{w, f.taint}})
		}
	}
	if some {
		own := *std
		df.in.dirs.perhaps(func() { df.in.runWords(n, &own, &data{}, background) })
	}
	df.in.exp.fields = df.in.exp.fields[:n]
}

// What follows tells what a name means to later commands: a builtin, a function or a program of
// the tables.

// builtins are the names of all builtins that change what later words mean, or whose output
// is known. The methods for them are in builtins.go.
var builtins = wordset.Of(section("builtins"))

// wellKnown reports whether a name is that of a program of the tables or of a builtin.
func (a *Analyzer) wellKnown(name string) bool {
	return a.Table.Find(name) != nil || builtins[name]
}

// changesShell reports whether a command may change what later ones mean.
func (df *definitions) changesShell(c syntax.Command) bool {
	switch c := c.(type) {
	case *syntax.Subshell, *syntax.TestClause, *syntax.CoprocClause, nil:
		return false
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return true
		}
		switch name := c.Args[0].Lit(); {
		case keepsShell[name]:
			return false
		case name == "printf":
			return len(c.Args) > 1 && strings.HasPrefix(c.Args[1].Lit()+"-v", "-v")
		default:
			return name == "" || builtins[name] || df.defines(name)
		}
	}
	return true
}

// keepsShell are builtins that do not change what later commands mean. A shell whose exec fails
// exits.
var keepsShell = wordset.Of("exec echo : true false test [ pwd type which exit return break continue wait jobs history")

// harmless are words before a program that do not change what it does.
var harmless = wordset.Of("sudo doas command builtin noglob nocorrect time nice")

// isCall reports whether a word calls the program of that name, possibly by its path.
func isCall(word, name string) bool {
	return strings.TrimPrefix(word[strings.LastIndexByte(word, '/')+1:], `\`) == name
}

// shadowedBy walks a function that has the name of a well-known program: it runs whenever the
// program is called, and nobody looks at it then.
func (df *definitions) shadowedBy(name string, body *syntax.Stmt) {
	wraps := false
	syntax.Walk(body, func(n syntax.Node) bool {
		if lit, ok := n.(*syntax.Lit); ok && isCall(lit.Value, name) {
			wraps = true
		}
		return !wraps
	})
	df.shadow(name, wraps, func() { df.invokeBare(name, body) })
}

// invokeBare walks a function as if it had been called without words.
func (df *definitions) invokeBare(name string, body *syntax.Stmt) {
	mark := len(df.in.exp.fields)
	df.in.exp.push(field{data: data{text: name}})
	df.invoke(body, mark, &input{}, nil, false)
	df.in.exp.fields = df.in.exp.fields[:mark]
}

// walkExported walks a function that other shells will have, unless it was walked when it
// was defined.
func (df *definitions) walkExported(name string) {
	for i := range df.funcs {
		if df.funcs[i].name == name {
			df.funcs[i].passed = true
		}
	}
	for i := len(df.funcs) - 1; i >= 0; i-- {
		if f := df.funcs[i]; f.name == name && f.body != nil && !df.in.wellKnown(name) {
			df.in.aside(func() { df.invokeBare(name, f.body) })
			return
		}
	}
}

// shadowedByAlias walks an alias that has the name of a well-known program. One that only puts
// sudo or the like before the program does what the program does.
func (df *definitions) shadowedByAlias(name, text string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()`$\"'", r) })
	wraps := slices.ContainsFunc(words, func(w string) bool { return isCall(w, name) })
	if plain := strings.Fields(text); len(plain) > 0 && plain[len(plain)-1] == name &&
		!slices.ContainsFunc(plain[:len(plain)-1], func(w string) bool { return !harmless[w] }) {
		return
	}
	df.shadow(name, wraps, func() { df.in.payloads.sub(data{text: text}, "alias", &input{}, nil) })
}

// shadow walks a function or an alias that replaces a well-known program. If it calls the program
// as well, nobody notices it: whatever else it connects to or runs then happens at every call. It
// spies if it asks for input and sends or writes anything, or if it writes to a covert file.
func (df *definitions) shadow(name string, wraps bool, walk func()) {
	before, typed := len(df.in.rep.res.Effects), df.in.rep.typed
	df.in.rep.typed = false
	df.in.aside(walk)
	asks := df.in.rep.typed
	df.in.rep.typed = typed
	if !wraps {
		return
	}
	reaches, spies := false, false
	for _, e := range df.in.rep.res.Effects[min(before, len(df.in.rep.res.Effects)):] {
		by, _, _ := strings.Cut(e.By, " ")
		switch e.Kind {
		case effect.NetIn, effect.NetOut:
			reaches = reaches || by != name
			spies = spies || asks
		case effect.Exec:
			reaches = reaches || e.Taint&effect.Network != 0 || temporary(strings.TrimPrefix(e.Target, "search "))
		case effect.Write:
			spies = spies || asks || covert(e.Target)
		default: // counts as what it is
		}
	}
	df.in.traps.noteHook(name, reaches, spies)
}

// entered handles an assignment to an element of one of the shell's own tables, see [isTable]: it
// sets the path of a program, as hash -p does, or defines an alias.
func (df *definitions) entered(table, name string, d data) {
	if table == "BASH_CMDS" {
		d.text = quote(d.text)
	}
	df.setAlias(name, d.text)
}
