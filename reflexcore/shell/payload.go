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
	if a.p.Dry && !strings.HasPrefix(a.p.Program.Name, "git") { // git --help runs a pager, push --dry-run an ssh
		return
	}
	held, unpassed := in.rep.bits, in.payloads.unpassed
	in.rep.bits |= u.Bits & effect.Remote
	in.payloads.unpassed = a.clears()
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

// after are the words behind the one of a use.
func (a *applied) after(u *grammar.Use) []field {
	from := min(a.mark+max(u.End, u.Word+1), len(a.in.exp.fields))
	to := min(a.mark+len(a.argv), len(a.in.exp.fields))
	if from >= to {
		return nil
	}
	return a.in.exp.fields[from:to]
}

// vector walks the words of a use as a command, with each list that xargs may read.
func (a *applied) vector(u *grammar.Use, out *data) {
	if u.Arg != "stdin" {
		a.vectorWith(u, nil, out)
		return
	}
	lists := a.lists()
	for i := range lists[1:] {
		a.in.separately(false, func() { a.vectorWith(u, &lists[i+1], out) })
	}
	a.vectorWith(u, &lists[0], out)
}

// vectorWith walks the words of a use as a command. For find's {} stands what was
// found; xargs adds its list.
func (a *applied) vectorWith(u *grammar.Use, list *input, out *data) {
	in := a.in
	mark, placed := len(in.exp.fields), false
	end := min(u.End, len(a.argv))
	var found []string
	held := in.rep.bits
	if u.Arg == "found" {
		found = a.found(u.Word - 1)
		if a.isFind() && slices.ContainsFunc(found, func(p string) bool { return strings.HasSuffix(p, "/"+effect.Unknown) || !in.fs.near(p) }) {
			in.rep.bits |= effect.Recursive // whatever is done is done to all that is there
		}
	}
	if found == nil && u.Word < end {
		in.exp.pushAll(in.exp.fields[a.mark+u.Word : a.mark+end])
	}
	for i := u.Word; i < end && found != nil; i++ {
		f := in.exp.fields[a.mark+i]
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
		a.appendInput(mark, list)
		in.readings.fed(mark)
	}
	for _, f := range a.added() {
		in.exp.push(f)
	}
	if len(in.exp.fields) > mark && strings.IndexByte(in.exp.fields[mark].text, ' ') >= 0 && !in.rep.stopped() && in.rep.level < in.rep.lim.Nesting {
		// No program has such a name: many of these hand their words to a shell.
		d := words(in.exp.fields[mark:])
		in.rep.level++
		in.separately(false, func() { in.payloads.sub(d, a.by, &input{}, nil) })
		in.rep.level--
	}
	if len(in.exp.fields) > mark && !in.rep.stopped() {
		via, homeless := in.via, in.agents.homeless
		in.via, in.agents.homeless = a.by, homeless || a.takesHome(u) || isolates[a.p.Program.Name]
		in.rep.level++
		if in.rep.level > in.rep.lim.Nesting {
			in.rep.over(overDepth)
		} else {
			in.separately(a.clears(), func() { in.run(mark, a.std, out, false) })
		}
		in.rep.level--
		in.via, in.agents.homeless = via, homeless
	}
	in.exp.fields, in.rep.bits = in.exp.fields[:mark], held
}

// module runs a module of Python, if it is not one that the table knows by its
// name: it is code of the module search path, and no program.
func (a *applied) module(u *grammar.Use, out *data) bool {
	in, f := a.in, a.in.exp.fields[a.mark+u.Word]
	f.text = u.Text
	if f.text == "" {
		f.text = a.argv[u.Word]
	}
	if in.Table.Module(f.text) {
		return false
	}
	if target := in.fs.abs(strings.ReplaceAll(f.text, ".", "/") + ".py"); in.fs.file(target) != nil {
		in.payloads.execute(data{target, f.taint}, "python", a.after(&grammar.Use{Word: u.Word}), a.std, out, a.by)
		return true
	}
	in.add(effect.Effect{Kind: effect.Exec, Target: f.text, What: "module", Taint: f.taint | a.std.taint, Bits: partialIf(!f.known()), By: a.by})
	in.payloads.saysDelete(a.after(&grammar.Use{Word: u.Word}), f.text)
	out.append(data{effect.Unknown, f.taint | a.std.taint})
	return true
}

// found are what find, or a program like it, would put in the place of {}. Action
// is the index of the word that asks for it.
func (a *applied) found(action int) []string {
	roots := a.roots()
	if !a.isFind() {
		roots = nil
		for i := range a.p.Uses {
			if u := &a.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 {
				roots = append(roots, a.path(u))
			}
		}
		if len(roots) == 0 {
			roots = append(roots, a.in.cwd.dir)
		}
	} else if list := a.reaches(action, roots...); list != nil {
		if i := slices.Index(list, empty); i < 0 {
			return list
		}
	}
	return []string{strings.TrimSuffix(ancestor(roots), "/") + "/" + effect.Unknown + a.named()}
}

// named is the name that find looks for.
func (a *applied) named() string {
	if i := slices.Index(a.argv, "-name"); i > 0 && i+1 < len(a.argv) && !strings.ContainsAny(a.argv[i+1], "*?[") && !slices.ContainsFunc(a.argv, func(w string) bool { return w == "-o" || w == "-or" || w == "!" || w == "-not" || w == "," }) {
		return "/" + a.argv[i+1]
	}
	return ""
}

// appendInput adds the words of a list, as xargs does.
func (a *applied) appendInput(mark int, std *input) {
	in := a.in
	placeholder := replaced(a.argv)
	words := []data{{effect.Unknown, std.taint}}
	if !std.known() && a.isList(std) {
		words = words[:0]
		for line := range strings.SplitSeq(strings.TrimSpace(std.text), "\n") {
			words = append(words, data{line, std.taint})
		}
	}
	if std.known() {
		words = words[:0]
		if a.lines() {
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
		if std.known() || a.isList(std) && strings.Count(strings.TrimSpace(std.text), "\n") == 0 {
			value = strings.TrimSpace(std.text)
		}
		if std.known() && !a.lines() {
			list := make([]data, 0, len(words))
			value = join(append(list, words...), "\n").text
		}
		done := false
		for i := mark; i < len(in.exp.fields); i++ {
			if strings.Contains(in.exp.fields[i].text, placeholder) {
				if in.exp.fields[i].text == placeholder && i > mark && in.exp.fields[i-1].text == "-c" {
					in.rep.odd(InputAsCode, a.by)
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
		in.rep.odd(InputAsCode, a.by)
	}
	for _, w := range words {
		in.exp.push(field{data: w, splits: !w.known()})
	}
}

// isList reports whether the standard input is paths, of each of which it is known
// where it begins, one a line.
func (a *applied) isList(std *input) bool {
	for line := range strings.Lines(std.text) {
		if line[0] != '/' || !strings.HasSuffix(line, "\n") {
			return false
		}
	}
	return std.text != "" && !slices.ContainsFunc(a.argv, func(w string) bool { return strings.HasPrefix(w, "-d") || strings.HasPrefix(w, "--delim") })
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
	in := a.in
	if a.p.Dry {
		return
	}
	if !a.std.present {
		if u.Role == grammar.Shell {
			// Nothing is written down of what a shell of its own will be told.
			in.add(effect.Effect{Kind: effect.Exec, Target: "a shell", What: "interactive", By: a.by})
		}
		return
	}
	held := in.rep.bits
	in.rep.bits |= u.Bits & effect.Remote
	switch u.Role {
	case grammar.Shell:
		var more data
		d := a.std.data
		if a.p.Program.Name == "fish" {
			d.text = fishText(d.text)
		}
		in.payloads.script(u.Arg, d, a.stdinArgs(), &input{}, &more, a.by+" (stdin)")
		if *out = more; a.traces() {
			out.append(unknown)
		}
	case grammar.Code:
		in.payloads.code(u.Arg, a.std.data, nil, &input{}, out, a.by+" (stdin)")
	case grammar.Exec: // not code, but it says what runs
		in.add(effect.Effect{Kind: effect.Exec, Target: u.Arg, Taint: a.std.taint, By: a.by})
	case grammar.Sql:
		if p := a.fedFile(); p != "" { // psql < x.sql does what psql -f x.sql does
			in.add(effect.Effect{Kind: effect.Exec, Target: p, Taint: a.std.taint, By: a.by})
			break
		}
		a.sql(u.Arg, a.std.data)
	case grammar.Persist:
		in.add(effect.Effect{Kind: effect.Persist, Target: u.Arg, Taint: a.std.taint, Bits: partialIf(!a.std.known()), By: a.by})
	default: // nothing for the others
	}
	in.rep.bits = held
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
		if a.p.Stdin[i].Role == grammar.Args {
			out = append(out, wordsOf(a.std)...)
		}
	}
	if isParallel(a.p.Program.Name) {
		out = append(out, a.fromLists()...)
	}
	return out
}

// each runs a command line with words that are added to it: each in the place of {}, or all
// at its end.
func (a *applied) each(d data, args []field, out *data) {
	if !strings.Contains(d.text, "{}") {
		for _, f := range args {
			d.text += " " + quote(f.text)
			d.taint |= f.taint
		}
		a.in.payloads.script("sh", d, nil, a.std, out, a.by)
		return
	}
	for i, f := range args {
		if i >= a.in.rep.lim.Rounds || a.in.rep.stopped() {
			return
		}
		a.in.payloads.script("sh", data{strings.ReplaceAll(d.text, "{}", quote(f.text)), d.taint | f.taint}, nil, a.std, out, a.by)
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
			in.separately(false, func() { in.payloads.sub(data{f.Shell, f.Taint | d.taint}, a.by, &input{}, nil) })
			return !in.rep.stopped()
		}
		e := f.Effect
		e.By, e.Taint = a.by, e.Taint|d.taint
		if e.Kind == effect.Write && strings.HasPrefix(a.p.Program.Name, "sqlite") {
			in.fs.write(in.fs.home(e.Target), data{effect.Unknown, e.Taint}, true)
		}
		in.add(e)
		return !in.rep.stopped()
	})
}
