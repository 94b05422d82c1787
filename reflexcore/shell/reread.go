package shell

import (
	"fmt"
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// The parser reads some texts differently from bash, and what it takes for a comment or for
// quoted text is never walked. Such a text is rewritten so that the parser reads what bash reads,
// and parsed again. If it cannot be rewritten, the call becomes a question.

// maxReread is how often one text is rewritten.
const maxReread = 16

// differs reports whether bash may read the text differently from the parser. It is fast, and
// also true for many texts that are read alike.
func differs(src string) bool {
	if joinsLines(src) {
		return strings.IndexByte(src, '#') >= 0 || strings.Contains(src, "<<")
	}
	return expands(src) && brackets(src)
}

// joinsLines reports whether a text has a line that ends with a backslash.
func joinsLines(src string) bool {
	return strings.IndexByte(src, '\\') >= 0 && wordset.ContainsAny(src, "\\\n", "\\\r\n")
}

// brackets reports whether a text has a bracket whose content the parser may not parse, and after
// it something that runs a command or is quoted.
func brackets(src string) bool {
	at := -1
	for _, bracket := range [...]string{"${", "((", "["} {
		if i := strings.Index(src, bracket); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	rest := src[max(0, at-1):] // includes the dollar sign of $((
	return strings.IndexByte(rest, '\'') >= 0 || expands(rest)
}

// expands reports whether a text has a substitution that may run a command, or a $'…'.
func expands(s string) bool {
	return strings.IndexByte(s, '`') >= 0 ||
		strings.IndexByte(s, '(') >= 0 && (strings.Contains(s, "$(") || process(s) >= 0) ||
		strings.IndexByte(s, '$') >= 0 && strings.Contains(s, "$'")
}

// process returns the index of the first process substitution that is not escaped by a backslash,
// or -1.
func process(s string) int {
	if !strings.Contains(s, "<(") && !strings.Contains(s, ">(") { // the common case
		return -1
	}
	for i := 0; i+1 < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case (s[i] == '<' || s[i] == '>') && s[i+1] == '(':
			return i
		}
	}
	return -1
}

// An edit replaces src[from:to].
type edit struct {
	from, to int
	text     string
}

// reread rewrites and parses a text until bash and the parser agree on it. It reports whether
// part of it may still be read differently.
func reread(p *syntax.Parser, src string, file *syntax.File) (*syntax.File, bool) {
	if !differs(src) {
		return file, false
	}
	strange := false
	for range maxReread {
		r := rereader{src: src, whole: strings.Contains(src, "<<") || joinsLines(src)}
		r.documents(file)
		if len(r.edits) == 0 {
			r.comments(p)
		}
		if len(r.edits) == 0 {
			syntax.Walk(file, r.visit)
		}
		strange = strange || r.strange
		if len(r.edits) == 0 {
			return file, strange
		}
		src = apply(src, r.edits)
		again, err := tryParse(p, src)
		if err != nil {
			return file, true
		}
		file = again
	}
	return file, true
}

// apply applies edits, which are in order, and skips those that overlap an earlier one.
func apply(src string, edits []edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue
		}
		b.WriteString(src[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(src[at:])
	return b.String()
}

// A rereader finds what has to be rewritten.
type rereader struct {
	src     string
	edits   []edit
	strange bool
	whole   bool     // parts of a statement may be outside its span: a here-document, a joined line
	around  []around // the enclosing nodes of the visited node
}

// An around describes what encloses a node.
type around struct {
	node  syntax.Node
	lit   bool // single quotes are literal here: "${x:-'…'}", $(('…'))
	quote bool // in double quotes or in a here-document
	param bool // in the operator of ${…}, or in an arithmetic expression
}

// span returns the range of a node in the text. ok is false if that range is empty or too long.
func (r *rereader) span(n syntax.Node) (from, to int, ok bool) {
	from, to = int(n.Pos().Offset()), int(n.End().Offset())
	return from, to, from < to && to <= len(r.src)
}

// documents joins the continued lines of here-documents, as bash does before it looks for the
// delimiter.
func (r *rereader) documents(file *syntax.File) {
	if !strings.Contains(r.src, "<<") || strings.IndexByte(r.src, '\\') < 0 {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		d, ok := n.(*syntax.Redirect)
		if !ok || d.Hdoc == nil || literalDelimiter(d.Word) {
			return true
		}
		from, to, ok := r.span(d.Hdoc)
		if !ok {
			return true
		}
		for from > 2 && r.src[from-2:from] == "\\\n" { // the parser skips these at the start of the document
			from -= 2
		}
		for i := from; i+1 < to; i++ {
			if r.src[i] != '\\' {
				continue
			}
			if r.src[i+1] == '\n' {
				r.edits = append(r.edits, edit{from: i, to: i + 2})
			}
			i++
		}
		return false
	})
}

// literalDelimiter reports whether the delimiter of a here-document is quoted, at least in part,
// so that nothing in the document is expanded.
func literalDelimiter(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, "\\") {
				return true
			}
		}
	}
	return false
}

// comments removes the backslash at the end of a line with a comment. To bash it is part of the
// comment, but the parser continues the comment on the next line.
func (r *rereader) comments(p *syntax.Parser) {
	if strings.IndexByte(r.src, '#') < 0 || !joinsLines(r.src) {
		return
	}
	syntax.KeepComments(true)(p)
	file, err := tryParse(p, r.src)
	syntax.KeepComments(false)(p)
	if r.strange = err != nil; file == nil {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		c, ok := n.(*syntax.Comment)
		if !ok {
			return true
		}
		from := int(c.Hash.Offset())
		if from >= len(r.src) {
			return true
		}
		if line, _, ended := strings.Cut(r.src[from:], "\n"); ended {
			if line = strings.TrimSuffix(line, "\r"); strings.HasSuffix(line, `\`) {
				end := from + len(line)
				r.insert(edit{end - 1, end, " "})
			}
		}
		return true
	})
}

// uncommented removes the backslash at the end of each line that seems to have a comment. It is
// for a text that cannot be parsed as it is: the missing part may be on the next line.
func uncommented(src string) string {
	if !strings.Contains(src, "\\\n") || strings.IndexByte(src, '#') < 0 {
		return src
	}
	lines := strings.SplitAfter(src, "\n")
	for i, line := range lines {
		n := strings.IndexByte(line, '#')
		for n > 0 && strings.IndexByte(" \t;&|()`", line[n-1]) < 0 {
			next := strings.IndexByte(line[n+1:], '#')
			if next < 0 {
				n = -1
				break
			}
			n += 1 + next
		}
		if text, ok := strings.CutSuffix(line, "\\\n"); ok && n >= 0 {
			lines[i] = text + "\n"
		}
	}
	return strings.Join(lines, "")
}

// insert adds an edit in order of position: comments are not always visited in that order. It
// drops an edit at the position of an earlier one.
func (r *rereader) insert(e edit) {
	i, taken := slices.BinarySearchFunc(r.edits, e.from, func(have edit, from int) int { return have.from - from })
	if !taken {
		r.edits = slices.Insert(r.edits, i, e)
	}
}

// visit looks at one node of the tree.
func (r *rereader) visit(n syntax.Node) bool {
	if n == nil {
		r.around = r.around[:len(r.around)-1]
		return true
	}
	var a around
	if len(r.around) > 0 {
		a = r.around[len(r.around)-1]
	}
	outer := a.node
	a.node = n
	switch n := n.(type) {
	case *syntax.Stmt:
		if from, to, ok := r.span(n); ok && len(r.around) == 1 && !r.whole && !brackets(r.src[from:to]) {
			return false // the common case
		}
	case *syntax.CmdSubst, *syntax.ProcSubst:
		a = around{node: n}
	case *syntax.DblQuoted:
		a.quote = true
		a.lit = false
	case *syntax.Redirect:
		if n.Hdoc != nil {
			r.redirect(n, a)
			return false
		}
	case *syntax.ParamExp:
		a.lit = a.quote && n.Exp != nil && n.Exp.Op <= syntax.AssignUnsetOrNull || n.Slice != nil || n.Index != nil
		a.param = true
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
		a.lit, a.param = true, true
	case *syntax.SglQuoted:
		if a.lit {
			r.single(n)
		}
	case *syntax.Lit:
		r.literal(n, a, outer)
	}
	r.around = append(r.around, a)
	return true
}

// redirect visits a here-document, whose text is read as in double quotes.
func (r *rereader) redirect(d *syntax.Redirect, a around) {
	if literalDelimiter(d.Word) {
		return
	}
	a.quote = true
	held := r.around
	r.around = append(r.around, a)
	for _, part := range d.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			r.literal(lit, a, d.Hdoc)
			continue
		}
		syntax.Walk(part, r.visit)
	}
	r.around = held
}

// single rewrites a text in single quotes that are literal to bash.
func (r *rereader) single(q *syntax.SglQuoted) {
	from, to, ok := r.span(q)
	if !ok || !q.Dollar && !strings.ContainsAny(q.Value, "$`}\"") {
		return
	}
	if !q.Dollar {
		r.insert(edit{from, from + 1, `"'"`})
		if !strings.ContainsAny(q.Value, "}\"") {
			r.insert(edit{to - 1, to, `"'"`})
		}
		return
	}
	if text, _ := ansiC(nil, q.Value, false); expands(string(text)) {
		r.insert(edit{from, to, `"` + strings.ReplaceAll(string(text), `"`, `\"`) + `"`})
	}
}

// literal looks for substitutions in a text that the parser takes for a literal.
func (r *rereader) literal(l *syntax.Lit, a around, outer syntax.Node) {
	from, to, ok := r.span(l)
	if !ok || !expands(r.src[from:to]) {
		return
	}
	if _, ok := outer.(*syntax.ExtGlob); ok {
		return // the walk handles these
	}
	raw := r.src[from:to]
	for i := 0; i+1 < len(raw); i++ {
		switch c := raw[i]; {
		case c == '\\':
			i++
		case c == '`', c == '$' && raw[i+1] == '(':
			r.strange = true
		case (c == '<' || c == '>') && raw[i+1] == '(' && !a.quote:
			// Outside a parameter expansion, the parser recognizes it.
			r.strange = true
			if a.param {
				r.insert(edit{from + i, from + i + 1, "$"})
			}
		}
	}
}

// tryParse parses a text. It returns a panic of the parser as an error.
func tryParse(p *syntax.Parser, src string) (file *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	return p.Parse(strings.NewReader(src), "")
}
