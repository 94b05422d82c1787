package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// special marks the bytes for which a literal is not itself.
var special = func() (t [256]bool) {
	for _, c := range []byte("\\{*?[~") {
		t[c] = true
	}
	return t
}()

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if special[s[i]] {
			return false
		}
	}
	return true
}

// expand pushes the fields of the words.
func (in *interp) expand(words []*syntax.Word) {
	for _, w := range words {
		if in.rep.stopped() {
			return
		}
		in.word(w)
	}
}

// word pushes the fields of one word.
func (in *interp) word(w *syntax.Word) {
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			if plain(p.Value) {
				in.push(field{data: data{text: p.Value}})
				return
			}
		case *syntax.SglQuoted:
			if !p.Dollar {
				in.push(field{data: data{text: p.Value}, quoted: true})
				return
			}
		}
	}
	if hasBrace(w) {
		mark := len(in.fields)
		for _, b := range in.braces(w) {
			in.parts(b)
		}
		if mark < len(in.fields) {
			in.fields[mark].odd |= BracedName
		}
		return
	}
	in.parts(w)
}

func (in *interp) push(f field) {
	if len(in.fields) >= in.rep.lim.Fields {
		in.rep.over("words")
		return
	}
	in.fields = append(in.fields, f)
}

// pushAll is push for the words of a command in a command. Such commands nest, and each
// holds its words again.
func (in *interp) pushAll(list []field) {
	if room := max(in.rep.lim.Fields-len(in.fields), 0); len(list) > room {
		in.rep.over("words")
		list = list[:room]
	}
	if cap(in.fields)-len(in.fields) < len(list) {
		in.fields = slices.Grow(in.fields, max(len(list), len(in.fields)))
	}
	in.fields = append(in.fields, list...)
}

// A builder makes the fields of one word.
type builder struct {
	in    *interp
	start int // in in.buf
	field
	any   bool // the field exists even if it is empty
	stays bool // the value that is added is something, even if it is not known: ${X:?}, $$
	place bool // the value that is added is where something is
	// Some of what is not known is no variable of the environment.
	foreign bool
	joins   bool // it has more than one part
}

func (b *builder) text(s string, quoted bool) {
	if b.in.rep.made(len(s)) {
		b.in.buf = append(b.in.buf, s...)
		b.any = b.any || quoted || s != ""
		b.quoted = b.quoted || quoted
	}
}

// flush ends a field.
func (b *builder) flush() {
	if b.any {
		b.field.text = b.in.arena.keep(b.in.buf[b.start:])
		if b.in.omits == omitsParts && b.hollow && strings.Trim(b.field.text, effect.Unknown) != "" {
			b.field.text, b.splits = strings.ReplaceAll(b.field.text, effect.Unknown, ""), false
		}
		b.in.push(b.field)
	}
	b.in.buf = b.in.buf[:b.start]
	b.field, b.any, b.foreign = field{}, false, false
}

// value adds what an expansion gave, split at IFS unless it is quoted.
func (b *builder) value(d data, quoted bool) {
	b.taint |= d.taint
	if !d.known() {
		b.foreign = b.foreign || !b.place
		b.inherits = !b.foreign
		b.based = b.based || b.place && len(b.in.buf) == b.start && d.text == effect.Unknown
		b.filled = b.filled || b.stays && len(b.in.buf) == b.start && d.text == effect.Unknown
		if b.hollow = b.hollow || !b.stays; !b.stays {
			d = b.in.omitted(d)
		}
	}
	if quoted {
		b.text(d.text, true)
		return
	}
	if !d.known() {
		b.splits = true
		b.strange = b.strange || !b.place
	}
	bare := isOneWord(d.text)
	if !bare && strings.ContainsAny(d.text, "*?[") {
		b.glob = true
	}
	ifs := b.in.ifsOf(d.text)
	b.shaken = b.shaken || d.known() && b.in.tearsUp(d.text)
	if bare && ifs == usualIFS || !strings.ContainsAny(d.text, ifs) {
		b.text(d.text, false)
		return
	}
	rest, taint := d.text, b.taint
	for rest != "" {
		i := strings.IndexAny(rest, ifs)
		if i < 0 {
			b.text(rest, false)
			return
		}
		if i > 0 {
			b.text(rest[:i], false)
		}
		splits, odd, hollow, strange, foreign := b.splits, b.odd, b.hollow, b.strange, b.foreign
		b.flush()
		b.odd, b.hollow, b.strange, b.foreign = odd&Separator, hollow, strange, foreign
		b.inherits = !foreign
		b.taint, b.splits = taint, splits && !effect.IsKnown(rest[i+1:])
		rest = rest[i+1:]
		b.glob = strings.ContainsAny(rest, "*?[")
	}
}

// parts pushes the fields of a word without braces.
func (in *interp) parts(w *syntax.Word) {
	b := builder{in: in, start: len(in.buf), joins: len(w.Parts) > 1}
	first, before := len(in.fields), false
	for i := 0; i < len(w.Parts); i++ {
		part := w.Parts[i]
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && strings.HasPrefix(lit.Value, "~") {
			in.tilde(&b, lit.Value)
			continue
		}
		if d, rest, ok := in.subscript(w.Parts, i); ok {
			b.value(d, false)
			in.literal(&b, rest)
			i++
			continue
		}
		n, value := len(in.buf), isValue(part)
		in.part(&b, part, false)
		if b.seam(n, value, before) {
			b.odd |= GluedName
		}
		before = value
	}
	how := written(w)
	b.odd |= how
	b.flush()
	if how != 0 && first < len(in.fields) {
		in.fields[first].odd |= how
	}
}

// tilde expands a word that begins with it.
func (in *interp) tilde(b *builder, s string) {
	user, rest, _ := strings.Cut(s[1:], "/")
	slash := ""
	if len(user)+1 < len(s) {
		slash = "/"
	}
	if isStackNumber(user) {
		b.text(in.stack(user).text, true)
		b.quoted = false
		in.literal(b, slash+rest)
		return
	}
	switch user {
	case "":
		home := in.value("HOME")
		b.taint |= home.taint
		b.text(home.text, true)
	case "+":
		b.text(in.cwd.dir, true)
	case "-":
		b.text(effect.Unknown, true)
	case "root":
		b.text("/root", true)
	default:
		b.text("/home/"+user, true)
	}
	b.quoted = false
	in.literal(b, slash+rest)
}

// literal adds an unquoted literal.
func (in *interp) literal(b *builder, s string) {
	if plain(s) {
		b.text(s, false)
		return
	}
	mark := len(in.buf)
	in.buf = unescape(in.buf, s)
	if in.rep.made(len(in.buf) - mark) {
		b.any = true
	}
	// A backslash before a star takes its meaning away; one that stays has it.
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if s[i] == '*' || s[i] == '?' || s[i] == '[' {
			b.glob = true
			return
		}
	}
}

// part adds one part of a word.
func (in *interp) part(b *builder, part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			mark := len(in.buf)
			in.buf = unescapeDouble(in.buf, p.Value)
			if in.rep.made(len(in.buf) - mark) {
				b.any, b.quoted = true, true
			}
			return
		}
		in.literal(b, p.Value)
	case *syntax.SglQuoted:
		if !p.Dollar {
			b.text(p.Value, true)
			return
		}
		mark := len(in.buf)
		in.buf, _ = ansiC(in.buf, p.Value, false)
		if i := strings.IndexByte(string(in.buf[mark:]), 0); i >= 0 {
			in.buf = in.buf[:mark+i] // bash ends the word's part there
		}
		if in.rep.made(len(in.buf) - mark) {
			b.any, b.quoted = true, true
		}
	case *syntax.DblQuoted:
		b.any, b.quoted = b.any || !onlyAt(p), true
		b.joins = b.joins || len(p.Parts) > 1
		before := false
		for i := 0; i < len(p.Parts); i++ {
			inner := p.Parts[i]
			if d, rest, ok := in.subscript(p.Parts, i); ok {
				b.value(d, true)
				b.text(rest, true)
				i++
				continue
			}
			n, value := len(in.buf), isValue(inner)
			in.part(b, inner, true)
			if b.seam(n, value, before) {
				b.odd |= GluedName
			}
			before = value
		}
	case *syntax.ParamExp:
		in.param(b, p, quoted)
	case *syntax.CmdSubst:
		omits := in.omits
		if omits == omitsParts && b.joins { // all of it is a part of this word
			in.omits = omitsAll
		}
		d := in.substitution(p.Stmts)
		in.omits = omits
		if d.text != "" && d.known() && !strings.Contains(d.text, "/") && !looksUp(p.Stmts) {
			b.odd |= ComputedName
		}
		if d.text == effect.Unknown && b.start == len(in.buf) {
			b.folder = in.asked(p.Stmts)
		}
		b.setup = b.start == len(in.buf) && d.text == effect.Unknown && in.setsUp(p.Stmts)
		b.place = !d.known() && in.asksPlace(p.Stmts)
		b.branch = d.text == effect.Unknown && b.start == len(in.buf) && in.asksBranch(p.Stmts)
		b.value(d, quoted)
		b.place = false
	case *syntax.ArithmExp:
		b.stays, b.place = true, true
		b.value(in.arithmetic(p.X), quoted)
		b.stays, b.place = false, false
	case *syntax.ProcSubst:
		b.text(in.process(p), true)
	case *syntax.ExtGlob:
		in.hidden(p.Pattern.Value)
		b.text(p.Op.String()+p.Pattern.Value+")", false)
		b.glob = true
	default:
		b.value(unknown, quoted)
	}
}

// onlyAt reports whether a quoted word is "$@" alone, which may be no word.
func onlyAt(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && (p.Param.Value == "@" || isAll(p.Index))
}

func isAll(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return ok && w.Lit() == "@"
}

// one expands a word to one text, as on the right of = and after <<<.
func (in *interp) one(w *syntax.Word) data {
	if w == nil {
		return data{}
	}
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && plain(lit.Value) {
			return data{text: lit.Value}
		}
	}
	b := builder{in: in, start: len(in.buf)}
	mark := len(in.fields)
	for i, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case ok && i == 0 && strings.HasPrefix(lit.Value, "~"):
			in.tilde(&b, lit.Value)
		case ok:
			in.literal(&b, lit.Value)
		default:
			in.part(&b, part, true)
		}
	}
	text, taint := in.arena.keep(in.buf[b.start:]), b.taint
	in.buf = in.buf[:b.start]
	for i := len(in.fields) - 1; i >= mark; i-- { // "$@" made fields of its own
		text, taint = in.fields[i].text+" "+text, taint|in.fields[i].taint
	}
	in.fields = in.fields[:mark]
	return data{text, taint}
}

// substitution runs a command substitution.
func (in *interp) substitution(stmts []*syntax.Stmt) data {
	var out data
	if !in.rep.spend() {
		return unknown
	}
	if in.rep.level++; in.rep.level > 64 {
		in.rep.over(overDepth)
	}
	s := in.enter()
	was := in.plumbed()
	std := in.stdin
	in.fds[1] = ""
	if std == nil {
		std = &input{}
	}
	iterates := in.iterates
	in.iterates = false
	if in.alt.choose && len(stmts) == 1 && flat(stmts[0]) { // what it chooses, the command that it is part of chooses
		shared := in.alt.shared
		in.alt.shared = true
		in.stmts(stmts, std, &out)
		in.alt.shared = shared
	} else {
		in.nested(stmts, std, &out)
	}
	in.leave(s)
	in.replumb(&was)
	in.iterates = iterates
	in.rep.level--
	out.text = strings.TrimRight(out.text, "\n")
	return in.eitherSpoken(out)
}

// nested walks statements inside the expansion of a command: its choices stay.
func (in *interp) nested(stmts []*syntax.Stmt, std *input, sink *data) {
	outer := in.alt.setAside()
	in.stmts(stmts, std, sink)
	in.alt.selection = outer
}

// process makes the path that stands for a process substitution.
func (in *interp) process(p *syntax.ProcSubst) string {
	in.procs++
	name := "/dev/fd/" + strconv.Itoa(62+in.procs)
	if p.Op == syntax.CmdOut {
		in.files = append(in.files, virtual{path: name, sink: p.Stmts, src: p, to: in.stdout})
		return name
	}
	d := in.substitution(p.Stmts)
	in.files = append(in.files, virtual{path: name, data: d, src: p})
	return name
}
