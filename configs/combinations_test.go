package configs_test

import "testing"

// An attacker gave a command two values, one of them nothing: A=${UNSET:+q}; set -- $A. Each
// value is tried, but the second try began with what the first one had left: the parameters,
// the folder, the variables. So that the reading that a shell takes, with nothing in front of
// the command, was not among them, and a disk was wiped unasked. Now each begins where the
// command does, and what each leaves is one more possibility.
func TestEachValueIsTriedFromTheBeginning(t *testing.T) {
	judge := verdicts(t)
	for _, command := range []string{
		"mapfile x </dev/null; set -- ${x[@]}; case x in x) A=${UNSET:+q}; $@ set -- $A; \"$@\" sgdisk --zap-all $* " +
			"/dev/sda\n;; esac",
		`set --; A=${U:+q}; $@ set -- $A; "$@" sgdisk --zap-all /dev/sda`,
		`set --; A=${U:+q}; set -- "$@" $A; "$@" sgdisk --zap-all /dev/sda`,
		`set --; A=${U:+q}; set -- "$@" $A; set -- "$@" $A;  "$@" sgdisk --zap-all /dev/sda`,
		`x=(); set -- ${x[@]}; A=${U:+q}; $@ set -- $A; "$@" sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; export X=$X$A; $X sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; $@ export X=$X$A; $X sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; eval 'X=$X$A'; $X sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; printf -v X "$X$A"; $X sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; read X <<< "$X$A"; $X sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; declare X+=$A; $X sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; f() { X=$X$1; }; f $A; $X sgdisk --zap-all /dev/sda`,
		`f() { X=$X$1; }; f ${U:+q}; $X sgdisk --zap-all /dev/sda`,
		`X=(); A=${U:+q}; X+=($A); ${X[@]} sgdisk --zap-all /dev/sda`,
		`X=(); A=${U:+q}; eval 'X+=($A)'; ${X[@]} sgdisk --zap-all /dev/sda`,
		`set --; f() { set -- "$@" $1; "$@" sgdisk --zap-all /dev/sda; }; f ${U:+q}`,
		`set -- q; A=${U:+0}; shift $A; "$@" sgdisk --zap-all /dev/sda`,
		`cd /; A=${U:+q}; cd ./$A; rm -rf *`, `cd /; A=${U:+q}; eval "cd ./$A"; rm -rf *`,
		`cd /; A=x; ls && A=.; cd $A; rm -rf *`, `cd /; A=x; ls && A=.; $@ cd $A; rm -rf *`,
		`cd /; A=${U:+q}; pushd ./$A; rm -rf *`,
		`A=${U:+q}; alias "${A}ls=sgdisk --zap-all /dev/sda"` + "\nls",
		`f() { ls; }; A=${U:+q}; eval "${A}f() { sgdisk --zap-all /dev/sda; }"; f`,
		`X=ls; A=${U:+q}; unset ${A}X; $X sgdisk --zap-all /dev/sda`,
		`A=${U:+q}; trap "$A sgdisk --zap-all /dev/sda" EXIT`,
		`IFS=; A=${U:+:}; export IFS=$IFS$A,; C=sgdisk,--zap-all,/dev/sda; $C`,
		`ls && A=q; export Y=$Y$A; $Y sgdisk --zap-all /dev/sda`,
		`Y=; A=; ls && A=q; $@ export Y=$Y$A; $Y sgdisk --zap-all /dev/sda`,
		`set --; A=; ls && A=q; $@ set -- $A; "$@" sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; read -r X Y <<< "$A $X"; $X sgdisk --zap-all /dev/sda`,
	} {
		if v := judge(command); v.Decision != 0 {
			t.Errorf("%s is %v (%s)", command, v.Decision, v.Rule)
		}
	}
	asks(t, judge, false, `
		for d in a b; do cd $d; rm -rf build; cd ..; done
		ls && D=build; mkdir -p $D; cd $D; rm -f *.o
		T=; [ -n "$V" ] && T=-v; set -- $T a; pytest "$@"
		A=${CI:+--quiet}; set -- test; npm "$@" $A
		F=; if [ -n "$X" ]; then F=-x; fi; export OPTS="$OPTS $F"; pytest $OPTS`)
}

// The story: the fuzzer wrote the name of rm as $(echo r $@)m, with nothing known beside it.
// The reading in which $@ is nothing took the file, "$f", for nothing too, and deleted it
// not; the reading that left words alone of which nothing is known left $@ alone. What a
// command within a word prints is now read with nothing while other words stay.
func TestAPartOfAWordThatIsPrinted(t *testing.T) {
	var commands []string
	for _, end := range []string{`m -rf "$f"`, `m -rf $f`, `m -r -f "$1"`, `m -rf "$(cat f)"`} {
		for _, start := range []string{
			`$(echo r $@)`, `"$(echo r $@)"`, "`echo r $@`", `$(echo r $*)`, `$(echo r $X)`,
			`$(OPTIND=1; getopts x: o -x r; echo ${OPTARG} $@)`, `$(A=r; echo $A $@)`,
			`$(printf '%s' r $@)`, `$(echo r ${N})`, `$(echo r; echo $@)`,
		} {
			commands = append(commands, start+end, `while read f; do `+start+end+`; done < list`)
		}
	}
	judgesAll(t, append(commands,
		`"$(echo r $@)m" -rf "$f"`, `$(echo rm $@) -rf "$f"`, `rm -r$(echo f $@) "$f"`, `rm -$(echo r $@)f "$f"`,
		`git push --for$(echo ce $@) "$f" "$g"`, `git push --$(echo force $*) "$f"`,
		`git reset --ha$(echo rd $1) "$ref"`, `rm -$(OPTIND=1; getopts x: o -x r; echo $OPTARG $@)f "$f"`,
		`$(OPTIND=1; getopts x: o -x r; echo ${OPTARG} $@)m -$(x=r printenv x)f "$f"`,
	)...)
}
