package configs_test

import (
	"fmt"
	"testing"
)

// harm is a command that some tests hide in others. It starts an agent without a person.
const harm = "codex exec x"

// judgesAll checks that every command is at least a question.
func judgesAll(t *testing.T, commands ...string) {
	t.Helper()
	asksEach(t, in(t, "/home/ada/shop", nil), true, commands...)
}

// An attacker set IFS behind &&, and wrote a command with commas for its spaces. A shell split
// it there, but only the value of IFS from before was asked, so that it was one strange word.
// Now each value that IFS may have is a reading of its own.
func TestSeparatorsThatABranchSets(t *testing.T) {
	var commands []string
	for _, first := range []string{
		`true && IFS=,`, `if ls; then IFS=,; fi`, `for i in a; do IFS=,; done`, `case $X in a) IFS=,;; esac`,
		`while read l; do IFS=,; done`, `ls || IFS=,`, `[ -n "$X" ] && export IFS=,`, `ls && { IFS=,; }`,
	} {
		for _, then := range []string{
			`C=codex,exec,x; $C`, `C=codex,exec,x; a=($C); "${a[@]}"`, `read -ra a <<< codex,exec,x; "${a[@]}"`,
			`C=codex,exec,x; set -- $C; "$@"`,
			`C=codex,exec,x; eval '$C'`,
		} {
			commands = append(commands, first+"; "+then)
		}
	}
	judgesAll(t, append(commands, `ls && IFS=, C=codex,exec,x; $C`, `IFS=,; ls && unset IFS; C='codex exec x'; $C`,
		`ls && IFS=,; for w in codex,exec,x; do $w; done`)...)
	judge := in(t, "/home/ada/shop", nil)
	if v := judge(`true && IFS=,; C=rm,-rf,/; $C`); v.Decision != 0 {
		t.Errorf("the root's delete is %v (%s)", v.Decision, v.Rule)
	}
	asks(t, judge, false, `
		ls && IFS=,; for x in a,b; do echo $x; done
		[ -n "$CI" ] && IFS=$'\n'; for f in $(ls); do wc -l "$f"; done
		IFS=:; for d in $PATH; do ls "$d"; done`)
}

// An attacker gave a variable its value behind &&, and used it where a shell evaluates a
// number or a name, which runs the substitution in an index. Only its value from before was
// evaluated. Now each value that it may have is, for what it runs.
func TestNumbersAndNamesThatABranchSets(t *testing.T) {
	var commands []string
	for _, first := range []string{`ls && i='a[$(%s)]'`, `if ls; then i='a[$(%s)]'; fi`, `[ -n "$X" ] || i='a[$(%s)]'`} {
		for _, then := range []string{
			`(( i ))`, `let i`, `declare -i n=i`, `[[ i -gt 0 ]]`, `[[ $i -gt 0 ]]`, `[[ -v $i ]]`, `for ((;i;)); do :; done`,
			`j=i; (( j ))`,
			`(( n = i + 1 ))`, `(( n += i ))`, `declare -i n; n+=i`, `declare -i n; n=$i`, `RANDOM=i`, `echo $((i))`, `b[i]=1`,
			`j=i+1; (( j ))`,
			`declare "$i=1"`, `export "$i=1"`, `readonly $i=1`, `typeset "$i"=1`, `local "$i=1"`,
		} {
			commands = append(commands, fmt.Sprintf(first, harm)+"; "+then)
		}
	}
	for _, then := range []string{`export $n='codex exec x'`, `declare -x $n='codex exec x'`, `export "$n=codex exec x"`,
		`typeset -x "$n"='codex exec x'`} {
		commands = append(commands, "ls && n=GIT_SSH_COMMAND; "+then+"; git fetch")
	}
	judgesAll(t, commands...)
	asks(t, in(t, "/home/ada/shop", nil), false, `
		ls && i=5; echo ${a[i]}
		ls && i=5; (( i++ )); [[ $i -gt 3 ]]
		[ -n "$X" ] || n=NAME; export $n=1; ls`)
}

// An attacker set a trap first and defined its function behind it, in a text that another
// shell reads. The trap was walked where it was set, where the function did nothing. Now what
// a shell runs by itself is walked at the end of that shell as well, with what it knows then.
func TestTrapsKnowWhatComesAfterThem(t *testing.T) {
	var commands []string
	for _, text := range []string{
		`trap c EXIT; c() { codex exec x; }`, `trap c ERR; c() { codex exec x; }; false`,
		`trap c DEBUG; c() { codex exec x; }; ls`,
		`f() { trap c RETURN; c() { codex exec x; }; }; f`, `trap c CHLD; c() { codex exec x; }`,
		`trap c USR1; c() { codex exec x; }; kill -USR1 $$`, `trap c EXIT; if ls; then c() { codex exec x; }; fi`,
		`trap c SIGEXIT; c() { codex exec x; }`, `f() { trap c EXIT; }; f; c() { codex exec x; }`,
		`ls && trap c EXIT; c() { codex exec x; }`,
	} {
		commands = append(commands, text, "bash -c '"+text+"'", "sh -c '"+text+"'", "echo '"+text+"' | bash",
			"bash <<< '"+text+"'", "eval '"+text+"'",
			"( "+text+" )", "x=$("+text+")", "{ "+text+"; } &", "bash -c \"bash -c '"+text+"'\"")
	}
	judgesAll(t, append(commands, `bash -c "trap '\$C' EXIT; C='codex exec x'"`, `( trap '$C' EXIT; C='codex exec x' )`,
		`zsh -c 'TRAPEXIT() { c; }; c() { codex exec x; }'`, `zsh -c 'zshexit() { c; }; c() { codex exec x; }'`)...)
	asks(t, in(t, "/home/ada/shop", nil), false, `
		trap 'rm -f "$T"' EXIT; T=$(mktemp); ls
		bash -c 'trap "echo done" EXIT; go test ./...'
		( trap 'kill 0' EXIT; ls )
		trap cleanup EXIT; cleanup() { rm -f build/x; }; make`)
}

// A guard before a delete proves little: the variable may have a value again, the guard may
// not run, or run in another process. The delete behind it is denied as one of the root.
// Two dots climb to the root whatever the variable is.
func TestGuardsThatProveNothing(t *testing.T) {
	judge := in(t, "/home/ada/shop", nil)
	for _, command := range []string{
		`rm -rf "${X:?}"/..`, `rm -rf "${X:?}"/../*`, `rm -rf "${X:?}/../../../../../*"`,
		`[ -n "$X" ] || return; rm -rf "$X"/*`, `if [ -z "$X" ]; then return; fi; rm -rf "$X"/*`,
		`cat < "${X:?}"; rm -rf "$X"/*`, `cat <<< "${X:?}"; rm -rf "$X"/*`, `ls > "${X:?}"; rm -rf "$X"/*`,
		`echo ${A:-${X:?}}; rm -rf "$X"/*`, `echo ${A:+${X:?}}; rm -rf "$X"/*`, `echo ${A/a/${X:?}}; rm -rf "$X"/*`,
		`[ -n "$X" ] && X=$Y && rm -rf "$X"/*`, `[ -n "$X" ] && X=$(cat f) && rm -rf "$X"/*`,
		`[ -n "$X" ] && read X && rm -rf "$X"/*`,
		`X=$(cat f); : "${X:?}"; bash -c 'rm -rf "$X"/*'`, `X=$(cat f); : "${X:?}"; env -u X bash -c 'rm -rf "$X"/*'`,
		`X=$(cat f); : "${X:?}"; sudo sh -c 'rm -rf "$X"/*'`,
		`: "${X:?}"; . ./env; rm -rf "$X"/*`, `: "${X:?}"; eval "$C"; rm -rf "$X"/*`,
		`: "${X:?}"; printf -v "$N" ''; rm -rf "$X"/*`, `: "${X:?}"; read "$N"; rm -rf "$X"/*`,
		`f() { : "${X:?}"; local X; rm -rf "$X"/*; }; f`, `alias exit=true; [ -n "$X" ] || exit; rm -rf "$X"/*`,
		`enable -n test; test -n "$X" && rm -rf "$X"/*`,
		`for i in a; do if [ -z "$X" ]; then break; exit; fi; rm -rf "$X"/*; done`,
	} {
		if v := judge(command); v.Decision != 0 || v.Rule != "delete_root" {
			t.Errorf("%s is %v (%s)", command, v.Decision, v.Rule)
		}
	}
}
