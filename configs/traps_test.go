package configs_test

import (
	"testing"

	"approver.example"
)

// A reviewer set a trap whose body is too much to analyze, before a force push. The analysis
// ended there without a word, and everything behind it passed. Now a limit in a trap is a
// question, and the text behind it is judged with steps of its own.
func TestATrapThatMeetsALimit(t *testing.T) {
	judge := in(t, "/home/ada/shop", nil)
	bodies := []string{
		`echo {1..99999}`, `echo {1..99}{1..99}{1..99}`, `for i in {1..9999}; do ls $i; done`,
		`for i in {1..99}; do for j in {1..99}; do ls $i $j; done; done`, `case $X in *) echo {1..99999};; esac`,
		`bash -c "echo {1..99999}"`, `(echo {1..99999})`, `if x; then echo {1..99999}; fi`,
	}
	signals := []string{"INT", "ERR", "DEBUG", "USR1", "EXIT", "RETURN", "WINCH", "0", "2"}
	for _, body := range bodies {
		for _, signal := range signals {
			trap := "trap '" + body + "' " + signal + "; "
			for _, harm := range []string{"git push --force", "codex exec x", "terraform destroy -auto-approve",
				"A=approver; $A approve X", "A=rm; $A -rf /"} {
				if got := judge(trap + harm).Decision; got > approver.Ask {
					t.Errorf("%s%s: %v", trap, harm, got)
				}
			}
		}
	}
	for _, command := range []string{
		"trap 'echo {1..99999}' INT; A=approver; $A approve X", "trap 'echo {1..99999}' INT; A=rm; $A -rf /; ls",
		"g() { :; }; trap g ERR\ng() { T=\"eval \\\"\\$T\\\"; ls\"; eval \"$T\"\n}\nA=approver; $A approve X",
	} {
		if got := judge(command).Decision; got != approver.Deny {
			t.Errorf("%s: %v", command, got)
		}
	}
	for _, command := range []string{
		"trap 'rm -rf \"$tmp\"' EXIT; tmp=$(mktemp -d); ls", "trap 'kill 0' INT TERM; npm test",
		"trap 'echo done' EXIT; make", "cleanup() { rm -f x.tmp; }; trap cleanup EXIT; make",
	} {
		if got := judge(command).Decision; got < approver.Warn {
			t.Errorf("%s: %v", command, got)
		}
	}
}
