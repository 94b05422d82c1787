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

// Run freezes.
func (c freezeCmd) Run(ctx context.Context) error {
	return c.Control(ctx, adminapi.OpFreeze, adminapi.ControlRequest{Reason: c.Reason})
}

type unfreezeCmd struct {
	adminclient.Cmd
	Reason string `help:"Why; the people who are asked see it as claimed." placeholder:"TEXT"`
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

// Validate rejects what the daemon would refuse.
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

// Run asks for observe mode.
func (c observeCmd) Run(ctx context.Context) error {
	return c.Control(ctx, adminapi.OpObserve, adminapi.ControlRequest{Reason: c.Reason, For: time.Duration(c.For)})
}

type enforceCmd struct{ adminclient.Cmd }

// Run enforces.
func (c enforceCmd) Run(ctx context.Context) error {
	var doc adminapi.ControlAnswer
	if err := c.Operate(ctx, adminapi.OpEnforce, adminapi.ControlRequest{}, &doc); err != nil {
		return err
	}
	if doc.Ended && !doc.Since.IsZero() {
		// The mode has changed, whether or not this line can be printed.
		if line, err := reporting.ObservedInALine(ctx, c.Config, doc.Since); err == nil {
			doc.Text += "\n" + line
		} else {
			term.PrintOn(os.Stderr, 10, "approver: what was observed cannot be read here: %s\n", term.Visibly(err.Error()))
		}
	}
	return c.Print(doc)
}
