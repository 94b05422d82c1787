package reflexcore_test

import (
	"testing"
)

// The story: local outside of a function is an error, and the variable keeps its value.
// The judge believed the new one, and what was written to was an agent's settings. What a
// shell refuses, or does in another process, is now one possibility beside what was before.
func TestAChangeThatFailsHidesNothing(t *testing.T) {
	e := engine(t)
	stops(t, e,
		`readonly x=~/Documents; declare x=build; rm -rf $x`,
		`readonly x=~/Documents; export x=build; rm -rf $x`,
		`declare -r x=~/Documents; read x <<< build; rm -rf $x`,
		`x=~/Documents; readonly x; printf -v x build; rm -rf $x`,
		`readonly x=~/Documents; unset x; rm -rf ${x:-build}`,
		"readonly x=~/Documents\nx=build\nrm -rf $x",
		`readonly x=~/Documents; eval x=build; rm -rf $x`,
		`x=.claude/settings.json; local x=out; echo evil > $x`,
		`x=~/Documents; local x=build; rm -rf $x`,
		`x=codex; local x=ls; $x exec x`,
		`x='git push --force'; local x=ls; bash -c "$x"`,
		`x=~/Documents; declare -q x=build; rm -rf $x`,
		`x=~/Documents; declare -p x=build; rm -rf $x`,
		`x=~/Documents; export -q x=build; rm -rf $x`,
		`x=~/Documents; x=build & rm -rf $x`,
		`x=~/Documents; export x=build & rm -rf $x`,
		`x=~/Documents; { x=build; } & rm -rf $x`,
		`x=~/Documents; f(){ x=build; }; f & rm -rf $x`,
		`x=~/Documents; for x in build; do :; done & rm -rf $x`,
		`x=~/Documents; read x <<< build & wait; rm -rf $x`,
		`rm(){ :; } & rm -rf ~/Documents`,
		`cd .claude; cd /tmp & echo x > settings.json`,
		`cd ~/Documents; cd /tmp a; rm -rf *`,
		`cd ~/Documents; cd /tmp a b; rm -rf *`,
		`x=~/Documents; unset -f x; rm -rf ${x:-build}`,
		`rm(){ rm -rf ~/Documents; }; unset -v rm; rm build`,
		`set -- ~/Documents; shift 5; rm -rf ${1:-build}`,
		`x=(a ~/Documents); x=build; rm -rf ${x[1]}`,
		`x=(a ~/Documents); x=build; rm -rf "${x[@]}"`,
	)
	unasked(t, e,
		`readonly x=build; rm -rf $x; y=a; y=dist; rm -rf $y`,
		`f(){ local -r d=$1; rm -rf $d; }; f build; f dist`,
		`f(){ local x=build; rm -rf $x; }; f`,
		`npm start & sleep 2; curl -s localhost:3000; kill %1`,
		`x=build; declare -r y=dist; rm -rf $x $y`,
		`(cd src && npm start) & cd build && ls`,
		`set -- a build; shift; rm -rf $1`,
		`x=(build dist); rm -rf "${x[@]}"`,
		`unset x; x=build; rm -rf $x`,
		`declare -A m=([a]=b); echo ${m[a]}`,
		`cd src && cd .. && ls`,
		`export -f f; declare -i n=1; ls`,
	)
}
