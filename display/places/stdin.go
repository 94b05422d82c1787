package places

import (
	"slices"
	"strings"

	"approver.example/display/shape"
)

// This file finds credentials that a program reads from its standard input, or from a file that
// the text writes. The text in a file may also run, and the output of a program may be something
// else. So only text that looks like a secret is hidden there, and the card says so.

// passers are the programs that write what they read, possibly in another form.
var passers = shape.SetOf("cat base64 tr head tail cut xxd")

// stdin records what a command writes for the next one, and adds the places in what it reads. how
// says which part of the input is the credential, or is the flag with which the program reads one.
func (l *lexer) stdin(name, how string, given []word, p *pipeline) {
	here := append(hereTexts(l.text, p.words, p.to), l.files.read(redirects(l.text, p.words, "<"))...)
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
	case passers[name] && slices.ContainsFunc(given,
		func(w word) bool { return strings.Contains(l.text[w.from:w.to], ">") }):
		p.writes = nil // it is written into a file, which may run
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

// fed adds what a program reads from a pipe as places for credentials of a kind.
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

// isAnswer reports whether a text is the answer to a question, such as whether to wipe a disk.
func isAnswer(text string) bool {
	switch strings.ToLower(text) {
	case "y", "yes", "n", "no", "ok", "true", "false":
		return true
	}
	return false
}

// behindLoop gives the variables of a loop the input that is redirected after done.
func (l *lexer) behindLoop(given []word, p *pipeline) {
	values := append(hereTexts(l.text, given, p.to), l.files.read(redirects(l.text, given, "<"))...)
	if n := len(given); n > 0 && l.text[given[n-1].from:given[n-1].to] == "<" &&
		strings.HasPrefix(l.text[given[n-1].to:p.to], "(") {
		values = append(values, l.printed(given[n-1].to+1, p.to)...)
	}
	for _, name := range l.unread {
		l.bound[name] = append(l.bound[name], values...)
	}
	l.unread = nil
}

// binding records the values that a shell builtin gives to variables.
func (l *lexer) binding(name string, given []word, p *pipeline) {
	var names []string
	var values []Span
	for i, w := range given {
		text, at := w.bare(l.text)
		switch {
		case name == "read" || name == "mapfile" || name == "readarray":
			if shape.Identifier().MatchString(text) {
				names = append(names, text)
			}
			if open := strings.IndexByte(l.text[w.to:p.to], '('); text == "<" && i == len(given)-1 && open == 0 {
				values = append(values, l.printed(w.to+1, p.to)...)
			}
		case name == "printf" && len(given) > 2 && i == 1:
			names = append(names, text)
		case name == "printf" && i < 2:
			if l.text[given[0].from:given[0].to] != "-v" {
				return
			}
		case (name == "for" || name == "select") && i == 0:
			names = append(names, text)
		case (name == "for" || name == "select") && i == 1: // in
		case !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "%"):
			values = append(values, Span{From: at, To: at + len(text)})
		}
	}
	if name == "read" || name == "mapfile" || name == "readarray" {
		values = append(values, hereTexts(l.text, given, p.to)...)
		values = append(values, l.files.read(redirects(l.text, given, "<"))...)
		if len(values) == 0 && !p.piped { // the input may come after the loop
			l.unread = append(l.unread, names...)
		}
		if p.piped {
			values = append(values, p.writes...)
		}
	}
	for _, n := range names {
		l.bound[n] = append(l.bound[n], values...)
	}
}

// builtins are shell builtins and keywords that give values to variables.
var builtins = shape.SetOf("read mapfile readarray printf for select set")

// settings adds the places in text that curl reads as its settings, or expect as its script.
func (l *lexer) settings(name string, given []word, depth int) {
	pattern := expectSends
	switch {
	case name == "expect":
	case name == "curl" && (givesFlag(l.text, given, "-K") || givesFlag(l.text, given, "--config")):
		pattern = curlSetting
	default:
		return
	}
	for _, m := range pattern().FindAllStringSubmatchIndex(l.text, MaxWants) {
		l.add(Span{From: m[2], To: m[3], field: "password"}, max(depth, 1))
	}
}

// scripted returns what a script in the words prints, if the text shows it.
func scripted(src string, given []word) (out []Span) {
	for _, w := range given {
		for _, m := range printedText().FindAllStringSubmatchIndex(src[w.from:w.to], MaxWants) {
			s := Span{From: w.from + m[4], To: w.from + m[5]}
			if sign := m[2]; sign >= 0 { // the text ends at sed's sign
				text, _, _ := strings.Cut(src[s.From:s.To], src[w.from+sign:w.from+m[3]])
				s.To = s.From + len(text)
			}
			out = append(out, s)
		}
	}
	return likely(out)
}

var (
	// text that a script prints, or that sed inserts
	printedText = shape.Pattern(`(?:\b(?:print|puts|echo|write|log|say|printf|p)[ \t(]*|\bs([/|,#])[^/|,#\n]*[/` +
		`|,#])\\*["']?([A-Za-z0-9_+~!@%^./#-]{6,})`)
	printers = shape.SetOf("awk gawk mawk sed perl ruby node php python python3 deno bun")
	// a login in the settings of curl
	curlSetting = shape.Pattern(`(?m)(?:^|["'\n]` +
		`|\\n)[ \t]*-{0,2}(?:proxy-)?user[ \t]*[=: ][ \t]*\\?["']?[^\s:"']+:([^\s"'\\]{3,})`)
	// text that expect sends after a prompt for a password
	expectSends = shape.Pattern(`(?i)ass(?:word|phrase|code)[^\n;]{0,20}(?:[;\n{}]` +
		`|\s)+(?:exp_)?send[ \t]+(?:--[ \t]+)?\\?["']?([^\s"'\\;{}]{4,})`)
)
