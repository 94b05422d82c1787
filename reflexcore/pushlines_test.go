package reflexcore_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"approver.example"
	"approver.example/display"
)

// pushLinesFile has calls, each with the line that a lock screen shows of it, cut where screens cut: as in
// saysFile, or "ask command" for approver ask, or "? tool arguments" for a question of approver's own.
const pushLinesFile = "testdata/pushlines.txt"

// A lock screen cuts a line after some 40 characters: they have to say how bad it is, and what would happen.
func TestPushLines(t *testing.T) {
	b, err := os.ReadFile(pushLinesFile)
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n\n") {
		first, want, _ := strings.Cut(block, "\n")
		line := pushLine(t, first)
		var got strings.Builder
		for _, width := range []int{40, 80, 120} {
			fmt.Fprintf(&got, "  %3d  %s\n", width, start(line, width))
		}
		fmt.Fprintf(&now, "%s\n%s\n", first, got.String())
		if got := strings.TrimRight(got.String(), "\n"); got != strings.TrimRight(want, "\n") && !*update {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", first, got, want)
		}
		_, title, _ := strings.Cut(start(line, 40), " · ")
		if n := utf8.RuneCountInString(title); n < 12 || strings.ContainsAny(title, "{}\"") {
			t.Errorf("%s\n40 characters say little of it: %s", first, start(line, 40))
		}
	}
	if *update {
		if err := os.WriteFile(pushLinesFile, []byte(strings.TrimSuffix(now.String(), "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// pushLine is the line of a call, as the broadcaster makes it.
func pushLine(t *testing.T, first string) string {
	t.Helper()
	e := engine(t)
	kind, rest, _ := strings.Cut(first, " ")
	switch kind {
	case "ask":
		call := bash(rest)
		call.Agent, call.Tool = "script", "approver ask"
		return display.PushLine(approver.High.String(), display.Texts{}.Say(call.Display().Title()), e.Sum(call).Project)
	case "?":
		name, args, _ := strings.Cut(rest, " {")
		call := approver.ToolCall{Agent: "approver", Own: true, Tool: name, Args: json.RawMessage("{" + args)}
		return display.PushLine(approver.Catastrophic.String(), display.Texts{}.Say(call.Display().Title()), "")
	}
	call := callOf(t, first)
	v, err := inWords(t, e, call)
	if err != nil {
		t.Fatal(err)
	}
	if v.Says.Title.IsZero() {
		v.Says.Title, v.Says.More = call.Display().Title(), 0
	}
	return display.PushLine(v.Severity.String(), display.Texts{}.Title(v.Says), v.Says.Project)
}

// start is what a screen shows of a line.
func start(line string, width int) string {
	runes := []rune(line)
	return string(runes[:min(width, len(runes))])
}
