package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// execute runs a file: by what the text wrote to it, or as a file of the disk.
func (in *interp) execute(p data, lang string, args []field, std *input, sink *data, by string) {
	target := in.abs(p.text)
	f, v := in.heldBy(target)
	for hops := 0; f != nil && v.alias != "" && hops < 4; hops++ {
		target = v.alias
		f, v = in.heldBy(target)
	}
	if f == nil {
		if f = in.mayRun(target); f != nil {
			own := *std
			from := lang
			if from == "" {
				from = Shebang(f.text)
			}
			in.perhaps(func() { in.script(from, f.data, args, &own, &data{}, "file "+f.path) })
		}
		if in.Table.Find(target) == nil || lang != "" || !installed(target) {
			in.add(effect.Effect{Kind: effect.Exec, Target: target, What: anyFile(p.text), Taint: p.taint | in.under(target), By: by})
			if !in.knownScript(path.Base(target), lang, args, std, sink) && lang != "" {
				in.saysDelete(args, path.Base(target))
			}
		}
		return
	}
	in.add(effect.Effect{Kind: effect.Exec, Target: target, Taint: v.taint, By: by})
	f.ran = true
	if v.built && (lang == "" || lang == "node") {
		return // go build -o app . && ./app
	}
	if v.from != nil {
		in.runsFrom(f.path, &v)
		if lang != "" {
			in.saysDelete(args, path.Base(target))
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
		// There is nothing to walk, and the name of its first program could be the file's
		// own: that would end in the limit of depth, and the rest would not be looked at.
		in.add(effect.Effect{Kind: effect.Exec, Target: "shell code", What: "any", Taint: v.taint, Bits: effect.Partial, By: "file " + target})
		return
	}
	in.script(lang, v.data, args, std, sink, "file "+target)
}

// anyFile is the kind of an execution of a file of whose path nothing is known.
func anyFile(path string) string {
	if folder := path[:strings.LastIndexByte(path, '/')+1]; isDescriptors(folder) && !effect.IsKnown(path[len(folder):]) {
		return "any"
	}
	if path != "" && strings.Trim(path, effect.Unknown+"./") == "" && !effect.IsKnown(path) {
		return "any"
	}
	return ""
}

// installed reports whether a program lies where only an installation puts one, or a
// package manager, so that it is what its name says. What is called git in another folder is taken for
// git, and for whatever else somebody put there.
func installed(file string) bool {
	for _, folder := range [...]string{"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/store/", "/snap/bin/", "/System/", "/Library/", "/Applications/", "/home/linuxbrew/"} {
		if strings.HasPrefix(file, folder) {
			return true
		}
	}
	for _, folder := range [...]string{"/node_modules/.bin/", "/.venv/bin/", "/venv/bin/", "/.cargo/bin/", "/go/bin/", "/.local/bin/"} {
		if strings.Contains(file, folder) {
			return true
		}
	}
	return !strings.HasPrefix(file, "/") // not a path of this kind of machine
}

// knownScript runs a script of an interpreter that is a program of the tables, as
// in php artisan and python manage.py.
func (in *interp) knownScript(name, lang string, args []field, std *input, sink *data) bool {
	switch lang {
	case "python", "php", "ruby", "node":
	default:
		return false
	}
	if in.Table.Find(name) == nil || in.rep.level >= in.rep.lim.Nesting {
		return false
	}
	mark := len(in.fields)
	in.push(field{data: data{text: name}})
	for _, f := range args {
		in.push(f)
	}
	in.rep.level++
	in.separately(false, func() { in.run(mark, std, sink, false) })
	in.rep.level--
	in.fields = in.fields[:mark]
	return true
}

// Shebang says in which language a script is.
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

// sub walks a text in a shell of its own.
func (in *interp) sub(d data, via string, std *input, sink *data) {
	scope := in.enter()
	outer := in.alt.setAside()
	in.payload(d, via, std, sink)
	in.alt.selection = outer
	in.leave(scope)
}

// payload walks a text as shell in the present shell. What is not known of it is
// an opaque command.
func (in *interp) payload(d data, via string, std *input, sink *data) {
	if d.taint&(effect.Network|effect.Decoded) != 0 || !d.known() {
		e := effect.Effect{Kind: effect.Exec, Target: "shell code", Taint: d.taint, Bits: partialIf(!d.known()), By: via}
		if strings.HasPrefix(d.text, effect.Unknown) { // not even its program is known
			e.What = "any"
		}
		in.add(e)
	}
	if d.text == "" || d.text == effect.Unknown {
		if d.text != "" {
			in.rep.res.Opaque++
		}
		sink.append(unknown)
		return
	}
	if other, ok := in.spoken(d.text); ok { // the shell may have printed that
		own := *std
		in.perhaps(func() { in.payload(data{other, d.taint | spelled(d.text)}, via, &own, &data{}) })
	}
	if d.known() {
		in.source(d.text, via, std, sink)
		return
	}
	in.vars.murky |= d.taint
	in.leaner = true
	from, stdin := len(in.rep.res.Effects), *std
	in.source(strings.ReplaceAll(d.text, effect.Unknown, unknownWord), via, std, sink)
	if in.omits == omitsNothing {
		in.omitting(omitsAll, partly, from, len(in.below), func() {
			own := stdin
			in.source(strings.ReplaceAll(d.text, effect.Unknown, ""), via, &own, &data{})
		})
	}
}

// unknownWord is a variable that nobody can set: it stands for what is not known
// in a text that is parsed once more.
const unknownName, unknownWord = "__unknown__", "${__unknown__}"

func partialIf(b bool) effect.Bits {
	if b {
		return effect.Partial
	}
	return 0
}

// script runs a text in a language.
func (in *interp) script(lang string, d data, args []field, std *input, sink *data, via string) {
	switch lang {
	case "", "shell", "sh", "bash", "zsh", "fish", "ksh", "csh":
		scope := in.newProcess(in.unpassed)
		zero := in.zero
		in.setPositional(make([]data, 0, len(args)))
		for i, a := range args {
			if i == 0 && in.named {
				in.zero = a.data
				continue
			}
			in.params = append(in.params, a.data)
		}
		in.named = false
		outer := in.alt.setAside()
		in.payload(d, via, std, sink)
		in.alt.selection = outer
		in.zero = zero
		in.leave(scope)
	default:
		in.code(lang, d, args, std, sink, via)
	}
}

// code runs code that is not shell.
func (in *interp) code(lang string, d data, args []field, std *input, sink *data, via string) {
	if lang == "powershell-base64" {
		lang, d = "powershell", in.encoded(d)
	}
	if d.taint&(effect.Network|effect.Decoded) != 0 || !d.known() || in.Code == nil {
		e := effect.Effect{Kind: effect.Exec, Target: lang + " code", Taint: d.taint, Bits: partialIf(!d.known()), By: lang}
		if lang != "notebook" && lang != "make" && !d.known() && strings.Trim(d.text, effect.Unknown+" \n") == "" && (!strings.HasSuffix(via, "(stdin)") || d.taint&(effect.File|effect.Secret|effect.Network|effect.Decoded) != effect.File) {
			e.What = "any" // and no file's: python3 < x.py runs what python3 x.py does
		}
		in.add(e)
	}
	if in.Code == nil || d.text == effect.Unknown {
		in.rep.res.Opaque++
		sink.append(data{effect.Unknown, std.taint})
		return
	}
	if in.rep.depth >= in.rep.lim.Depth {
		in.rep.over(overDepth)
		return
	}
	in.agentCode(lang, d.text)
	in.rep.depth++
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	taint, said, opens := std.taint|d.taint, data{}, len(in.opens)
	ctx := in.ctx
	ctx.Dir, ctx.Vars, ctx.Value = in.cwd.dir, in.given, in.environmentOf
	if std.present && std.known() && !readsFiles(lang, texts) {
		ctx.Input, ctx.InputTaint, ctx.HasInput = std.text, std.taint, true
	}
	walk := func(src string) {
		in.Code(lang, src, texts, ctx, func(f Found) bool {
			if !in.rep.spend() {
				return false
			}
			taint |= in.found(f, lang, std, taint, &said)
			return !in.rep.stopped()
		})
	}
	walk(d.text)
	if other, ok := in.spoken(d.text); ok { // as the echo of another shell wrote it
		walk(other)
	}
	in.rep.depth--
	in.unfilled(in.opens[opens:])
	in.opens = in.opens[:opens]
	sink.append(data{effect.Unknown, taint})
}

// readsFiles reports whether a stream editor has operands to read instead of its input.
func readsFiles(lang string, args []string) bool {
	if lang != "awk" && lang != "sed" {
		return false
	}
	return slices.ContainsFunc(args, func(w string) bool { return w != "-" && !strings.Contains(w, "=") })
}

// environmentOf is what a program finds in a variable: of the environment, or one of
// the text, which need not be told whether it is exported.
func (in *interp) environmentOf(name string) (text string, from effect.Taint, known bool) {
	if _, ok := in.ctx.Env[name]; !ok && in.vars.find(name) == nil {
		return "", 0, false
	}
	v := in.value(name)
	return v.text, v.taint, true
}

// assigned are the variables that awk's command line sets, before its program with -v
// and among the files behind it.
func (a *Analyzer) assigned(argv []string) map[string]string {
	var out map[string]string
	set := func(word string) {
		if name, value, ok := strings.Cut(word, "="); ok && syntax.ValidName(name) {
			if out == nil {
				out = map[string]string{}
			}
			if a.Decode != nil && strings.Contains(value, `\`) {
				plain, known := a.Decode("escape", value)
				if value = plain; !known {
					value = effect.Unknown
				}
			}
			out[name] = value
		}
	}
	for i, w := range argv {
		switch rest, short := strings.CutPrefix(w, "-v"); {
		case i > 0 && (argv[i-1] == "-v" || argv[i-1] == "--assign"):
			set(w)
		case short:
			set(rest)
		default:
			set(strings.TrimPrefix(w, "--assign="))
		}
	}
	return out
}

// encoded is the text that PowerShell's -EncodedCommand runs.
func (in *interp) encoded(d data) data {
	if in.Decode != nil && d.known() {
		if raw, ok := in.Decode("base64", d.text); ok {
			if plain, ok := in.Decode("utf16le", raw); ok && in.rep.made(len(plain)) {
				return data{plain, d.taint | effect.Decoded}
			}
		}
	}
	return data{effect.Unknown, d.taint | effect.Decoded}
}

// fed is the further taint of a line for a shell that code made of what it read, or of
// what is not known: of its input, and in awk, of which nearly all programs are one loop,
// of what commands in it printed before.
func (f *Found) fed(lang string, std, before effect.Taint) effect.Taint {
	const counts = effect.Network | effect.Decoded
	switch {
	case f.Shell != effect.Unknown && (f.Taint&effect.File == 0 || effect.IsKnown(f.Shell)):
		return 0
	case lang == "awk":
		return before & counts
	}
	return std & counts
}

// found takes over one finding in code, and returns the taint that it adds. What a
// command of awk's said last, it may hand to a shell.
func (in *interp) found(f Found, lang string, std *input, taint effect.Taint, said *data) effect.Taint {
	if f.Dir != "" {
		dir, may := in.cwd.dir, in.cwd.may
		in.cwd.dir, in.cwd.may = in.home(f.Dir), ""
		defer func() { in.cwd.dir, in.cwd.may = dir, may }()
	}
	switch {
	case f.Insert != "":
		in.inserted += f.Insert + "\n"
		return 0
	case f.Shell != "":
		var out data
		in.separately(false, func() {
			in.sub(data{f.Shell, f.Taint | f.fed(lang, std.taint, taint)}, lang, &input{}, &out)
			if lang == "awk" && f.Shell == effect.Unknown && said.text != "" && said.known() {
				in.sub(*said, lang, &input{}, &out)
			}
		})
		*said = out
		return out.taint
	case len(f.Argv) > 0:
		mark := len(in.fields)
		for _, w := range f.Argv {
			in.push(field{data: data{w, f.Taint}})
		}
		var out data
		in.separately(false, func() { in.run(mark, &input{}, &out, false) })
		in.fields = in.fields[:mark]
		return out.taint
	case f.Lang != "":
		var out data
		in.script(f.Lang, data{f.Code, f.Taint}, nil, std, &out, lang)
		return out.taint
	}
	e := f.Effect
	if e.By == "" {
		e.By = lang
	}
	switch e.Kind {
	case effect.Read, effect.Write, effect.Delete:
		if e.Target != "environment" {
			e.Target = in.home(e.Target)
		}
		if e.Kind == effect.Read {
			e.Taint |= in.secret(e.Target)
			break
		}
		e.Taint |= taint
		if e.Kind == effect.Write && !in.rep.stopped() {
			text := f.Content
			if text == "" && !strings.HasSuffix(e.By, "open") { // which empties the file for the writes that follow
				text = effect.Unknown
			} else if text == "" {
				in.opens = append(in.opens, e.Target)
			}
			in.write(e.Target, data{text, e.Taint}, e.Bits&effect.Append != 0)
		}
	case effect.NetOut:
		e.Taint |= taint
	case effect.NetIn:
		in.add(e)
		if taint&effect.Secret != 0 {
			in.add(effect.Effect{Kind: effect.NetOut, Target: e.Target, Taint: taint, By: lang, Bits: effect.Partial})
		}
		return effect.Network
	default: // nothing for the others
	}
	in.add(e)
	return e.Taint
}
