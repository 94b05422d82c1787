package display

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"approver.example/display/shape"
)

// This file finds the secrets among the members of a text of JSON.

// memberParts adds the secrets among the members of a tool's arguments: a text of JSON
// that begins behind a place. There is nothing in a string of JSON that a shell would run by
// itself, so that the whole of it can be hidden.
func memberParts(s string, from int, found []part) []part {
	m := &members{text: s, found: found}
	if at := strings.IndexAny(s[from:], "{["); at >= 0 {
		m.walk(from+at, len(s), `"`)
	}
	slices.SortFunc(m.found, func(a, b part) int { return a.from - b.from })
	return m.found
}

// members walks through JSON.
type members struct {
	text  string
	found []part
}

// walk looks at every string: at which member it is the value of, and, in a list of
// arguments, at the flag before it. The quotes of JSON in a string of JSON are \".
func (m *members) walk(at, to int, quote string) {
	var keys []string // of the objects and lists around the place
	key, before, label := "", "", ""
	var early *part // a value before the name beside it
	for i := at; i < to; i++ {
		switch c := m.text[i]; {
		case c == '{' || c == '[':
			keys, before, label, early = append(keys, key), "", "", nil
		case c == '}' || c == ']':
			if len(keys) == 0 {
				return
			}
			key, keys = keys[len(keys)-1], keys[:len(keys)-1]
			before, label, early = "", "", nil
		case strings.HasPrefix(m.text[i:to], quote):
			from := i + len(quote)
			n := endOfString(m.text[from:to], quote)
			if n < 0 {
				return
			}
			text, end := m.text[from:from+n], from+n+len(quote)
			i = end - 1
			if strings.HasPrefix(strings.TrimLeft(m.text[end:min(to, end+8)], " "), ":") {
				key = text
				continue
			}
			m.hideValue(memberName(key, before, label), from, from+n)
			if quote == `"` && strings.IndexByte(text, '\\') >= 0 {
				m.decoded(from, from+n)
			}
			if inner := strings.Repeat(`\`, 2*len(quote)-1) + `"`; len(quote) < maxQuote &&
				(strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
				m.walk(from, from+n, inner)
			}
			switch plain := strings.ToLower(key); {
			case plain == "name" || plain == "key":
				if label = text; early != nil {
					m.hideValue(label, early.from, early.to)
				}
			case plain == "value" && label == "":
				early = &part{from: from, to: from + n}
			}
			before = text
		}
	}
}

// memberName is the name that says what a string is: of its member, of the flag before
// it in a list of arguments, or of the variable beside it.
func memberName(key, before, label string) string {
	if flag := strings.TrimLeft(before, "-"); flag != before && !shape.IsSecretName(key) {
		return flag
	}
	if strings.EqualFold(key, "value") {
		return label
	}
	return key
}

// maxQuote bounds the JSON in JSON that is read: three texts within each other.
const maxQuote = 8

// endOfString is the place of the quote that ends a string of JSON, or -1.
func endOfString(s, quote string) int {
	if quote == `"` {
		return shape.EndOfQuote(s, '"')
	}
	for at := 0; ; {
		n := strings.IndexByte(s[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		slashes := at - len(strings.TrimRight(s[:at], `\`))
		if slashes < len(quote) {
			return at - slashes
		}
		at++
	}
}

// hideValue hides one string, if its name says secret and it looks like one.
func (m *members) hideValue(name string, from, to int) {
	text := m.text[from:to]
	if !shape.IsSecretName(name) || strings.HasPrefix(text, "${") || strings.HasPrefix(text, "$(") {
		return
	}
	spaced := strings.ContainsAny(text, " \\")
	phrase := spaced && len(text) <= 200 && shape.IsMixed(text) && strings.Contains(strings.ToLower(name), "pass")
	if !phrase && !shape.IsSecretValue(name, text) {
		return
	}
	if p := (part{from: from, to: to, begin: from, role: byName, member: true}); !overlaps(m.found, p) {
		m.found = append(m.found, p)
	}
}

// decoded hides in a string what would be hidden in the text that it stands for: a file
// or a command, whose line breaks and quotes are written otherwise here.
func (m *members) decoded(from, to int) {
	var text string
	if json.Unmarshal([]byte(m.text[from-1:to+1]), &text) != nil {
		return
	}
	for _, p := range hiddenParts(text) {
		secret, err := json.Marshal(text[p.from:p.to])
		if plain := unescapeHTML(string(bytes.Trim(secret, `"`))); err == nil {
			m.found = hideAll(m.text, from, to, plain, part{role: byName, member: true}, m.found)
		}
	}
}

// minSecretInName is the length in bytes from which a hidden value is looked for in names:
// a shorter one would be found in other words.
const minSecretInName = 6
