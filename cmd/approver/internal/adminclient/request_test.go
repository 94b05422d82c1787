package adminclient

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/display"
)

// Root was asked to read all of a request before typing its code, and its lines had up to
// 777 columns. Each is broken now, and nothing that a command says on a line of its own can
// look like the label of another text.
func TestTheWholeRequestFitsTheTerminal(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("several words ", 60))
	shown := adminapi.Shown{
		Severity: approver.Catastrophic, Headline: long, Blocks: []display.Block{
			{Label: "Why", Text: long}, {Label: long, Text: long}, {Kind: display.Diff, Label: "Change", Text: "-" + long},
			{Kind: display.Code, Label: "Command", Text: "rm -rf /srv\nwhy: harmless\n" + long},
		},
	}
	for _, width := range []int{40, 80, 132} {
		var out strings.Builder
		PrintRequest(&out, width, shown)
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		if text := out.String(); strings.Contains(text, "\nwhy: harmless") || !strings.Contains(text, "\n  why: harmless\n") {
			t.Errorf("a line of the command looks like a label:\n%s", text)
		}
		if words := strings.Count(out.String(), "several"); words != 6*60 {
			t.Errorf("%d words are left", words)
		}
	}
}
