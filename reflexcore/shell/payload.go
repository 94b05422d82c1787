package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// payload walks what a use executes.
func (a *applied) payload(u *grammar.Use, out *data) {
	in := a.in
	if a.line.p.Dry && !strings.HasPrefix(a.line.p.Program.Name, "git") { // git --help runs a pager, push --dry-run an ssh
		return
	}
	held, unpassed := in.rep.bits, in.payloads.unpassed
	in.rep.bits |= u.Bits & effect.Remote
	in.payloads.unpassed = in.rep.bits&effect.Remote != 0 || a.line.clears()
	a.executes(u, out)
	in.rep.bits, in.payloads.unpassed = held, unpassed
}

// joined is the text of a use that may be of several words.
func (a *applied) joined(u *grammar.Use) data {
	if u.End <= u.Word+1 {
		return a.field(u).data
	}
	var d data
	for i := u.Word; i < u.End; i++ {
		f := a.in.exp.fields[a.mark+i]
		if i > u.Word {
			d.text += " "
		}
		d.text += f.text
		d.taint |= f.taint
	}
	return d
}

// wordsAfter are the words behind the one of a use.
func (a *applied) wordsAfter(u *grammar.Use) []field {
	from := min(a.mark+max(u.End, u.Word+1), len(a.in.exp.fields))
	to := min(a.mark+len(a.line.argv), len(a.in.exp.fields))
	if from >= to {
		return nil
	}
	return a.in.exp.fields[from:to]
}

// vector walks the words of a use as a command, with each list that xargs may read.
func (lr *listRunner) vector(u *grammar.Use, out *data) {
	if u.Arg != "stdin" {
		lr.vectorWith(u, nil, out)
		return
	}
	lists := lr.read()
	for i := range lists[1:] {
		lr.a.in.separately(false, func() { lr.vectorWith(u, &lists[i+1], out) })
	}
	lr.vectorWith(u, &lists[0], out)
}

// vectorWith walks the words of a use as a command. For find's {} stands what was
// found; xargs adds its list.
func (lr *listRunner) vectorWith(u *grammar.Use, list *input, out *data) {
	in := lr.a.in
	mark, placed := len(in.exp.fields), false
	end := min(u.End, len(lr.a.line.argv))
	var found []string
	held := in.rep.bits
	if u.Arg == "found" {
		found = lr.found(u.Word - 1)
		if lr.a.line.isFind() && slices.ContainsFunc(found, func(p string) bool { return strings.HasSuffix(p, "/"+effect.Unknown) || !in.fs.near(p) }) {
			in.rep.bits |= effect.Recursive // whatever is done is done to all that is there
		}
	}
	if found == nil && u.Word < end {
		in.exp.pushAll(in.exp.fields[lr.a.mark+u.Word : lr.a.mark+end])
	}
	for i := u.Word; i < end && found != nil; i++ {
		f := in.exp.fields[lr.a.mark+i]
		if !strings.Contains(f.text, "{}") {
			in.exp.push(f)
			continue
		}
		placed = true
		text := f.text
		for _, p := range found {
			f.text = strings.ReplaceAll(text, "{}", p)
			in.exp.push(f)
		}
	}
	if !placed {
		for _, p := range found {
			in.exp.push(field{data: data{text: p}})
		}
	}
	if u.Arg == "stdin" {
		lr.appendInput(mark, list)
		in.readings.fed(mark)
	}
	for _, f := range lr.added() {
		in.exp.push(f)
	}
	if len(in.exp.fields) > mark && strings.IndexByte(in.exp.fields[mark].text, ' ') >= 0 && !in.rep.stopped() && in.rep.level < in.rep.lim.Nesting {
		// No program has such a name: many of these hand their words to a shell.
		d := words(in.exp.fields[mark:])
		in.rep.level++
		in.separately(false, func() { in.payloads.sub(d, lr.a.line.by, &input{}, nil) })
		in.rep.level--
	}
	if len(in.exp.fields) > mark && !in.rep.stopped() {
		via, homeless := in.via, in.agents.homeless
		in.via, in.agents.homeless = lr.a.line.by, homeless || lr.a.line.takesHome(u) || isolates[lr.a.line.p.Program.Name]
		in.rep.level++
		if in.rep.level > in.rep.lim.Nesting {
			in.rep.over(overDepth)
		} else {
			in.separately(in.rep.bits&effect.Remote != 0 || lr.a.line.clears(), func() { in.run(mark, lr.a.std, out, false) })
		}
		in.rep.level--
		in.via, in.agents.homeless = via, homeless
	}
	in.exp.fields, in.rep.bits = in.exp.fields[:mark], held
}

// runModule runs a module of Python, if it is not one that the table knows by its
// name: it is code of the module search path, and no program.
func (a *applied) runModule(u *grammar.Use, out *data) bool {
	in, f := a.in, a.in.exp.fields[a.mark+u.Word]
	f.text = u.Text
	if f.text == "" {
		f.text = a.line.argv[u.Word]
	}
	if in.Table.Module(f.text) {
		return false
	}
	if target := in.fs.abs(strings.ReplaceAll(f.text, ".", "/") + ".py"); in.fs.fileAt(target) != nil {
		in.payloads.execute(data{target, f.taint}, "python", a.wordsAfter(&grammar.Use{Word: u.Word}), a.std, out, a.line.by)
		return true
	}
	in.add(effect.Effect{Kind: effect.Exec, Target: f.text, What: "module", Taint: f.taint | a.std.taint, Bits: partialIf(!f.known()), By: a.line.by})
	in.payloads.saysDelete(a.wordsAfter(&grammar.Use{Word: u.Word}), f.text)
	out.add(data{effect.Unknown, f.taint | a.std.taint})
	return true
}

// found are what find, or a program like it, would put in the place of {}. Action
// is the index of the word that asks for it.
func (lr *listRunner) found(action int) []string {
	roots := lr.roots()
	if !lr.a.line.isFind() {
		roots = nil
		for i := range lr.a.line.p.Uses {
			if u := &lr.a.line.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 {
				roots = append(roots, lr.a.pathOf(u))
			}
		}
		if len(roots) == 0 {
			roots = append(roots, lr.a.in.cwd.dir)
		}
	} else if list := lr.findTargets(action, roots...); list != nil {
		if i := slices.Index(list, empty); i < 0 {
			return list
		}
	}
	return []string{strings.TrimSuffix(ancestor(roots), "/") + "/" + effect.Unknown + lr.a.line.named()}
}

// named is the name that find looks for.
func (l *commandLine) named() string {
	if i := slices.Index(l.argv, "-name"); i > 0 && i+1 < len(l.argv) && !strings.ContainsAny(l.argv[i+1], "*?[") && !slices.ContainsFunc(l.argv, func(w string) bool { return w == "-o" || w == "-or" || w == "!" || w == "-not" || w == "," }) {
		return "/" + l.argv[i+1]
	}
	return ""
}

// appendInput adds the words of a list, as xargs does.
func (lr *listRunner) appendInput(mark int, std *input) {
	in := lr.a.in
	placeholder := replaced(lr.a.line.argv)
	words := []data{{effect.Unknown, std.taint}}
	if !std.known() && lr.a.line.isList(std) {
		words = words[:0]
		for line := range strings.SplitSeq(strings.TrimSpace(std.text), "\n") {
			words = append(words, data{line, std.taint})
		}
	}
	if std.known() {
		words = words[:0]
		if lr.a.line.takesLines() {
			for w := range strings.FieldsFuncSeq(std.text, func(r rune) bool { return r == '\n' || r == 0 }) {
				words = append(words, data{w, std.taint})
			}
		} else {
			for _, w := range xargsWords(std.text, placeholder != "") {
				words = append(words, data{w, std.taint})
			}
		}
	}
	if placeholder != "" {
		value := effect.Unknown
		if std.known() || lr.a.line.isList(std) && strings.Count(strings.TrimSpace(std.text), "\n") == 0 {
			value = strings.TrimSpace(std.text)
		}
		if std.known() && !lr.a.line.takesLines() {
			list := make([]data, 0, len(words))
			value = join(append(list, words...), "\n").text
		}
		done := false
		for i := mark; i < len(in.exp.fields); i++ {
			if strings.Contains(in.exp.fields[i].text, placeholder) {
				if in.exp.fields[i].text == placeholder && i > mark && in.exp.fields[i-1].text == "-c" {
					in.rep.odd(InputAsCode, lr.a.line.by)
				}
				in.exp.fields[i].text = strings.ReplaceAll(in.exp.fields[i].text, placeholder, value)
				in.exp.fields[i].taint |= std.taint
				done = true
			}
		}
		if done {
			return
		}
	}
	if len(in.exp.fields) > mark && in.exp.fields[len(in.exp.fields)-1].text == "-c" {
		in.rep.odd(InputAsCode, lr.a.line.by)
	}
	for _, w := range words {
		in.exp.push(field{data: w, splits: !w.known()})
	}
}

// isList reports whether the standard input is paths, of each of which it is known
// where it begins, one a line.
func (l *commandLine) isList(std *input) bool {
	for line := range strings.Lines(std.text) {
		if line[0] != '/' || !strings.HasSuffix(line, "\n") {
			return false
		}
	}
	return std.text != "" && !slices.ContainsFunc(l.argv, func(w string) bool { return strings.HasPrefix(w, "-d") || strings.HasPrefix(w, "--delim") })
}

// takesLines reports whether xargs takes each line for a word.
func (l *commandLine) takesLines() bool {
	for _, w := range l.argv {
		if strings.HasPrefix(w, "-d") || strings.HasPrefix(w, "--delim") || w == "-0" || w == "--null" {
			return true
		}
	}
	return false
}

// stdinPayload walks what the standard input executes.
func (a *applied) stdinPayload(u *grammar.Use, out *data) {
	in := a.in
	if a.line.p.Dry {
		return
	}
	if !a.std.present {
		if u.Role == grammar.Shell {
			// Nothing is written down of what a shell of its own will be told.
			in.add(effect.Effect{Kind: effect.Exec, Target: "a shell", What: "interactive", By: a.line.by})
		}
		return
	}
	held := in.rep.bits
	in.rep.bits |= u.Bits & effect.Remote
	switch u.Role {
	case grammar.Shell:
		var more data
		d := a.std.data
		if a.line.p.Program.Name == "fish" {
			d.text = fishText(d.text)
		}
		in.payloads.script(u.Arg, d, a.stdinArgs(), &input{}, &more, a.line.by+" (stdin)")
		if *out = more; a.line.traces(&in.vars) {
			out.add(unknown)
		}
	case grammar.Code:
		in.payloads.code(u.Arg, a.std.data, nil, &input{}, out, a.line.by+" (stdin)")
	case grammar.Exec: // not code, but it says what runs
		in.add(effect.Effect{Kind: effect.Exec, Target: u.Arg, Taint: a.std.taint, By: a.line.by})
	case grammar.Sql:
		if p := a.fedFile(); p != "" { // psql < x.sql does what psql -f x.sql does
			in.add(effect.Effect{Kind: effect.Exec, Target: p, Taint: a.std.taint, By: a.line.by})
			break
		}
		a.sql(u.Arg, a.std.data)
	case grammar.Persist:
		in.add(effect.Effect{Kind: effect.Persist, Target: u.Arg, Taint: a.std.taint, Bits: partialIf(!a.std.known()), By: a.line.by})
	default: // nothing for the others
	}
	in.rep.bits = held
}

// added are the words that a use of the role args adds to the command.
func (lr *listRunner) added() []field {
	var out []field
	for i := range lr.a.line.p.Uses {
		if u := &lr.a.line.p.Uses[i]; u.Role == grammar.Args && u.Word >= 0 {
			out = append(out, lr.a.field(u))
		}
	}
	for i := range lr.a.line.p.Stdin {
		if lr.a.line.p.Stdin[i].Role == grammar.Args {
			out = append(out, wordsOf(lr.a.std)...)
		}
	}
	if isParallel(lr.a.line.p.Program.Name) {
		out = append(out, lr.fromLists()...)
	}
	return out
}

// each runs a command line with words that are added to it: each in the place of {}, or all
// at its end.
func (lr *listRunner) each(d data, args []field, out *data) {
	if !strings.Contains(d.text, "{}") {
		for _, f := range args {
			d.text += " " + quote(f.text)
			d.taint |= f.taint
		}
		lr.a.in.payloads.script("sh", d, nil, lr.a.std, out, lr.a.line.by)
		return
	}
	for i, f := range args {
		if i >= lr.a.in.rep.lim.Rounds || lr.a.in.rep.stopped() {
			return
		}
		lr.a.in.payloads.script("sh", data{strings.ReplaceAll(d.text, "{}", quote(f.text)), d.taint | f.taint}, nil, lr.a.std, out, lr.a.line.by)
	}
}

// sql walks what a database client is told.
func (a *applied) sql(dialect string, d data) {
	in := a.in
	if !d.known() {
		in.add(effect.Effect{Kind: effect.Exec, Target: "sql", Taint: d.taint, Bits: effect.Partial, By: a.line.by})
	}
	if in.SQL == nil {
		return
	}
	in.SQL(dialect, d.text, func(f Found) bool {
		if f.Shell != "" {
			in.separately(false, func() { in.payloads.sub(data{f.Shell, f.Taint | d.taint}, a.line.by, &input{}, nil) })
			return !in.rep.stopped()
		}
		e := f.Effect
		e.By, e.Taint = a.line.by, e.Taint|d.taint
		if e.Kind == effect.Write && strings.HasPrefix(a.line.p.Program.Name, "sqlite") {
			in.fs.write(in.fs.expandHome(e.Target), data{effect.Unknown, e.Taint}, true)
		}
		in.add(e)
		return !in.rep.stopped()
	})
}
