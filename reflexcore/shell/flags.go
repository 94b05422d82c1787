package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

const flagWalks = 48 // flags that one word is tried as

// asFlags walks a command once more as each flag of its program that a word may be of
// which only the beginning is known: git push --$X. What is new in that counts.
func (in *interp) asFlags(mark int, p *grammar.Parsed, std *input, from int) {
	if in.omits != omitsNothing || p.Program == nil || in.rep.steps > in.rep.lim.Steps/2 {
		return
	}
	n := len(in.fields)
	for i := mark + 1; i < n && !in.rep.stopped(); i++ {
		f := in.fields[i]
		if f.text == "--" {
			return
		}
		at := strings.Index(f.text, effect.Unknown)
		if !f.hollow || at < 1 || f.text[0] != '-' || strings.Contains(f.text[:at], "=") {
			continue
		}
		for _, flag := range p.Flags(f.text[:at], flagWalks) {
			in.fields = append(in.fields, in.fields[mark:n]...)
			in.fields[n+i-mark] = field{data: data{flag, f.taint}}
			own := *std
			in.omitting(omitsFor, 0, from, len(in.below), func() { in.program(n, &own, &data{}) })
			in.fields = in.fields[:n]
		}
	}
}
