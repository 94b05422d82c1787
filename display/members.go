package display

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"approver.example/display/shape"
)

// This file finds the secrets among the members of a JSON text.

// memberParts adds the secrets among the members of a tool's arguments, which are JSON text after
// from, and returns all parts in the order of the text. A shell would not run a JSON string by
// itself, so the whole string can be hidden.
func memberParts(s string, from int, found []part) []part {
	m := &members{text: s, found: found}
	if at := strings.IndexAny(s[from:], "{["); at >= 0 {
		m.walk(from+at, len(s), `"`)
	}
	slices.SortFunc(m.found, func(a, b part) int { return a.from - b.from })
	return m.found
}

// members walks through JSON text and collects the parts to hide.
type members struct {
	text  string
	found []part
}

// walk checks every string from at to to, with the member that has it as its value and, in a list
// of arguments, the flag before it. quote is how the JSON text writes its quotes: in JSON inside
// a JSON string it is \".
func (m *members) walk(at, to int, quote string) {
	var keys []string // of the enclosing objects and lists
	key, before, label := "", "", ""
	var early *part // a value that comes before its name
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

// memberName returns the name that describes a string: its member, the flag before it in a list
// of arguments, or for a member "value", the label next to it.
func memberName(key, before, label string) string {
	if flag := strings.TrimLeft(before, "-"); flag != before && !shape.IsSecretName(key) {
		return flag
	}
	if strings.EqualFold(key, "value") {
		return label
	}
	return key
}

// maxQuote limits the length of an escaped quote, and so the depth of JSON inside JSON.
const maxQuote = 8

// endOfString returns the index of the quote that ends a JSON string, or -1.
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

// hideValue hides one string if its name is that of a secret and the string looks like one.
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

// decoded hides in a JSON string what Mask would hide in the decoded text, such as a file or a
// command, whose line breaks and quotes are escaped here.
func (m *members) decoded(from, to int) {
	var text string
	if json.Unmarshal([]byte(m.text[from-1:to+1]), &text) != nil {
		return
	}
	done := map[string]bool{}
	for _, p := range hiddenParts(text) {
		if done[text[p.from:p.to]] {
			continue
		}
		done[text[p.from:p.to]] = true
		secret, err := json.Marshal(text[p.from:p.to])
		if err != nil {
			continue
		}
		known := len(m.found)
		plain := unescapeHTML(string(bytes.Trim(secret, `"`)))
		m.found = hideAll(m.text, from, to, plain, part{role: byName, member: true}, m.found)
		raw := m.text[from:to]
		otherwise := !plainWords(text[p.from:p.to]) || strings.Contains(raw, `\u`) && !strings.Contains(raw, plain)
		if len(m.found) == known && otherwise { // split, or written in another way
			q := part{from: from + inJSON(raw, p.from), to: from + inJSON(raw, p.to), role: byName, member: true}
			m.found = slices.DeleteFunc(m.found, func(f part) bool { return q.from <= f.from && f.to <= q.to })
			if q.begin = q.from; !overlaps(m.found, q) {
				m.found = append(m.found, q)
			}
		}
	}
}

// inJSON returns where a byte of a text is in the text as a JSON string.
func inJSON(raw string, at int) int {
	i, surrogate := 0, false
	for done := 0; i < len(raw) && done < at; {
		size := 1 // of what stands for one or more bytes
		if raw[i] == '\\' && i+1 < len(raw) {
			if size = 2; raw[i+1] == 'u' {
				size = min(len(`\u0000`), len(raw)-i)
			}
		}
		n, err := strconv.ParseUint(raw[min(i+2, i+size):i+size], 16, 32)
		switch r := rune(n); {
		case size <= 2 || err != nil:
			done++
		case utf16.IsSurrogate(r): // the two halves have 4 bytes
			if surrogate = !surrogate; !surrogate {
				done += utf8.UTFMax
			}
		default:
			done += utf8.RuneLen(r)
		}
		i += size
	}
	return i
}

// minSecretInName is the least length in bytes of a hidden value that is searched for in other
// text. A shorter one would also match parts of ordinary words.
const minSecretInName = 6
