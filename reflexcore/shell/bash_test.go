package shell_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// A script writes random command lines out of what a shell can do to words. All
// that they run is argv, a function that prints its words, and builtins without
// side effects.
type script struct {
	*rand.Rand
	depth int
}

func (s *script) pick(list ...string) string { return list[s.IntN(len(list))] }

func (s *script) name() string { return s.pick("a", "b", "c", "d") }

func (s *script) text() string {
	return s.pick("x", "rm", "-rf", "/tmp/y", "a b", "A.B.c", "foo-bar", "1", "  lead", "t:u:v", "", "ÄÖ", "x=y", "2",
		"a/b/c.txt")
}

// word writes one word.
func (s *script) word() string {
	if s.depth > 3 {
		return s.pick("x", "'q r'", "$a")
	}
	s.depth++
	defer func() { s.depth-- }()
	switch s.IntN(22) {
	case 0:
		return s.pick("x", "foo", "-r", "--f=g", "./p/q", "a:b")
	case 1:
		return "'" + s.text() + "'"
	case 2:
		return `"` + s.text() + `"`
	case 3:
		return "$" + s.name()
	case 4:
		return `"$` + s.name() + `"`
	case 5:
		return "$'" + s.pick(`\x72m`, `\162\155`, `a\tb`, `\u0041`, `it\'s`, `\\n`) + "'"
	case 6:
		return s.pick("p", "") + "{" +
			s.pick("a,b", "x,y,z", "1..3", "a..c", "3..1", "a,{b,c}", "r,m,", "01..03", "1..7..2") + "}" + s.pick("q", "")
	case 7:
		return "${" + s.name() +
			s.pick(":-"+s.text(), "-z", ":+alt", "+alt", ":=def", "#r", "##*.", "%.*", "%%.*", "#*/", "##*/", "%/*", "/x/y",
				"//a/_", "/#a/b", "/%c/d", "^", "^^", ",", ",,", ":1", ":0:2", ": -2") + "}"
	case 8:
		return `"${` + s.name() + s.pick(":-w v", "^^", "%%:*", "#*:", ":1:1", "//:/ ") + `}"`
	case 9:
		return "${#" + s.name() + "}"
	case 10:
		return "$(echo " + s.word() + ")"
	case 11:
		return `"$(printf '%s' ` + s.word() + `)"`
	case 12:
		return "$((" + s.pick("1+2", "3*4-1", "7/2", "7%3", "2**5", "1<2", "(1+2)*3", "5>3?8:9", "10-3-2", "0x1f", "010",
			"1,2", "~0", "!0", "6&3", "6|1") + "))"
	case 13:
		return s.word0() + s.word0()
	case 14:
		return `r\m`
	case 15:
		return `"$@"`
	case 16:
		return "$*"
	case 17:
		return `"$*"`
	case 18:
		return s.pick("$1", "${2}", "$#", `"${@:2}"`, `"${@:1:1}"`)
	case 19:
		return s.pick(`"${l[@]}"`, `"${l[*]}"`, "${l[1]}", "${l[-1]}", "${#l[@]}", "${l}", `"${l[@]:1}"`, `"${l[@]/x/z}"`)
	case 20:
		return s.pick("~/x", `"~"`, `\~`, "a~b")
	}
	return "`echo " + s.pick("x", "'a b'", "$a") + "`"
}

func (s *script) word0() string { return s.pick(`"$a"`, "x", "'y z'", "${b:-k}", `\ `, "$c") }

func (s *script) words() string {
	var all []string
	for range 1 + s.IntN(4) {
		all = append(all, s.word())
	}
	return strings.Join(all, " ")
}

func (s *script) line(depth int) string {
	if depth > 2 {
		return "argv " + s.words()
	}
	switch s.IntN(18) {
	case 0, 1, 2:
		return "argv " + s.words()
	case 3, 4:
		return s.name() + "=" + s.word()
	case 5:
		return s.name() + "+=" + s.word()
	case 6:
		return "l=(" + s.words() + ")"
	case 7:
		return "set -- " + s.words()
	case 8:
		return "for " + s.name() + " in " + s.words() + "; do " + s.line(depth+1) + "; done"
	case 9:
		return "f() { " + s.line(depth+1) + "; }; f " + s.words()
	case 10:
		return "read -r " + s.name() + " " + s.name() + " <<< " + s.word()
	case 11:
		return "printf -v " + s.name() + " " + s.pick("'%s-%s'", "'%s'", "'%05d'", "'%x'", `'\x41%s'`, "'%-4s|'", "'%.2s'") +
			" " + s.pick("1 2", "rm x", "12", "7")
	case 12:
		return "case " + s.pick("x", "rm", "$a") + " in " + s.pick("r*", "x", "[a-z]") + ") " + s.line(depth+1) + ";; *) " +
			s.line(depth+1) + ";; esac"
	case 13:
		return "( " + s.line(depth+1) + " )"
	case 14:
		return "eval " + s.pick(`argv`, `'argv x'`, `"argv \$a"`) + " " + s.pick("x", "'y z'", `"$b"`)
	case 15:
		return s.pick("IFS=:", "IFS=' '", "unset IFS", "IFS=") + "; argv " + s.words()
	case 16:
		return "{ " + s.line(depth+1) + "; " + s.line(depth+1) + "; }"
	}
	return "l+=(" + s.word() + ")"
}

// asBash runs the script in a real bash, in an empty environment and folder, and
// returns the words of each argv.
func asBash(t *testing.T, bash, dir, src string) ([][]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-c",
		"set -f; argv() { printf 'N%s\\0' \"$#\"; [ $# = 0 ] || printf '%s\\0' \"$@\"; }\n"+src, "bash", "p1", "p 2")
	cmd.Dir, cmd.Env = dir, []string{"HOME=/home/u", "PATH=/nowhere", "LC_ALL=C.UTF-8"}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil && ctx.Err() != nil {
		return nil, err
	}
	var calls [][]string
	parts := strings.Split(out.String(), "\x00")
	for i := 0; i < len(parts)-1; {
		var n int
		if _, err := fmt.Sscanf(parts[i], "N%d", &n); err != nil || i+1+n >= len(parts) {
			return nil, fmt.Errorf("bash printed %q", out.String())
		}
		calls = append(calls, parts[i+1:i+1+n])
		i += 1 + n
	}
	return calls, nil
}

// asInterpreter is the same by the interpreter, and whether it knows all of them.
func asInterpreter(a *shell.Analyzer, dir, src string) (calls [][]string, known bool) {
	var r shell.Result
	a.Analyze("set -- p1 'p 2'\n"+src,
		shell.Context{Dir: dir, Env: map[string]string{"HOME": "/home/u"}, Explain: true, Unset: true}, &r)
	known = r.Over == "" &&
		(!strings.Contains(src, "echo") || !strings.Contains(src, `\\n`)) // other shells' echo prints another text
	for _, step := range r.Steps {
		if len(step.Argv) > 0 && step.Via != "zsh array" &&
			(step.Argv[0] == "argv" || step.Argv[0] == "set") { // set may leave out what is not known
			if step.Argv[0] == "argv" {
				calls = append(calls, step.Argv[1:])
			}
			known = known && !slices.ContainsFunc(step.Argv, func(w string) bool { return !effect.IsKnown(w) })
		}
	}
	return calls, known
}

// References, elements that are named by a text, and numbers are what they are in bash.
func TestReferencesAsBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("NOT RUN: there is no bash")
	}
	a, dir := analyzer(t), t.TempDir()
	for _, src := range []string{
		`declare -n r=a; r=x; argv "$r" "$a"; unset -n r; r=y; argv "$r" "$a"`,
		`declare -n r=a; a=x; unset r; argv "${a-none}"; r=z; argv "$a"`,
		`a=(p q); declare -n r=a[1]; argv "$r"; r='x y'; argv "$r" "${a[@]}"; a[1]=z; argv "$r"`,
		`f() { local -n r=$1; r=x; }; f c; argv "$c"`,
		`declare -A m=([k]=v); declare -n r=m[k]; argv "$r"; r=w; argv "${m[k]}" "$r"`,
		`printf -v 'a[0]' '%s-' x y; argv "${a[0]}" "$a"`,
		`read -r 'a[1]' <<< 'x y'; argv "${a[1]}" "$a" "${a[0]}"`,
		`declare 'a[2]=z'; argv "${a[2]}" "${a[@]}"`,
		`a=(x y); declare 'a[1]=z'; argv "${a[@]}"`,
		`mapfile -t -C argv -c 1 l <<< $'o p\nq'; argv "${l[@]}"`,
		`f() { c+=$2; }; mapfile -tc1 -C f l <<< $'o\nq'; argv "$c"`,
		`exec 3<<< $'a b\nc'; mapfile -tu3 l; argv "${l[@]}"`,
		`declare -i n=3; n+=4; argv "$n"; n=5; argv "$n"; m=6; n=m; argv "$n"`,
		`d+=${d-x}; argv "$d"; d+=${d-y}; argv "$d"`,
		`z='r\x6d\tx'; argv "${z@E}"`,
	} {
		want, err := asBash(t, bash, dir, src)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if got, known := asInterpreter(a, dir, src); !known || !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s\n bash        %q\n interpreter %q", src, want, got)
		}
	}
}

// What the interpreter makes of words is what bash makes of them. Each script is
// run by both; where the interpreter says that it does not know, that is no
// disagreement, but it is counted.
func TestExpansionAsBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("NOT RUN: there is no bash")
	}
	scripts := 1500
	if testing.Short() {
		scripts = 200
	}
	a := analyzer(t)
	dir := t.TempDir()
	var agreed, open, differed int
	for seed := range scripts {
		s := &script{Rand: rand.New(rand.NewPCG(uint64(seed), 7))}
		var lines []string
		for range 1 + s.IntN(5) {
			lines = append(lines, s.line(0))
		}
		lines = append(lines, "argv "+s.words())
		src := strings.Join(lines, "\n")
		want, err := asBash(t, bash, dir, src)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, src)
		}
		got, known := asInterpreter(a, dir, src)
		switch {
		case slices.EqualFunc(got, want, slices.Equal):
			agreed++
		case !known:
			open++
			if open <= 12 {
				t.Logf("not known, seed %d\n%s\n bash        %q\n interpreter %q", seed, src, want, got)
			}
		default:
			differed++
			if differed <= 10 {
				t.Errorf("seed %d\n%s\n bash        %q\n interpreter %q", seed, src, want, got)
			}
		}
	}
	t.Logf("%d scripts: %d agree (%.1f %%), %d not known, %d differ", scripts, agreed,
		100*float64(agreed)/float64(scripts), open, differed)
}
