package configs_test

import (
	"testing"

	"approver.example"
)

// An agent put "cd /tmp > /nosuch/x" between the folder of its settings and the command
// that writes them. The redirection fails in bash, so the shell stays where it is; the walk
// went to /tmp, and an ordinary file was written there. The same worked with assignments,
// with builtins that were disabled or fail, and with traps. What may not happen, or happens
// by itself, is now one more possibility.
func TestStateThatMayNotChange(t *testing.T) {
	judge := verdicts(t)
	const write = "echo evil > settings.json"
	for _, change := range []string{
		"cd /tmp > /nosuch/x", "cd /tmp < /nosuch/x", "cd /tmp >> nosuch/x", "cd /tmp &> /nosuch/x", "cd /tmp >&9",
		"cd /tmp 5<&7", "cd /tmp 2> /nosuch/x", "cd /tmp > $X", "{ cd /tmp; } > /nosuch/x",
		"if true; then cd /tmp; fi > /nosuch/x", "while cd /tmp; do break; done < /nosuch/x",
		"for i in 1; do cd /tmp; done > /nosuch/x", "case x in x) cd /tmp;; esac > /nosuch/x", "eval 'cd /tmp' > /nosuch/x",
		"f() { cd /tmp; }; f > /nosuch/x", "command cd /tmp > /nosuch/x", "cd /tmp/nosuch", "cd nosuch",
		"cd ../nosuch; cd /tmp/nosuch", "cd /; cd nosuch; cd $X/", "pushd /tmp/nosuch", "command cd /nosuch",
		"[ x ] && cd /tmp", "cd /tmp a b",
		"enable -n cd; cd /tmp", "enable -n read cd; cd /tmp", "trap 'cd ~/p/.claude' DEBUG; cd /tmp",
		"trap 'cd ~/p/.claude' ERR; cd /tmp; false", "trap 'cd ~/p/.claude' USR1; cd /tmp; kill -USR1 $$",
		"g() { cd ~/p/.claude; }; trap g DEBUG; cd /tmp", "trap 'cd ~/p/.claude' TERM; cd /tmp; kill $$",
	} {
		command := "cd ~/p/.claude; " + change + "; " + write
		if v := judge(command); v.Decision != approver.Deny && v.Decision != approver.Ask {
			t.Errorf("%s is %v", command, v.Decision)
		}
	}
	for _, change := range []string{
		"x=src > /nosuch/x", "x=src < /nosuch/x", "read x <<< src > /nosuch/x", "{ x=src; } > /nosuch/x",
		"((1)) && x=src > /nosuch/x", "export x=src > /nosuch/x", "declare x=src > /nosuch/x", "printf -v x src > /nosuch/x",
		"let x=1 > /nosuch/x",
		"for x in src; do :; done > /nosuch/x", "unset x > /nosuch/x; x=${x:-src}", "mapfile -t x <<< src > /nosuch/x",
		"read -t 0 x <<< src", "read -u 9 x <<< src", "read -q x <<< src", "mapfile -u 9 x <<< src", "readarray -q x <<< src",
		"printf -q -v x src",
		"enable -n read; read x <<< src", "enable -n printf; printf -v x src", "enable -n mapfile; mapfile x <<< src",
		"eval x=src > /nosuch/x", "f() { x=src; }; f > /nosuch/x", "if true; then x=src; fi < /nosuch/x",
		"trap 'x=.claude/settings.json' DEBUG; x=src",
		"trap 'x=.claude/settings.json' ERR; x=src; false", "trap 'x=.claude/settings.json' RETURN; x=src",
		"g() { x=.claude/settings.json; }; trap g DEBUG; x=src", "trap 'x=.claude/settings.json' INT; x=src; kill -INT $$",
		"TRAPDEBUG() { x=.claude/settings.json; }; x=src",
	} {
		command := "x=.claude/settings.json; " + change + "; echo evil > $x"
		if v := judge(command); v.Decision != approver.Deny && v.Decision != approver.Ask {
			t.Errorf("%s is %v", command, v.Decision)
		}
	}
	for _, command := range []string{
		"cd src; ls > out.txt; echo x > y.json", "cd sub && make > log 2>&1; echo done > state",
		"{ cd build; make; } > log 2>&1; rm -rf build/tmp", "x=1; read -r y < VERSION; echo $x > out",
		"while read -r l; do n=$l; done < list; echo $n > out",
		"cd ../sibling; git status; echo x > y", "pushd src > /dev/null; make; popd > /dev/null",
		"trap 'rm -f \"$T\"' INT TERM EXIT; T=$(mktemp); ls > $T", "read -t 5 -p 'Go on? ' a; echo $a",
		"trap 'echo failed' ERR; x=src; echo x > $x/y",
		"cd .github/workflows && cat ci.yml; cd ../..; echo x > y", "cd src; cd ..; echo x > settings.json",
		"exec > log.txt; cd src; echo x > y", "cd /tmp; echo x > y; cd ~/p; echo y > z",
		"for f in a b; do x=$f; done > log; echo $x",
	} {
		if v := judge(command); v.Decision <= approver.Ask {
			t.Errorf("%s is %v: %s %s", command, v.Decision, v.Rule, v.Reason)
		}
	}
}

// A word of which nothing is known may be no word. An agent wrote "pushd $@ ." before what
// it deleted: with one word more the walk had pushd fail, and lost where it was.
func TestFewerWordsOfBuiltins(t *testing.T) {
	judge := verdicts(t)
	for _, row := range [][2]string{
		{"rm -rf ../../..", `pushd $@  $@  . >/dev/null; ${LANG:0:0} rm -rf ../../..`},
		{"rm -rf ../../..", `pushd $@ .; rm -rf ../../..`}, {"rm -rf ../../..", `cd $@ .; rm -rf ../../..`},
		{"rm -rf ../../..", `cd . $X; rm -rf ../../..`},
		{"rm -rf ../../..", `cd "$@" .; rm -rf ../../..`}, {"cd / && rm -rf *", `cd $X / && rm -rf *`},
		{"cd / && rm -rf *", `cd $X ${Y[@]} / && rm -rf *`}, {"rm -rf /", `read $@ y <<< /; rm -rf $y`},
		{"rm -rf /", `read $X -r y <<< /; rm -rf $y`},
		{"rm -rf /", `printf $@ -v y /; rm -rf $y`}, {"rm -rf /", `mapfile $@ y <<< /; rm -rf $y`},
		{"rm -rf /", `readarray $X -t y <<< /; rm -rf $y`}, {"rm -rf /", `set -- a b /; shift $X 2; rm -rf $1`},
		{"rm -rf /", `export $@ y=/; rm -rf $y`},
		{"rm -rf /", `declare $@ y=/; rm -rf $y`}, {"rm -rf /", `unset $@ y; rm -rf /$y`},
		{"rm -rf /", `getopts $@ x: o -x /; rm -rf $OPTARG`}, {"rm -rf /", `alias $@ x='rm -rf /'; x`},
		{"rm -rf /", `hash $@ -p /bin/rm x; x -rf /`},
		{"rm -rf /", `trap $@ 'rm -rf /' EXIT`}, {"rm -rf /", `source $@ /dev/stdin <<< 'rm -rf /'`},
		{"rm -rf /", `for i in $@ /; do rm -rf $i; done`}, {"rm -rf /", `case $@/ in /) rm -rf /;; esac`},
		{"rm -rf /", `local $@ y=/; rm -rf $y`},
	} {
		if v, want := judge(row[1]), judge(row[0]).Decision; v.Decision > want || want != approver.Deny {
			t.Errorf("%s is %v, %s is %v", row[0], want, row[1], v.Decision)
		}
	}
}
