package shell

import (
	"fmt"
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
	if text, ok := asItIs(r, literal); ok { // most
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

// asItIs is the body of a here-document in which nothing is expanded or taken away.
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

// hidden walks what runs in a text that the parser takes for a pattern, @(…), while bash
// expands it first. Single quotes in it are taken for none: that only finds more.
func (ex *expander) hidden(text string) {
	if !expands(text) && !strings.Contains(text, "${") || ex.in.rep.stopped() {
		return
	}
	if ex.in.rep.level++; ex.in.rep.level > ex.in.rep.lim.Nesting {
		ex.in.rep.over(overDepth)
		return
	}
	defer func() { ex.in.rep.level-- }()
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
