package configs_test

import (
	"fmt"
	"strings"
	"testing"

	"approver.example"
)

// A call of 120 KB that started Claude Code, or git, some thousand times took up to a minute
// to judge, because each start read the whole text once more. The text is read once now, and
// a call with more starts or folders than are looked at is a question.
func TestACallThatStartsMoreThanIsLookedAt(t *testing.T) {
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	world := files(".git/HEAD", "x", ".git/config", "")
	for command, asked := range map[string]bool{
		repeat(60, "claude -p 'hello %d'\n"):               false,
		repeat(65, "claude -p 'hello %d'\n"):               true,
		repeat(250, "git -C d%d checkout feature\n"):       false,
		repeat(257, "git -C d%d checkout feature\n"):       true,
		"git checkout b\n" + repeat(999, "git log -%d\n"):  false,
		repeat(3000, "claude -p 'say /place %d times'\n"):  true,
		repeat(2000, "git -C a/b/c/d%d checkout feature;"): true,
	} {
		v := (loadRow{"", world, "Bash", runs(command)}).judged(t)
		if asked != (v.Decision <= approver.Ask) {
			t.Errorf("%.40q, %d bytes, is %v (%s): %s", command, len(command), v.Decision, v.Rule, v.Reason)
		}
	}
}

// A call of 10 KB took a third of a second to judge: each ".." has all folders above it
// looked at again, and each "cd" goes one deeper. When the looks of a call are spent, what
// was not seen could lead anywhere: it is a question, whatever the rest of the call is.
func TestACallThatLooksForMoreLinksThanIsAllowed(t *testing.T) {
	for cats, asked := range map[int]bool{2: false, 20: true} {
		command := strings.Repeat("cd a/../a;", 60) + strings.Repeat("cat f g h i j k l;", cats)
		v := (loadRow{"", files(".git/HEAD", "x"), "Bash", runs(command)}).judged(t)
		if asked != (v.Rule == "too_complex" && v.Decision == approver.Ask) {
			t.Errorf("with %d commands it is %v (%s): %s", cats, v.Decision, v.Rule, v.Reason)
		}
	}
}
