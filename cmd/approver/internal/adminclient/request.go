package adminclient

import (
	"fmt"
	"io"
	"strings"

	"approver.example/channels/terminal"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
)

// PrintRequest writes the whole request beside the question. On a terminal of that width, wide
// lines are broken. What goes on is indented, so that no line of a command looks like the
// label of another text.
func PrintRequest(w io.Writer, width int, s adminapi.Shown) {
	to := &terminal.Folder{W: w, Width: width}
	for _, line := range [][2]string{
		{"", s.Severity.String()}, {"command", s.Command}, {"why", s.Why}, {"rule", s.Rule}, {"agent", s.Agent}, {"session", s.Session},
		{"folder", s.Dir}, {"host", s.Host}, {"environment", s.Env}, {"claimed by the agent", s.Claimed}, {"notice", s.Notice}, {"", s.Until}, {"", s.Result},
	} {
		text := strings.ReplaceAll(term.Visibly(line[1]), "\n", "\n  ")
		switch {
		case line[1] == "":
		case line[0] == "":
			fmt.Fprintln(to, text)
		case text != term.Visibly(line[1]):
			fmt.Fprintf(to, "%s:\n  %s\n", line[0], text)
		default:
			fmt.Fprintf(to, "%s: %s\n", line[0], text)
		}
	}
	_ = to.Flush() // as fmt.Fprintln's, this error has no reader
}
