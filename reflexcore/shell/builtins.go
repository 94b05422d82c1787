package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// A builtin walks a command of the shell itself. Its words are in.exp.fields[mark:].
type builtin func(builtinCall)

// builtinTable has the method for each command of the shell that changes what later words mean, or
// whose output is known. A walk looks it up in [interp.builtinOf].
var builtinTable = map[string]builtin{
	"echo":   builtinCall.echo,
	"printf": builtinCall.printf,
	"read":   builtinCall.read,
	"cd":     builtinCall.cd, "pushd": builtinCall.cd,
	"popd":   builtinCall.popd,
	"set":    builtinCall.setParams,
	"shift":  builtinCall.shift,
	"unset":  builtinCall.unsetNames,
	"eval":   builtinCall.eval,
	"exec":   builtinCall.exec,
	"source": builtinCall.sourceFile, ".": builtinCall.sourceFile,
	"trap":    builtinCall.trap,
	"command": builtinCall.runCommand, "builtin": builtinCall.runCommand, "noglob": builtinCall.runCommand,
	"nocorrect": builtinCall.runCommand, "-": builtinCall.runCommand, // the last one is zsh's
	"type": builtinCall.which, "which": builtinCall.which,
	"alias":   builtinCall.defineAlias,
	"mapfile": builtinCall.mapfile, "readarray": builtinCall.mapfile,
	"export": builtinCall.export, "readonly": builtinCall.export, "declare": builtinCall.export,
	"typeset": builtinCall.export, "local": builtinCall.export,
	"history": builtinCall.history, "fc": builtinCall.history,
	"enable":   builtinCall.enable,
	"bind":     builtinCall.bind,
	"compdef":  builtinCall.compdef,
	"complete": builtinCall.complete,
	"pwd":      builtinCall.pwd,
	"exit":     builtinCall.exit,
	":":        quiet, "true": quiet, "false": quiet, "umask": quiet, "shopt": quiet, "caller": quiet, "bg": quiet,
	"fg": quiet, "disown": quiet, "times": quiet, "ulimit": quiet, "unalias": quiet, "suspend": quiet,
	"logout": quiet, "compopt": quiet, "setopt": quiet, "unsetopt": quiet,
	"dirs": builtinCall.printDirs,
	"test": builtinCall.evaluateNames, "[": builtinCall.evaluateNames, "let": builtinCall.evaluateNames,
	"wait":   builtinCall.evaluateNames,
	"return": builtinCall.leaveFunction,
	"break":  builtinCall.leaveLoop, "continue": builtinCall.leaveLoop,
	"getopts": builtinCall.getopts,
	"hash":    builtinCall.hash,
	"zstyle":  builtinCall.zstyle,
	"compgen": builtinCall.compgen,
	"jobs":    builtinCall.jobs,
}

func quiet(builtinCall) {}

func (bc builtinCall) leaveFunction() { bc.in.jumped |= leavesFunction }

func (bc builtinCall) leaveLoop() { bc.in.jumped |= leavesLoop }

// setParams walks set. Its words, if any, become the positional parameters.
func (bc builtinCall) setParams() {
	args := bc.in.exp.fields[bc.mark+1:]
	if len(args) == 0 {
		bc.environs()
	}
	before := ""
	for i, f := range args {
		letters := len(f.text) > 1 && (f.text[0] == '-' && f.text[1] != '-' || f.text[0] == '+')
		named := namesOption(before)
		on := strings.HasPrefix(f.text, "-") || !letters && named && before[0] == '-'
		if hasLetter(f.text, "a") || f.text == "allexport" {
			bc.in.vars.exportsAll = true
		}
		if letters && strings.Contains(f.text, "x") || f.text == "xtrace" && named {
			bc.in.io.xtrace = on
			bc.in.io.traced()
		}
		if letters && strings.Contains(f.text, "a") || f.text == "allexport" && i > 0 {
			bc.in.env.exports = on
		}
		if f.text == "--" || f.text != "" && f.text[0] != '-' && f.text[0] != '+' && !named {
			if f.text == "--" {
				i++
			}
			bc.in.par.setPositional(bc.in.par.listOf(args[i:]))
			bc.in.par.fewer(args)
			return
		}
		before = f.text
	}
}

// namesOption reports whether the word behind a word of set is the name of an option: -o, +o and the o
// among other letters, as in -euo pipefail.
func namesOption(word string) bool {
	return len(word) > 1 && (word[0] == '-' || word[0] == '+') && word[1] != '-' && strings.Contains(word, "o")
}

func (bc builtinCall) unsetNames() {
	bc.evaluateNames()
	itself := false // the reference, not its target
	functions, variables := false, false
	for _, f := range bc.in.exp.fields[bc.mark+1:] {
		if strings.HasPrefix(f.text, "-") {
			itself = itself || strings.Contains(f.text, "n")
			functions = functions || strings.Contains(f.text, "f")
			variables = variables || strings.Contains(f.text, "v") || itself
			continue
		}
		if functions {
			bc.in.def.unsetFunction(f.text)
			continue
		}
		if v := bc.in.vars.find(f.text); itself && v != nil && v.ref != "" {
			bc.in.vars.unrefer(f.text)
			continue
		}
		if strings.HasPrefix(f.text, "HIST") {
			bc.in.add(effect.Effect{Kind: effect.Discard, Target: "shell history", By: "unset"})
		}
		if base, index, ok := cutIndex(bc.in.vars.referred(f.text)); ok {
			bc.in.assigner.unsetElement(base, index)
			continue
		}
		if bc.in.vars.frame > 0 && bc.in.vars.uncover(bc.in.vars.referred(f.text)) {
			continue
		}
		v := bc.in.vars.slot(f.text)
		*v = variable{name: v.name, unset: true}
		if !variables {
			bc.in.def.unsetFunction(f.text)
		}
	}
}

func (bc builtinCall) eval() {
	d := words(bc.in.exp.fields[bc.mark+1:])
	if !d.known() {
		bc.in.rep.noteOddity(EvalUnknown, "eval")
		if d.taint&effect.File != 0 && !strings.HasPrefix(d.text, effect.Unknown) {
			bc.in.add(unknownCode("any", d.taint, "eval")) // a file's text may end the command, and begin another one
		}
	}
	bc.in.noteClobbered(bc.in.exp.fields[bc.mark+1:], "eval")
	if args := bc.in.exp.fields[bc.mark+1:]; len(args) == 1 && args[0].setup && d.text == effect.Unknown {
		bc.in.add(unknownCode("setup", d.taint, "eval"))
		bc.sink.add(unknown)
	} else {
		bc.in.alt.afresh(func() { bc.in.payloads.payload(d, "eval", bc.std, bc.sink) })
	}
}

func (bc builtinCall) exec() {
	from := bc.mark + 1
	for from < len(bc.in.exp.fields) && strings.HasPrefix(bc.in.exp.fields[from].text, "-") {
		if bc.in.exp.fields[from].text == "-a" {
			from++
		}
		from++
	}
	if from < len(bc.in.exp.fields) {
		bc.in.runAgain(from, bc.std, bc.sink)
	} else if bc.in.io.wires != nil {
		bc.in.io.wires.stays++
	}
}

// runAgain runs the words from an index on as a command, ignoring functions.
func (in *interp) runAgain(from int, std *input, sink *data) {
	mark, step := len(in.exp.fields), in.rep.step
	in.exp.fields = append(in.exp.fields, in.exp.fields[from:]...)
	in.note(mark)
	in.noteClobbered(in.exp.fields[mark:mark+1], "")
	in.rep.deeper(func() { in.runOwn(mark, std, sink) })
	in.rep.step = step
	in.exp.fields = in.exp.fields[:mark]
}

// sourceFile walks source and the dot command.
func (bc builtinCall) sourceFile() {
	args := bc.in.exp.fields[bc.mark+1:]
	if len(args) == 0 {
		return
	}
	p := args[0]
	if isStdin(p.text) {
		bc.in.payloads.payload(bc.std.data, "source", &input{}, bc.sink)
		return
	}
	target := bc.in.fs.expandHome(p.text)
	f, v := bc.in.fs.heldBy(target)
	taint := p.taint
	if f != nil {
		taint |= v.taint
	}
	bc.in.add(effect.Effect{Kind: effect.Exec, Target: target, What: anyFile(p.text), Taint: taint, By: "source"})
	if f == nil || !v.known() {
		bc.in.env.sourced = bc.in.env.sourced || bc.in.env.exports
	}
	if f == nil {
		bc.in.vars.clobber(target)
		if f = bc.in.fs.mayRun(target); f == nil {
			return
		}
		v = f.current()
	}
	if v.from != nil {
		bc.in.vars.clobber(target)
		bc.in.fs.runsFrom(f.path, &v)
		return
	}
	if f.src != nil && !v.known() {
		bc.in.rep.noteOddity(SourceProcess, "source")
		if v.text == effect.Unknown && bc.in.def.setsUp(f.src.Stmts) {
			return
		}
	}
	held := bc.in.par.positionals
	if len(args) > 1 {
		bc.in.par.positionals = positionals{params: dataOf(args[1:])}
	}
	bc.in.alt.afresh(func() { bc.in.payloads.payload(v.data, "source", bc.std, bc.sink) })
	bc.in.par.positionals = held
}

// runCommand walks command, builtin and similar words: it runs what follows, ignoring functions.
func (bc builtinCall) runCommand() {
	from := bc.mark + 1
	for from < len(bc.in.exp.fields) && strings.HasPrefix(bc.in.exp.fields[from].text, "-") {
		if strings.ContainsAny(bc.in.exp.fields[from].text, "vV") {
			builtinCall{bc.in, from, bc.std, bc.sink}.which()
			return
		}
		from++
	}
	if from < len(bc.in.exp.fields) {
		bc.in.runAgain(from, bc.std, bc.sink)
	}
}

// which prints the paths of programs; the names of the programs stand for them.
func (bc builtinCall) which() {
	for _, f := range bc.in.exp.fields[bc.mark+1:] {
		if slices.ContainsFunc(bc.in.def.aliases, func(a alias) bool { return a.name == f.text }) {
			bc.sink.add(unknown) // it prints what the alias stands for
		} else if !strings.HasPrefix(f.text, "-") {
			bc.sink.add(data{f.text + "\n", f.taint})
		}
	}
}

func (bc builtinCall) defineAlias() {
	global := false
	for _, f := range bc.in.exp.fields[bc.mark+1:] {
		name, text, ok := strings.Cut(f.text, "=")
		if !ok || name == "" {
			global = global || strings.HasPrefix(f.text, "-") && strings.Contains(f.text, "g")
			continue
		}
		if global && len(bc.in.def.globals) < 64 {
			bc.in.def.globals = append(bc.in.def.globals, alias{name: name, text: text})
		}
		bc.in.def.setAlias(name, text)
	}
}

// export walks export and similar commands where the parser did not read them as a declaration.
func (bc builtinCall) export() {
	d := declarationBy(bc.in.exp.fields[bc.mark].text)
	for _, f := range bc.in.exp.fields[bc.mark+1:] {
		if !strings.HasPrefix(f.text, "-") || !d.takeFlag(f.text) {
			bc.in.assigner.declareField(f.data, &d)
		}
	}
}

// zstyle -e PATTERN STYLE CODE, of zsh, runs the code where the style is looked up.
func (bc builtinCall) zstyle() {
	if args := bc.in.exp.fields[bc.mark+1:]; len(args) > 3 && args[0].text == "-e" {
		code := args[3].data
		bc.in.payloads.payload(code, "zstyle", &input{}, nil)
	}
}

// hash -p says where a program is, and so does hash NAME=PROGRAM.
func (bc builtinCall) hash() {
	args := bc.in.exp.fields[bc.mark+1:]
	add := func(name, program string) {
		if len(bc.in.def.aliases) < bc.in.rep.lim.Fields {
			bc.in.def.aliases = append(bc.in.def.aliases, alias{name: name, text: quote(program)})
		}
	}
	if len(args) > 2 && args[0].text == "-p" {
		add(args[2].text, args[1].text)
		return
	}
	for _, f := range args { // zsh's
		if name, program, ok := strings.Cut(f.text, "="); ok && args[0].text != "-d" {
			add(name, program)
		}
	}
}

// enable -f loads a library into the shell; enable -n turns builtins off.
func (bc builtinCall) enable() {
	args := bc.in.exp.fields[bc.mark+1:]
	takes := false
	for i, f := range args {
		if f.text == "-f" && i+1 < len(args) {
			bc.in.add(effect.Effect{Kind: effect.Exec, Target: bc.in.fs.expandHome(args[i+1].text), By: "enable"})
		}
		if takes = takes || f.text == "-n"; takes && f.text != "-n" && len(bc.in.def.disabled) < 64 {
			bc.in.def.disabled = append(bc.in.def.disabled, f.text)
		}
	}
}

// bind -x runs a command at a key.
func (bc builtinCall) bind() {
	args := bc.in.exp.fields[bc.mark+1:]
	for i, f := range args {
		if f.text == "-x" && i+1 < len(args) {
			_, text, _ := strings.Cut(args[i+1].text, ":")
			bc.in.payloads.sub(data{strings.Trim(text, `"`), f.taint}, "bind -x", &input{}, nil)
		}
	}
}

// complete -C and -F run a command or a function at completion, and -W expands its words then.
func (bc builtinCall) complete() {
	args := bc.in.exp.fields[bc.mark+1:]
	for i, f := range args {
		if i+1 >= len(args) {
			return
		}
		switch f.text {
		case "-C", "-F":
			bc.in.payloads.sub(args[i+1].data, "complete "+f.text, &input{}, nil)
		case "-W":
			words := data{`: "` + strings.ReplaceAll(args[i+1].text, `"`, `\"`) + `"`, args[i+1].taint}
			bc.in.payloads.sub(words, "complete -W", &input{}, nil)
		}
	}
}

// compdef runs a function at completion in zsh.
func (bc builtinCall) compdef() {
	for _, f := range bc.in.exp.fields[bc.mark+1:] {
		if f.text != "" && f.text[0] != '-' {
			bc.in.payloads.sub(f.data, "compdef", &input{}, nil)
			return
		}
	}
}

func (bc builtinCall) getopts() {
	if args := bc.in.exp.fields[bc.mark+1:]; len(args) > 1 {
		bc.in.assigner.setVariable(args[1].text, unknown)
		bc.in.assigner.assignAll("OPTARG", bc.in.par.optionValues(args))
	}
}

// shift takes a number; in zsh, also an expression. If it is not a literal number, every possible
// number is tried.
func (bc builtinCall) shift() {
	list := bc.in.par.positional()
	args := bc.in.exp.fields[bc.mark+1:]
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	n := 1
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0].text); err != nil {
			bc.in.math.reckoned(args[0].data) // which may run something
			var all [][]data
			for i := range list {
				all = append(all, list[i:])
			}
			if len(all) > 0 {
				bc.in.par.joinParams(positionals{others: append(all, []data{})})
			}
			return
		}
	}
	if list != nil && n >= 0 && n <= len(list) { // more than there are is an error
		bc.in.par.setPositional(list[n:])
	}
}

// jobs lists jobs. With -x it runs a command after replacing only the job numbers in it.
func (bc builtinCall) jobs() {
	from, runs := bc.mark+1, false
	for from < len(bc.in.exp.fields) && strings.HasPrefix(bc.in.exp.fields[from].text, "-") {
		runs = runs || strings.Contains(bc.in.exp.fields[from].text, "x")
		from++
	}
	if runs && from < len(bc.in.exp.fields) {
		bc.in.runAgain(from, bc.std, bc.sink)
	}
}

// environs prints the variables of the shell, which may hold secrets.
func (bc builtinCall) environs() {
	bc.sink.add(data{effect.Unknown, effect.Secret | effect.File})
}
