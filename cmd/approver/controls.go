package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/flags"
	"approver.example/cmd/approver/internal/reporting"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
)

type freezeCmd struct {
	adminclient.Cmd
	Reason string `help:"Why; agents and people are told." placeholder:"TEXT"`
}

// Help is the long text.
func (freezeCmd) Help() string {
	return `Stops everything, on every daemon that shares the store: each new call is denied with the reason, open
requests are denied, what was approved and not yet released does not run, grants and pauses end. Nobody is asked first.
If the store does not take it, it holds in this daemon until a restart or until the store takes it, and this fails
and says why.
` + term.ExitCodes + `
Example:
  approver freeze --reason runaway`
}

// Run freezes.
func (c freezeCmd) Run(ctx context.Context) error {
	return c.Control(ctx, adminapi.OpFreeze, adminapi.ControlRequest{Reason: c.Reason})
}

type unfreezeCmd struct {
	adminclient.Cmd
	Reason string `help:"Why; the people who are asked see it as claimed." placeholder:"TEXT"`
}

// Help is the long text.
func (unfreezeCmd) Help() string {
	return `Lifts a freeze, and those of single agents that approver has made by itself: status names them. While
agents run under the daemon's own user this is put before people as CATASTROPHIC, and waits for them; root may lift
it at once, if the daemon itself is not root. What was denied or burned stays so.
` + term.ExitCodes + `
Example:
  approver unfreeze --reason false-alarm`
}

// Run lifts the freeze.
func (c unfreezeCmd) Run(ctx context.Context) error {
	return c.Control(ctx, adminapi.OpUnfreeze, adminapi.ControlRequest{Reason: c.Reason})
}

type pauseCmd struct {
	adminclient.Cmd
	For          flags.HowLong `arg:"" optional:"" help:"How long, 1m to 60m."`
	End          bool          `help:"End a pause now. Nobody is asked."`
	Catastrophic bool          `help:"Let CATASTROPHIC calls through too."`
	Reason       string        `help:"Why; the people who are asked see it as claimed." placeholder:"TEXT"`
}

// Help is the long text.
func (pauseCmd) Help() string {
	return `For a while, calls that would be put before people go on to the agent's own permission flow instead: HIGH
ones, and with --catastrophic every one. Calls that a rule denies stay denied. A pause is itself put before people
as CATASTROPHIC, and is told by approver status, by cards and, for each call, by the audit.
` + term.ExitCodes + `
Example:
  approver pause 15m --reason release
  approver pause --end`
}

// Validate tells what the daemon would refuse.
func (c pauseCmd) Validate() error {
	if c.End != (c.For == 0) || c.For < 0 {
		return fmt.Errorf("give how long, such as 15m, or --end")
	}
	return nil
}

// Run pauses, or ends a pause.
func (c pauseCmd) Run(ctx context.Context) error {
	return c.Control(ctx, adminapi.OpPause,
		adminapi.ControlRequest{Reason: c.Reason, For: time.Duration(c.For), All: c.Catastrophic})
}

type observeCmd struct {
	adminclient.Cmd
	For    flags.Span `help:"How long, 1m to 30d; then rules are enforced by themselves." default:"7d" placeholder:"7d"`
	Reason string     `help:"Why; the people who are asked see it as claimed." placeholder:"TEXT"`
}

// Help is the long text.
func (observeCmd) Help() string {
	return `For some days every call is judged and recorded as ever, and what would be asked or denied goes on to the
agent's own permission flow. approver report shows what it would have been, approver enforce ends it. This is itself
put before people as CATASTROPHIC; a new installation begins with it by approver init --observe. What is not
understood or cannot be recorded is blocked as ever, and a freeze stops everything and ends it.
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
	return `Ends observe mode at once: what a rule asks about is asked, what it denies is denied, on every daemon that
shares the store. Nobody is asked first. It says in a line what that would have meant for the calls that were
observed here, and warns if nobody could approve what is asked from now on: that is denied then. It enforces all the
same, because it tightens.
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
	return c.Print(doc)
}
