package configs_test

import (
	"strings"
	"testing"
)

// An attacker wrote a word that is nothing before exec, and gave it a text: the shell reads
// its commands from there. The name was not the letters e, x, e, c, so that the redirections
// ended with it, and the shell behind it was taken for one that reads the terminal. Now what
// may be exec connects what comes after it, however it is written.
func TestWhatMayBeExecConnects(t *testing.T) {
	var commands []string
	for _, name := range []string{
		`set -- ${UNSET:+x}; $@ exec`, `${N:+x} exec`, `$N exec`, `"$@" exec`, `$1 exec`, `$(:) exec`, `ex${N:+x}ec`,
		`ex${N}ec`, `${N:+x} command exec`,
		`E=exec; $E`, `"exec"`, `\exec`, `'ex'ec`, `command exec`, `builtin exec`, `exec -a x`, `exec --`, `A=b exec`,
		"alias e=exec\ne", `command command exec`, `${N+x} exec`, `ls && E=exec; $E`, `E=(exec); ${E[@]}`,
	} {
		for _, then := range []string{
			`<<< 'rm -rf ~'; bash`, `3<<< 'rm -rf ~'; bash /dev/fd/3`, `3<<< 'rm -rf ~'; sh <&3`, `3<<< 'rm -rf ~'; . /dev/fd/3`,
			`3<<< 'rm -rf ~'; eval "$(cat <&3)"`,
			"<< X\nrm -rf ~\nX\nsh", `<<< 'rm -rf ~' && sh`, `<<< 'rm -rf ~' || sh`, `<<< 'rm -rf ~'; read c; $c`,
			`3<<< 'rm -rf ~'; read -u 3 c; $c`, `> s.sh; echo rm -rf '~'; sh s.sh`,
			`3> >(sh); echo 'rm -rf ~' >&3`,
		} {
			commands = append(commands, name+" "+then)
		}
	}
	commands = append(commands,
		`echo 'rm -rf ~' > f; ${N:+x} exec < f; sh`, `if ${N:+x} exec <<< 'rm -rf ~'; then sh; fi`,
		`{ ${N:+x} exec <<< 'rm -rf ~'; }; sh`, `{ ${N:+x} exec <<< 'rm -rf ~'; } 2>/dev/null; sh`,
		`for i in 1 2; do sh; ${N:+x} exec <<< 'rm -rf ~'; done`,
		`while read l; do ${N:+x} exec 3<<< 'rm -rf ~'; done; sh <&3`, `f() { ${N:+x} exec <<< 'rm -rf ~'; }; f; sh`,
		`f() { ${N:+x} exec <<< 'rm -rf ~'; }; f 2>/dev/null; sh`,
		`case $X in a) ${N:+x} exec <<< 'rm -rf ~';; esac; sh`, `echo ls | { ${N:+x} exec <<< 'rm -rf ~'; sh; }`,
		`echo 'rm -rf ~' | { ${N:+x} exec <<< 'ls'; sh; }`, `( ${N:+x} exec <<< 'rm -rf ~'; sh )`,
		`bash -c '$1 exec <<< "rm -rf ~"; sh'`, `coproc { ${N:+x} exec <<< 'rm -rf ~'; sh; }`,
		`${N:+x} exec {fd}<<< 'rm -rf ~'; sh <&$fd`, `${N:+x} exec 3<&0 <<< 'rm -rf ~'; sh`,
		`! ${N:+x} exec <<< 'rm -rf ~'; sh`,
		`trap 'sh <&3' EXIT; ${N:+x} exec 3<<< 'rm -rf ~'`, `bash -c "trap 'sh <&3' EXIT; \${N:+x} exec 3<<< 'rm -rf ~'"`,
		`case x in x) ${N:+x} exec <<< 'rm -rf ~' ;;& *) sh;; esac`,
		`while ${N:+x} exec <<< 'rm -rf ~'; do sh; done`, `until ${N:+x} exec <<< 'rm -rf ~'; do :; done; sh`,
		`. /dev/stdin <<< '${N:+x} exec 3<<< "rm -rf ~"'; sh <&3`, `eval '${N:+x} exec 3<<< "rm -rf ~"' 2>/dev/null; sh <&3`,
		`exec $X <<< 'rm -rf ~'; sh`, `for c in ls exec; do $c <<< 'rm -rf ~'; done; sh`,
		`N=$(cat f); $N exec <<< 'rm -rf ~'; sh`, `${N:+x} exec 3<<< 'rm -rf ~'; ${N:+x} exec 4<&3; sh <&4`,
		`function e { exec "$@" <<< 'rm -rf ~'; }; e; sh`,
		// The same where exec is written as such, in something that has redirections itself.
		`{ exec <<< 'rm -rf ~'; } 2>/dev/null; sh`, `{ exec 3<<< 'rm -rf ~'; } 2>/dev/null; sh <&3`,
		`if true; then exec <<< 'rm -rf ~'; fi 2>/dev/null; sh`, `f() { exec <<< 'rm -rf ~'; }; f >log; sh`,
		`{ exec 3<<< 'rm -rf ~'; } < f; sh <&3`, `{ exec > s.sh; } 2>/dev/null; echo 'rm -rf ~'; exec >/dev/null; sh s.sh`,
		`for i in 1; do exec 3<<< 'rm -rf ~'; done 2>/dev/null; bash <&3`,
	)
	judge := verdicts(t)
	for _, command := range commands {
		if v := judge(command); v.Decision != 0 && !strings.Contains(command, ">(sh)") &&
			!strings.Contains(command, "read") || v.Decision > 1 {
			t.Errorf("%s is %v (%s)", command, v.Decision, v.Rule)
		}
	}
	asks(t, judge, false, `
		exec 2>&1; make
		exec > >(tee build.log) 2>&1; make test
		exec 3>&1; make 3>&1 | tee log
		{ make; } 2>&1 | tee log
		{ echo a; exec 3< x; } 2>/dev/null; cat <&3
		command exec 3>&1; make >&3
		eval exec <<< 'rm -rf /'; cat
		f() { exec; }; f <<< 'rm -rf /'; cat
		if true; then exec 9>lock; flock 9; fi 2>/dev/null; make
		exec 9>/tmp/x.lock; flock -n 9 || exit 1; npm test`)
}
