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
		"mapfile x </dev/null; set -- ${x[@]}; case x in x) A=${UNSET:+q}; $@ set -- $A; \"$@\" sgdisk --zap-all $* /dev/sda\n;; esac",
		`set --; A=${U:+q}; $@ set -- $A; "$@" sgdisk --zap-all /dev/sda`, `set --; A=${U:+q}; set -- "$@" $A; "$@" sgdisk --zap-all /dev/sda`,
		`set --; A=${U:+q}; set -- "$@" $A; set -- "$@" $A;  "$@" sgdisk --zap-all /dev/sda`, `x=(); set -- ${x[@]}; A=${U:+q}; $@ set -- $A; "$@" sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; export X=$X$A; $X sgdisk --zap-all /dev/sda`, `X=; A=${U:+q}; $@ export X=$X$A; $X sgdisk --zap-all /dev/sda`, `X=; A=${U:+q}; eval 'X=$X$A'; $X sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; printf -v X "$X$A"; $X sgdisk --zap-all /dev/sda`, `X=; A=${U:+q}; read X <<< "$X$A"; $X sgdisk --zap-all /dev/sda`, `X=; A=${U:+q}; declare X+=$A; $X sgdisk --zap-all /dev/sda`,
		`X=; A=${U:+q}; f() { X=$X$1; }; f $A; $X sgdisk --zap-all /dev/sda`, `f() { X=$X$1; }; f ${U:+q}; $X sgdisk --zap-all /dev/sda`, `X=(); A=${U:+q}; X+=($A); ${X[@]} sgdisk --zap-all /dev/sda`,
		`X=(); A=${U:+q}; eval 'X+=($A)'; ${X[@]} sgdisk --zap-all /dev/sda`, `set --; f() { set -- "$@" $1; "$@" sgdisk --zap-all /dev/sda; }; f ${U:+q}`, `set -- q; A=${U:+0}; shift $A; "$@" sgdisk --zap-all /dev/sda`,
		`cd /; A=${U:+q}; cd ./$A; rm -rf *`, `cd /; A=${U:+q}; eval "cd ./$A"; rm -rf *`, `cd /; A=x; ls && A=.; cd $A; rm -rf *`, `cd /; A=x; ls && A=.; $@ cd $A; rm -rf *`, `cd /; A=${U:+q}; pushd ./$A; rm -rf *`,
		`A=${U:+q}; alias "${A}ls=sgdisk --zap-all /dev/sda"` + "\nls", `f() { ls; }; A=${U:+q}; eval "${A}f() { sgdisk --zap-all /dev/sda; }"; f`, `X=ls; A=${U:+q}; unset ${A}X; $X sgdisk --zap-all /dev/sda`,
		`A=${U:+q}; trap "$A sgdisk --zap-all /dev/sda" EXIT`, `IFS=; A=${U:+:}; export IFS=$IFS$A,; C=sgdisk,--zap-all,/dev/sda; $C`, `ls && A=q; export Y=$Y$A; $Y sgdisk --zap-all /dev/sda`,
		`Y=; A=; ls && A=q; $@ export Y=$Y$A; $Y sgdisk --zap-all /dev/sda`, `set --; A=; ls && A=q; $@ set -- $A; "$@" sgdisk --zap-all /dev/sda`, `X=; A=${U:+q}; read -r X Y <<< "$A $X"; $X sgdisk --zap-all /dev/sda`,
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
