// Package keystrokes reads texts that a tool types into a program, in which keys are named in braces.
package keystrokes

import (
	"strings"
	"unicode"
)

// Text returns a typed text without the names of keys, and these names. {enter} ends a line and is not
// among them. What any other key changes is not known: it may take back what was typed, or bring an
// earlier line. A control character is what a key sends: a carriage return ends a line, and every other
// one but a line end counts as a key. ${name} and braces around other words are text.
func Text(typed string) (plain, keys string) {
	var text, others strings.Builder
	typed = strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r != '\n' && unicode.IsControl(r):
			others.WriteRune(r)
			return -1
		}
		return r
	}, typed)
	for {
		i := strings.IndexByte(typed, '{')
		if i < 0 {
			break
		}
		end := strings.IndexByte(typed[i:], '}')
		if end < 0 {
			break
		}
		word := typed[i : i+end+1]
		name := strings.ToLower(word[1:end])
		text.WriteString(typed[:i])
		switch {
		case name == "enter" || name == "return":
			text.WriteByte('\n')
		case isKey(name) && (i == 0 || typed[i-1] != '$'):
			others.WriteString(word)
		default:
			text.WriteByte('{')
			word = "{"
		}
		typed = typed[i+len(word):]
	}
	text.WriteString(typed)
	return text.String(), others.String()
}

// Commands is [Text] of a tool that types into a shell: a line that nothing ends counts as the key {more},
// because a later text may make any command of it. One character that answers a question is no such line.
func Commands(typed string) (plain, keys string) {
	plain, keys = Text(typed)
	line := plain[strings.LastIndexByte(plain, '\n')+1:]
	if line != "" && (len(line) > 1 || !strings.Contains("yYnNq0123456789", line)) {
		keys += "{more}"
	}
	return plain, keys
}

// isKey reports whether a word in braces may name a key: up, ctrl+c, f1.
func isKey(name string) bool {
	return name != "" && len(name) <= 24 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789+-_") == ""
}
