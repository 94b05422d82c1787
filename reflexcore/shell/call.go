package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// call walks a simple command: once for each combination of what its variables
// may be.
func (in *interp) call(c *syntax.CallExpr, std *input, sink *data, background bool) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			in.assign(a)
			in.environ(a.Name.Value, in.value(a.Name.Value))
		}
		return
	}
	mark := len(in.fields)
	if in.shared {
		in.simple(c, std, sink, background)
		in.fields = in.fields[:mark]
		return
	}
	in.choose = false
	stdin, first := *std, true
	in.every(func() {
		*std = stdin
		if sink == nil || first {
			in.simple(c, std, sink, background)
		} else {
			out := new(data)
			in.simple(c, std, out, background)
			if *out != *sink {
				*sink = data{effect.Unknown, sink.taint | out.taint}
			}
		}
		in.fields, first = in.fields[:mark], false
	})
}

// simple walks a simple command with the values that are chosen.
func (in *interp) simple(c *syntax.CallExpr, std *input, sink *data, background bool) {
	if len(c.Assigns) > 0 {
		locals := len(in.locals)
		defer in.unhold(locals)
		for _, a := range c.Assigns {
			in.locals = append(in.locals, in.hold(a.Name.Value))
			in.assign(a)
			in.environ(a.Name.Value, in.value(a.Name.Value))
		}
	}
	mark := len(in.fields)
	in.expand(c.Args)
	n := len(in.fields) - mark
	if n == 0 || in.stopped() {
		return
	}
	if lit, ok := c.Args[0].Parts[0].(*syntax.Lit); ok && len(in.aliases) > 0 && len(c.Args[0].Parts) == 1 {
		if in.alias(lit.Value, mark, std, sink) {
			return
		}
	}
	in.run(mark, std, sink, background)
}

// unhold restores the variables that were held since then.
func (in *interp) unhold(since int) {
	for len(in.locals) > since {
		last := len(in.locals) - 1
		in.restore(in.locals[last])
		in.locals = in.locals[:last]
	}
}

// alias walks an alias that the text defined, with the words after it.
func (in *interp) alias(name string, mark int, std *input, sink *data) bool {
	found := false
	for i := len(in.aliases) - 1; i >= 0; i-- {
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
		in.source(text, "alias", std, sink)
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
	if !in.spend() {
		return
	}
	in.res.Commands++
	step := in.step
	defer func() { in.step = step }()
	in.note(mark)
	args := in.fields[mark:]
	for _, f := range args {
		if f.splits || !f.known() {
			in.res.Partial++
			break
		}
	}
	name := args[0]
	if in.calls(mark, std, sink, background) {
		return
	}
	if b := builtins[name.text]; b != nil {
		b(in, mark, std, sink)
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
	in.res.Steps = append(in.res.Steps, Step{Parent: in.step, Depth: in.depth, Via: in.via, Command: b.String(), Argv: argv})
	in.step = len(in.res.Steps) - 1
}

// calls walks the function of that name, and where it is defined in a branch those
// that it may be as well. It is false where there may be none.
func (in *interp) calls(mark int, std *input, sink *data, background bool) bool {
	name := in.fields[mark].text
	for i := len(in.funcs) - 1; i >= 0; i-- {
		f := in.funcs[i]
		if f.name != name {
			continue
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
	if len(in.active) >= in.lim.Depth {
		in.over("depth")
		return
	}
	params := make([]data, 0, len(in.fields)-mark-1)
	for _, p := range in.fields[mark+1:] {
		if rounds > 1 { // it may go on with anything
			p.data = data{effect.Unknown, p.taint}
		}
		params = append(params, p.data)
	}
	held, others := in.params, in.others
	in.setPositional(params)
	in.active = append(in.active, body)
	choices, choose, shared, jumped, locals := in.choices, in.choose, in.shared, in.jumped, len(in.locals)
	in.choices, in.choose, in.shared, in.jumped = nil, false, false, 0
	in.stmt(body, std, sink)
	in.unhold(locals)
	in.choices, in.choose, in.shared, in.jumped = choices, choose, shared, jumped
	in.active = in.active[:len(in.active)-1]
	in.params, in.others = held, others
}

// program walks a command that is no function and no builtin.
func (in *interp) program(mark int, std *input, sink *data) {
	args := in.fields[mark:]
	in.invoked(mark, std, sink)
	name := args[0]
	words := len(in.words)
	for _, f := range args {
		in.words = append(in.words, f.text)
	}
	argv := in.words[words:]
	a := in.borrow()
	p := &a.parsed
	in.Table.Parse(argv, p)
	switch {
	case p.Program == nil && name.glob && strings.IndexByte(name.text, '/') >= 0 && in.level < in.lim.Nesting:
		in.pattern(mark, std, sink)
	case p.Program == nil && (!name.known() || name.splits):
		in.unknownProgram(mark, std, sink)
	case p.Program == nil:
		in.unlisted(mark, std, sink)
	default:
		*a = applied{in: in, parsed: *p, p: p, argv: argv, mark: mark, std: std, by: p.Typed(argv)}
		in.apply(a, sink)
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

// invoked notes that a file runs which this text made, or which is given by its
// path. A copy of a program is that program.
func (in *interp) invoked(mark int, std *input, sink *data) {
	name := in.fields[mark]
	f := in.created(name.text)
	if f != nil && f.alias != "" && in.Table.Find(f.alias) != nil {
		in.fields[mark].text = f.alias
		return
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
	if in.Table.Find(name) != nil && in.find("PATH") == nil {
		return nil
	}
	for i := len(in.files) - 1; i >= 0; i-- {
		if base := strings.TrimSuffix(in.files[i].path, name); base != in.files[i].path && strings.HasSuffix(base, "/") {
			return &in.files[i]
		}
	}
	return nil
}

// execute runs a file: by what the text wrote to it, or as a file of the disk.
func (in *interp) execute(p data, lang string, args []field, std *input, sink *data, by string) {
	target := in.abs(p.text)
	f := in.file(target)
	for hops := 0; f != nil && f.alias != "" && hops < 4; hops++ {
		target = f.alias
		f = in.file(target)
	}
	if f == nil {
		if in.Table.Find(target) == nil || lang != "" {
			in.add(effect.Effect{Kind: effect.Exec, Target: target, Taint: p.taint, By: by})
		}
		return
	}
	in.add(effect.Effect{Kind: effect.Exec, Target: target, Taint: f.taint, By: by})
	if lang == "" {
		lang = shebang(f.text)
	}
	in.script(lang, f.data, args, std, sink, "file "+target)
}

// shebang says in which language a script is.
func shebang(text string) string {
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

// unknownProgram is a command whose name is not known.
func (in *interp) unknownProgram(mark int, std *input, sink *data) {
	in.res.Opaque++
	args := in.fields[mark:]
	e := effect.Effect{Kind: effect.Exec, Target: args[0].text, Taint: args[0].taint | std.taint, Bits: effect.Partial}
	for _, f := range args[1:] {
		e.Taint |= f.taint &^ effect.Decoded
		if wipes(f.text) {
			in.asRemoval(mark)
		}
	}
	in.add(e)
	in.suspects(mark + 1)
	sink.append(data{effect.Unknown, e.Taint})
}

// wipes reports whether a word is the flags of rm that nothing else has.
func wipes(s string) bool {
	return len(s) > 2 && len(s) < 6 && s[0] == '-' && strings.ContainsAny(s, "rR") && strings.Contains(s, "f") && strings.Trim(s[1:], "rRfvdI") == ""
}

// asRemoval walks a command of which only the name is not known as if it were rm.
func (in *interp) asRemoval(from int) {
	mark := len(in.fields)
	before := len(in.res.Effects)
	in.fields = append(in.fields, in.fields[from:]...)
	in.fields[mark] = field{data: data{text: "rm"}}
	in.program(mark, &input{}, nil)
	in.fields = in.fields[:mark]
	for i := before; i < len(in.res.Effects); i++ {
		in.res.Effects[i].Bits |= effect.Partial
	}
}

// patterns are the programs that a pattern of a path is tried for.
var patterns = [...]string{"rm", "sh", "bash", "dash", "zsh", "dd", "cat", "nc", "cp", "mv", "tee", "curl", "wget", "find", "chmod", "shred", "python3", "perl", "node", "ruby", "base64", "xargs", "env", "sudo", "ssh", "scp"}

// pattern walks a command whose program is a pattern, such as /bin/r?, as each of
// the programs that do harm and that it matches.
func (in *interp) pattern(mark int, std *input, sink *data) {
	base := path.Base(in.fields[mark].text)
	found := false
	for _, name := range patterns {
		if ok, err := path.Match(base, name); !ok || err != nil || strings.Trim(base, "*?") == "" && len(base) != len(name) {
			continue
		}
		found = true
		from := len(in.fields)
		in.fields = append(in.fields, in.fields[mark:]...)
		in.fields[from] = field{data: data{text: name}}
		in.level++
		in.program(from, std, sink)
		in.level--
		in.fields = in.fields[:from]
	}
	if !found {
		in.unlisted(mark, std, sink)
	}
}

// unlisted is a program that no table has: what it does is not known. What it
// would run or touch if it were a wrapper is looked at.
func (in *interp) unlisted(mark int, std *input, sink *data) {
	in.res.Unlisted++
	args := in.fields[mark:]
	name := args[0].text
	if strings.IndexByte(name, '/') < 0 {
		in.add(effect.Effect{Kind: effect.Exec, Target: name, Taint: args[0].taint | std.taint, By: name})
	}
	taint := std.taint
	for _, f := range args {
		taint |= f.taint
	}
	in.suspects(mark + 1)
	sink.append(data{effect.Unknown, taint})
}

// suspects walks what an unknown wrapper may run: each word from which on the
// words are a command that a table knows to do harm. Its effects are partial.
func (in *interp) suspects(from int) {
	if in.level > in.lim.Nesting {
		return
	}
	n := len(in.fields)
	for i := from; i < n && i < from+8; i++ {
		f := in.fields[i]
		if f.text == "" || f.text[0] == '-' || strings.IndexByte(f.text, '=') > 0 {
			continue
		}
		if strings.ContainsAny(f.text, " ;|&\n") && n-i <= 2 && !strings.Contains(f.text, "://") {
			in.maybeShell(f.data)
			continue
		}
		if in.Table.Plausible(f.text) == nil || i == n-1 {
			continue
		}
		in.level++
		before := len(in.res.Effects)
		mark := len(in.fields)
		in.fields = append(in.fields, in.fields[i:n]...)
		in.run(mark, &input{}, nil, false)
		in.fields = in.fields[:mark]
		in.level--
		if !slices.ContainsFunc(in.res.Effects[before:], harms) {
			in.res.Effects = in.res.Effects[:before] // the words of a subcommand that is called so: tomb dig x
			continue
		}
		for j := before; j < len(in.res.Effects); j++ {
			in.res.Effects[j].Bits |= effect.Partial
		}
		return
	}
}

// harms reports whether an effect is one for which a program that nobody knows
// is taken for a wrapper.
func harms(e effect.Effect) bool {
	switch e.Kind {
	case effect.Read, effect.NetIn, effect.NetOut, effect.Write:
		return e.Taint&(effect.Secret|effect.Network|effect.Decoded) != 0
	default: // nothing for the others
	}
	return true
}

// maybeShell walks a word that looks like a command line and that an unknown
// program got as its last.
func (in *interp) maybeShell(d data) {
	if len(d.text) > 4096 || !d.known() {
		return
	}
	first, _, _ := strings.Cut(strings.TrimSpace(d.text), " ")
	if p := in.Table.Find(first); p == nil && builtins[first] == nil {
		return
	}
	before := len(in.res.Effects)
	in.level++
	in.sub(d, "argument of an unknown program", &input{}, nil)
	in.level--
	for j := before; j < len(in.res.Effects); j++ {
		in.res.Effects[j].Bits |= effect.Partial
	}
}

// sub walks a text in a shell of its own.
func (in *interp) sub(d data, via string, std *input, sink *data) {
	scope := in.enter()
	choices, choose, shared := in.choices, in.choose, in.shared
	in.choices, in.choose, in.shared = nil, false, false
	in.payload(d, via, std, sink)
	in.choices, in.choose, in.shared = choices, choose, shared
	in.leave(scope)
}

// payload walks a text as shell in the present shell. What is not known of it is
// an opaque command.
func (in *interp) payload(d data, via string, std *input, sink *data) {
	if d.taint&(effect.Network|effect.Decoded) != 0 || !d.known() {
		target := "shell code"
		in.add(effect.Effect{Kind: effect.Exec, Target: target, Taint: d.taint, Bits: partialIf(!d.known()), By: via})
	}
	if d.text == "" || d.text == effect.Unknown {
		if d.text != "" {
			in.res.Opaque++
		}
		sink.append(unknown)
		return
	}
	if !d.known() {
		in.murky |= d.taint
	}
	in.source(strings.ReplaceAll(d.text, effect.Unknown, unknownWord), via, std, sink)
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
		scope := in.enter()
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
		choices, choose, shared := in.choices, in.choose, in.shared
		in.choices, in.choose, in.shared = nil, false, false
		in.payload(d, via, std, sink)
		in.choices, in.choose, in.shared = choices, choose, shared
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
		in.add(effect.Effect{Kind: effect.Exec, Target: lang + " code", Taint: d.taint, Bits: partialIf(!d.known()), By: lang})
	}
	if in.Code == nil || d.text == effect.Unknown {
		in.res.Opaque++
		sink.append(data{effect.Unknown, std.taint})
		return
	}
	if in.depth >= in.lim.Depth {
		in.over("depth")
		return
	}
	in.depth++
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	taint := std.taint | d.taint
	in.Code(lang, d.text, texts, in.ctx, func(f Found) bool {
		if !in.spend() {
			return false
		}
		taint |= in.found(f, lang, std, taint)
		return !in.stopped()
	})
	in.depth--
	sink.append(data{effect.Unknown, taint})
}

// encoded is the text that PowerShell's -EncodedCommand runs.
func (in *interp) encoded(d data) data {
	if in.Decode != nil && d.known() {
		if raw, ok := in.Decode("base64", d.text); ok {
			if plain, ok := in.Decode("utf16le", raw); ok && in.made(len(plain)) {
				return data{plain, d.taint | effect.Decoded}
			}
		}
	}
	return data{effect.Unknown, d.taint | effect.Decoded}
}

// found takes over one finding in code, and returns the taint that it adds.
func (in *interp) found(f Found, lang string, std *input, taint effect.Taint) effect.Taint {
	switch {
	case f.Shell != "":
		var out data
		in.sub(data{f.Shell, f.Taint}, lang, &input{}, &out)
		return out.taint
	case len(f.Argv) > 0:
		mark := len(in.fields)
		for _, w := range f.Argv {
			in.push(field{data: data{w, f.Taint}})
		}
		var out data
		in.run(mark, &input{}, &out, false)
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
		if e.Kind == effect.Write && !in.stopped() {
			text := f.Content
			if text == "" && !strings.HasSuffix(e.By, "open") { // which empties the file for the writes that follow
				text = effect.Unknown
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

// home makes a path absolute, and expands ~.
func (in *interp) home(p string) string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = in.value("HOME").text + p[1:]
	}
	return in.abs(p)
}

// secret is the taint of a file's content.
func (in *interp) secret(p string) effect.Taint {
	if strings.HasPrefix(p, "secret:") || in.Secret != nil && in.Secret(p) || p == "/" || p == in.value("HOME").text {
		return effect.Secret | effect.File
	}
	return effect.File
}

// contentOf is what is read from a path.
func (in *interp) contentOf(p string) data {
	if strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/") {
		return data{effect.Unknown, effect.Network}
	}
	if f := in.file(p); f != nil {
		for hops := 0; f.alias != "" && hops < 4; hops++ {
			to := in.file(f.alias)
			if to == nil {
				return data{effect.Unknown, in.secret(f.alias)}
			}
			f = to
		}
		return f.data
	}
	switch p {
	case "/dev/null":
		return data{}
	case "/dev/zero", "/dev/urandom", "/dev/random", "/dev/tty", "/dev/stdin":
		return unknown
	}
	return data{effect.Unknown, in.secret(p)}
}

// readFile notes that a file is read and returns what is in it.
func (in *interp) readFile(p data, by string) data {
	target := in.abs(p.text)
	if host, ok := socket(target); ok {
		in.add(effect.Effect{Kind: effect.NetIn, Target: host, By: by})
		return data{effect.Unknown, effect.Network}
	}
	d := in.contentOf(target)
	if !strings.HasPrefix(target, "/dev/fd/") && target != "/dev/null" {
		in.add(effect.Effect{Kind: effect.Read, Target: target, Taint: d.taint | p.taint, By: by})
	}
	return d
}

// socket is the host and port of bash's /dev/tcp.
func socket(p string) (string, bool) {
	for _, kind := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(p, kind); ok {
			host, port, _ := strings.Cut(rest, "/")
			return host + ":" + port, true
		}
	}
	return "", false
}

// wrote notes that data was written to a path.
func (in *interp) wrote(p string, d data, more bool, by string) {
	target := in.abs(p)
	if host, ok := socket(target); ok {
		in.add(effect.Effect{Kind: effect.NetOut, Target: host, Taint: d.taint, By: by})
		return
	}
	switch target {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2":
		return
	}
	if !strings.HasPrefix(target, "/dev/fd/") {
		e := effect.Effect{Kind: effect.Write, Target: target, Taint: d.taint, By: by}
		if more {
			e.Bits = effect.Append
		}
		in.add(e)
	}
	in.write(target, d, more)
}
