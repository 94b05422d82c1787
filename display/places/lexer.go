package places

import (
	"path"
	"slices"
	"strings"

	"approver.example/display/shape"
)

// lex reads the commands in a part of the text. depth counts the quotes around it.
func (l *lexer) lex(from, to, depth int) {
	if l.left -= to - from; l.left < 0 {
		return
	}
	var words []word
	p := pipeline{to: to, depth: depth}
	end := func(by string) {
		if len(words) > 0 {
			l.command(words, &p)
		}
		if l.prints && by != "|" && by != "|&" {
			l.out = append(l.out, p.writes...)
		}
		p.after(by)
		words = nil
	}
	for i := from; i < to; {
		switch c := l.text[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '\\' && i+1 < to && l.text[i+1] == '\n', l.escape(i, to, depth, "tr"):
			i += 2
		case l.escape(i, to, depth, "n"):
			end("\n")
			i += 2
		case strings.IndexByte("\n;&|()`", c) >= 0:
			n := 1
			if i+1 < to && (c == '|' || c == '&') && (l.text[i+1] == c || l.text[i+1] == '&') {
				n = 2
			}
			end(l.text[i : i+n])
			i += n
		default:
			w := l.word(i, to, depth)
			words, i = append(words, w), w.to
		}
	}
	end("\n")
}

// word reads one word, and reads its quoted text once more as commands.
func (l *lexer) word(i, to, depth int) word {
	w := word{from: i}
	for i < to {
		switch c := l.text[i]; {
		case l.escape(i, to, depth, "ntr"):
			w.to = i
			return w
		case l.escape(i, to, depth, "\""): // a quote inside a JSON string
			if n := strings.Index(l.text[i+2:to], `\"`); n >= 0 {
				if depth < maxNested && strings.ContainsAny(l.text[i+2:i+2+n], " \\") {
					l.lex(i+2, i+2+n, depth+1)
				}
				i += n + 3
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			n := shape.EndOfQuote(l.text[i+1:to], c)
			if n < 0 {
				break
			}
			if inside := l.text[i+1 : i+1+n]; depth < maxNested && strings.ContainsAny(inside, " \t\n\\") {
				l.lex(i+1, i+1+n, depth+1)
			}
			i += n + 1
		case c == '$' && i+1 < to && l.text[i+1] == '{':
			if n := strings.IndexByte(l.text[i:to], '}'); n > 0 {
				i += n
			}
		case strings.IndexByte(" \t\r\n;&|()`", c) >= 0:
			w.to = i
			return w
		}
		i++
	}
	w.to = min(i, to)
	return w
}

// escape reports whether a backslash and one of the letters are at i inside quotes. In a JSON
// string that is an escaped character.
func (l *lexer) escape(i, to, depth int, letters string) bool {
	return depth > 0 && l.text[i] == '\\' && i+1 < to && strings.IndexByte(letters, l.text[i+1]) >= 0
}

// command processes the words of one simple command.
func (l *lexer) command(words []word, p *pipeline) {
	first := l.skipPrefix(words, p)
	if first == len(words) {
		return
	}
	name, _ := words[first].bare(l.text)
	name = programName(name)
	defer func(depth int) { p.depth = depth }(p.depth)
	l.segments = append(l.segments, Segment{words[first].from, words[len(words)-1].to, name, words[first].to})
	if name == "function" && len(words) > first+3 { // its name and {
		l.command(words[first+3:], p)
		return
	}
	given := words[first+1:]
	l.variables.command(l.text, name, given, p.depth, l.inside)
	if base := path.Base(name); base != name && (programFlags()[base] != nil || launchings()[base] != nil) {
		name, p.depth = base, max(p.depth, 1) // known only by its name: the program in that folder may be another
	}
	flags, operands := flagsOf(l.text, name, given)
	l.settings(name, given, p.depth)
	p.words = words
	if name == "done" && len(l.unread) > 0 {
		l.behindLoop(given, p)
	}
	if builtins[name] {
		l.binding(name, given, p)
	}
	var runs []program
	if l.nested < maxNested {
		runs = programsOf(l.text, name, given)
	}
	if len(runs) == 0 || flags["<"] != "" || p.sudo != "" {
		l.stdin(name, flags["<"], given, p)
	}
	given = l.launchAll(runs, given, p)
	if _, known := shape.KnownPrograms[name]; flags == nil && !known {
		return
	}
	l.arguments(flags, operands, given, p.depth)
}

// skipPrefix returns the index of the program after assignments, redirections and prefixes such as
// sudo, or the number of words if there is none.
func (l *lexer) skipPrefix(words []word, p *pipeline) (first int) {
	var sudo sudoCall
	p.sudo = ""
	var heads []word
	wrapped := false
	defer func() {
		for _, w := range heads { // without a program it sets a shell variable, otherwise one of that program
			if !l.inside {
				l.variables.assigned(l.text, w, p.depth, wrapped || first < len(words))
			}
		}
	}()
	for ; first < len(words); first++ {
		text, at := words[first].bare(l.text)
		name, value, is := strings.Cut(text, "=")
		switch {
		case is && shape.Identifier().MatchString(name):
			sudo.other = true
			heads = append(heads, words[first])
			if shape.IsConventional(name) {
				inside, from := word{at + len(text) - len(value), at + len(text)}.bare(l.text)
				l.add(Span{From: from, To: from + len(inside), Variable: name}, p.depth)
			}
		case text == "{":
			p.open++
		case text == "}":
			p.open--
		case sudo.is && strings.HasPrefix(text, "-"):
			first += shape.Count(sudo.flag(text))
		case redirection().MatchString(text): // it may come before the program
			first += shape.Count(strings.Trim(text, "0123456789<>") == "")
		case shape.Prefixes[programName(text)] && (launchings()[programName(text)] == nil ||
			!firstIsFlag(l.text, words[first+1:])):
			sudo.is = programName(text) == "sudo"
			wrapped = wrapped || wrappers[programName(text)]
		default:
			p.sudo = sudo.reads(l.text, text, words[first+1:], p)
			return first
		}
	}
	if sudo.stdin && p.piped {
		kind := "likely"
		if sudo.only && !sudo.other && len(p.writes) == 1 {
			kind = "secret"
		}
		l.fed(p, kind)
	}
	return min(first, len(words))
}

// wrappers are the prefixes that are programs. The other prefixes are shell keywords.
var wrappers = shape.SetOf("sudo env nohup command time")

// firstIsFlag reports whether the first word is a flag. As in env -i, it is then a flag of the
// program before the words.
func firstIsFlag(src string, words []word) bool {
	return len(words) > 0 && src[words[0].from] == '-'
}

// launchAll processes the programs that a launcher runs, and returns the words that belong to the
// launcher. These are all words if it is not certain which program runs.
func (l *lexer) launchAll(runs []program, given []word, p *pipeline) []word {
	for _, one := range runs {
		l.launch(given, one, p)
	}
	if len(runs) == 0 || !runs[0].sure {
		return given
	}
	if inner, _ := given[runs[0].from].bare(l.text); !runsKnown(programName(inner)) {
		return given
	}
	return given[:runs[0].from]
}

// launch processes one program that a launcher runs. If a word before it is not understood, the
// first word that may be a known program is used, and its places are Unclear.
func (l *lexer) launch(given []word, one program, p *pipeline) {
	inside, depth, again := l.inside, p.depth, l.again
	l.nested++
	l.inside = true
	words := given[one.from:one.to]
	if !one.sure {
		p.depth = max(depth, 1)
		words = words[firstKnown(l.text, words):]
	}
	if one.shell {
		l.rejoined(words, p)
	} else {
		l.command(words, p)
	}
	l.nested--
	l.inside, p.depth, l.again = inside, depth, again
}

// runsKnown reports whether the flags of a program are known, or it runs another program.
func runsKnown(name string) bool {
	return programFlags()[name] != nil || launchings()[name] != nil || shape.Prefixes[name]
}

// firstKnown returns the index of the first word for which runsKnown is true, or 0.
func firstKnown(src string, words []word) int {
	for i, w := range words {
		text, _ := w.bare(src)
		if runsKnown(path.Base(programName(text))) {
			return i
		}
	}
	return 0
}

// rejoined processes the words of a program that a second shell reads again. Their meaning is only
// known if each of them is the same word for that shell.
func (l *lexer) rejoined(words []word, p *pipeline) {
	if len(words) == 0 {
		return
	}
	l.again = Span{From: words[0].from, To: words[len(words)-1].to}
	// a redirection and the words after it are not read again
	if n := slices.IndexFunc(words, func(w word) bool { return w.isRedirection(l.text) }); n >= 0 {
		l.again.To = words[n].from
	}
	if slices.ContainsFunc(words, func(w word) bool { return !w.plainAgain(l.text) }) {
		p.depth = max(p.depth, 1)
	}
	for len(words) > 0 {
		n := 1 + slices.IndexFunc(words, func(w word) bool { return w.endsCommand(l.text) })
		if n == 0 {
			n = len(words)
		}
		l.command(words[:n], p)
		words = words[n:]
	}
}
