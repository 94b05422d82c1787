package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"approver.example/channels/terminal"
	"approver.example/daemon/adminapi"
)

// typedYes asks for the whole word yes. Somebody who types y meant it, and is told once
// more which word it takes; anything else, and no answer, is a no.
func typedYes(in io.Reader, out io.Writer, question string) bool {
	const tries = 3
	lines := bufio.NewReader(in)
	for range tries {
		_, _ = fmt.Fprint(out, question+" Type yes: ") // whoever cannot read it types nothing
		line, _ := lines.ReadString('\n')
		typed := strings.TrimSpace(line)
		if typed == "yes" {
			return true
		}
		if lower := strings.ToLower(typed); lower != "y" && lower != "yes" {
			return false
		}
		question = "Only the whole word counts, in small letters."
	}
	return false
}

// printRequest writes the whole request beside the question. On a terminal of that width, wide
// lines are broken. What goes on is indented, so that no line of a command looks like the
// label of another text.
func printRequest(w io.Writer, width int, s adminapi.Shown) {
	to := &terminal.Folder{W: w, Width: width}
	for _, line := range [][2]string{
		{"", s.Severity.String()}, {"command", s.Command}, {"why", s.Why}, {"rule", s.Rule}, {"agent", s.Agent}, {"session", s.Session},
		{"folder", s.Dir}, {"host", s.Host}, {"environment", s.Env}, {"claimed by the agent", s.Claimed}, {"notice", s.Notice}, {"", s.Until}, {"", s.Result},
	} {
		text := strings.ReplaceAll(visibly(line[1]), "\n", "\n  ")
		switch {
		case line[1] == "":
		case line[0] == "":
			fmt.Fprintln(to, text)
		case text != visibly(line[1]):
			fmt.Fprintf(to, "%s:\n  %s\n", line[0], text)
		default:
			fmt.Fprintf(to, "%s: %s\n", line[0], text)
		}
	}
	_ = to.Flush() // as fmt.Fprintln's, this error has no reader
}
