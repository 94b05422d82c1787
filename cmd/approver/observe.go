package main

import (
	"context"
	"os"
	"time"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/flags"
	"approver.example/cmd/approver/internal/reporting"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
)

type observeCmd struct {
	adminclient.Cmd
	For    flags.Span `help:"How long, 1m to 30d; then rules are enforced by themselves." default:"7d" placeholder:"7d"`
	Reason string     `help:"Why; the people who are asked see it as claimed." placeholder:"TEXT"`
}

// Help is the long text.
func (observeCmd) Help() string {
	return `For some days every call is judged and recorded as ever, and what would be asked or denied goes on to the agent's own permission flow.
approver report shows what it would have been, approver enforce ends it. This is itself put before people as CATASTROPHIC; a new
installation begins with it by approver init --observe. What is not understood or cannot be recorded is blocked as ever, and a
freeze stops everything and ends it.
` + term.ExitCodes + `
Example:
  approver observe --for 7d --reason first-week`
}

// Run asks for it.
func (c observeCmd) Run(ctx context.Context) error {
	return c.Control(ctx, adminapi.OpObserve, adminapi.ControlRequest{Reason: c.Reason, For: time.Duration(c.For)})
}

type enforceCmd struct{ adminclient.Cmd }

// Help is the long text.
func (enforceCmd) Help() string {
	return `Ends observe mode at once: what a rule asks about is asked, what it denies is denied, on every daemon that shares the store. Nobody is
asked first. It says in a line what that would have meant for the calls that were observed here, and warns if nobody could approve
what is asked from now on: that is denied then. It enforces all the same, because it tightens.
` + term.ExitCodes + `
Example:
  approver enforce`
}

// Run enforces.
func (c enforceCmd) Run(ctx context.Context) error {
	var doc adminapi.ControlAnswer
	if err := c.Operate(ctx, adminapi.OpEnforce, adminapi.ControlRequest{}, &doc); err != nil {
		return err
	}
	if doc.Ended && !doc.Since.IsZero() {
		// The mode has changed, whatever becomes of this line.
		if line, err := reporting.ObservedInALine(ctx, c.Config, doc.Since); err == nil {
			doc.Text += "\n" + line
		} else {
			term.PrintOn(os.Stderr, 10, "approver: what was observed cannot be read here: %s\n", term.Visibly(err.Error()))
		}
	}
	if c.JSON {
		return term.PrintJSON(doc)
	}
	term.Say(doc.Text)
	return nil
}
