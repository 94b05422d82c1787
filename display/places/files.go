package places

import (
	"slices"
	"strings"

	"approver.example/display/shape"
)

// This file follows credentials through files and through programs that print them. What
// is in a file may run as well, and what a program prints may be another thing: only what
// looks like a secret is hidden there, with the notice.

// redirects are the files that the words of a command say it writes to, or reads from.
func redirects(src string, words []word, sign string) (files []string) {
	for i, w := range words {
		text := strings.TrimLeft(src[w.from:w.to], "012")
		if n := strings.Index(text, sign); n > 0 && !strings.ContainsAny(text, "\"'") { // glued to a word
			text = text[n:]
		}
		rest, is := strings.CutPrefix(text, sign)
		switch {
		case !is || strings.HasPrefix(text, "<<"):
			continue
		case strings.TrimLeft(rest, ">|") == "" && i+1 < len(words):
			rest, _ = words[i+1].bare(src)
		default:
			rest = strings.Trim(strings.TrimLeft(rest, ">|"), "\"'")
		}
		if rest != "" && !strings.HasPrefix(rest, "/dev/") {
			files = append(files, rest)
		}
	}
	return files
}

// likely marks what is hidden only if it looks like a secret.
func likely(spans []Span) []Span {
	out := slices.Clone(spans)
	for i := range out {
		out[i].Kind, out[i].field = Unclear, "password"
	}
	return out
}

// writtenFiles are the texts that commands write into files, by the names of these.
type writtenFiles map[string][]Span

// write notes what a command writes into files.
func (w writtenFiles) write(files []string, spans []Span) {
	for _, f := range files {
		w[f] = append(w[f], likely(spans)...)
	}
}

// read is what a command reads from files that the text has written.
func (w writtenFiles) read(files []string) (out []Span) {
	for _, f := range files {
		out = append(out, w[f]...)
	}
	return out
}

// operandsOf are the words of a command that are neither flags nor redirections.
func operandsOf(src string, given []word) (out []string) {
	for _, w := range given {
		if text, _ := w.bare(src); text != "" && !strings.ContainsAny(text[:1], "-<>") {
			out = append(out, text)
		}
	}
	return out
}

// A spread is a variable that is all of a word, and may be several flags and operands.
type spread struct {
	flags map[string]string
	name  string
	depth int
}

// spreadOut reads the values of such variables as words of their commands.
func (l *lexer) spreadOut() {
	for _, s := range l.spreads {
		for _, v := range l.valuesOf(s.name) {
			if words := l.split(v); len(words) > 1 && l.left > 0 {
				l.arguments(s.flags, 0, words, max(s.depth, 1))
			}
		}
	}
}

// split takes a value apart at its blanks, as a shell does with a variable.
func (l *lexer) split(s Span) (out []word) {
	for at := s.From; at < s.To; {
		n := strings.IndexAny(l.text[at:s.To], " \t\n")
		if n < 0 {
			n = s.To - at
		}
		if n > 0 {
			out = append(out, word{at, at + n})
		}
		at += n + 1
	}
	l.left -= s.To - s.From
	return out
}

// isNameref reports a variable that stands for another, whose name it was given.
func isNameref(src, name string) bool {
	for _, m := range nameref().FindAllStringSubmatch(src, MaxWants) {
		if m[1] == name {
			return true
		}
	}
	return false
}

// behindLoop gives the variables of a loop what its end reads.
func (l *lexer) behindLoop(given []word, p *pipeline) {
	values := append(hereTexts(l.text, given, p), l.files.read(redirects(l.text, given, "<"))...)
	if n := len(given); n > 0 && l.text[given[n-1].from:given[n-1].to] == "<" && strings.HasPrefix(l.text[given[n-1].to:p.to], "(") {
		values = append(values, l.printed(given[n-1].to+1, p.to)...)
	}
	for _, name := range l.unread {
		if l.bound == nil {
			l.bound = map[string][]Span{}
		}
		l.bound[name] = append(l.bound[name], values...)
	}
	l.unread = nil
}

var (
	nameref = shape.Pattern(`\b(?:declare|typeset|local)[ \t]+-[A-Za-z]*n[A-Za-z]*[ \t]+([A-Za-z_][A-Za-z0-9_]*)=`)
	// what a script prints, and what sed puts in
	printedText = shape.Pattern(`(?:\b(?:print|puts|echo|write|log|say|printf|p)[ \t(]*|\bs([/|,#])[^/|,#\n]*[/|,#])\\*["']?([A-Za-z0-9_+~!@%^./#-]{6,})`)
	printers    = map[string]bool{"awk": true, "gawk": true, "mawk": true, "sed": true, "perl": true, "ruby": true, "node": true, "php": true, "python": true, "python3": true, "deno": true, "bun": true}
	// the settings of curl in a text that it reads
	curlSetting = shape.Pattern(`(?m)(?:^|["'\n]|\\n)[ \t]*-{0,2}(?:proxy-)?user[ \t]*[=: ][ \t]*\\?["']?[^\s:"']+:([^\s"'\\]{3,})`)
	// what expect sends behind a prompt for a password
	expectSends = shape.Pattern(`(?i)ass(?:word|phrase|code)[^\n;]{0,20}(?:[;\n{}]|\s)+(?:exp_)?send[ \t]+(?:--[ \t]+)?\\?["']?([^\s"'\\;{}]{4,})`)
)

// scripted is what a script among the words prints, as far as it is in sight.
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

// settings adds the places in what a program reads as its settings or its script.
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
