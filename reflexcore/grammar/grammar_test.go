package grammar_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// words splits an example as a shell would, without expanding anything.
func words(line string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	in := false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case quote == 0 && c == ' ':
			if in {
				out = append(out, word.String())
			}
			word.Reset()
			in = false
		default:
			in = true
			word.WriteRune(c)
		}
	}
	if in {
		out = append(out, word.String())
	}
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "…", effect.Unknown)
	}
	return out
}

// show writes uses as the examples of the tables do.
func show(argv []string, p *grammar.Parsed) string {
	var parts []string
	add := func(prefix string, uses []grammar.Use) {
		for _, u := range uses {
			fields := []string{prefix + u.Role.String()}
			switch {
			case u.Word < 0:
			case u.Role == grammar.Argv || u.End > u.Word+1:
				span := slices.Clone(argv[u.Word:u.End])
				if u.Role == grammar.Code {
					span = []string{u.Text}
				} else if u.Text != "" {
					span[0] = u.Text
				}
				fields = append(fields, strings.Join(span, " "))
			default:
				fields = append(fields, u.Text)
			}
			if u.Arg != "" && (u.Word < 0 || u.Role == grammar.Argv || u.Role == grammar.Code || u.Role == grammar.Exec ||
				u.Role == grammar.Sql || u.Role == grammar.Permission || u.Role == grammar.Attack) {
				fields = append(fields, u.Arg)
			}
			b := u.Bits
			if u.Role == grammar.Delete || u.Role == grammar.Read || u.Role == grammar.Write || u.Role == grammar.Permission ||
				u.Role == grammar.RemoteDelete || u.Role == grammar.Kill {
				b |= p.Bits
			}
			if b != 0 {
				fields = append(fields, b.String())
			}
			parts = append(parts, effect.Show(strings.Join(fields, " ")))
		}
	}
	add("", p.Uses)
	add("stdin ", p.Stdin)
	add("stdout ", p.Stdout)
	if p.Dry {
		parts = append(parts, "dry")
	}
	if p.Rerouted {
		parts = append(parts, "reroute")
	}
	if p.Open {
		parts = append(parts, "open")
	}
	if p.Odd {
		parts = append(parts, "odd")
	}
	return strings.Join(parts, "; ")
}

func load(t testing.TB) *grammar.Table {
	t.Helper()
	table, err := grammar.Default()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestExamples(t *testing.T) {
	table := load(t)
	var p grammar.Parsed
	for _, e := range table.Examples() {
		argv := words(e.Line)
		table.Parse(argv, &p)
		if got := show(argv, &p); got != e.Want {
			t.Errorf("%s: %s\n got  %s\n want %s", e.Where, e.Line, got, e.Want)
		}
	}
}

// notInterpreters run a script and no standard input: with none they do something else, or nothing.
var notInterpreters = wordset.Of("zx shx trap capsh")

// TestStandardInputIsCode checks that each program that runs a script in a language, named by its
// first operand, also runs its standard input: with no operand, or with a dash.
func TestStandardInputIsCode(t *testing.T) {
	table := load(t)
	runs := func(argv ...string) (lang string) {
		var p grammar.Parsed
		table.Parse(argv, &p)
		for _, u := range append(p.Uses, p.Stdin...) {
			if u.Role == grammar.Exec && (u.Word == 1 || u.Word < 0) || u.Role == grammar.Code || u.Role == grammar.Shell {
				lang = u.Arg
				if u.Role == grammar.Shell {
					lang = "sh"
				}
			}
		}
		return lang
	}
	languages := wordset.Of("sh node python perl ruby php lua tcl r julia applescript gnuplot other erlang powershell")
	for _, p := range table.Programs() {
		if strings.Contains(p.Name, " ") || notInterpreters[p.Name] || !languages[runs(p.Name, "./a")] {
			continue
		}
		if !languages[runs(p.Name)] && !languages[runs(p.Name, "-")] {
			t.Errorf("%s runs a script, but not its standard input", p.Name)
		}
	}
}
