package shell

import (
	"fmt"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// hidden walks what runs in a text that the parser takes for a pattern, @(…), while bash
// expands it first. Single quotes in it are taken for none: that only finds more.
func (in *interp) hidden(text string) {
	if !expands(text) && !strings.Contains(text, "${") || in.rep.stopped() {
		return
	}
	if in.rep.level++; in.rep.level > in.rep.lim.Nesting {
		in.rep.over(overDepth)
		return
	}
	defer func() { in.rep.level-- }()
	in.rep.steps += 8 + len(text)/256
	for i := process(text); i >= 0; i = process(text) {
		text = text[:i] + "$" + text[i+1:]
	}
	w, err := document(text)
	if err != nil {
		in.add(effect.Effect{Kind: effect.Opaque, Target: "syntax error", Bits: effect.Partial})
		return
	}
	b := builder{in: in, start: len(in.buf)}
	mark := len(in.fields)
	for _, part := range w.Parts {
		if _, ok := part.(*syntax.Lit); !ok {
			in.part(&b, part, true)
		}
	}
	in.buf = in.buf[:b.start]
	in.fields = in.fields[:mark]
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
