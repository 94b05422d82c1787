package places

import (
	"slices"
	"strings"

	"approver.example/display/shape"
)

// A word is a range of a text.
type word struct{ from, to int }

// bare returns a word without the quotes around it, and the place where that text begins.
func (w word) bare(src string) (string, int) {
	s := src[w.from:w.to]
	if len(s) >= 4 && strings.HasPrefix(s, `\"`) && strings.HasSuffix(s, `\"`) {
		return s[2 : len(s)-2], w.from + 2
	}
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1], w.from + 1
	}
	return s, w.from
}

// unquoted returns a word without its quotes and backslashes.
func (w word) unquoted(src string) string {
	return strings.Map(func(r rune) rune {
		if r == '\\' || r == '\'' || r == '"' {
			return -1
		}
		return r
	}, src[w.from:w.to])
}

func (w word) isRedirection(src string) bool { return redirection().MatchString(src[w.from:w.to]) }

// plainAgain reports whether a second shell reads a word as the same word. A redirection belongs to
// the first shell.
func (w word) plainAgain(src string) bool {
	raw := src[w.from:w.to]
	if w.isRedirection(src) {
		return true
	}
	// with both kinds of quotes, one may be part of the word
	if strings.Contains(raw, "'") && strings.Contains(raw, `"`) || strings.Contains(raw, `\`) {
		return false
	}
	return plainWord().MatchString(w.unquoted(src))
}

// expands reports whether a shell expands something in a word.
func (w word) expands(src string) bool {
	raw := src[w.from:w.to]
	switch {
	case strings.HasPrefix(raw, "'") && shape.EndOfQuote(raw[1:], '\'') == len(raw)-2:
		return false
	case strings.HasPrefix(raw, `"`) && shape.EndOfQuote(raw[1:], '"') == len(raw)-2:
		return strings.ContainsAny(raw, "$`")
	}
	return strings.ContainsAny(raw, "$`*?[") || strings.Contains(raw, "{") && strings.Contains(raw, ",")
}

// endsCommand reports whether a second shell begins another command after a word.
func (w word) endsCommand(src string) bool {
	text := w.unquoted(src)
	return text != "" && strings.IndexByte(";&|", text[len(text)-1]) >= 0
}

// plainWord matches a word without a character that is special in any usual shell. A question mark
// is allowed in an address, because no file has such a name.
var plainWord = shape.Pattern(`^(?:https?://[A-Za-z0-9_@%+=:,./!?-]*|[A-Za-z0-9_@%+:,./!-][A-Za-z0-9_@%+=:,./!-]*)$`)

// redirection matches a word that is a redirection.
var redirection = shape.Pattern(`^[0-9]*[<>]`)

// decidingAgain are the characters that, to a second shell, make a word more than one word: another
// command, a redirection, or several words.
const decidingAgain = ";|&<>(){} \t\r\n"

// A Span is a place for a credential in a text.
type Span struct {
	From, To int
	Kind     Kind
	Variable string // the conventional variable that it is assigned to, if any
	field    string // the name before it; the value is hidden only if it looks like a secret of that name
	Followed bool   // it is the source of a value that goes to such a place
	Holder   string // the variable that passes it there, if any
	Carrier  bool   // it is a variable, and a part of its value is the credential
}

// A Kind says how certain it is that a place takes a credential. The zero value is unclear.
type Kind uint8

// anyMixed is the field of a span that is hidden only if it has letters, and digits or signs.
const anyMixed = "*"

// givesFlag reports whether the words have a flag.
func givesFlag(src string, given []word, flag string) bool {
	for _, w := range given {
		text, _ := w.bare(src)
		if text == flag || strings.HasPrefix(text, flag+"=") {
			return true
		}
	}
	return false
}

// operandsOf returns the words of a command that are neither flags nor redirections.
func operandsOf(src string, given []word) (out []string) {
	for _, w := range given {
		if text, _ := w.bare(src); text != "" && !strings.ContainsAny(text[:1], "-<>") {
			out = append(out, text)
		}
	}
	return out
}

// redirects returns the files that a command writes to or reads from, depending on sign.
func redirects(src string, words []word, sign string) (files []string) {
	for i, w := range words {
		text := strings.TrimLeft(src[w.from:w.to], "012")
		if n := strings.Index(text, sign); n > 0 && !strings.ContainsAny(text, "\"'") { // without a space before it
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

// literals returns the words that are given to echo or printf.
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

// echoed returns what echo or printf writes, unless it is redirected.
func echoed(src string, given []word) (out []Span) {
	if slices.ContainsFunc(given, func(w word) bool { return strings.Contains(src[w.from:w.to], ">") }) {
		return nil
	}
	return literals(src, given)
}

// hereTexts returns what a command reads from its own text: the word after <<<, or the line of a
// here-document with one line.
func hereTexts(src string, given []word, to int) (out []Span) {
	for i, w := range given {
		text := src[w.from:w.to]
		switch {
		case strings.HasPrefix(text, "<<<"):
			w.from += len("<<<")
			if text == "<<<" && i+1 < len(given) {
				w = given[i+1]
			}
			value, at := w.bare(src)
			out = append(out, Span{From: at, To: at + len(value), Kind: Credential})
		case strings.HasPrefix(text, "<<"):
			tag := strings.Trim(text[2:], "-'\"\\")
			if tag == "" && i+1 < len(given) {
				tag, _ = given[i+1].bare(src)
			}
			if s, ok := document(src, w.to, to, tag); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// document returns the line of a here-document after a place, if the line after it is the tag. It
// is not certain that a shell reads it as a here-document.
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

// The kinds.
const (
	Unclear    Kind = iota // it may be a credential, or something that must be shown
	ByPosition             // its position makes it a credential, if it looks like one
	Credential             // it only proves who asks
)
