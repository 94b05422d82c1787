package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

const flagWalks = 48 // flags that one word is tried as

// asFlags walks a command once more as each flag of its program that a word may be of
// which only the beginning is known: git push --$X. What is new in that counts.
func (rg *readings) asFlags(mark int, p *grammar.Parsed, std *input, from int) {
	if rg.omits != omitsNothing || p.Program == nil || rg.in.rep.steps > rg.in.rep.lim.Steps/2 {
		return
	}
	n := len(rg.in.exp.fields)
	for i := mark + 1; i < n && !rg.in.rep.stopped(); i++ {
		f := rg.in.exp.fields[i]
		if f.text == "--" {
			return
		}
		at := strings.Index(f.text, effect.Unknown)
		if !f.hollow || at < 1 || f.text[0] != '-' || strings.Contains(f.text[:at], "=") {
			continue
		}
		for _, flag := range p.Flags(f.text[:at], flagWalks) {
			rg.in.exp.fields = append(rg.in.exp.fields, rg.in.exp.fields[mark:n]...)
			rg.in.exp.fields[n+i-mark] = field{data: data{flag, f.taint}}
			own := *std
			rg.omitting(omitsFor, 0, from, len(rg.below), func() { rg.in.programs.program(n, &own, &data{}) })
			rg.in.exp.fields = rg.in.exp.fields[:n]
		}
	}
}
