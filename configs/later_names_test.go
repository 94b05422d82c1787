package configs_test

import "testing"

// An attacker took the name of the variable from somewhere else: declare "$1=codex exec x", or
// a reference to one of two names. The assignment was lost, and the variable that then ran
// seemed to be what it was before. Now each variable that may have been meant may have it.
func TestAssignmentsToNamesThatAreNotKnown(t *testing.T) {
	judgesAll(t,
		`X=ls; declare "$1=codex exec x"; $X`, `X=ls; printf -v "$1" 'codex exec x'; $X`,
		`X=ls; read "$1" <<< 'codex exec x'; $X`, `X=ls; export "$1=codex exec x"; $X`,
		`X=ls; readonly "$1=codex exec x"; $X`,
		`X=ls; typeset "$1"='codex exec x'; $X`, `X=ls; declare "X$1=codex exec x"; $X`,
		`XY=ls; declare "X$1=codex exec x"; $XY`, `XY=ls; declare "${1}Y=codex exec x"; $XY`,
		`X=ls; declare -n r=$1; r='codex exec x'; $X`,
		`X=ls; declare -n r=$1; read r <<< 'codex exec x'; $X`, `X=ls; eval "$1='codex exec x'"; $X`,
		`X=ls; local "$1=codex exec x"; $X`, `X=ls; f() { local -n r=$1; r='codex exec x'; }; f $N; $X`,
		`X=ls; env "$1=codex" "$X" exec x; declare "$1=codex"; $X exec x`,
		`ls && n=GIT_SSH_COMMAND; declare -n r=$n; export r='codex exec x'; git fetch`,
		`ls && n=GIT_SSH_COMMAND; declare -n r=$n; r='codex exec x'; export GIT_SSH_COMMAND; git fetch`,
		`ls && n=X; typeset -n r="$n"; r='codex exec x'; $X`, `ls && n=X; local -n r="$n"; r='codex exec x'; $X`,
		`ls && n=X; f() { local -n r=$1; r='codex exec x'; }; f $n; $X`,
		`f() { local -n r=$1; r='codex exec x'; }; ls && n=X; f "$n"; $X`,
		`n=Y; ls && n=X; declare -n r=$n; r='codex exec x'; $X`, `n=Y; ls && n=X; declare -n r; r=$n; r='codex exec x'; $X`,
		`X=ls; n=Y; ls && n=X; declare -n r=$n; r='codex exec x'; $X`,
		`X=ls; n=Y; ls && n=X; declare -n r=$n; r='codex exec x'; $Y`,
		`X='codex exec x'; Y=ls; n=Y; ls && n=X; declare -n r=$n; $r`,
		`n=Y; ls && n=X; declare -n r=$n; read r <<< 'codex exec x'; $X`,
		`n=Y; ls && n=X; declare -n r=$n; printf -v r 'codex exec x'; $X`,
		`n=Y; ls && n=X; declare -n n; n='codex exec x'; $X`,
		`X=ls; ls && n=X; declare -n r=$n; for r in X; do :; done; r='codex exec x'; $X`)
	asks(t, verdicts(t), false, `
		CMD='npm test'; while read -r l; do export "$l"; done < settings; $CMD
		CMD=ls; f() { local -n out=$1; out=5; }; f n; $CMD
		CMD=ls; f() { printf -v "$1" '%s' 3; }; f n; $CMD
		declare "$1=1"; npm test`)
}

// An attacker gave shift, which takes a number, a name with an index in it: zsh evaluates it,
// and runs the substitution in the index. A number that was not known shifted nothing, so that
// the program behind it was not the first word.
func TestShiftByWhatIsNotKnown(t *testing.T) {
	judgesAll(t,
		`i='a[$(codex exec x)]'; shift i`, `shift 'a[$(codex exec x)]'`, `shift 'i=a[$(codex exec x)]'`,
		`ls && i='a[$(codex exec x)]'; shift i`, `ls && i='a[$(codex exec x)]'; shift $i`, `shift -- 'a[$(codex exec x)]'`,
		`i=1; set -- ls codex; shift i; $1 exec x`, `set -- ls codex; shift 1+0; $1 exec x`,
		`set -- ls codex; shift $N; $1 exec x`, `set -- ls codex; shift $#-1; $1 exec x`,
		`set -- ls codex; shift $(($# - 1)); $1 exec x`,
		`set -- ls codex; shift 0x1; $1 exec x`, `set -- ls x codex; shift $N; $1 exec x`,
		`set -- ls x codex; ls && i=2; shift $i; $1 exec x`, `set -- ls x codex; ls && i=2; shift i; $1 exec x`,
		`set -- ls x codex; shift "${N:-2}"; $1 exec x`,
		`set -- ls x codex; shift $(cat n); $1 exec x`, `set -- ls x codex; shift $?; $1 exec x`,
		`set -- ls x codex; shift "$N"; $* exec x`, `set -- codex exec x; shift $N; "$@"`,
		`set -- a codex exec x; shift -- $N; "$@"`,
		`f() { shift $N; "$@"; }; f a codex exec x`, `set -- ls x codex; while shift; do $1 exec x; done`)
	asks(t, verdicts(t), false, `
		shift $((OPTIND - 1)); ls "$@"
		while getopts ab o; do :; done; shift $((OPTIND-1)); npm test "$@"
		set -- ls -l; shift $N; echo "$@"
		f() { local n=$1; shift 1; "$@"; }; f 3 ls -l`)
}

// An attacker read IFS from a file, and wrote a command with commas for its spaces. Where
// nothing was known of IFS it was taken for the usual one. Now such words may be several, and
// what runs is a question.
func TestSeparatorsThatAreNotKnown(t *testing.T) {
	var commands []string
	for _, first := range []string{
		`read IFS`, `IFS=$(cat f)`, `IFS=$1`, `export IFS=$(cat f)`, `declare IFS=$1`, `printf -v IFS "$1"`, `ls && IFS=$1`,
		`IFS=,$1`, `getopts a IFS`, `mapfile IFS`, `read -r IFS < f`, `IFS=${1:0:1}`, `IFS=$1$2`,
	} {
		for _, then := range []string{
			`C=codex,exec,x; $C`, `C=codex,exec,x; eval $C`, `C=codex,exec,x; set -- $C; "$@"`,
			`C=codex,exec,x; a=($C); "${a[@]}"`, `C=ls,codex; for w in $C; do $w exec x; done`,
			`read -ra a <<< codex,exec,x; "${a[@]}"`,
			`C=codex,exec,x; env $C`, `C=codex,exec,x; command $C`, `C=codex,exec,x; nohup $C`, `$(echo codex,exec,x)`,
			`X=-rf,/; rm $X`,
		} {
			commands = append(commands, first+"; "+then)
		}
	}
	judgesAll(t, append(commands, `IFS=$(cat f) C=codex,exec,x; $C`, `IFS=$1; C=codexXexecXx; $C`,
		`for IFS in $1; do C=codex,exec,x; $C; done`)...)
	asks(t, verdicts(t), false, `
		IFS=$1; echo "$*"
		OLD=$IFS; IFS=,; set -- $X; IFS=$OLD; C='npm test'; $C
		join() { local IFS=$1; shift; echo "$*"; }; join , a b
		while IFS= read -r l; do echo "$l"; done < f
		IFS=$'\n' read -d '' -ra a < f; echo "${a[@]}"
		IFS=$SEP; for f in $LIST; do wc -l $f; done
		sep=$1; IFS=$sep read -r a b < f; npm test`)
}
