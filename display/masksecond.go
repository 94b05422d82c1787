package display

import (
	"slices"
	"strings"
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
	l.again = span{from: words[0].from, to: words[len(words)-1].to}
	if n := slices.IndexFunc(words, l.isRedirection); n >= 0 { // what stands there is not read again
		l.again.to = words[n].from
	}
	if !all(words, l.plainAgain) {
		p.depth = max(p.depth, 1)
	}
	for len(words) > 0 {
		n := 1 + slices.IndexFunc(words, l.endsCommand)
		if n == 0 {
			n = len(words)
		}
		l.command(words[:n], p)
		words = words[n:]
	}
}

func all(words []word, is func(word) bool) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !is(w) })
}

// endsCommand reports a word behind which a second shell begins another command.
func (l *lexer) endsCommand(w word) bool {
	text := l.unquoted(w)
	return text != "" && strings.IndexByte(";&|", text[len(text)-1]) >= 0
}

// decidesAgain reports a place among words that are read again, in which the second shell
// would find more than a word: it stays in sight.
func (l *lexer) decidesAgain(s span) bool {
	return l.again.from <= s.from && s.to <= l.again.to && strings.ContainsAny(l.text[s.from:s.to], decidingAgain)
}

// unquoted is a word without its quotes and backslashes.
func (l *lexer) unquoted(w word) string {
	return strings.Map(func(r rune) rune {
		if r == '\\' || r == '\'' || r == '"' {
			return -1
		}
		return r
	}, l.text[w.from:w.to])
}

// plainAgain reports a word that a second shell reads as the same word. A redirection
// belongs to the first shell.
func (l *lexer) plainAgain(w word) bool {
	raw := l.text[w.from:w.to]
	if l.isRedirection(w) {
		return true
	}
	// quotes of two kinds: one may be a part of the word
	if strings.Contains(raw, "'") && strings.Contains(raw, `"`) || strings.Contains(raw, `\`) {
		return false
	}
	return plainWord().MatchString(l.unquoted(w))
}

func (l *lexer) isRedirection(w word) bool { return redirection().MatchString(l.text[w.from:w.to]) }

// plainWord has no character that any usual shell reads as more than itself. No file has the
// name of an address, so that a question mark stays one there.
var plainWord = once(`^(?:https?://[A-Za-z0-9_@%+=:,./!?-]*|[A-Za-z0-9_@%+:,./!-][A-Za-z0-9_@%+=:,./!-]*)$`)

// findFlags are those behind which find is given a program.
var findFlags = map[string]bool{"-exec": true, "-execdir": true, "-ok": true, "-okdir": true}

// foundRuns are the programs that find runs, each with the words up to its end.
func (l *lexer) foundRuns(given []word) (out []program) {
	for i := 0; i < len(given); i++ {
		if !findFlags[l.unquoted(given[i])] {
			continue
		}
		one := program{from: i + 1, to: i + 1, sure: true}
		for one.to < len(given) {
			text := l.unquoted(given[one.to])
			if text == ";" || text == "+" && l.unquoted(given[one.to-1]) == "{}" {
				break
			}
			// it may be an end as well, once the shell has read it, or for some find
			one.sure = one.sure && text != "+" && !l.expands(given[one.to])
			one.to++
		}
		if i = one.to; one.from < one.to {
			out = append(out, one)
		}
	}
	return out
}

// expands reports a word in which a shell puts in something.
func (l *lexer) expands(w word) bool {
	raw := l.text[w.from:w.to]
	switch {
	case strings.HasPrefix(raw, "'") && endOfQuote(raw[1:], '\'') == len(raw)-2:
		return false
	case strings.HasPrefix(raw, `"`) && endOfQuote(raw[1:], '"') == len(raw)-2:
		return strings.ContainsAny(raw, "$`")
	}
	return strings.ContainsAny(raw, "$`*?[") || strings.Contains(raw, "{") && strings.Contains(raw, ",")
}
