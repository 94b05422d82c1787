package configs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// A speller writes a command line in other ways that mean the same to bash. The bytes
// of a fuzzer say which, and where.
type speller struct {
	data []byte
	used int
}

// pick is a number below n by the next byte; 0 when there is none left.
func (s *speller) pick(n int) int {
	if s.used >= len(s.data) || n < 1 {
		return 0
	}
	s.used++
	return int(s.data[s.used-1]) % n
}

// nothing are expansions that give no text, where a command is called without
// arguments and UNSET is not set.
var nothing = []string{
	"$@", "$*", "$1", "${9}", "${10}", "${UNSET}", "${UNSET-}", "${UNSET:-}", "${UNSET:+x}", "${UNSET%%*}", "${UNSET:0:3}",
	"${LANG:0:0}", "${LANG%%*}", "${LANG##*}", "${LANG//*/}",
	"${@:1}", "${*:2}", "${@%x}", "${UNSET[0]}", "${UNSET[@]}", "${UNSET^^}", "${UNSET//a/b}", "${1:-}", "${1:-$2}",
	"$(:)", "$( )", "$(true)", "``", "`:`", "$(exit)", "${!}", "$(echo)", "$(printf '')", "${LANG:+}",
	"${UNSET@P}", "${UNSET@Q}", "${UNSET@A}", "${UNSET@U}", "${UNSET@E}", "${!UNSET_*}", "${!UNSET_@}",
	"$(printenv UNSET)", "$(printf '' | cat)",
}

// quotes are those that hold nothing, inside a word.
var quotes = []string{`""`, `''`, `$''`, `$""`, `"$UNSET"`, `"${LANG:0:0}"`, `"$*"`, "\\\n", `"$(:)"`, "\"``\""}

// between are what stands between two words.
var between = []string{" $@ ", " $* ", " ${UNSET} ", " \\\n ", "\t", " 2>/dev/null ", " 3>/dev/null ", " 4</dev/null ",
	" $1 ", " ${LANG:0:0} ", " `:` ", " $(:) ", " 3>&2 ", " ${9} ${UNSET} ", ` "$@" `, ` "${UNSET[@]}" `}

// before are what stands before the name of a command, which it leaves what it is.
var before = []string{"A=b ", "A=b C='d e' ", "A=$UNSET ", "2>/dev/null ", "3>/dev/null ", "4</dev/null ", "A+=b ",
	"\\\n", "3>/dev/null A=b "}

// vanishing are words before a name that are none.
var vanishing = []string{"$@ ", "$* ", "${UNSET} ", "`:` ", "$(:) ", `"$@" `, "$1 $2 ", `"${UNSET[@]}" `,
	"${LANG:0:0} ", "${@:1} "}

// starters run the program that follows.
var starters = []string{
	"env ", "nohup ", "nice ", "nice -n 5 ", "command ", "exec ", "timeout 99 ", "env A=b ", "env -- ", "stdbuf -o0 ",
	"setsid -w ", "env $@ ", "command $@ ", "exec $@ ", "nice ${UNSET} ", "env -u X ", "eval ", "eval $@ ",
	"builtin eval ", "command eval ", "timeout ${UNSET} 99 ",
}

// frames hold a whole command line.
var frames = []string{
	"( %s\n)", "{ %s\n}", "! { %s\n}", "if true; then %s\nfi", "true && { %s\n}", "false || { %s\n}", "time { %s\n}",
	"for i in 1; do %s\ndone", "while true; do %s\nbreak; done", "case x in x) %s\n;; esac", "f() { %s\n}; f",
	"%s # a comment", ": # a comment\n%s", "until %s\ndo break; done",
	": $@; %s", "%s; :", "eval %q", "eval $@ %q", "eval \"$@\"%q", "bash -c %q", "set --; %s", "X=y; %s",
	"trap : EXIT; %s", ": x $_; %s", "pushd . >/dev/null; %s", "%s &\nwait", "bash -c $@%q", "command bash ${UNSET} -c %q",
}

// spell writes a command in another way. It is called with what was written before, so
// that ways add up.
func (s *speller) spell(command string) string {
	kind := s.pick(8)
	if kind == 7 {
		f := frames[s.pick(len(frames))]
		if quoted, ok := strings.CutSuffix(f, "%q"); ok {
			return quoted + "'" + strings.ReplaceAll(command, "'", `'\''`) + "'"
		}
		return fmt.Sprintf(f, command)
	}
	calls := callsOf(command)
	if len(calls) == 0 {
		return command
	}
	c := calls[s.pick(len(calls))]
	switch kind {
	case 0:
		if s.pick(2) == 0 {
			return insert(command, c.name, vanishing[s.pick(len(vanishing))])
		}
		return insert(command, c.start, before[s.pick(len(before))])
	case 1:
		if c.gaps == nil {
			return insert(command, c.end, " "+nothing[s.pick(len(nothing))])
		}
		return insert(command, c.gaps[s.pick(len(c.gaps))], between[s.pick(len(between))])
	case 2:
		start := starters[s.pick(len(starters))]
		if c.program && (!strings.Contains(start, "eval") || !strings.ContainsAny(command[c.name:c.end], "'\"\\$`")) &&
			(!strings.Contains(start, "exec") || c.start == 0 && c.end == len(command)) {
			return insert(command, c.name, start)
		}
		return insert(command, c.end, " "+nothing[s.pick(len(nothing))])
	}
	if len(c.inside) == 0 {
		return command
	}
	at := c.inside[s.pick(len(c.inside))]
	switch kind {
	case 3, 4:
		return insert(command, at, nothing[s.pick(len(nothing))])
	case 5:
		return insert(command, at, quotes[s.pick(len(quotes))])
	}
	letter := command[at-1 : at]
	if strings.Trim(letter, "abcdefghijklmnopqrstuvwxyz") != "" {
		return command
	}
	ways := []string{`\` + letter, `"` + letter + `"`, `'` + letter + `'`, `$'` + letter + `'`,
		`{` + letter + `..` + letter + `}`, fmt.Sprintf(`$'\x%02x'`, letter[0]), fmt.Sprintf(`$'\%03o'`, letter[0]),
		`$(echo ` + letter + `)`, `${UNSET:-` + letter + `}`, "`echo " + letter + "`", `${UNSET-` + letter + `}`}
	ways = append(ways, "$(basename /x/"+letter+")", "$(x="+letter+"; echo ${x@P})", "$(: "+letter+"; echo ${_})",
		"$(x="+letter+" printenv x)", "$(x="+letter+"; echo ${x@L})",
		"$(OPTIND=1; getopts x: o -x "+letter+"; echo ${OPTARG})")
	return command[:at-1] + ways[s.pick(len(ways))] + command[at:]
}

func insert(text string, at int, what string) string { return text[:at] + what + text[at:] }

// A place is one simple command in a text: where it and its name start, where it ends,
// between which words something can stand, and behind which letters of its words.
type place struct {
	start, name, end int
	program          bool // it is no builtin, function or variable
	gaps, inside     []int
}

// builtins cannot be started by env and its like.
var builtins = []string{"cd", "eval", "source", ".", "export", "history", "trap", "unset", "set", "exec", "ulimit",
	"alias", "read", "wait", "break", "exit", ":", "f", "true", "false", "umask", "command", "builtin", "time", "getopts",
	"pushd", "shift", "mapfile", "local", "select"}

// callsOf lists the simple commands of a text, outside of quotes.
func callsOf(text string) (out []place) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DblQuoted, *syntax.ParamExp, *syntax.DeclClause, *syntax.ArithmExp:
			return false
		case *syntax.CmdSubst:
			return !n.Backquotes && !strings.HasPrefix(text[n.Pos().Offset():], "$(echo")
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				out = append(out, placeOf(text, n))
			}
		}
		return true
	})
	return out
}

func placeOf(text string, n *syntax.CallExpr) place {
	p := place{start: int(n.Pos().Offset()), name: int(n.Args[0].Pos().Offset()), end: int(n.End().Offset())}
	lit := n.Args[0].Lit()
	p.program = lit != "" && strings.Trim(lit, "abcdefghijklmnopqrstuvwxyz0123456789-./_") == "" &&
		!slices.Contains(builtins, lit)
	for i, w := range n.Args {
		if i > 0 {
			p.gaps = append(p.gaps, int(n.Args[i-1].End().Offset()))
		}
		if raw := text[w.Pos().Offset():w.End().Offset()]; strings.ContainsAny(raw, "{}*?[~\\") || i == 0 && raw == ":" {
			continue // braces, patterns and a tilde mean something by what stands beside them
		}
		for _, part := range w.Parts {
			lit, ok := part.(*syntax.Lit)
			if !ok {
				continue
			}
			for at := int(lit.Pos().Offset()) + 1; at <= int(lit.End().Offset()); at++ {
				p.inside = append(p.inside, at)
			}
		}
	}
	return p
}

// What the speller writes means the same to bash: it runs harmless commands in every
// way, and compares the words that arrive with those of the plain form.
func TestSpellerAsBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("NOT RUN: there is no bash")
	}
	dir := t.TempDir()
	program := "#!" + bash + "\nprintf '%s\\0' argv \"$@\"; printf '\\n'\n"
	if err := os.WriteFile(filepath.Join(dir, "argv"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(text string) string {
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", text)
		cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/home/ada"}
		cmd.Dir = dir
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, _ := cmd.Output() // "!" and "until" change the exit code
		if len(out) == 0 {
			return "nothing: " + errs.String()
		}
		return string(out)
	}
	plains := []string{
		`argv push --force origin main`, `argv if=/dev/zero of=/dev/sda`, `argv -c 'DROP "x" TABLE' "$HOME"/y`,
		`argv a && argv b`, `argv a | cat`, `argv x; argv "$(argv y)" z`, `argv -c "$(argv a b)"`,
	}
	rounds := 700
	if testing.Short() {
		rounds = 100
	}
	for seed := range rounds {
		plain := plains[seed%len(plains)]
		text := spelled(plain, bytesOf(seed))
		if got, want := run(text), run(plain); got != want {
			t.Errorf("%s\n is written as\n%s\n bash makes of it %q\n and not          %q", plain, text, got, want)
		}
	}
}

// bytesOf are the bytes of a round without a fuzzer.
func bytesOf(seed int) []byte {
	x := uint64(seed)*0x9E3779B97F4A7C15 + 1
	out := make([]byte, 4+seed%17)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = byte(x >> 32)
	}
	return out
}

// spelled writes a command in as many other ways, one after the other, as the bytes say.
func spelled(command string, data []byte) string {
	s := &speller{data: data}
	for n := 0; n < 8 && s.used < len(s.data) && len(command) < 2000; n++ {
		command = s.spell(command)
	}
	return command
}
