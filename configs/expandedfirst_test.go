package configs_test

import "testing"

// Shells expand all words of a declaration before they assign any, and bash expands braces in them.
// The walk assigned one after the other, so that it took rm for echo.
func TestDeclarationsExpandFirst(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		A=rm; declare A=echo B=$A; "$B" -rf /
		A=rm; export A=echo B=$A; "$B" -rf /
		A=rm; readonly A=echo B=${A}; $B -rf /
		A=rm; typeset A=echo B="$A"; $B -rf /
		f() { local A=rm; local A=echo B=$A; "$B" -rf /; }; f
		A=echo; declare A=rm B=$A; "$A" -rf /
		declare TOOL={echo,rm}; "$TOOL" -rf /
		export TOOL={rm,echo}; "$TOOL" -rf /
		TOOL=echo; source /tmp/settings; "$TOOL" -rf /`)
	asks(t, judge, false, `
		declare A=echo B=$A; "$A" -rf /
		declare OUT=dist TMP=$OUT; ls $TMP
		export NAME={a,b}; echo $NAME
		source /tmp/settings; echo $TOOL
		CC=gcc; source /opt/sdk/env.sh; $CC --version`)
}

// Loops flood a machine also if the wait in them waits for nothing, or their condition holds by
// another word.
func TestLoopsThatWaitForNothing(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		while [ true ]; do work & done
		while [[ true ]]; do work & done
		while [ 1 = 1 ]; do work & done
		while /bin/true; do work & done
		until /usr/bin/false; do work & done
		while true; do { work & }; done
		while true; do work & (wait); done
		while true; do (work &); wait; done
		while true; do work & if false; then wait; fi; done
		while true; do wait; sleep 1 & disown; done`)
	asks(t, judge, false, `
		while true; do work & wait; done
		while true; do work & wait $!; done
		while true; do (work & wait); done
		while true; do work & sleep 5; done
		while true; do work & if [ $n -gt 4 ]; then wait; fi; done
		while [ -f a ]; do work & done
		while [ $n = 1 ]; do work & done
		until curl -s localhost; do sleep 1; done`)
}
