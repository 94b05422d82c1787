package shell

import (
	"fmt"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

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
