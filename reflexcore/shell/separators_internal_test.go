package shell

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// A long list of parameters is pushed as it is, without being put together byte by byte.
// If that gave other words than the slow way, "$@" with a pattern, a blank or a part that is
// not known would hide a flag or a file from the rules.
func TestParametersAreTheSameWordsEitherWay(t *testing.T) {
	table, err := grammar.Default()
	if err != nil {
		t.Fatal(err)
	}
	a := &Analyzer{Table: table, Limits: DefaultLimits}
	texts := []string{
		"a", "", "-rf", "a b", " a", "*", "x?", "[ab]", "a\tb\nc", "a:b", ":", effect.Unknown, "a" + effect.Unknown,
		effect.Unknown + " b",
		"{a,b}", "~", `\a`, "$x", "'q'", "é", "last",
	}
	list := make([]data, 0, len(texts))
	for i, text := range texts {
		list = append(list, data{text, effect.Taint(i % 3)})
	}
	for _, ifs := range []string{"", "unset", ":", " ", "none", "unknown", "partly", "array"} {
		for _, omits := range []omission{omitsNothing, omitsAll, omitsParts} {
			for _, quoted := range []bool{false, true} {
				fields := func(walk func(in *interp, b *builder)) []field {
					in := &interp{}
					in.begin(a, Context{Dir: "/srv/app"}, &Result{})
					in.readings.omits = omits
					switch ifs {
					case "":
					case "unset":
						in.vars.list = append(in.vars.list, variable{name: "IFS", unset: true})
					case "none":
						in.assigner.setVariable("IFS", data{})
					case "unknown":
						in.assigner.setVariable("IFS", unknown)
					case "partly":
						in.assigner.setVariable("IFS", data{text: ":" + effect.Unknown})
					case "array":
						in.vars.list = append(in.vars.list, variable{name: "IFS", array: true, list: []data{{text: "l"}}})
					default:
						in.assigner.setVariable("IFS", data{text: ifs})
					}
					b := builder{in: in, start: len(in.exp.buf)}
					b.addText("before", false)
					walk(in, &b)
					b.addText("after", false)
					b.flush()
					return slices.Clone(in.exp.fields)
				}
				got := fields(func(in *interp, b *builder) { in.exp.addMany(b, list, false, quoted, true) })
				want := fields(func(_ *interp, b *builder) {
					for i, d := range list {
						if i > 0 {
							b.flush()
						}
						b.addValue(d, quoted)
						b.any = b.any || quoted
					}
				})
				if !slices.Equal(got, want) {
					t.Errorf("IFS %q, omits %d, quoted %v:\ngot  %+v\nwant %+v", ifs, omits, quoted, got, want)
				}
				if len(got) < len(list)/2 {
					t.Errorf("IFS %q: only %d words", ifs, len(got))
				}
			}
		}
	}
}

// A walk that ends at a limit with all known up to there is not repeated without what is
// not known: only the limit left something unknown. With a variable that is not known in
// front of the same text it is repeated, as that may be nothing.
func TestLimitAloneHidesNothing(t *testing.T) {
	table, err := grammar.Default()
	if err != nil {
		t.Fatal(err)
	}
	a := &Analyzer{Table: table, Limits: DefaultLimits}
	heavy := "x=" + strings.Repeat("a", 5000) + "; " + strings.Repeat("y=${x//a*b/c}; z=${x%%a*a*a*b}; ", 150)
	for text, want := range map[string]bool{
		heavy: false, heavy + "echo $U": false, "echo $U; " + heavy: true, "git push --$U; " + heavy: true,
		strings.Replace(heavy, "z=$", "z=$U$", 1): true, strings.Replace(heavy, "b/c", "b/$U", 1): true,
	} {
		in := &interp{}
		in.begin(a, Context{Dir: "/srv/app"}, &Result{})
		in.source(text, "", &input{}, nil)
		if !in.rep.stopped() || in.readings.hidesMore() != want {
			t.Errorf("%.40s … %.20s: stopped %v, hides more %v, want %v", text, text[len(text)-20:], in.rep.stopped(),
				in.readings.hidesMore(), want)
		}
	}
}

// What prints the name of the branch is known by its words. A word with anything else in it
// is none of them: git branch --show-current$X prints what X says.
func TestWordsThatAskForTheBranch(t *testing.T) {
	in := &interp{}
	in.begin(&Analyzer{}, Context{}, &Result{})
	for text, want := range map[string]bool{
		"git branch --show-current": true, "git rev-parse --abbrev-ref HEAD": true, "git symbolic-ref --short -q HEAD": true,
		"git branch --show-current$X": false, "git branch --show-current ''": false, "git branch '--show-current'": false,
		"git branch": false, "git branch --show-current x": false, "git rev-parse --abbrev-ref H''EAD": false,
		"git branch$X --show-current": false,
		"git branch --show-$(cat f)":  false, "git rev-parse --abbrev-ref HEAD HEAD": false,
		"X=y git branch --show-current": false,
	} {
		file := parse(text, &DefaultLimits).file
		if got := in.def.asksBranch(file.Stmts); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
