package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// expand pushes the fields of the words.
func (ex *expander) expand(words []*syntax.Word) {
	for _, w := range words {
		if ex.in.rep.stopped() {
			return
		}
		ex.expandWord(w)
	}
}

// expandWord pushes the fields of one word.
func (ex *expander) expandWord(w *syntax.Word) {
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			if isLiteral(p.Value) {
				ex.push(field{data: data{text: p.Value}})
				return
			}
		case *syntax.SglQuoted:
			if !p.Dollar {
				ex.push(field{data: data{text: p.Value}, quoted: true})
				return
			}
		}
	}
	if hasBrace(w) {
		mark := len(ex.fields)
		for _, b := range ex.braces(w) {
			ex.expandParts(b)
		}
		if mark < len(ex.fields) {
			ex.fields[mark].odd |= BracedName
		}
		return
	}
	ex.expandParts(w)
}

// expandParts pushes the fields of a word without braces.
func (ex *expander) expandParts(w *syntax.Word) {
	b := builder{in: ex.in, start: len(ex.buf), joins: len(w.Parts) > 1}
	first, parts := len(ex.fields), w.Parts
	if len(parts) > 0 {
		if lit, ok := parts[0].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "~") {
			ex.tilde(&b, lit.Value)
			parts = parts[1:]
		}
	}
	ex.sideBySide(&b, parts, false)
	how := writtenOddly(w)
	b.odd |= how
	b.flush()
	if how != 0 && first < len(ex.fields) {
		ex.fields[first].odd |= how
	}
}

// sideBySide adds the parts of a word, and notes if they form a name together.
func (ex *expander) sideBySide(b *builder, parts []syntax.WordPart, quoted bool) {
	before := false
	for i := 0; i < len(parts); i++ {
		if d, rest, ok := ex.in.par.subscript(parts, i); ok {
			b.addValue(d, quoted)
			if quoted {
				b.addText(rest, true)
			} else {
				ex.literal(b, rest)
			}
			i++
			continue
		}
		n, value := len(ex.buf), isValue(parts[i])
		ex.expandPart(b, parts[i], quoted)
		if b.seam(n, value, before) {
			b.odd |= GluedName
		}
		before = value
	}
}

// tilde expands a word that begins with a tilde.
func (ex *expander) tilde(b *builder, s string) {
	user, _, _ := strings.Cut(s[1:], "/")
	folder := ""
	switch {
	case isStackNumber(user):
		folder = ex.in.dirs.stack(user).text
	case user == "":
		home := ex.in.par.valueOf("HOME")
		b.taint |= home.taint
		folder = home.text
	case user == "+":
		folder = ex.in.cwd.dir
	case user == "-":
		folder = effect.Unknown
	case user == "root":
		folder = "/root"
	default:
		folder = "/home/" + user
	}
	b.addText(folder, true)
	b.quoted = false
	ex.literal(b, s[1+len(user):])
}

// literal adds an unquoted literal.
func (ex *expander) literal(b *builder, s string) {
	if inside, ok := strings.CutPrefix(s, "("); ok {
		ex.qualified(strings.TrimSuffix(inside, ")"))
	}
	if isLiteral(s) {
		b.addText(s, false)
		return
	}
	mark := len(ex.buf)
	ex.buf = unescape(ex.buf, s, "")
	if ex.in.rep.made(len(ex.buf) - mark) {
		b.any = true
	}
	// An escaped star is literal; an unescaped one makes a pattern.
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

// expandPart adds one part of a word.
func (ex *expander) expandPart(b *builder, part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			mark := len(ex.buf)
			ex.buf = unescape(ex.buf, p.Value, inQuotes)
			if ex.in.rep.made(len(ex.buf) - mark) {
				b.any, b.quoted = true, true
			}
			return
		}
		ex.literal(b, p.Value)
	case *syntax.SglQuoted:
		if !p.Dollar {
			b.addText(p.Value, true)
			return
		}
		mark := len(ex.buf)
		ex.buf, _ = ansiC(ex.buf, p.Value, false)
		if i := strings.IndexByte(string(ex.buf[mark:]), 0); i >= 0 {
			ex.buf = ex.buf[:mark+i] // bash ends this part of the word at a null byte
		}
		if ex.in.rep.made(len(ex.buf) - mark) {
			b.any, b.quoted = true, true
		}
	case *syntax.DblQuoted:
		b.any, b.quoted = b.any || !onlyAt(p), true
		b.joins = b.joins || len(p.Parts) > 1
		ex.sideBySide(b, p.Parts, true)
	case *syntax.ParamExp:
		ex.paramExpansion(b, p, quoted)
	case *syntax.CmdSubst:
		omits := ex.in.readings.omits
		if omits == omitsParts && b.joins { // its whole output is part of this word
			ex.in.readings.omits = omitsAll
		}
		d := ex.substitution(p.Stmts)
		ex.in.readings.omits = omits
		if d.text != "" && d.known() && !strings.Contains(d.text, "/") && !looksUp(p.Stmts) {
			b.odd |= ComputedName
		}
		if d.text == effect.Unknown && b.start == len(ex.buf) {
			b.folder = ex.in.def.asked(p.Stmts)
		}
		b.setup = b.start == len(ex.buf) && d.text == effect.Unknown && ex.in.def.setsUp(p.Stmts)
		b.place = !d.known() && ex.in.def.asksPlace(p.Stmts)
		b.branch = d.text == effect.Unknown && b.start == len(ex.buf) && ex.in.def.asksBranch(p.Stmts)
		b.box = d.text == effect.Unknown && b.start == len(ex.buf) && ex.in.def.makesBox(p.Stmts)
		if name := ex.in.def.asksProgram(p.Stmts); name != "" && d.text == effect.Unknown {
			d.text, b.place = effect.Unknown+"/"+name, true
		}
		b.stays = b.place && alwaysPrints(p.Stmts)
		b.addValue(d, quoted)
		b.stays, b.place = false, false
	case *syntax.ArithmExp:
		b.stays, b.place = true, true
		b.addValue(ex.in.math.evaluate(p.X), quoted)
		b.stays, b.place = false, false
	case *syntax.ProcSubst:
		b.addText(ex.process(p), true)
	case *syntax.ExtGlob:
		ex.hidden(p.Pattern.Value)
		ex.qualified(p.Pattern.Value)
		b.addText(p.Op.String()+p.Pattern.Value+")", false)
		b.glob = true
	default:
		b.addValue(unknown, quoted)
	}
}

// onlyAt reports whether a quoted word is only "$@" or "${name[@]}", which may expand to no word.
func onlyAt(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	if !ok || p.Param == nil {
		return false
	}
	index, ok := p.Index.(*syntax.Word)
	return p.Param.Value == "@" || ok && index.Lit() == "@"
}

// oneWord expands a word to one text, as on the right of = and after <<<.
func (ex *expander) oneWord(w *syntax.Word) data {
	if w == nil {
		return data{}
	}
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && isLiteral(lit.Value) {
			return data{text: lit.Value}
		}
	}
	b := builder{in: ex.in, start: len(ex.buf)}
	mark := len(ex.fields)
	for i, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case ok && i == 0 && strings.HasPrefix(lit.Value, "~"):
			ex.tilde(&b, lit.Value)
		case ok:
			ex.literal(&b, lit.Value)
		default:
			ex.expandPart(&b, part, true)
		}
	}
	d := data{ex.in.arena.keep(ex.buf[b.start:]), b.taint}
	ex.buf = ex.buf[:b.start]
	if len(ex.fields) > mark { // "$@" pushed separate fields
		d = join(append(dataOf(ex.fields[mark:]), d), " ")
	}
	ex.fields = ex.fields[:mark]
	return d
}

// substitution runs a command substitution.
func (ex *expander) substitution(stmts []*syntax.Stmt) data {
	var out data
	if !ex.in.rep.spend() {
		return unknown
	}
	if ex.in.rep.level++; ex.in.rep.level > 64 {
		ex.in.rep.over(overDepth)
	}
	std := ex.in.io.stdin
	if std == nil {
		std = &input{}
	}
	iterates := ex.in.par.iterates
	ex.in.par.iterates = false
	ex.in.subshell(func() {
		ex.in.io.fds[1] = ""
		if ex.in.alt.choose && len(stmts) == 1 && flat(stmts[0]) { // its choices are those of the enclosing command
			shared := ex.in.alt.shared
			ex.in.alt.shared = true
			ex.in.walkStmts(stmts, std, &out)
			ex.in.alt.shared = shared
		} else {
			ex.nested(stmts, std, &out)
		}
	})
	ex.in.par.iterates = iterates
	ex.in.rep.level--
	out.text = strings.TrimRight(out.text, "\n")
	return ex.in.echoes.eitherSpoken(out)
}

// process returns the path that stands for a process substitution.
func (ex *expander) process(p *syntax.ProcSubst) string {
	ex.in.fs.procs++
	name := "/dev/fd/" + strconv.Itoa(62+ex.in.fs.procs)
	if p.Op == syntax.CmdOut {
		ex.in.fs.list = append(ex.in.fs.list, virtual{path: name, sink: p.Stmts, src: p, to: ex.in.io.stdout})
		return name
	}
	d := ex.substitution(p.Stmts)
	ex.in.fs.list = append(ex.in.fs.list, virtual{path: name, data: d, src: p})
	return name
}

// addValue adds the value of an expansion, split at IFS unless it is quoted.
func (b *builder) addValue(d data, quoted bool) {
	b.taint |= d.taint
	if !d.known() {
		b.foreign = b.foreign || !b.place || b.in.vars.clobbered
		b.inherits = !b.foreign
		b.based = b.based || b.place && len(b.in.exp.buf) == b.start && d.text == effect.Unknown
		b.filled = b.filled || b.stays && len(b.in.exp.buf) == b.start && d.text == effect.Unknown
		if b.hollow = b.hollow || !b.stays; !b.stays {
			d = b.in.readings.omitted(d)
		}
	}
	if quoted {
		b.addText(d.text, true)
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
	ifs := b.in.par.ifsOf(d.text)
	b.clobbered = b.clobbered || d.known() && b.in.par.tearsUp(d.text)
	if bare && ifs == usualIFS || !strings.ContainsAny(d.text, ifs) {
		b.addText(d.text, false)
		return
	}
	rest, taint := d.text, b.taint
	// Where the last of these are, counted from the end: a search in each rest would take quadratic time.
	globs := len(rest) - strings.LastIndexAny(rest, "*?[")
	unknowns := len(rest) - strings.LastIndex(rest, effect.Unknown)
	for rest != "" && !b.in.rep.stopped() {
		i := strings.IndexAny(rest, ifs)
		if i < 0 {
			b.addText(rest, false)
			return
		}
		if i > 0 {
			b.addText(rest[:i], false)
		}
		splits, odd, hollow, strange, foreign := b.splits, b.odd, b.hollow, b.strange, b.foreign
		b.flush()
		b.odd, b.hollow, b.strange, b.foreign = odd&Separator, hollow, strange, foreign
		b.inherits = !foreign
		rest = rest[i+1:]
		b.taint, b.splits = taint, splits && len(rest) >= unknowns
		b.glob = len(rest) >= globs
	}
}

// hasBrace reports whether a word has an unquoted {.
func hasBrace(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return ok && strings.IndexByte(lit.Value, '{') >= 0
	})
}

// braces expands {a,b} and {1..3}.
func (ex *expander) braces(w *syntax.Word) []*syntax.Word {
	split := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(split)
	var out []*syntax.Word
	ex.brace(split.Parts, nil, func(parts []syntax.WordPart) {
		out = append(out, &syntax.Word{Parts: append([]syntax.WordPart(nil), parts...)})
	})
	return out
}
