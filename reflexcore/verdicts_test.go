package reflexcore_test

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/reflexcore"
)

// judge returns the verdict of a call.
func judge(t testing.TB, e approver.Stage, call approver.ToolCall) approver.Verdict {
	t.Helper()
	v, err := e.Judge(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// decides tests the decision about each command.
func decides(t *testing.T, e *reflexcore.Engine, commands []string, want func(approver.Decision) bool) {
	t.Helper()
	for _, command := range commands {
		if v := judge(t, e, bash(command)); !want(v.Decision) {
			t.Errorf("%s: %s %s: %s", command, v.Decision, v.Rule, v.Reason)
		}
	}
}

// stops tests that each command is a question or denied.
func stops(t *testing.T, e *reflexcore.Engine, commands ...string) {
	t.Helper()
	decides(t, e, commands, func(d approver.Decision) bool { return d <= approver.Ask })
}

// denies tests that each command is denied.
func denies(t *testing.T, e *reflexcore.Engine, commands ...string) {
	t.Helper()
	decides(t, e, commands, func(d approver.Decision) bool { return d == approver.Deny })
}

// unasked tests that nobody is asked about a command; there may be a warning.
func unasked(t *testing.T, e *reflexcore.Engine, commands ...string) {
	t.Helper()
	decides(t, e, commands, func(d approver.Decision) bool { return d > approver.Ask })
}

// silent tests that there is not even a warning about a command.
func silent(t *testing.T, e *reflexcore.Engine, commands ...string) {
	t.Helper()
	decides(t, e, commands, func(d approver.Decision) bool { return d >= approver.Pass })
}

// linesOf returns the commands of a text, one on each line, in which ␤ is a line end.
func linesOf(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "␤", "\n")
	}
	return lines
}
