package places

import (
	"slices"
	"strings"
)

// This file finds credentials that a program reads from its standard input.

// A pipeline is what is known of the commands before one that reads from them.
type pipeline struct {
	to, depth int
	open      int    // groups that are open: their commands write to one reader
	piped     bool   // the command that comes reads what those before it write
	writes    []Span // what they write
	words     []word // of the command at hand
	sudo      string // how sudo reads a password from it, of the command at hand
}

// after says what stands behind a command.
func (p *pipeline) after(by string) {
	switch by {
	case "|", "|&":
		p.piped = true
		return
	case "(":
		p.open++
	case ")":
		p.open = max(p.open-1, 0)
		return
	}
	if p.piped = false; p.open <= 0 && by != "(" {
		p.writes = nil
	}
}

// passers are the programs that write what they read, perhaps in another form.
var passers = map[string]bool{"cat": true, "base64": true, "tr": true, "head": true, "tail": true, "cut": true, "xxd": true}

// stdin notes what a command writes for the next, and adds the place for what it reads.
// how says what of it is the credential, or names the flag with which it reads one.
func (l *lexer) stdin(name, how string, given []word, p *pipeline) {
	here := append(hereTexts(l.text, p.words, p), l.files.read(redirects(l.text, p.words, "<"))...)
	writes := redirects(l.text, p.words, ">")
	if p.sudo != "" {
		p.writes, p.piped = append(p.writes, here...), p.piped || len(here) > 0
		l.fed(p, p.sudo)
		return
	}
	switch {
	case name == "echo" || name == "printf" || name == "yes":
		if len(writes) > 0 {
			l.files.write(writes, literals(l.text, given))
		}
		p.writes = append(p.writes, echoed(l.text, given)...)
	case name == "tee":
		l.files.write(operandsOf(l.text, given), p.writes)
		p.writes = likely(p.writes)
	case name == "cat" && len(writes) > 0:
		l.files.write(writes, append(here, p.writes...))
		p.writes = nil
	case passers[name] && slices.ContainsFunc(given, func(w word) bool { return strings.Contains(l.text[w.from:w.to], ">") }):
		p.writes = nil // it goes into a file, which may run
	case passers[name]:
		p.writes = append(append(p.writes, here...), l.files.read(operandsOf(l.text, given))...)
	case printers[name]:
		p.writes = append(likely(p.writes), scripted(l.text, given)...)
	case name == "rev" || name == "tac" || name == "sort":
		p.writes = likely(append(p.writes, here...))
	case how == "" || strings.HasPrefix(how, "-") && !givesFlag(l.text, given, how):
		p.writes = nil
	default:
		p.writes = append(p.writes, here...)
		p.piped = p.piped || len(here) > 0
		kind := "secret"
		if !strings.HasPrefix(how, "-") {
			kind = how
		}
		l.fed(p, kind)
	}
}

// fed adds the places of what a reader of credentials is given.
func (l *lexer) fed(p *pipeline, kind string) {
	if p.piped {
		for _, s := range p.writes {
			depth := p.depth
			if s.Kind == Unclear {
				depth = 1
			}
			since := len(l.spans)
			text := l.text[s.From:s.To]
			if isAnswer(text) {
				continue
			}
			kind := kind
			if s.field != "" {
				kind = "likely"
			}
			if kind != "likely" || !strings.ContainsAny(text, " \t\\") {
				l.value(kind, text, s.From, depth)
			}
			l.byPosition(since)
		}
	}
	p.writes = nil
}

// isAnswer reports the answer to a question, such as whether to wipe a disk.
func isAnswer(text string) bool {
	switch strings.ToLower(text) {
	case "y", "yes", "n", "no", "ok", "true", "false":
		return true
	}
	return false
}

// has reports whether a flag is given.
func givesFlag(src string, given []word, flag string) bool {
	for _, w := range given {
		text, _ := w.bare(src)
		if text == flag || strings.HasPrefix(text, flag+"=") {
			return true
		}
	}
	return false
}

// echoed is what echo or printf writes, if it goes nowhere else.
func echoed(src string, given []word) (out []Span) {
	if slices.ContainsFunc(given, func(w word) bool { return strings.Contains(src[w.from:w.to], ">") }) {
		return nil
	}
	return literals(src, given)
}

// said is what echo or printf is given.
func literals(src string, given []word) (out []Span) {
	for _, w := range given {
		text, at := w.bare(src)
		switch {
		case strings.Contains(text, ">"):
			if n := strings.IndexByte(text, '>'); at == w.from && strings.Trim(text[:n], "0123456789") != "" {
				out = append(out, Span{From: at, To: at + n, Kind: Credential})
			}
			return out
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "%"):
			continue
		}
		out = append(out, Span{From: at, To: at + len(strings.TrimSuffix(text, `\n`)), Kind: Credential})
	}
	return out
}

// here is what a command reads from its own text: behind <<<, or in the one line of a
// document behind <<.
func hereTexts(src string, given []word, p *pipeline) (out []Span) {
	for i, w := range given {
		text := src[w.from:w.to]
		switch {
		case text == "<<<" && i+1 < len(given):
			value, at := given[i+1].bare(src)
			out = append(out, Span{From: at, To: at + len(value), Kind: Credential})
		case strings.HasPrefix(text, "<<<"):
			value, at := word{w.from + 3, w.to}.bare(src)
			out = append(out, Span{From: at, To: at + len(value), Kind: Credential})
		case strings.HasPrefix(text, "<<"):
			tag := strings.Trim(text[2:], "-'\"\\")
			if tag == "" && i+1 < len(given) {
				tag, _ = given[i+1].bare(src)
			}
			if s, ok := document(src, w.to, p.to, tag); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// document is the one line behind a place, if the next is the tag. Whether a shell would
// take it for a document is not certain.
func document(src string, from, to int, tag string) (Span, bool) {
	_, rest, found := strings.Cut(src[from:to], "\n")
	line, after, more := strings.Cut(rest, "\n")
	end, _, _ := strings.Cut(after, "\n")
	if !found || !more || tag == "" || strings.TrimLeft(end, "\t") != tag || strings.ContainsAny(line, " \t;&|<>()") {
		return Span{}, false
	}
	at := to - len(rest)
	return Span{From: at, To: at + len(line), Kind: Unclear}, true
}

// printed is what the commands of a stretch write, as far as it is in sight.
func (l *lexer) printed(from, to int) []Span {
	if l.nested >= maxNested || l.left < 0 {
		return nil
	}
	files := l.files
	if len(files) == 0 { // what these commands write is not read outside
		files = writtenFiles{}
	}
	sub := &lexer{text: l.text, left: l.left, prints: true, nested: l.nested + 1, files: files}
	sub.lex(from, to, 0)
	l.left = sub.left
	return slices.DeleteFunc(sub.out, func(s Span) bool { return s.From >= s.To })
}
