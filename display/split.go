package display

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"approver.example/display/shape"
)

// This file finds keys that are split: by characters that draw nothing, by quotes inside a word, by
// the continuation of a line, and by the line breaks of base64.

// A rejoined text lacks what splits the words of another one.
type rejoined struct {
	text string
	at   []int // where each byte of text is in the other one, and its end
	// breaks are where a line break was taken out, in text.
	breaks []int
}

// rejoin takes out what splits words. For a shell, a word stays one word with it, so nothing that
// runs is joined to a key. A line break is a part of a word only inside of quotes.
func rejoin(s string) (j rejoined) {
	if plainWords(s) {
		return j
	}
	var b strings.Builder
	words := onlyWords(s)
	var quote byte
	comment := false
	for i := 0; i < len(s); {
		size, split, lineBreak := splitAt(s, i, quote != 0 || words, comment)
		c := s[i]
		switch {
		case c == '\n':
			comment = false
		case c == '#' && quote == 0 && (i == 0 || strings.IndexByte(" \t\n;&|(", s[i-1]) >= 0):
			comment = true
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote && quote != 0:
			quote = 0
		}
		if split && b.Len() > 0 && inKey(b.String()[b.Len()-1]) {
			if i += size; lineBreak {
				j.breaks = append(j.breaks, b.Len())
			}
			continue
		}
		for range size {
			j.at = append(j.at, i)
			b.WriteByte(s[i])
			i++
		}
	}
	j.text, j.at = b.String(), append(j.at, len(s))
	return j
}

// splitAt returns the length of what stands at a place, whether it only splits a word, and whether
// it does so by a line break. breaks says that a line break alone may split a word there.
func splitAt(s string, i int, breaks, comment bool) (size int, split, lineBreak bool) {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == '\'' || r == '"':
		return size, goesOn(s, i+1), false
	case r == '\\' && !comment:
		for _, end := range []string{"\\\n", "\\\r\n"} {
			if strings.HasPrefix(s[i:], end) {
				return len(end), true, true
			}
		}
	case (r == '\n' || r == '\r') && breaks:
		rest := strings.TrimLeft(s[i:], "\r\n")
		if n := len(s[i:]) - len(rest); n <= len("\r\n") && strings.Count(s[i:i+n], "\n") == 1 {
			indent := len(rest) - len(strings.TrimLeft(rest, " \t"))
			return n + indent, true, true
		}
	case r >= utf8.RuneSelf:
		return size, isHidden(r) && !unicode.IsSpace(r) && r != '⟨' && r != '⟩' && r != utf8.RuneError, false
	}
	return size, false, false
}

// goesOn reports whether a word goes on at a place, maybe after more quotes. A quote at its end may
// stay: without it, most texts need not be searched twice.
func goesOn(s string, i int) bool {
	for i < len(s) && (s[i] == '\'' || s[i] == '"') {
		i++
	}
	return i < len(s) && (inKey(s[i]) || s[i] >= utf8.RuneSelf || s[i] == '\\')
}

// inKey reports whether a byte may be a part of a key.
func inKey(c byte) bool { return shape.IsWordByte(c) || strings.IndexByte("-.+/=", c) >= 0 }

// plainWords reports whether nothing in a text can split a word.
func plainWords(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r == '\'' || r == '"' || r == '\\' || r == '\n' || r >= utf8.RuneSelf
	})
}

// onlyWords reports whether a text is one word on each line, such as base64 that is wrapped.
func onlyWords(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\r' && r != ' ' && r != '\t' && (r >= utf8.RuneSelf || !inKey(byte(r)))
	}) && !slices.ContainsFunc(strings.Split(s, "\n"), func(l string) bool { return len(strings.Fields(l)) > 1 })
}

// splitParts adds the keys that are split in a prepared text to those that were found in it.
func splitParts(s string, found []part) []part {
	j := rejoin(s)
	if len(j.text) == len(s) || j.text == "" {
		return found
	}
	lower, run := strings.ToLower(j.text), longestRun(j.text)
	for i := range forms() {
		f := &forms()[i]
		if f.role != byForm || f.words != mayRun || run < f.run || !shape.ContainsAny(lower, f.hints) {
			continue
		}
		for _, p := range f.parts(j.text, nil) {
			if p, ok := j.original(p); ok {
				found = slices.DeleteFunc(found, func(q part) bool { return p.from <= q.from && q.to <= p.to })
				if !overlaps(found, p) {
					found = append(found, p)
				}
			}
		}
	}
	return found
}

// original returns a part of the joined text in the other one. ok is false if nothing splits it
// there. What follows a line break is hidden only if it is no word, but random like a key.
func (j rejoined) original(p part) (q part, ok bool) {
	end := p.to
	for i, at := range j.breaks {
		if at <= p.from || at >= p.to {
			continue
		}
		next := p.to
		if i+1 < len(j.breaks) {
			next = min(next, j.breaks[i+1])
		}
		if !shape.IsRandom(j.text[at:next]) {
			end = at
			break
		}
	}
	if end <= p.from {
		return q, false
	}
	q = p
	q.from, q.to, q.begin = j.at[p.from], j.at[end-1]+1, j.at[p.begin]
	return q, q.to-q.begin != end-p.begin
}
