package shell_test

import (
	"strings"
	"testing"
)

// An attacker had a builtin that only lists or reads run a command, or read less than
// the whole line. The walk believed the builtin harmless, or the line whole. Now what
// such a builtin runs is walked, and what it reads is cut as bash cuts it.
func TestBuiltinsThatRunAndCut(t *testing.T) {
	a := analyzer(t)
	for _, src := range []string{
		`jobs -x rm -rf /x`, `jobs -xl rm -rf /x`, `builtin jobs -x rm -rf /x`, `jobs -l -x rm -rf /x`,
		`command jobs -x env rm -rf /x`, `x=rm; jobs -x $x -rf /x`,
		`compgen -W '$(rm -rf /x)'`, "compgen -W '`rm -rf /x`' a", `compgen -o default -W '$(rm -rf /x)'`,
		`compgen '-W$(rm -rf /x)'`, `compgen -W "'\$(rm -rf /x)'"`, `compgen -W '<(rm -rf /x)'`,
		`f() { rm -rf /x; }; compgen -F f`, `compgen -C 'rm -rf /x'`, `compgen -AC 'rm -rf /x'`,
		`builtin compgen -C 'rm -rf /x' a`,
		`read -n2 a <<< rmzzz; $a -rf /x`, `read -N2 a <<< rmzzz; $a -rf /x`, `read -rn 2 a <<< rmzzz; $a -rf /x`,
		`read -n 2 <<< rmzzz; $REPLY -rf /x`, `read -N 2 -r a <<< rmzzz; $a -rf /x`,
		`mapfile -td: a <<< rm:x; ${a[0]} -rf /x`, `mapfile -t -d : a <<< rm:x; ${a[0]} -rf /x`,
		`readarray -td, a <<< rm,x; $a -rf /x`, `mapfile -ts1 a <<< $'ls\nrm'; ${a[0]} -rf /x`,
		`mapfile -tn1 a <<< $'rm\nls'; ${a[0]} -rf /x`, `mapfile -t -s 1 -n 1 a <<< $'ls\nrm\nls'; "${a[@]}" -rf /x`,
	} {
		if got := effects(a, src); !strings.Contains(got, "delete /x") {
			t.Errorf("%q: %s", src, got)
		}
	}
	for _, src := range []string{`jobs`, `jobs -l`, `jobs -p`, `compgen -c`, `compgen -W 'a b' a`,
		`read -n2 a <<< lszzz; $a -rf /x`, `mapfile -td: a <<< ls:rm; ${a[0]} -rf /x`, `read -n1 -s -p 'go on? ' a`} {
		if got := effects(a, src); strings.Contains(got, "delete /x") {
			t.Errorf("%q: %s", src, got)
		}
	}
}
