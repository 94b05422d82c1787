package shell_test

import (
	"strings"
	"testing"
)

// An attacker put an assignment before a command whose words use the same variable. The
// walk took the new value for the words, and saw a harmless command. Bash expands the
// words first, with the old value, and so does the walk now.
func TestWordsComeBeforeTheirAssignments(t *testing.T) {
	a := analyzer(t)
	for _, src := range []string{
		`x=rm; x=ls $x -rf /x`, `x=rm; x=ls env $x -rf /x`, `x=/x; x=a rm -rf $x`, `x=/x; x=a rm -rf "$x"`,
		`x='rm -rf /x'; x=ls bash -c "$x"`, `x='rm -rf /x'; x=ls eval "$x"`, `echo | x=ls xargs sh -c "rm -rf /x;$x"`,
		`x=1 true ${x:-$(rm -rf /x)}`,
		`x=-rf; x= rm $x /x`, `x= rm ${x--rf} /x`, `a=(rm -rf /x); a=ls "${a[@]}"`, `set -- rm -rf /x; x=1 "$@"`,
		`x=rm; y=ls x=$y $x -rf /x`, `f() { rm -rf "$1"; }; x=/x; x=y f $x`, `x=rm; x=ls command $x -rf /x`,
		`IFS=, ; x=rm,-rf,/x; IFS=' ' $x`, `x=r; x=l ${x}m -rf /x`,
		`HOME=/x; HOME=/tmp rm -rf ~`, `HOME=/x; HOME=/tmp rm -rf ~/`, `x=/x rm -rf /x`, `x=/x bash -c 'rm -rf $x'`,
		`f() { rm -rf "$x"; }; x=/x f`, `x=/x eval 'rm -rf $x'`,
	} {
		if got := effects(a, src); !strings.Contains(got, "delete /x") {
			t.Errorf("%q: %s", src, got)
		}
	}
	for _, src := range []string{`x=y; x=/x rm -rf $x`, `HOME=/tmp; HOME=/x rm -rf ~/a`, `x=ls; x=rm $x -rf /x`,
		`A=1 make`, `x=rm env ls`, `x=y; x=/x bash -c 'ls $x'`} {
		if got := effects(a, src); strings.Contains(got, "delete /x") {
			t.Errorf("%q: %s", src, got)
		}
	}
}
