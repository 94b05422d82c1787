package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hasBrace reports whether an unquoted { stands in the word.
func hasBrace(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// braces expands {a,b} and {1..3}.
func (ex *expander) braces(w *syntax.Word) []*syntax.Word {
	split := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(split)
	var out []*syntax.Word
	ex.brace(split.Parts, nil, func(parts []syntax.WordPart) {
		out = append(out, &syntax.Word{Parts: append([]syntax.WordPart(nil), parts...)})
	})
	return out
}

// brace calls done with each combination of what braces can be.
func (ex *expander) brace(rest, before []syntax.WordPart, done func([]syntax.WordPart)) {
	if !ex.in.rep.spend() {
		return
	}
	if ex.in.rep.level++; ex.in.rep.level > 64 {
		ex.in.rep.over("braces")
	}
	defer func() { ex.in.rep.level-- }()
	for i, part := range rest {
		b, ok := part.(*syntax.BraceExp)
		if !ok {
			before = append(before[:len(before):len(before)], part)
			continue
		}
		if b.Sequence {
			for _, text := range ex.sequence(b) {
				ex.brace(rest[i+1:], append(before[:len(before):len(before)], &syntax.Lit{Value: text}), done)
			}
			return
		}
		for _, elem := range b.Elems {
			ex.brace(elem.Parts, before, func(parts []syntax.WordPart) { ex.brace(rest[i+1:], parts, done) })
		}
		return
	}
	done(before)
}

// sequence lists {1..10..2} and {a..e}.
func (ex *expander) sequence(b *syntax.BraceExp) []string {
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	step := 1
	if len(b.Elems) > 2 {
		step, _ = strconv.Atoi(b.Elems[2].Lit())
	}
	if step = max(step, -step); step == 0 {
		step = 1
	}
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	letters := err1 != nil || err2 != nil
	if letters {
		if len(from) != 1 || len(to) != 1 {
			return []string{"{" + from + ".." + to + "}"}
		}
		lo, hi = int(from[0]), int(to[0])
	}
	width := 0
	if !letters && (len(from) > 1 && from[0] == '0' || len(to) > 1 && to[0] == '0') {
		width = max(len(from), len(to))
	}
	var out []string
	for n := lo; ; {
		text := string(rune(n))
		if !letters {
			text = strconv.Itoa(n)
			if pad := width - len(text); pad > 0 {
				text = strings.Repeat("0", pad) + text
			}
		}
		out = append(out, text)
		if len(out) > ex.in.rep.lim.Fields || !ex.in.rep.made(len(text)) {
			ex.in.rep.over("braces")
			return out
		}
		if lo <= hi {
			if n += step; n > hi {
				return out
			}
		} else if n -= step; n < hi {
			return out
		}
	}
}
