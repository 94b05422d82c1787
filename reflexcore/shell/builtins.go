package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A builtin walks a command of the shell itself. Its words are in.fields[mark:].
type builtin func(in *interp, mark int, std *input, sink *data)

// builtinOf returns the command of the shell of that name that changes what later
// words mean, or whose output is known; nil for every other.
func builtinOf(name string) builtin {
	switch name {
	case "echo":
		return (*interp).echo
	case "printf":
		return (*interp).printf
	case "read":
		return (*interp).read
	case "cd", "pushd":
		return (*interp).cd
	case "popd":
		return (*interp).popd
	case "set":
		return (*interp).setParams
	case "shift":
		return (*interp).shift
	case "unset":
		return (*interp).unset
	case "eval":
		return (*interp).eval
	case "exec":
		return (*interp).exec
	case "source", ".":
		return (*interp).dot
	case "trap":
		return (*interp).trap
	case "command", "builtin", "noglob", "nocorrect", "-": // the last one is zsh's
		return (*interp).command
	case "type", "which":
		return (*interp).which
	case "alias":
		return (*interp).defineAlias
	case "mapfile", "readarray":
		return (*interp).mapfile
	case "export", "readonly", "declare", "typeset", "local":
		return (*interp).export
	case "history", "fc":
		return (*interp).history
	case "enable":
		return (*interp).enable
	case "bind":
		return (*interp).bind
	case "complete":
		return (*interp).complete
	case "pwd":
		return (*interp).pwd
	case "exit":
		return (*interp).exit
	case ":", "true", "false", "umask", "shopt", "caller", "bg", "fg", "disown", "times", "ulimit", "unalias", "suspend", "logout", "compopt", "setopt", "unsetopt":
		return quiet
	case "dirs":
		return (*interp).dirs
	case "test", "[", "let", "wait":
		return (*interp).names
	case "return":
		return (*interp).leaveFunction
	case "break", "continue":
		return (*interp).leaveLoop
	case "getopts":
		return (*interp).getopts
	case "hash":
		return (*interp).hash
	case "compgen":
		return (*interp).compgen
	case "jobs":
		return (*interp).jobs
	}
	return nil
}

func quiet(in *interp, mark int, std *input, sink *data) {}

func (in *interp) leaveFunction(int, *input, *data) { in.jumped |= leavesFunction }

func (in *interp) leaveLoop(int, *input, *data) { in.jumped |= leavesLoop }

// setParams is set: with words, they become the positional parameters.
func (in *interp) setParams(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	if len(args) == 0 {
		in.environs(mark, std, sink)
	}
	for i, f := range args {
		if len(f.text) > 1 && f.text[0] == '-' && f.text[1] != '-' && strings.Contains(f.text, "a") || f.text == "allexport" {
			in.vars.exportsAll = true
		}
		if len(f.text) > 1 && (f.text[0] == '-' && f.text[1] != '-' || f.text[0] == '+') && strings.IndexByte(f.text, 'x') > 0 || f.text == "xtrace" && i > 0 && len(args[i-1].text) == 2 {
			in.xtrace = f.text[0] == '-' || f.text == "xtrace" && args[i-1].text == "-o"
			in.traced()
		}
		if len(f.text) > 1 && (f.text[0] == '-' && f.text[1] != '-' || f.text[0] == '+') && strings.IndexByte(f.text, 'a') > 0 || f.text == "allexport" && i > 0 {
			in.exports = f.text[0] == '-' || f.text == "allexport" && args[i-1].text == "-o"
		}
		if f.text == "--" || f.text != "" && f.text[0] != '-' && f.text[0] != '+' && (i == 0 || args[i-1].text != "-o" && args[i-1].text != "+o") {
			if f.text == "--" {
				i++
			}
			in.setPositional(in.listOf(args[i:]))
			in.fewer(args)
			return
		}
	}
}

func (in *interp) unset(mark int, std *input, sink *data) {
	in.names(mark, std, sink)
	itself := false // a reference, and not what it stands for
	functions, variables := false, false
	for _, f := range in.fields[mark+1:] {
		if strings.HasPrefix(f.text, "-") {
			itself = itself || strings.Contains(f.text, "n")
			functions = functions || strings.Contains(f.text, "f")
			variables = variables || strings.Contains(f.text, "v") || itself
			continue
		}
		if functions {
			in.unsetFunction(f.text)
			continue
		}
		if v := in.vars.find(f.text); itself && v != nil && v.ref != "" {
			in.vars.unrefer(*v)
			continue
		}
		if strings.HasPrefix(f.text, "HIST") {
			in.add(effect.Effect{Kind: effect.Discard, Target: "shell history", By: "unset"})
		}
		if base, index, ok := cutIndex(in.vars.referred(f.text)); ok {
			in.unsetElement(base, index)
			continue
		}
		if in.vars.frame > 0 && in.vars.uncover(in.vars.referred(f.text)) {
			continue
		}
		v := in.vars.slot(f.text)
		*v = variable{name: v.name, unset: true}
		if !variables {
			in.unsetFunction(f.text)
		}
	}
}

// unsetFunction takes a function back.
func (in *interp) unsetFunction(name string) {
	if slices.ContainsFunc(in.funcs, func(have function) bool { return have.name == name }) {
		in.funcs = append(in.funcs, function{name: name})
	}
}

func (in *interp) eval(mark int, std *input, sink *data) {
	var d data
	for i, f := range in.fields[mark+1:] {
		if i > 0 {
			d.text += " "
		}
		d.text += f.text
		d.taint |= f.taint
	}
	if !d.known() {
		in.rep.odd(EvalUnknown, "eval")
		if d.taint&effect.File != 0 && !strings.HasPrefix(d.text, effect.Unknown) { // a file's text may end the command, and begin another one
			in.add(effect.Effect{Kind: effect.Exec, Target: "shell code", What: "any", Taint: d.taint, Bits: effect.Partial, By: "eval"})
		}
	}
	in.shakes(in.fields[mark+1:], "eval")
	outer := in.alt.setAside()
	if args := in.fields[mark+1:]; len(args) == 1 && args[0].setup && d.text == effect.Unknown {
		in.add(effect.Effect{Kind: effect.Exec, Target: "shell code", What: "setup", Taint: d.taint, Bits: effect.Partial, By: "eval"})
		sink.append(unknown)
	} else {
		in.payload(d, "eval", std, sink)
	}
	in.alt.selection = outer
}

func (in *interp) exec(mark int, std *input, sink *data) {
	from := mark + 1
	for from < len(in.fields) && strings.HasPrefix(in.fields[from].text, "-") {
		if in.fields[from].text == "-a" {
			from++
		}
		from++
	}
	if from < len(in.fields) {
		in.again(from, std, sink)
	} else if in.wires != nil {
		in.wires.stays++
	}
}

// again runs the words from an index on as a command, functions left out.
func (in *interp) again(from int, std *input, sink *data) {
	mark, step := len(in.fields), in.rep.step
	in.fields = append(in.fields, in.fields[from:]...)
	in.note(mark)
	in.shakes(in.fields[mark:mark+1], "")
	in.rep.level++
	if in.rep.level > in.rep.lim.Nesting {
		in.rep.over(overDepth)
	} else if b := builtinOf(in.fields[mark].text); b != nil {
		in.rep.ran("", true)
		in.builtin(b, mark, std, sink)
	} else {
		in.program(mark, std, sink)
	}
	in.rep.level--
	in.rep.step = step
	in.fields = in.fields[:mark]
}

// dot is source.
func (in *interp) dot(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	if len(args) == 0 {
		return
	}
	p := args[0]
	if isStdin(p.text) {
		in.payload(std.data, "source", &input{}, sink)
		return
	}
	target := in.home(p.text)
	f, v := in.heldBy(target)
	taint := p.taint
	if f != nil {
		taint |= v.taint
	}
	in.add(effect.Effect{Kind: effect.Exec, Target: target, What: anyFile(p.text), Taint: taint, By: "source"})
	if f == nil || !v.known() {
		in.sourced = in.sourced || in.exports
	}
	if f == nil {
		in.vars.shake(target)
		if f = in.mayRun(target); f == nil {
			return
		}
		v = f.present()
	}
	if v.from != nil {
		in.vars.shake(target)
		in.runsFrom(f.path, &v)
		return
	}
	if f.src != nil && !v.known() {
		in.rep.odd(SourceProcess, "source")
		if v.text == effect.Unknown && in.setsUp(f.src.Stmts) {
			return
		}
	}
	held, others := in.params, in.others
	if len(args) > 1 {
		in.setPositional(nil)
		for _, a := range args[1:] {
			in.params = append(in.params, a.data)
		}
	}
	outer := in.alt.setAside()
	in.payload(v.data, "source", std, sink)
	in.alt.selection = outer
	in.params, in.others = held, others
}

// command is command, builtin: what follows, functions left out.
func (in *interp) command(mark int, std *input, sink *data) {
	from := mark + 1
	for from < len(in.fields) && strings.HasPrefix(in.fields[from].text, "-") {
		if strings.ContainsAny(in.fields[from].text, "vV") {
			in.which(from, std, sink)
			return
		}
		from++
	}
	if from < len(in.fields) {
		in.again(from, std, sink)
	}
}

// which gives the path of a program: its name will do.
func (in *interp) which(mark int, std *input, sink *data) {
	for _, f := range in.fields[mark+1:] {
		if slices.ContainsFunc(in.aliases, func(a alias) bool { return a.name == f.text }) {
			sink.append(unknown) // it prints what the alias stands for
		} else if !strings.HasPrefix(f.text, "-") {
			sink.append(data{f.text + "\n", f.taint})
		}
	}
}

func (in *interp) defineAlias(mark int, std *input, sink *data) {
	global := false
	for _, f := range in.fields[mark+1:] {
		name, text, ok := strings.Cut(f.text, "=")
		if !ok || name == "" {
			global = global || strings.HasPrefix(f.text, "-") && strings.Contains(f.text, "g")
			continue
		}
		if global && len(in.globals) < 64 {
			in.globals = append(in.globals, alias{name: name, text: text})
		}
		in.setAlias(name, text)
	}
}

func (in *interp) setAlias(name, text string) {
	if len(in.aliases) >= in.rep.lim.Fields {
		in.rep.over("aliases")
		return
	}
	if in.wellKnown(name) {
		in.shadowedByAlias(name, text)
	}
	in.aliases = append(in.aliases, alias{name: name, text: text})
}

// isTable reports whether a variable is one of the shell's own tables of names.
func isTable(name string) bool { return name == "BASH_CMDS" || name == "BASH_ALIASES" }

// entered is what an element of such a table does: it says where a program is, as
// hash -p does, or what an alias stands for.
func (in *interp) entered(table, name string, d data) {
	if table == "BASH_CMDS" {
		d.text = quote(d.text)
	}
	in.setAlias(name, d.text)
}

// export is export and its like where they are not a declaration of the syntax.
func (in *interp) export(mark int, std *input, sink *data) {
	array, assoc, fixed := false, false, false
	var letters byte
	exports := in.fields[mark].text == "export"
	for _, f := range in.fields[mark+1:] {
		if strings.HasPrefix(f.text, "-") {
			fixed = fixed || strings.Contains(f.text, "r")
			letters = max(letters, lettersOf(f.text))
			exports = exports && !strings.Contains(f.text, "n") || strings.Contains(f.text, "x")
			assoc = assoc || strings.Contains(f.text, "A")
			array = array || assoc || strings.Contains(f.text, "a")
			continue
		}
		in.vars.letter(f.text, letters)
		in.declared(f.data, array, assoc)
		in.passes(f.text, in.fields[mark].text, exports)
		if in.fields[mark].text == "readonly" || fixed {
			in.vars.fix(f.text)
		}
	}
}

// passes notes what export and its like say of one word: a name, perhaps with a value.
func (in *interp) passes(word, command string, exports bool) {
	name, _, _ := strings.Cut(word, "=")
	if exports || command == "export" {
		in.pass(strings.TrimSuffix(name, "+"), exports)
	}
}

// hash -p says where a program is.
func (in *interp) hash(mark int, std *input, sink *data) {
	if args := in.fields[mark+1:]; len(args) > 2 && args[0].text == "-p" && len(in.aliases) < in.rep.lim.Fields {
		in.aliases = append(in.aliases, alias{name: args[2].text, text: quote(args[1].text)})
	}
}

// environs prints what the shell knows, tokens and all.
func (in *interp) environs(mark int, std *input, sink *data) {
	sink.append(data{effect.Unknown, effect.Secret | effect.File})
}

// enable -f loads a library into the shell.
func (in *interp) enable(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	takes := false
	for i, f := range args {
		if f.text == "-f" && i+1 < len(args) {
			in.add(effect.Effect{Kind: effect.Exec, Target: in.home(args[i+1].text), By: "enable"})
		}
		if takes = takes || f.text == "-n"; takes && f.text != "-n" && len(in.disabled) < 64 {
			in.disabled = append(in.disabled, f.text)
		}
	}
}

// bind -x runs a command at a key.
func (in *interp) bind(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	for i, f := range args {
		if f.text == "-x" && i+1 < len(args) {
			_, text, _ := strings.Cut(args[i+1].text, ":")
			in.sub(data{strings.Trim(text, `"`), f.taint}, "bind -x", &input{}, nil)
		}
	}
}

// complete -C and -F run something at completion.
func (in *interp) complete(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	for i, f := range args {
		if f.text == "-C" && i+1 < len(args) {
			in.sub(args[i+1].data, "complete -C", &input{}, nil)
		}
	}
}

func (in *interp) getopts(mark int, std *input, sink *data) {
	if args := in.fields[mark+1:]; len(args) > 1 {
		in.set(args[1].text, unknown)
		in.assignAll("OPTARG", in.optionValues(args))
	}
}
