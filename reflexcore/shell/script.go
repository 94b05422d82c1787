package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// execute runs a file: by what the text wrote to it, or as a file on the disk.
func (pl *payloadRunner) execute(p data, lang string, args []field, std *input, sink *data, by string) {
	target := pl.in.fs.abs(p.text)
	f, v := pl.in.fs.heldBy(target)
	for hops := 0; f != nil && v.alias != "" && hops < 4; hops++ {
		target = v.alias
		f, v = pl.in.fs.heldBy(target)
	}
	if f == nil {
		if f = pl.in.fs.mayRun(target); f != nil {
			own := *std
			from := lang
			if from == "" {
				from = Shebang(f.text)
			}
			pl.in.dirs.perhaps(func() { pl.runScript(from, f.data, args, &own, &data{}, "file "+f.path) })
		}
		if pl.in.Table.Find(target) == nil || lang != "" || !installed(target) {
			pl.in.add(effect.Effect{Kind: effect.Exec, Target: target, What: anyFile(p.text),
				Taint: p.taint | pl.in.fs.filledWith(target), By: by})
			if !pl.knownScript(path.Base(target), lang, args, std, sink) && lang != "" {
				pl.saysDelete(args, path.Base(target))
			}
		}
		return
	}
	pl.in.add(effect.Effect{Kind: effect.Exec, Target: target, Taint: v.taint, By: by})
	f.ran = true
	if v.built && (lang == "" || lang == "node") {
		return // go build -o app . && ./app
	}
	if v.from != nil {
		pl.in.fs.runsFrom(f.path, &v)
		if lang != "" {
			pl.saysDelete(args, path.Base(target))
		}
		return
	}
	if f.isBlank() && v.blank() && isShown(target, by) {
		return
	}
	if lang == "" {
		lang = Shebang(v.text)
	}
	if lang == "" && strings.Trim(v.text, effect.Unknown+" \t\n") == "" && !v.known() {
		// There is nothing to walk. The unknown name of its first program could even be that of
		// the file itself, so that walking it would exceed the depth limit and end the analysis.
		pl.in.add(unknownCode("any", v.taint, "file "+target))
		return
	}
	pl.runScript(lang, v.data, args, std, sink, "file "+target)
}

// knownScript runs the script of an interpreter as a program of the tables, such as php artisan
// and python manage.py. It returns false if the tables do not have it.
func (pl *payloadRunner) knownScript(name, lang string, args []field, std *input, sink *data) bool {
	if !wordset.Has("python php ruby node", lang) || pl.in.Table.Find(name) == nil ||
		pl.in.rep.level >= pl.in.rep.lim.Nesting {
		return false
	}
	pl.in.runAs(name, args, std, sink)
	return true
}

// Shebang returns the language of a script by its first line, "sh" if that names no other known
// language.
func Shebang(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "#!") {
		return "sh"
	}
	for _, l := range []string{"python", "node", "perl", "ruby", "php", "awk", "lua", "powershell", "pwsh"} {
		if strings.Contains(first, l) {
			return l
		}
	}
	return "sh"
}

// isUnnamed reports whether a command line begins with a program of which not even the name is known.
func isUnnamed(text string) bool {
	name, _, _ := strings.Cut(text, " ")
	return strings.HasPrefix(name, effect.Unknown) && !effect.IsKnown(name[strings.LastIndexByte(name, '/')+1:])
}

// payload walks a text as shell code in the current shell. Its unknown parts are an opaque
// command.
func (pl *payloadRunner) payload(d data, via string, std *input, sink *data) {
	if d.taint&(effect.Network|effect.Decoded) != 0 || !d.known() {
		e := effect.Effect{Kind: effect.Exec, Target: "shell code", Taint: d.taint, Bits: partialIf(!d.known()), By: via}
		if isUnnamed(d.text) { // even its program is unknown
			e.What = "any"
		}
		pl.in.add(e)
	}
	if d.text == "" || d.text == effect.Unknown {
		if d.text != "" {
			pl.in.rep.res.Opaque++
		}
		sink.add(unknown)
		return
	}
	if other, ok := pl.in.echoes.spoken(d.text); ok { // another shell may have printed this
		own := *std
		pl.in.dirs.perhaps(func() { pl.payload(data{other, d.taint | spelled(d.text)}, via, &own, &data{}) })
	}
	if d.known() {
		pl.in.source(d.text, via, std, sink)
		return
	}
	pl.in.vars.unknownTaint |= d.taint
	const counts = effect.File | effect.Secret | effect.Network | effect.Decoded
	defer func(was bool) { pl.in.vars.unknownPlace = was }(pl.in.vars.unknownPlace)
	pl.in.vars.unknownPlace = strings.HasSuffix(via, "=") && d.taint&counts == 0 // CC=$TOOLCHAIN/bin/clang
	pl.in.readings.leanDiffers = true
	from, stdin := len(pl.in.rep.res.Effects), *std
	pl.in.source(strings.ReplaceAll(d.text, effect.Unknown, unknownWord), via, std, sink)
	if pl.in.readings.omits == omitsNothing {
		pl.in.readings.omitting(omitsAll, partly, from, len(pl.in.readings.below), func() {
			own := stdin
			pl.in.source(strings.ReplaceAll(d.text, effect.Unknown, ""), via, &own, &data{})
		})
	}
}

// unknownCode returns the effect that a shell runs unknown code.
func unknownCode(what string, taint effect.Taint, by string) effect.Effect {
	return effect.Effect{Kind: effect.Exec, Target: "shell code", What: what, Taint: taint, Bits: effect.Partial, By: by}
}

func partialIf(b bool) effect.Bits {
	if b {
		return effect.Partial
	}
	return 0
}

// runScript runs a text in a language, in a process of its own if that is a shell.
func (pl *payloadRunner) runScript(lang string, d data, args []field, std *input, sink *data, via string) {
	switch lang {
	case "", "shell", "sh", "bash", "zsh", "fish", "ksh", "csh":
		scope := pl.in.def.newProcess(pl.unpassed)
		zero := pl.in.par.zero
		if pl.in.par.named && len(args) > 0 {
			pl.in.par.zero, args = args[0].data, args[1:]
		}
		pl.in.par.named, pl.in.par.positionals = false, positionals{params: dataOf(args)}
		pl.in.alt.afresh(func() { pl.payload(d, via, std, sink) })
		pl.in.par.zero = zero
		pl.in.leave(scope)
	default:
		pl.runCode(lang, d, args, std, sink, via)
	}
}

// runCode runs code that is not shell.
func (pl *payloadRunner) runCode(lang string, d data, args []field, std *input, sink *data, via string) {
	if lang == "powershell-base64" {
		lang, d = "powershell", pl.encoded(d)
	}
	if d.taint&(effect.Network|effect.Decoded) != 0 || !d.known() || pl.in.Code == nil {
		e := effect.Effect{Kind: effect.Exec, Target: lang + " code", Taint: d.taint, Bits: partialIf(!d.known()), By: lang}
		if !wordset.Has("notebook make requirements", lang) && !d.known() &&
			strings.Trim(d.text, effect.Unknown+" \n") == "" &&
			(!strings.HasSuffix(via, "(stdin)") ||
				d.taint&(effect.File|effect.Secret|effect.Network|effect.Decoded) != effect.File) {
			e.What = "any" // unless it is a file: python3 < x.py is the same as python3 x.py
		}
		if lang == "sed" && e.What == "" && onlyPutsIn(d.text) {
			e.Taint &^= effect.Secret // a value that it puts into a text, and does not run
		}
		pl.in.add(e)
	}
	if pl.in.Code == nil || d.text == effect.Unknown {
		pl.in.rep.res.Opaque++
		sink.add(data{effect.Unknown, std.taint})
		return
	}
	if pl.in.rep.depth >= pl.in.rep.lim.Depth {
		pl.in.rep.over(overDepth)
		return
	}
	if !pl.in.rep.reads(len(d.text)) {
		return
	}
	pl.in.agents.agentCode(lang, d.text)
	pl.in.rep.depth++
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	taint, said, opens := std.taint|d.taint, data{}, len(pl.opens)
	ctx := pl.in.ctx
	ctx.Dir, ctx.Vars, ctx.Value = pl.in.cwd.dir, pl.given, pl.in.env.environmentOf
	switch {
	case !std.present || readsFiles(lang, texts):
	case std.known():
		ctx.Input, ctx.InputTaint, ctx.HasInput = std.text, std.taint, true
	default:
		ctx.InputTaint = std.taint & (effect.Network | effect.Decoded)
	}
	walk := func(src string) {
		pl.in.Code(lang, src, texts, ctx, func(f Found) bool {
			if !pl.in.rep.spend() {
				return false
			}
			taint |= pl.found(f, lang, std, taint, &said)
			return !pl.in.rep.stopped()
		})
	}
	walk(d.text)
	if other, ok := pl.in.echoes.spoken(d.text); ok { // as another shell would have printed it
		walk(other)
	}
	pl.in.rep.depth--
	for _, p := range pl.opens[opens:] { // it may have written to them in ways that the walk does not follow
		if f := pl.in.fs.fileAt(p); f != nil && f.text == "" {
			f.text = effect.Unknown
		}
	}
	pl.opens = pl.opens[:opens]
	sink.add(data{effect.Unknown, taint})
}

// onlyPutsIn reports whether a script of sed is one substitution, and what is not known of it stands in the new
// text: s/NAME/VALUE/g.
func onlyPutsIn(script string) bool {
	if len(script) < 4 || script[0] != 's' || strings.ContainsAny(script, "\\\n") {
		return false
	}
	parts := strings.Split(script[2:], script[1:2])
	return len(parts) == 3 && effect.IsKnown(parts[0]) && strings.Trim(parts[2], "gIi0123456789") == ""
}

// readsFiles reports whether awk or sed has file operands to read instead of its input.
func readsFiles(lang string, args []string) bool {
	return (lang == "awk" || lang == "sed") &&
		slices.ContainsFunc(args, func(w string) bool { return w != "-" && !strings.Contains(w, "=") })
}

// assigned returns the variables that the command line of awk sets, with -v before the program
// and among the files after it.
func (a *Analyzer) assigned(argv []string) map[string]string {
	out := map[string]string{}
	for _, w := range argv {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(w, "--assign="), "-v"), "=")
		if !ok || !syntax.ValidName(name) {
			continue
		}
		if a.Decode != nil && strings.Contains(value, `\`) {
			plain, known := a.Decode("escape", value)
			if value = plain; !known {
				value = effect.Unknown
			}
		}
		out[name] = value
	}
	return out
}

// encoded returns the script that -EncodedCommand of PowerShell runs.
func (pl *payloadRunner) encoded(d data) data {
	if pl.in.Decode != nil && d.known() {
		if raw, ok := pl.in.Decode("base64", d.text); ok {
			if plain, ok := pl.in.Decode("utf16le", raw); ok && pl.in.rep.made(len(plain)) {
				return data{plain, d.taint | effect.Decoded}
			}
		}
	}
	return data{effect.Unknown, d.taint | effect.Decoded}
}

// found processes one finding in code, and returns the taint that it adds. said is the output of
// the last command that the code ran, which awk may pass to a shell.
func (pl *payloadRunner) found(f Found, lang string, std *input, taint effect.Taint, said *data) effect.Taint {
	if f.Dir != "" {
		dir, may := pl.in.cwd.dir, pl.in.cwd.may
		pl.in.cwd.dir, pl.in.cwd.may = pl.in.fs.expandHome(f.Dir), ""
		defer func() { pl.in.cwd.dir, pl.in.cwd.may = dir, may }()
	}
	switch {
	case f.Insert != "":
		pl.inserted += f.Insert + "\n"
		return 0
	case f.Shell != "":
		var out data
		pl.in.separately(false, func() {
			pl.sub(data{f.Shell, f.Taint | f.fed(lang, std.taint, taint)}, lang, &input{}, &out)
			if lang == "awk" && f.Shell == effect.Unknown && said.text != "" && said.known() {
				pl.sub(*said, lang, &input{}, &out)
			}
		})
		*said = out
		return out.taint
	case len(f.Argv) > 0:
		mark := len(pl.in.exp.fields)
		for _, w := range f.Argv {
			pl.in.exp.push(field{data: data{w, f.Taint}})
		}
		var out data
		pl.in.separately(false, func() { pl.in.runWords(mark, &input{}, &out, false) })
		pl.in.exp.fields = pl.in.exp.fields[:mark]
		return out.taint
	case f.Lang != "":
		var out data
		pl.runScript(f.Lang, data{f.Code, f.Taint}, nil, std, &out, lang)
		return out.taint
	}
	e := f.Effect
	if e.By == "" {
		e.By = lang
	}
	switch e.Kind {
	case effect.Read, effect.Write, effect.Delete:
		if e.Target != "environment" {
			e.Target = pl.in.fs.expandHome(e.Target)
		}
		if e.Kind == effect.Read {
			e.Taint |= pl.in.fs.secretTaint(e.Target)
			break
		}
		e.Taint |= taint
		if e.Kind == effect.Write && !pl.in.rep.stopped() {
			text := f.Content
			if text == "" && !strings.HasSuffix(e.By, "open") { // open only truncates the file for later writes
				text = effect.Unknown
			} else if text == "" {
				pl.opens = append(pl.opens, e.Target)
			}
			pl.in.fs.write(e.Target, data{text, e.Taint}, e.Bits&effect.Append != 0)
		}
	case effect.NetOut:
		e.Taint |= taint
	case effect.NetIn:
		pl.in.add(e)
		if taint&effect.Secret != 0 {
			pl.in.add(effect.Effect{Kind: effect.NetOut, Target: e.Target, Taint: taint, By: lang, Bits: effect.Partial})
		}
		return effect.Network
	default: // the others need nothing
	}
	pl.in.add(e)
	return e.Taint
}

// terminals walks what the words of tmux run besides its first command: further commands, after a
// semicolon or as a word of their own, and #(…) in formats.
func (pr *programRunner) terminals(mark int) {
	args := slices.Clone(pr.in.exp.fields[mark+1:])
	run := func(d data, via string) {
		if pr.in.rep.level < pr.in.rep.lim.Nesting && !pr.in.rep.stopped() {
			pr.in.inProcess(func() { pr.in.payloads.sub(d, via, &input{}, nil) })
		}
	}
	for i, f := range args {
		for rest := f.text; ; {
			_, after, ok := strings.Cut(rest, "#(")
			if !ok {
				break
			}
			text := after
			if end := strings.LastIndexByte(after, ')'); end >= 0 {
				text = after[:end]
			}
			run(data{text, f.taint}, "tmux #()")
			rest = after
		}
		if first, _, more := strings.Cut(strings.TrimSpace(f.text), " "); more && isTerminal(first) {
			run(data{"tmux " + f.text, f.taint}, "tmux")
		}
		if !strings.HasSuffix(f.text, ";") && (i == 0 || !isTerminal(f.text)) || i+1 == len(args) {
			continue
		}
		next, from := data{text: "tmux"}, i
		if strings.HasSuffix(f.text, ";") {
			from++
		}
		for _, g := range args[from:] {
			next.text += " " + quote(strings.TrimSuffix(g.text, ";"))
			next.taint |= g.taint
			if strings.HasSuffix(g.text, ";") {
				break
			}
		}
		run(next, "tmux")
	}
}

// isTerminal reports whether a word is a tmux command that runs what it is given, or the beginning of its name.
func isTerminal(word string) bool {
	if terminalCommands[word] {
		return true
	}
	if head, tail, ok := strings.Cut(word, "-"); !ok || head == "" || tail == "" {
		return false
	}
	for command := range terminalCommands {
		if strings.HasPrefix(command, word) {
			return true
		}
	}
	return false
}

// terminalCommands are the tmux commands that run what they are given.
var terminalCommands = wordset.Of(section("terminal commands"))
