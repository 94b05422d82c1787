package otherlang

import (
	"slices"
	"testing"

	"approver.example/reflexcore/shell"
)

// An agent ran a command by a text in a language that has no lexer here, and by a
// function that no table has: it passed whole. Its texts are judged as commands now.
func TestTextsOfOtherLanguages(t *testing.T) {
	for _, src := range []string{
		`"codex exec x".execute()`, `import sys.process._; "codex exec x".!`, `(shell "codex exec x")`, "!codex exec x",
		"platform shell codex exec x",
		`Sys.command "codex exec x";;`, `main = callCommand "codex exec x"`, `["codex exec x"].execute()`,
		`Process.Start("codex exec x")`, `(uiop:run-program "codex exec x")`,
		`spawn("codex exec x")`, `shell 'codex exec x'`,
	} {
		var got []string
		Calls("other", src, func(f shell.Found) bool { got = append(got, f.Shell); return true })
		if !slices.Contains(got, "codex exec x") {
			t.Errorf("%s: %q", src, got)
		}
	}
	for _, src := range []string{"1 + 1", `print "hello world"`, `(println "a b c")`} {
		Calls("other", src, func(f shell.Found) bool { t.Errorf("%s: %q", src, f.Shell); return true })
	}
}
