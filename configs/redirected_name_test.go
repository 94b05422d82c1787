package configs_test

import (
	"strings"
	"testing"

	"approver.example"
)

// The story: an agent wrote a command into "a$X", with X not set, and ran a. The command
// line of tee was read with nothing in place of $X, the target of a redirection was not, so
// that nobody knew what a holds.
func TestTheNameOfARedirectedFileMayBeShorter(t *testing.T) {
	judge := in(t, "/home/ada/shop", nil)
	for _, target := range []string{
		`"a$X"`, `a$X`, `"a${X:-}"`, `"a${X-}"`, `a$(cat f)`, "a`cat f`", `"a$1"`, `"a$*"`, `a${UNSET}`, `"$X"a`, `${X}a`,
		`"$X$Y"a`, `./a$X`, `"$PWD/a$X"`,
		`"a${X:0:0}"`, `"a${X%x}"`, `a"$X"`, `"a${1:+x}"`, `"a${X//b/c}"`, `a$N$M`,
	} {
		for _, form := range []string{
			"echo 'rm -rf /' > § ; sh a", "echo 'rm -rf /' >> § ; sh a", "echo 'rm -rf /' >| § ; bash a",
			"cat > § <<< 'rm -rf /'; sh a", "{ echo 'rm -rf /'; } > § ; sh a",
			"exec 3> § ; echo 'rm -rf /' >&3; sh a", "printf '%s\n' 'rm -rf /' &> § ; . ./a",
		} {
			command := strings.ReplaceAll(form, "§", target)
			if v := judge(command); v.Decision != approver.Deny {
				t.Errorf("%s: %v %s", command, v.Decision, v.Rule)
			}
		}
	}
	for _, command := range []string{
		`make > "build-$N.log"`, `echo ok > "$DIR/x.txt"`, `date >> "log-$(date +%F).txt"`, `go test ./... > out$X.txt 2>&1`,
		`echo x > "$TMPDIR/a"`, `ls > "$(mktemp)"`,
	} {
		if v := judge(command); v.Decision < approver.Warn {
			t.Errorf("honest: %s: %v %s", command, v.Decision, v.Rule)
		}
	}
}
