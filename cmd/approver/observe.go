package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
)

// A span is a time that may be written in days: 7d, 36h, 90m.
type span time.Duration

// Decode reads a flag.
func (s *span) Decode(ctx *kong.DecodeContext) error {
	word := ctx.Scan.Pop().String()
	d, err := time.ParseDuration(word)
	if days, in := strings.CutSuffix(word, "d"); in {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 || d > 10*365*24*time.Hour {
		return fmt.Errorf("%q is no length of time: write 7d, 36h or 90m", word)
	}
	*s = span(d)
	return nil
}

// String writes whole days as days.
func (s span) String() string { return words.Days(time.Duration(s)) }

type observeCmd struct {
	operatorCmd
	For    span   `help:"How long, 1m to 30d; then rules are enforced by themselves." default:"7d" placeholder:"7d"`
	Reason string `help:"Why; the people who are asked see it as claimed." placeholder:"TEXT"`
}

// Help is the long text.
func (observeCmd) Help() string {
	return `For some days every call is judged and recorded as ever, and what would be asked or denied goes on to the agent's own permission flow.
approver report shows what it would have been, approver enforce ends it. This is itself put before people as CATASTROPHIC; a new
installation begins with it by approver init --observe. What is not understood or cannot be recorded is blocked as ever, and a
freeze stops everything and ends it.
` + exitCodes + `
Example:
  approver observe --for 7d --reason first-week`
}

// Run asks for it.
func (c observeCmd) Run(ctx context.Context) error {
	return c.control(ctx, adminapi.OpObserve, adminapi.ControlRequest{Reason: c.Reason, For: time.Duration(c.For)})
}

type enforceCmd struct{ operatorCmd }

// Help is the long text.
func (enforceCmd) Help() string {
	return `Ends observe mode at once: what a rule asks about is asked, what it denies is denied, on every daemon that shares the store. Nobody is
asked first. It says in a line what that would have meant for the calls that were observed here, and warns if nobody could approve
what is asked from now on: that is denied then. It enforces all the same, because it tightens.
` + exitCodes + `
Example:
  approver enforce`
}

// Run enforces.
func (c enforceCmd) Run(ctx context.Context) error {
	var doc adminapi.ControlAnswer
	if err := c.operate(ctx, adminapi.OpEnforce, adminapi.ControlRequest{}, &doc); err != nil {
		return err
	}
	if doc.Ended && !doc.Since.IsZero() {
		// The mode has changed, whatever becomes of this line.
		if line, err := observedInALine(ctx, c.Config, doc.Since); err == nil {
			doc.Text += "\n" + line
		} else {
			printedOn(os.Stderr, 10, "approver: what was observed cannot be read here: %s\n", visibly(err.Error()))
		}
	}
	if c.JSON {
		return printJSON(doc)
	}
	say(doc.Text)
	return nil
}
