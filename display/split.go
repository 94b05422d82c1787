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
	comment, quotesEnd := false, 0
	for i := 0; i < len(s); {
		for quotesEnd = max(quotesEnd, i); quotesEnd < len(s) && isQuote(s[quotesEnd]); {
			quotesEnd++
		}
		size, split, lineBreak := splitAt(s, i, quotesEnd, quote != 0 || words, comment)
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
// it does so by a line break. The quotes that stand there end at quotesEnd. breaks says that a line
// break alone may split a word there. It looks no further than what it returns the length of.
func splitAt(s string, i, quotesEnd int, breaks, comment bool) (size int, split, lineBreak bool) {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == '\'' || r == '"':
		return size, goesOn(s, quotesEnd), false
	case r == '\\' && !comment:
		for _, end := range []string{"\\\n", "\\\r\n"} {
			if strings.HasPrefix(s[i:], end) {
				return len(end), true, true
			}
		}
	case (r == '\n' || r == '\r') && breaks:
		if n := breakLength(s[i:]); n > 0 {
			rest := s[i+n:]
			return n + len(rest) - len(strings.TrimLeft(rest, " \t")), true, true
		}
	case r >= utf8.RuneSelf:
		return size, isHidden(r) && !unicode.IsSpace(r) && r != '⟨' && r != '⟩' && r != utf8.RuneError, false
	}
	return size, false, false
}

// breakLength returns the length of the one line break at the start of a text, or 0 if there are
// more.
func breakLength(s string) int {
	few := s[:min(len(s), len("\r\n")+1)]
	n := len(few) - len(strings.TrimLeft(few, "\r\n"))
	if n > len("\r\n") || strings.Count(few[:n], "\n") != 1 {
		return 0
	}
	return n
}

// goesOn reports whether a word goes on after quotes. A quote at its end may stay: without it, most
// texts need not be searched twice.
func goesOn(s string, i int) bool {
	return i < len(s) && (inKey(s[i]) || s[i] >= utf8.RuneSelf || s[i] == '\\')
}

func isQuote(c byte) bool { return c == '\'' || c == '"' }

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

// splitParts adds the keys that are split in a prepared text to those that were found in it, which
// are in the order of the text.
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
		var split []part
		for _, p := range f.parts(j.text, nil) {
			if p, ok := j.original(p); ok {
				split = append(split, p)
			}
		}
		found = joined(found, split)
	}
	return found
}

// joined adds split keys to the parts that were found. A split key replaces those within it, and is
// left out if it overlaps another one. Both lists, and the result, are in the order of the text.
func joined(found, split []part) (all []part) {
	if len(split) == 0 {
		return found
	}
	for _, p := range split {
		for len(found) > 0 && found[0].to <= p.from {
			all, found = append(all, found[0]), found[1:]
		}
		free := len(all) == 0 || all[len(all)-1].to <= p.from
		for len(found) > 0 && found[0].from < p.to {
			if found[0].from < p.from || p.to < found[0].to {
				all, free = append(all, found[0]), false
			}
			found = found[1:]
		}
		if free {
			all = append(all, p)
		}
	}
	return append(all, found...)
}

// original returns a part of the joined text in the other one. ok is false if nothing splits it
// there. What follows a line break is hidden only if it is no word, but random like a key.
func (j rejoined) original(p part) (q part, ok bool) {
	end := p.to
	first, _ := slices.BinarySearch(j.breaks, p.from+1)
	for i, at := range j.breaks[first:] {
		if at >= p.to {
			break
		}
		next := p.to
		if first+i+1 < len(j.breaks) {
			next = min(next, j.breaks[first+i+1])
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
