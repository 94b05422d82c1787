package places

import (
	"slices"
	"strings"

	"approver.example/display/shape"
)

// A word is a stretch of a text.
type word struct{ from, to int }

// bare is a word without the quotes around it, and where that text begins.
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

// unquoted is a word without its quotes and backslashes.
func (w word) unquoted(src string) string {
	return strings.Map(func(r rune) rune {
		if r == '\\' || r == '\'' || r == '"' {
			return -1
		}
		return r
	}, src[w.from:w.to])
}

func (w word) isRedirection(src string) bool { return redirection().MatchString(src[w.from:w.to]) }

// plainAgain reports a word that a second shell reads as the same word. A redirection
// belongs to the first shell.
func (w word) plainAgain(src string) bool {
	raw := src[w.from:w.to]
	if w.isRedirection(src) {
		return true
	}
	// quotes of two kinds: one may be a part of the word
	if strings.Contains(raw, "'") && strings.Contains(raw, `"`) || strings.Contains(raw, `\`) {
		return false
	}
	return plainWord().MatchString(w.unquoted(src))
}

// expands reports a word in which a shell puts in something.
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

// endsCommand reports a word behind which a second shell begins another command.
func (w word) endsCommand(src string) bool {
	text := w.unquoted(src)
	return text != "" && strings.IndexByte(";&|", text[len(text)-1]) >= 0
}

// plainWord has no character that any usual shell reads as more than itself. No file has the
// name of an address, so that a question mark stays one there.
var plainWord = shape.Pattern(`^(?:https?://[A-Za-z0-9_@%+=:,./!?-]*|[A-Za-z0-9_@%+:,./!-][A-Za-z0-9_@%+=:,./!-]*)$`)

// redirection finds a word that says where a program reads or writes.
var redirection = shape.Pattern(`^[0-9]*[<>]`)

// decidingAgain are the characters with which a second shell makes more of a word than a
// word: another command, a redirection, or several words.
const decidingAgain = ";|&<>(){} \t\r\n"

// A Span is a place for a credential in a text.
type Span struct {
	From, To int
	Kind     Kind
	Variable string // that holds it
	field    string // that it is the value of, where somebody may have chosen the name
	Followed bool   // it is where a value comes from that goes to such a place
	Holder   string // the variable that brings it there, if one does
	Carrier  bool   // a variable stands there, of which a part is the credential
}

// A Kind is what a known program takes at a place. The zero value is unclear.
type Kind uint8

// anyMixed is the field of a span that is hidden only if it has letters and digits.
const anyMixed = "*"

// givesFlag reports whether a flag is given.
func givesFlag(src string, given []word, flag string) bool {
	for _, w := range given {
		text, _ := w.bare(src)
		if text == flag || strings.HasPrefix(text, flag+"=") {
			return true
		}
	}
	return false
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

// literals are the words that echo or printf is given.
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

// echoed is what echo or printf writes, if it goes nowhere else.
func echoed(src string, given []word) (out []Span) {
	if slices.ContainsFunc(given, func(w word) bool { return strings.Contains(src[w.from:w.to], ">") }) {
		return nil
	}
	return literals(src, given)
}

// hereTexts are what a command reads from its own text: behind <<<, or in the one line of a
// document behind <<.
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

// What a program takes at a place.
const (
	Unclear    Kind = iota // a name of somebody's choice says that it is a secret
	ByPosition             // by its position it is a credential, if it looks like one
	Credential             // what proves who asks, and nothing else
)
