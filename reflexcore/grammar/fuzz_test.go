package grammar_test

import (
	"regexp"
	"strings"
	"testing"

	"approver.example/reflexcore/grammar"
)

var place = regexp.MustCompile(`^t\.grammar(:\d+)?: `)

// Any table loads, or is refused with its place; what loads can be applied.
func FuzzLoad(f *testing.F) {
	for _, bad := range badTables {
		f.Add(bad.text)
	}
	f.Add("a|b sub\n  mode posix 2\n  -x|--xx= -y\n  -z= shell after = matching a*|b\n  past -- argv until ;\n" +
		"  stdin code x if -x=* unless --\n  like a\n  ? a -x 1 =>\n")
	f.Add("=h\n  --help dry\nw\n  mode windows\n  like =h\n  /s +recursive\n  -path= delete each ,\n" +
		"  last write except -\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := grammar.Load("t.grammar", text)
		if err != nil {
			if !place.MatchString(err.Error()) {
				t.Fatalf("no place: %v", err)
			}
			return
		}
		var p grammar.Parsed
		for _, program := range table.Programs() {
			argv := append(strings.Fields(program.Name), "-x", "--xx=1", "a", "--", "b", "")
			table.Parse(argv, &p)
			check(t, argv, &p)
		}
	})
}

// Any command line can be parsed, and each use lies within its words.
func FuzzParse(f *testing.F) {
	table := load(f)
	for _, e := range table.Examples() {
		f.Add(strings.Join(words(e.Line), "\n"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		argv := strings.Split(line, "\n")
		var p grammar.Parsed
		table.Parse(argv, &p)
		check(t, argv, &p)
	})
}

func check(t *testing.T, argv []string, p *grammar.Parsed) {
	t.Helper()
	for _, uses := range [][]grammar.Use{p.Uses, p.Stdin, p.Stdout} {
		for _, u := range uses {
			switch {
			case u.Word < 0:
				if u.Text != "" {
					t.Fatalf("%q: %+v has a text and no word", argv, u)
				}
			case u.Word >= u.End || u.End > len(argv):
				t.Fatalf("%q: %+v is not within the words", argv, u)
			case !strings.Contains(strings.Join(argv[u.Word:u.End], " "), u.Text):
				t.Fatalf("%q: %+v is not in its word", argv, u)
			}
		}
	}
	if len(p.Uses) > 200*len(strings.Join(argv, " "))+200 {
		t.Fatalf("%q: %d uses", argv, len(p.Uses))
	}
}
