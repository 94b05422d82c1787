package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// apply turns what the grammar says of a command into effects.
func (in *interp) apply(a *applied, sink *data) {
	p, argv, by := a.p, a.argv, a.by
	held := in.bits
	if p.Odd {
		a.bits |= effect.Partial
	}
	if p.Open {
		in.res.Opaque++
		in.add(effect.Effect{Kind: effect.Opaque, Target: argv[0] + " " + effect.Unknown, By: by, Bits: effect.Partial})
	}
	dir := in.dir
	for i := range p.Uses {
		if u := &p.Uses[i]; u.Role == grammar.Dir {
			in.dir = in.abs(u.Text)
		}
	}
	// First what is read, then what is written or sent, then what is executed.
	for i := range p.Uses {
		a.source(&p.Uses[i])
	}
	for i := range p.Stdin {
		a.stdin(&p.Stdin[i])
	}
	out := a.output()
	for i := range p.Uses {
		a.target(&p.Uses[i], out)
	}
	for i := range p.Uses {
		a.payload(&p.Uses[i], &out)
	}
	for i := range p.Stdin {
		a.stdinPayload(&p.Stdin[i], &out)
	}
	in.dir = dir
	in.bits = held
	sink.append(out)
}

// applied is one command while its uses become effects.
type applied struct {
	parsed grammar.Parsed // the memory of p

	in    *interp
	p     *grammar.Parsed
	argv  []string
	mark  int
	std   *input
	by    string
	bits  effect.Bits
	taint effect.Taint // of all that it read
	text  string       // of the only file that it read
	reads int
}

// forget drops what the command was, and keeps the memory.
func (a *applied) forget() {
	clear(a.parsed.Uses)
	*a = applied{parsed: a.parsed}
}

// field is the word that a use is about.
func (a *applied) field(u *grammar.Use) field {
	f := a.in.fields[a.mark+u.Word]
	f.text = u.Text
	return f
}

// how is the bits of an effect on a use's word.
func (a *applied) how(u *grammar.Use) effect.Bits {
	b := u.Bits | a.bits | a.p.Bits
	if u.Word >= 0 && u.Word < len(a.argv) {
		f := a.in.fields[a.mark+u.Word]
		if f.glob {
			b |= effect.Glob
		}
		if f.splits {
			b |= effect.Splits
		}
	}
	return b
}

// path is the path that a use names.
func (a *applied) path(u *grammar.Use) string {
	if u.Word < 0 {
		if strings.IndexByte(u.Arg, ':') > 1 {
			return u.Arg // no path: secret:aws
		}
		return a.in.home(u.Arg)
	}
	return a.in.home(u.Text)
}

func isStdin(p string) bool {
	return p == "-" || p == "/dev/stdin" || p == "/dev/fd/0" || p == "/proc/self/fd/0"
}

// source takes in what a use reads.
func (a *applied) source(u *grammar.Use) {
	switch u.Role {
	case grammar.Read, grammar.SendFile:
		if u.Word >= 0 && isStdin(u.Text) {
			a.taint |= a.std.taint
			return
		}
		p := a.path(u)
		d := a.in.contentOf(p)
		if u.Word >= 0 {
			d.taint |= a.field(u).taint
		}
		if a.p.Dry {
			return
		}
		what := ""
		if u.Arg == "cookies" { // the jar of one's own requests
			what = u.Arg
			d.taint &^= effect.Secret
		}
		if !strings.HasPrefix(p, "/dev/fd/") && p != "/dev/null" {
			a.in.add(effect.Effect{Kind: effect.Read, Target: p, What: what, Bits: a.how(u), Taint: d.taint, By: a.by})
		}
		a.taint |= d.taint
		if a.reads++; a.reads == 1 {
			a.text = d.text
		} else if a.text += d.text; !a.in.made(len(d.text)) {
			return
		}
	case grammar.Fetch:
		if u.Word < 0 {
			a.add(effect.NetIn, u, u.Arg, 0)
			a.taint |= effect.Network
			return
		}
		f := a.field(u)
		a.add(effect.NetIn, u, f.text, f.taint)
		a.taint |= effect.Network
		a.saved(f.text)
	case grammar.Send:
		if u.Word >= 0 {
			a.taint |= a.field(u).taint
		}
	default: // nothing for the others
	}
}

// downloaders save what they fetch under its own name, also from an address
// without a scheme.
var downloaders = []string{"wget", "curl", "aria2c", "axel", "scp", "rsync", "sftp"}

// saved notes the file that a download is saved as where no flag names one.
func (a *applied) saved(url string) {
	if a.p.Dry || a.by == "curl" && !slices.ContainsFunc(a.argv, savesByName) {
		return
	}
	if !strings.Contains(url, "://") && !slices.Contains(downloaders, a.p.Program.Name) {
		return // the name of a package
	}
	url, _, _ = strings.Cut(url, "?")
	name := path.Base(url[strings.LastIndexByte(url, ':')+1:])
	if name == "" || name == "." || name == "/" || a.in.dir == effect.Unknown {
		return
	}
	a.in.write(a.in.abs(name), data{effect.Unknown, effect.Network}, false)
}

// savesByName reports whether a word is curl's -O, alone or among other letters.
func savesByName(w string) bool {
	return strings.HasPrefix(w, "--remote-n") || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.IndexByte(w, 'O') > 0
}

func (a *applied) add(k effect.Kind, u *grammar.Use, target string, taint effect.Taint) {
	if a.p.Dry {
		return
	}
	e := effect.Effect{Kind: k, Target: target, Bits: a.how(u), Taint: taint, By: a.by}
	if u.Word >= 0 {
		e.What = u.Arg
	}
	a.in.add(e)
}

// stdin takes in what the standard input does.
func (a *applied) stdin(u *grammar.Use) {
	switch u.Role {
	case grammar.Send, grammar.Read, grammar.SendFile:
		a.taint |= a.std.taint
	default: // nothing for the others
	}
}

// output is what comes out of the command, before its payloads run.
func (a *applied) output() data {
	in := a.in
	text := a.text
	if a.reads == 0 {
		text = a.std.text
		a.taint |= a.std.taint
	}
	for i := range a.p.Stdout {
		switch u := &a.p.Stdout[i]; u.Role {
		case grammar.Pass:
			return data{text, a.taint}
		case grammar.Decode:
			if in.Decode != nil && effect.IsKnown(text) {
				if plain, ok := in.Decode(u.Arg, text); ok && in.made(len(plain)) {
					return data{plain, a.taint | effect.Decoded}
				}
			}
			return data{effect.Unknown, a.taint | effect.Decoded}
		case grammar.Fetched:
			return data{effect.Unknown, a.taint | effect.Network}
		default: // nothing for the others
		}
	}
	if text != "" && effect.IsKnown(text) {
		switch a.by {
		case "head", "tail", "sort", "tac", "uniq":
			if strings.IndexByte(strings.TrimSuffix(text, "\n"), '\n') < 0 && len(a.argv) < 3 {
				return data{text, a.taint} // one line is what it was
			}
			return data{effect.Unknown, a.taint | effect.Decoded}
		case "tr", "sed", "awk", "gawk", "cut", "grep", "egrep", "fold", "fmt", "paste", "column", "jq", "dd", "iconv", "nl", "expand", "perl":
			return data{effect.Unknown, a.taint | effect.Decoded} // a constant that was made into another one
		}
	}
	return data{effect.Unknown, a.taint}
}

// target makes the effects of what a use writes, deletes, sends or changes.
func (a *applied) target(u *grammar.Use, out data) {
	in := a.in
	text, taint := u.Arg, effect.Taint(0)
	if u.Word >= 0 && u.Role != grammar.Argv && u.Role != grammar.Shell {
		f := a.field(u)
		text, taint = f.text, f.taint
	}
	switch u.Role {
	case grammar.Delete:
		a.add(effect.Delete, u, a.path(u), taint)
		a.deleteBefore(u, taint)
	case grammar.Write, grammar.Append:
		if a.p.Dry || u.Word >= 0 && (isStdin(u.Text) || u.Text == "") {
			return
		}
		p := a.path(u)
		d := out
		if !a.p.Copies && a.p.Stdout == nil {
			d = data{effect.Unknown, a.taint}
		}
		if a.p.Copies && a.reads == 1 {
			d = data{a.text, a.taint}
		}
		d.taint |= taint
		if p == "/dev/null" {
			return
		}
		if !strings.HasPrefix(p, "/dev/fd/") {
			bits := a.how(u)
			if u.Role == grammar.Append {
				bits |= effect.Append
			}
			what := ""
			if u.Word >= 0 {
				what = u.Arg // a folder
			}
			in.add(effect.Effect{Kind: effect.Write, Target: p, What: what, Bits: bits, Taint: d.taint, By: a.by})
		}
		in.write(p, d, false)
		if a.p.Copies {
			a.copied(p)
			a.copiedInto(p)
		}
	case grammar.Host:
		a.add(effect.NetOut, u, text, a.taint|taint|a.secrets())
	case grammar.Fetch:
		if t := taint | a.secrets(); t&(effect.Secret|effect.File) != 0 {
			a.add(effect.NetOut, u, text, t)
		}
	case grammar.Permission:
		a.add(effect.Permission, u, in.targetOf(u, text), taint)
	case grammar.Kill:
		a.add(effect.Kill, u, text, taint)
	case grammar.Discard:
		a.add(effect.Discard, u, text, taint)
	case grammar.RemoteDelete:
		a.add(effect.RemoteDelete, u, text, taint)
	case grammar.Publish:
		a.add(effect.Publish, u, text, a.taint|taint)
	case grammar.Persist:
		a.add(effect.Persist, u, text, a.taint|taint)
	case grammar.Privilege:
		a.add(effect.Privilege, u, text, taint)
	case grammar.Env:
		if name, value, ok := strings.Cut(text, "="); ok {
			in.environ(name, data{value, taint})
		}
	default: // nothing for the others
	}
}

// deleteBefore adds what is deleted if the last cd failed, where that is worse: in
// the root, in a folder of it, or in the home.
func (a *applied) deleteBefore(u *grammar.Use, taint effect.Taint) {
	in := a.in
	if in.before == "" || in.before == in.dir || u.Word < 0 || strings.HasPrefix(u.Text, "/") || strings.HasPrefix(u.Text, "~") {
		return
	}
	if strings.LastIndexByte(in.before, '/') != 0 && in.before != in.value("HOME").text {
		return
	}
	dir := in.dir
	in.dir = in.before
	a.add(effect.Delete, u, a.path(u), taint)
	in.dir = dir
}

// secrets is the taint of words that carry secrets somewhere.
func (a *applied) secrets() effect.Taint {
	var t effect.Taint
	for i := range a.argv {
		t |= a.in.fields[a.mark+i].taint
	}
	for i := range a.p.Uses {
		if u := &a.p.Uses[i]; u.Role == grammar.SendFile || u.Role == grammar.Send {
			t |= a.taint
		}
	}
	for i := range a.p.Stdin {
		if a.p.Stdin[i].Role == grammar.Send {
			t |= a.std.taint
		}
	}
	return t
}

// copied notes that a file is another one now, so that running the copy is
// running the original.
func (a *applied) copied(to string) {
	for i := range a.p.Uses {
		if u := &a.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 && a.reads == 1 {
			from := a.path(u)
			if f := a.in.file(to); f != nil && a.in.file(from) == nil {
				f.alias = from
				if f.link = a.by == "ln"; f.link {
					a.in.links++
				}
			}
		}
	}
}

// copiedInto notes what is copied as if the target were a folder.
func (a *applied) copiedInto(folder string) {
	for i := range a.p.Uses {
		if u := &a.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 {
			from := a.path(u)
			if to := strings.TrimSuffix(folder, "/") + "/" + path.Base(from); from != folder && from != to {
				a.in.write(to, a.in.contentOf(from), false)
				if f := a.in.file(to); f != nil && a.in.file(from) == nil {
					f.alias = from
				}
			}
		}
	}
}

func (in *interp) targetOf(u *grammar.Use, text string) string {
	if u.Word >= 0 && u.Arg != "name" {
		return in.home(text)
	}
	return text
}

// payload walks what a use executes.
func (a *applied) payload(u *grammar.Use, out *data) {
	in := a.in
	if a.p.Dry {
		return
	}
	held := in.bits
	in.bits |= u.Bits & effect.Remote
	defer func() { in.bits = held }()
	switch u.Role {
	case grammar.Argv:
		if u.Word < 0 || u.Word >= len(a.argv) {
			return
		}
		var more data
		if u.Arg != "module" || !a.module(u, &more) {
			a.vector(u, &more)
		}
		*out = more
	case grammar.Shell:
		if u.Word < 0 {
			return
		}
		d := a.joined(u)
		var more data
		if args := a.added(); len(args) > 0 {
			a.each(d, args, &more)
		} else {
			in.named = u.End <= u.Word+1 // sh -c TEXT NAME ARGUMENTS
			in.script(u.Arg, d, a.after(u), a.std, &more, a.by)
			in.named = false
		}
		*out = more
	case grammar.Code:
		var more data
		in.code(u.Arg, a.field(u).data, a.after(u), a.std, &more, a.by)
		*out = more
	case grammar.Exec:
		if u.Word < 0 {
			a.add(effect.Exec, u, u.Arg, a.taint)
			return
		}
		f := a.field(u)
		if u.Arg == "package" || u.Arg == "url" || u.Arg == "options" {
			a.add(effect.Exec, u, f.text, f.taint)
			return
		}
		if u.Arg == "search" { // whatever lies in that folder
			a.add(effect.Exec, u, in.abs(cmp.Or(f.text, "."))+"/*", f.taint)
			return
		}
		if isStdin(f.text) {
			in.script(u.Arg, a.std.data, nil, &input{}, out, a.by+" -")
			return
		}
		in.execute(data{in.home(f.text), f.taint}, u.Arg, a.after(u), a.std, out, a.by)
	case grammar.Args:
		if !slices.ContainsFunc(a.p.Uses, func(u grammar.Use) bool { return u.Role == grammar.Shell || u.Role == grammar.Argv }) {
			in.sub(a.field(u).data, a.by, &input{}, out) // parallel ::: COMMANDS
		}
	case grammar.Sql:
		if u.Word >= 0 {
			a.sql(u.Arg, a.joined(u))
		}
	default: // nothing for the others
	}
}

// joined is the text of a use that may be of several words.
func (a *applied) joined(u *grammar.Use) data {
	if u.End <= u.Word+1 {
		return a.field(u).data
	}
	var d data
	for i := u.Word; i < u.End; i++ {
		f := a.in.fields[a.mark+i]
		if i > u.Word {
			d.text += " "
		}
		d.text += f.text
		d.taint |= f.taint
	}
	return d
}

// after are the words behind the one of a use.
func (a *applied) after(u *grammar.Use) []field {
	from := min(a.mark+max(u.End, u.Word+1), len(a.in.fields))
	to := min(a.mark+len(a.argv), len(a.in.fields))
	if from >= to {
		return nil
	}
	return a.in.fields[from:to]
}

// vector walks the words of a use as a command. For find's {} stands what was
// found; xargs adds its input.
func (a *applied) vector(u *grammar.Use, out *data) {
	in := a.in
	mark, placed := len(in.fields), false
	end := min(u.End, len(a.argv))
	for i := u.Word; i < end; i++ {
		f := in.fields[a.mark+i]
		if u.Arg == "found" && strings.Contains(f.text, "{}") {
			f.text, placed = strings.ReplaceAll(f.text, "{}", a.found()), true
		}
		in.push(f)
	}
	if u.Arg == "found" && !placed {
		in.push(field{data: data{text: a.found()}})
	}
	if u.Arg == "stdin" {
		a.appendInput(mark)
	}
	for _, f := range a.added() {
		in.push(f)
	}
	if len(in.fields) > mark && !in.stopped() {
		via := in.via
		in.via = a.by
		in.level++
		if in.level > in.lim.Nesting {
			in.over("depth")
		} else {
			in.run(mark, a.std, out, false)
		}
		in.level--
		in.via = via
	}
	in.fields = in.fields[:mark]
}

// module runs a module of Python, if it is not one that the table knows by its
// name: it is code of the module search path, and no program.
func (a *applied) module(u *grammar.Use, out *data) bool {
	in, f := a.in, a.in.fields[a.mark+u.Word]
	f.text = u.Text
	if f.text == "" {
		f.text = a.argv[u.Word]
	}
	if in.Table.Module(f.text) {
		return false
	}
	if target := in.abs(strings.ReplaceAll(f.text, ".", "/") + ".py"); in.file(target) != nil {
		in.execute(data{target, f.taint}, "python", a.after(&grammar.Use{Word: u.Word}), a.std, out, a.by)
		return true
	}
	in.add(effect.Effect{Kind: effect.Exec, Target: f.text, What: "module", Taint: f.taint | a.std.taint, Bits: partialIf(!f.known()), By: a.by})
	out.append(data{effect.Unknown, f.taint | a.std.taint})
	return true
}

// found is what find would put in the place of {}.
func (a *applied) found() string {
	for i := range a.p.Uses {
		if u := &a.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 {
			return strings.TrimSuffix(a.path(u), "/") + "/" + effect.Unknown + a.named()
		}
	}
	return a.in.dir + "/" + effect.Unknown + a.named()
}

// named is the name that find looks for.
func (a *applied) named() string {
	if i := slices.Index(a.argv, "-name"); i > 0 && i+1 < len(a.argv) && !strings.ContainsAny(a.argv[i+1], "*?[") {
		return "/" + a.argv[i+1]
	}
	return ""
}

// appendInput adds the words of the standard input, as xargs does.
func (a *applied) appendInput(mark int) {
	in := a.in
	if !a.std.present {
		in.push(field{data: unknown, splits: true}) // the terminal
		return
	}
	placeholder := ""
	for i, w := range a.argv {
		if i >= len(a.argv)-1 || strings.HasPrefix(w, "--replace") || w == "-i" {
			if strings.HasPrefix(w, "--replace") || w == "-i" {
				placeholder = "{}"
			}
			continue
		}
		if at := strings.IndexByte(w, 'I'); at > 0 && w[0] == '-' && w[1] != '-' {
			if placeholder = w[at+1:]; placeholder == "" {
				placeholder = a.argv[i+1]
			}
			break
		}
	}
	words := []data{{effect.Unknown, a.std.taint}}
	if a.std.known() {
		words = words[:0]
		if a.lines() {
			for w := range strings.FieldsFuncSeq(a.std.text, func(r rune) bool { return r == '\n' || r == 0 }) {
				words = append(words, data{w, a.std.taint})
			}
		} else {
			for w := range strings.FieldsSeq(a.std.text) {
				words = append(words, data{strings.Trim(w, `'"`), a.std.taint})
			}
		}
	}
	if placeholder != "" {
		value := effect.Unknown
		if a.std.known() {
			value = strings.TrimSpace(a.std.text)
		}
		replaced := false
		for i := mark; i < len(in.fields); i++ {
			if strings.Contains(in.fields[i].text, placeholder) {
				in.fields[i].text = strings.ReplaceAll(in.fields[i].text, placeholder, value)
				in.fields[i].taint |= a.std.taint
				replaced = true
			}
		}
		if replaced {
			return
		}
	}
	for _, w := range words {
		in.push(field{data: w, splits: !w.known()})
	}
}

// lines reports whether xargs takes each line for a word.
func (a *applied) lines() bool {
	for _, w := range a.argv {
		if strings.HasPrefix(w, "-d") || strings.HasPrefix(w, "--delim") || w == "-0" || w == "--null" {
			return true
		}
	}
	return false
}

// stdinPayload walks what the standard input executes.
func (a *applied) stdinPayload(u *grammar.Use, out *data) {
	if a.p.Dry || !a.std.present {
		return
	}
	in := a.in
	held := in.bits
	in.bits |= u.Bits & effect.Remote
	switch u.Role {
	case grammar.Shell:
		var more data
		in.script(u.Arg, a.std.data, nil, &input{}, &more, a.by+" (stdin)")
		*out = more
	case grammar.Code:
		in.code(u.Arg, a.std.data, nil, &input{}, out, a.by+" (stdin)")
	case grammar.Sql:
		a.sql(u.Arg, a.std.data)
	case grammar.Persist:
		in.add(effect.Effect{Kind: effect.Persist, Target: u.Arg, Taint: a.std.taint, Bits: partialIf(!a.std.known()), By: a.by})
	default: // nothing for the others
	}
	in.bits = held
}

// added are the words that a use of the role args adds to the command.
func (a *applied) added() []field {
	var out []field
	for i := range a.p.Uses {
		if u := &a.p.Uses[i]; u.Role == grammar.Args && u.Word >= 0 {
			out = append(out, a.field(u))
		}
	}
	for i := range a.p.Stdin {
		if a.p.Stdin[i].Role != grammar.Args || !a.std.present {
			continue
		}
		if !a.std.known() {
			out = append(out, field{data: data{effect.Unknown, a.std.taint}, splits: true})
			continue
		}
		for w := range strings.FieldsSeq(a.std.text) {
			out = append(out, field{data: data{w, a.std.taint}})
		}
	}
	return out
}

// each runs a command line with words that are added to it: each in the place of
// {}, or all at its end.
func (a *applied) each(d data, args []field, out *data) {
	if !strings.Contains(d.text, "{}") {
		for _, f := range args {
			d.text += " " + quote(f.text)
			d.taint |= f.taint
		}
		a.in.script("sh", d, nil, a.std, out, a.by)
		return
	}
	for i, f := range args {
		if i >= a.in.lim.Rounds || a.in.stopped() {
			return
		}
		a.in.script("sh", data{strings.ReplaceAll(d.text, "{}", quote(f.text)), d.taint | f.taint}, nil, a.std, out, a.by)
	}
}

// sql walks what a database client is told.
func (a *applied) sql(dialect string, d data) {
	in := a.in
	if !d.known() {
		in.add(effect.Effect{Kind: effect.Exec, Target: "sql", Taint: d.taint, Bits: effect.Partial, By: a.by})
	}
	if in.SQL == nil {
		return
	}
	in.SQL(dialect, d.text, func(f Found) bool {
		if f.Shell != "" {
			in.sub(data{f.Shell, f.Taint | d.taint}, a.by, &input{}, nil)
			return !in.stopped()
		}
		e := f.Effect
		e.By, e.Taint = a.by, e.Taint|d.taint
		in.add(e)
		return !in.stopped()
	})
}
