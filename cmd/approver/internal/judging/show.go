package judging

import (
	"fmt"
	"io"
	"strings"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/display"
	"approver.example/reflexcore"
)

// InWords is a verdict as cases write it: deny, ask high, ask catastrophic, …
func InWords(v approver.Verdict) string {
	if v.Decision == approver.Ask {
		return "ask " + strings.ToLower(v.Severity.String())
	}
	return v.Decision.String()
}

// This file shows verdicts to people.

// explained is a call shown as text.
type explained struct {
	call    approver.ToolCall
	verdict approver.Verdict
	how     reflexcore.Explanation
}

// fold writes it for a terminal of that width.
func (x explained) fold(w io.Writer, width int) error {
	to := &terminal.Folder{W: w, Width: width}
	if err := x.write(to); err != nil {
		return err
	}
	return to.Flush()
}

func (x explained) write(w io.Writer) error {
	what := x.call.Command
	if what == "" {
		what = x.call.Tool + " " + string(x.call.Args)
	}
	if _, err := fmt.Fprintf(w, "%s\n", display.OneLine(what)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "verdict  %s\n\nreflex engine\n", Decided(x.verdict)); err != nil {
		return err
	}
	if err := x.how.Text(w); err != nil {
		return err
	}
	for i, link := range chainLines(x.verdict) {
		if i == 0 {
			link = "\nchain\n  " + link
		} else {
			link = "  " + link
		}
		if _, err := fmt.Fprintln(w, link); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// chainLines are what each part said, each on a line.
func chainLines(v approver.Verdict) []string {
	lines := make([]string, len(v.Chain))
	for i, f := range v.Chain {
		f.Took = 0 // the same text each time; --json has it
		lines[i] = display.OneLine(f.String())
	}
	return lines
}

// Decided is the verdict of the whole, with the part that decided and its tier.
func Decided(v approver.Verdict) string {
	if v.By == "" { // nothing had an opinion
		return InWords(v)
	}
	return display.OneLine(fmt.Sprintf("%s by %s, tier %d", InWords(v), strings.TrimSuffix(v.By+"/"+v.Rule, "/"), v.Tier))
}
