package grammar_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"approver.example/reflexcore/grammar"
)

var badTables = []struct{ text, want string }{
	{"  -x read\n", "t.grammar:1: a line of a block before any block: begin with the program's name"},
	{"a\na\n", "t.grammar:2: a has a block already, at t.grammar:1: write one block for each"},
	{"a|b\nb|c\n", `t.grammar:2: a has a block already, at t.grammar:1`},
	{"a|b\nc|a\n", `t.grammar:2: the name "a" is taken by another program: give each name to one block`},
	{"a|\n", `t.grammar:1: the name "" is taken`},
	{"a x\na y|x\n", `t.grammar:2: the subcommand "x" is taken by another block`},
	{"a\n  ? b c\n", "t.grammar:2: an example needs =>"},
	{"a\n  mode fast\n", "t.grammar:2: mode is one of gnu, posix"},
	{"a\n  mode gnu 2\n", "t.grammar:2: mode is one of"},
	{"a\n  mode posix 0\n", `t.grammar:2: mode posix: "0" is no number of an operand`},
	{"a\n  mode posix 2+\n", `t.grammar:2: mode posix: "2+" is no number`},
	{"a\n  flow back\n", "t.grammar:2: flow is copy"},
	{"a\n  like\n", "t.grammar:2: like needs the name of a block"},
	{"a\n  like b\n", "t.grammar:1: like b: there is no such block"},
	{"a\n  like a\n", "t.grammar:1: like a: there is no such block, or it is like this one"},
	{"a\n  1 smash\n", `t.grammar:2: "smash" is no role: one of text, exec`},
	{"a\n  1 bits\n", `t.grammar:2: "bits" is no role`},
	{"a\n  1\n", "t.grammar:2: an action is missing"},
	{"a\n  1 read +deep\n", `t.grammar:2: "+deep" is no bit: one of +recursive`},
	{"a\n  1 read x y\n", `t.grammar:2: "y": after the role comes one argument`},
	{"a\n  1 +force x\n", `t.grammar:2: "x": after the role comes one argument`},
	{"a\n  1 read if\n", `t.grammar:2: "if" needs a word after it`},
	{"a\n  1 read if =x\n", `t.grammar:2: the condition "=x" needs a flag, an operand`},
	{"a\n  1 read if always\n", `t.grammar:2: the condition "always" needs a flag`},
	{"a\n  1 read each ab\n", `t.grammar:2: each needs one character, not "ab"`},
	{"a\n  1 code\n", "t.grammar:2: code needs an argument: which language"},
	{"a\n  stdout decode\n", "t.grammar:2: decode needs an argument"},
	{"a\n  1 read if -x\n",
		`t.grammar:2: the condition names "-x", which is no flag of a: describe the flag, or name an operand`},
	{"a\n  past\n", "t.grammar:2: past needs a word after it, such as --"},
	{"a\n  -x -y -x\n", "t.grammar:2: -x is described twice: leave one"},
	{"a\n  -x read\n  -x -y write\n",
		"t.grammar:3: -x is described twice: leave one, or name the same flags on both lines"},
	{"a\n  mode windows\n  /s -S\n", "t.grammar:3: /s is described twice"},
	{"a\n  -x=y= read\n", `t.grammar:2: the flag "-x=y=" has = inside`},
	{"a\n  -x|\n", `t.grammar:2: the flag "-x|" has = inside, or | at an end`},
	{"a\n  x read\n", `t.grammar:2: "x" is neither a flag, nor an operand`},
	{"a\n  0 read\n", `t.grammar:2: "0" is neither a flag, nor an operand`},
	{"a" + strings.Repeat(" ", 1<<20), "t.grammar: longer than 1048576 bytes"},
}

// Each mistake in a table has its place and its cure.
func TestBadTables(t *testing.T) {
	for _, c := range badTables {
		_, err := grammar.Load("t.grammar", c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q:\n got  %v\n want %s", c.text[:min(len(c.text), 60)], err, c.want)
		}
	}
}

func TestLoadFS(t *testing.T) {
	dir := fstest.MapFS{
		"a.grammar": {Data: []byte("cp2\n  like mv2\n")},
		"b.grammar": {Data: []byte("mv2\n  1 read\n  ? mv2 x => read x\n")},
		"c.txt":     {Data: []byte("not a table")},
	}
	table, err := grammar.LoadFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"cp2", "f"}
	var p grammar.Parsed
	if table.Parse(argv, &p); show(argv, &p) != "read f" {
		t.Errorf("like over two files: %s", show(argv, &p))
	}
}

// Every block has an example, and there is a table for most of what is called.
func TestCounts(t *testing.T) {
	table := load(t)
	shown := map[string]bool{}
	for _, e := range table.Examples() {
		shown[e.Program] = true
		argv := words(e.Line)
		var p grammar.Parsed
		if table.Parse(argv, &p); p.Program == nil {
			t.Errorf("%s: the example is of no program", e.Where)
		}
	}
	programs := map[string]bool{}
	subcommands := 0
	for _, p := range table.Programs() {
		if !shown[p.Name] {
			t.Errorf("%s has no example", p.Name)
		}
		first, rest, _ := strings.Cut(p.Name, " ")
		programs[first] = true
		if rest != "" {
			subcommands++
		}
	}
	t.Logf("%d programs, %d subcommands, %d examples", len(programs), subcommands, len(table.Examples()))
	if len(programs) < 260 {
		t.Errorf("%d programs, at least 260", len(programs))
	}
}

// The language of the tables, on tables of their own.
func TestLanguage(t *testing.T) {
	for _, c := range []struct{ name, table, line, want string }{
		{"past --", "a\n  past -- argv\n", "a x -- rm y", "argv rm y"},
		{"past -- without it", "a\n  past -- argv\n", "a x rm y", ""},
		{"past a word, until another", "a\n  mode posix\n  1+ shell until ::: \n  past ::: args\n", "a rm {} ::: x y",
			"shell rm {}; args x; args y"},
		{"if --", "a\n  1 read if --\n  1 write unless --\n", "a -- x", "read x"},
		{"flags end at the second operand", "a\n  mode posix 2\n  -v\n  2+ argv\n", "a h -v rm -v", "argv rm -v"},
		{"long names end at an operand", "a\n  mode long 1\n  -cp=\n  1 exec\n", "a -cp x Main -cp", "exec Main"},
		{"two words", "a\n  --arg== read\n  1 text\n", "a --arg n f x", "read f; text x"},
		{"all that follow", "a\n  -e=* argv\n", "a -e rm -x y", "argv rm -x y"},
		{"all that follow, attached", "a\n  -e=* argv\n", "a -erm y", "argv rm y"},
		{"of code the first", "a\n  -c=* code x\n", "a -c 1 2", "code 1 x"},
		{"a list", "a\n  -o= exec each , after = matching p=*\n", "a -o x=1,p=2,p=3", "exec 2; exec 3"},
		{"except", "a\n  * read except -|*=*\n", "a - b c=d", "read b"},
		{"except does not take what is not known", "a\n  * read except b\n", "a …", "read …; odd"},
		{"matching does", "a\n  * read matching b\n", "a …", "read …; odd"},
		{"unless does not", "a\n  -x=\n  1 read unless -x=b\n", "a -x … c", "read c"},
		{"if does", "a\n  -x=\n  1 read if -x=b\n", "a -x … c", "read c"},
		{"dry is sure", "a\n  -x=\n  * dry matching b\n  always dry if -x=b\n", "a … -x …", "odd"},
		{"dry when surely", "a\n  -x=\n  always dry if -x=b*\n", "a -x b…", "dry"},
		{"dry must be written out", "a\n  --dry-run dry\n  1 read\n", "a --dry x", "read x; odd"},
		{"of abbreviations, what does something", "a\n  --verbose\n  --version-file= read\n", "a --ver x", "read x"},
		{"windows: cut short, any case", "a\n  mode windows\n  -recurse +recursive\n  * delete\n", "a -Rec X",
			"delete X recursive"},
		{"windows: a colon", "a\n  mode windows\n  /i= exec\n", "a /I:x", "exec x"},
		{"windows: joined", "a\n  mode windows\n  /s +recursive\n  /q +force\n  * delete\n", "a /s/q x",
			"delete x recursive+force"},
		{"windows: a path", "a\n  mode windows\n  /s +recursive\n  * delete\n", "a /some/path", "delete /some/path"},
		{"windows: an unknown flag", "a\n  mode windows\n  /s +recursive\n  * delete\n", "a /z x", "delete x; odd"},
		{"names of one flag", "a\n  -f|--file= -q\n  1 read if -f=b\n", "a --file b c", "read c"},
		{"a flag of both blocks counts for conditions of both", "b\n  -x\n  1 read if -x\na\n  -x|--xx\n  like b\n",
			"a --xx c", "read c"},
		{"a family", "mk.*\n  1 delete\n", "mk.x d", "delete d"},
		{"{} + ends -exec, + does not", "find\n  mode find\n  -exec=; argv\n  -delete +force\n  * read\n",
			"find a -exec x + y {} + -delete", "argv x + y {}; read a force"},
		{"an escaped bar", "a\n  -o= shell after | matching \\|*\n  -o= write except \\|*\n", "a -o '|rm x' -o f",
			"shell rm x; write f"},
		{"code of many words", "a\n  1+ code x joined\n  -c=* code x joined\n", "a -c b c", "code b c x"},
		{"no words", "a\n  1 read\n", "a", ""},
		{"an empty word", "a\n  1 read\n", "a ''", "read "},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := grammar.Load("t.grammar", c.table)
			if err != nil {
				t.Fatal(err)
			}
			argv := words(c.line)
			var p grammar.Parsed
			table.Parse(argv, &p)
			if got := show(argv, &p); got != c.want {
				t.Errorf("%s\n got  %s\n want %s", c.line, got, c.want)
			}
		})
	}
}

func TestFind(t *testing.T) {
	table := load(t)
	for name, want := range map[string]string{
		"/usr/bin/rm": "rm", "RM": "rm", `C:\Windows\System32\cmd.exe`: "cmd", "python3.11": "python", "npm.cmd.x": "",
		"mkfs.ext4": "mkfs",
		"CMD.EXE":   "cmd", "": "", "/": "", ".": "source", strings.Repeat("x", 5000): "",
	} {
		got := ""
		if p := table.Find(name); p != nil {
			got = p.Name
		}
		if got != want {
			t.Errorf("%.20q is %q, want %q", name, got, want)
		}
	}
}

// All blocks come once.
func TestProgramsOnce(t *testing.T) {
	all := load(t).Programs()
	seen := map[*grammar.Program]bool{}
	if slices.ContainsFunc(all, func(p *grammar.Program) bool { had := seen[p]; seen[p] = true; return had }) {
		t.Error("a block comes twice")
	}
}
