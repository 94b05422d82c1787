package places

import (
	"slices"
	"strings"

	"approver.example/display/shape"
)

// This file is about words that are read twice. ssh and watch join the words that they are
// given and hand them to a shell, so that a quoted x;reboot is a password and a command.
// find runs several programs with the words of one.

// decidingAgain are the characters with which a second shell makes more of a word than a
// word: another command, a redirection, or several words.
const decidingAgain = ";|&<>(){} \t\r\n"

// rejoined looks at the words of a program that a shell reads again. Only if each of them is
// the same word for that shell is it known what they mean.
func (l *lexer) rejoined(words []word, p *pipeline) {
	if len(words) == 0 {
		return
	}
	l.again = Span{From: words[0].from, To: words[len(words)-1].to}
	if n := slices.IndexFunc(words, func(w word) bool { return w.isRedirection(l.text) }); n >= 0 { // what stands there is not read again
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

// endsCommand reports a word behind which a second shell begins another command.
func (w word) endsCommand(src string) bool {
	text := w.unquoted(src)
	return text != "" && strings.IndexByte(";&|", text[len(text)-1]) >= 0
}

// decidesAgain reports a place among words that are read again, in which the second shell
// would find more than a word: it stays in sight.
func (l *lexer) decidesAgain(s Span) bool {
	return l.again.From <= s.From && s.To <= l.again.To && strings.ContainsAny(l.text[s.From:s.To], decidingAgain)
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

func (w word) isRedirection(src string) bool { return redirection().MatchString(src[w.from:w.to]) }

// plainWord has no character that any usual shell reads as more than itself. No file has the
// name of an address, so that a question mark stays one there.
var plainWord = shape.Pattern(`^(?:https?://[A-Za-z0-9_@%+=:,./!?-]*|[A-Za-z0-9_@%+:,./!-][A-Za-z0-9_@%+=:,./!-]*)$`)

// findFlags are those behind which find is given a program.
var findFlags = map[string]bool{"-exec": true, "-execdir": true, "-ok": true, "-okdir": true}

// foundRuns are the programs that find runs, each with the words up to its end.
func foundRuns(src string, given []word) (out []program) {
	for i := 0; i < len(given); i++ {
		if !findFlags[given[i].unquoted(src)] {
			continue
		}
		one := program{from: i + 1, to: i + 1, sure: true}
		for one.to < len(given) {
			text := given[one.to].unquoted(src)
			if text == ";" || text == "+" && given[one.to-1].unquoted(src) == "{}" {
				break
			}
			// it may be an end as well, once the shell has read it, or for some find
			one.sure = one.sure && text != "+" && !given[one.to].expands(src)
			one.to++
		}
		if i = one.to; one.from < one.to {
			out = append(out, one)
		}
	}
	return out
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
