package shell

import (
	"fmt"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"

	"mvdan.cc/sh/v3/syntax"
)

// document expands a here-document's body.
func (ex *expander) document(r *syntax.Redirect) data {
	if r.Hdoc == nil {
		return data{}
	}
	literal := literalDelimiter(r.Word)
	if text, ok := asItIs(r, literal); ok { // the usual case
		if !ex.in.rep.made(len(text)) && literal {
			text = ""
		}
		return data{text: text}
	}
	b := builder{in: ex.in, start: len(ex.buf)}
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			switch {
			case literal:
				b.addText(lit.Value, true)
			default:
				mark := len(ex.buf)
				ex.buf = unescape(ex.buf, lit.Value, inDocument)
				ex.in.rep.made(len(ex.buf) - mark)
			}
			continue
		}
		ex.expandPart(&b, part, true)
	}
	d := data{string(ex.buf[b.start:]), b.taint}
	ex.buf = ex.buf[:b.start]
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(d.text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		d.text = strings.Join(lines, "\n")
	}
	return d
}

// asItIs is the body of a here-document in which nothing is expanded or removed. It is false for
// any other.
func asItIs(r *syntax.Redirect, literal bool) (text string, ok bool) {
	if r.Op == syntax.DashHdoc || len(r.Hdoc.Parts) != 1 {
		return "", false
	}
	lit, ok := r.Hdoc.Parts[0].(*syntax.Lit)
	if !ok || !literal && strings.IndexByte(lit.Value, '\\') >= 0 {
		return "", false
	}
	return lit.Value, true
}

// hidden walks what runs in a text that the parser takes for a pattern, @(…), but that bash
// expands first. It ignores single quotes, which only finds more.
func (ex *expander) hidden(text string) {
	if !expands(text) && !strings.Contains(text, "${") || ex.in.rep.stopped() {
		return
	}
	ex.in.rep.deeper(func() {
		ex.in.rep.steps += 8 + len(text)/256
		for i := process(text); i >= 0; i = process(text) {
			text = text[:i] + "$" + text[i+1:]
		}
		w, err := document(text)
		if err != nil {
			ex.in.add(effect.Effect{Kind: effect.Opaque, Target: "syntax error", Bits: effect.Partial})
			return
		}
		b := builder{in: ex.in, start: len(ex.buf)}
		mark := len(ex.fields)
		for _, part := range w.Parts {
			if _, ok := part.(*syntax.Lit); !ok {
				ex.expandPart(&b, part, true)
			}
		}
		ex.buf = ex.buf[:b.start]
		ex.fields = ex.fields[:mark]
	})
}

// document parses a text as the body of a here-document.
func document(text string) (w *syntax.Word, err error) {
	p := pool.Get().(*parsers)
	defer pool.Put(p)
	defer func() {
		if r := recover(); r != nil {
			w, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	return p.bash.Document(strings.NewReader(text))
}

// brace calls done with each combination of brace alternatives.
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
