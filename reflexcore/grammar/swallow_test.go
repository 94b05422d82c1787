package grammar_test

import (
	"slices"
	"testing"

	"approver.example/reflexcore/grammar"
)

// harmful are the roles of words of which people want to know.
var harmful = []grammar.Role{grammar.Write, grammar.Delete, grammar.Permission, grammar.Kill, grammar.Discard,
	grammar.RemoteDelete, grammar.Publish, grammar.Persist, grammar.Privilege, grammar.Send,
	grammar.SendFile, grammar.Host}

// harms are the harmful uses of a command.
func harms(p *grammar.Parsed) (out []string) {
	for _, u := range p.Uses {
		if slices.Contains(harmful, u.Role) && !p.Dry {
			out = append(out, u.Role.String()+" "+u.Arg+" "+u.Text)
		}
	}
	return out
}

// mkfs.ext4 -F took the device for the argument of the flag, so that nothing was deleted: only a
// pattern over the text still asked. No flag that a program knows may let the danger of a command
// vanish. Those that may are visible in the tables: they are dry, or a condition names them.
func TestNoFlagHidesWhatItsCommandDoes(t *testing.T) {
	table := load(t)
	var p, q grammar.Parsed
	tried := 0
	for _, e := range table.Examples() {
		argv := words(e.Line)
		table.Parse(argv, &p)
		want := harms(&p)
		if len(want) == 0 {
			continue
		}
		for _, flag := range p.Flags("-", 1000) {
			if !p.Bare(flag) || p.Decides(flag) {
				continue
			}
			tried++
			line := slices.Insert(slices.Clone(argv), p.After(argv), flag)
			table.Parse(line, &q)
			got := harms(&q)
			for _, harm := range want {
				if !slices.Contains(got, harm) {
					t.Errorf("%s: %s: with %s nothing is left of: %s", e.Where, e.Line, flag, harm)
				}
			}
		}
	}
	if tried < 5000 {
		t.Errorf("%d flags were tried", tried)
	}
}

// Programs of one name differ in which flags take an argument. Where the last word would be taken by
// one and no operand were left, it is the operand that is deleted.
func TestNoFlagTakesTheOnlyOperand(t *testing.T) {
	table := load(t)
	var p, q grammar.Parsed
	tried := 0
	for _, e := range table.Examples() {
		argv := words(e.Line)
		table.Parse(argv, &p)
		if len(p.Uses) != 1 || p.Uses[0].Role != grammar.Delete || p.Uses[0].Word != len(argv)-1 {
			continue
		}
		if len(argv) != p.After(argv)+1 {
			continue // other words stand there, too
		}
		for _, flag := range p.Taking() {
			if p.Decides(flag) {
				continue
			}
			line := slices.Insert(slices.Clone(argv), len(argv)-1, flag)
			tried++
			table.Parse(line, &q)
			if len(q.Uses) != 1 || q.Uses[0].Role != grammar.Delete || q.Uses[0].Text != p.Uses[0].Text {
				t.Errorf("%s: %v: %+v", e.Where, line, q.Uses)
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d flags were tried", tried)
	}
}
