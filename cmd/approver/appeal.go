package main

import (
	"context"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
)

type appealCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	JSON   bool   `help:"Print one JSON object."`
	Reason string `help:"Why it is needed; people see it as claimed." placeholder:"WHY"`
	Socket string `help:"The daemon's submit socket; left out: the one that couriers are pinned to, or the configured one." placeholder:"PATH"`
	Call   string `arg:"" help:"The call, by the id that its denial names."`
}

// Help is the long text.
func (appealCmd) Help() string {
	return `Asks people whether a call that a rule denied may run all the same. It returns at once; if they say yes, the very same call runs once when
it is made again. Only some rules can be appealed, only by the user whose call it was, once, and within ten minutes. The denial names the call.

Exit codes: 0 people are asked; 1 they are not, and why; 2 the command line is not understood.

Example:
  approver appeal 5f0c6a7e2b9d4a1c8e3f7a6b5c4d3e2f --reason needed-by-the-release`
}

// Run appeals.
func (c appealCmd) Run(ctx context.Context) error {
	client, err := adminclient.AskPlace(ctx, c.Config, c.Socket)
	if err != nil {
		return err
	}
	var out adminapi.Appealed
	if err := client.Appeal(ctx, adminapi.Appeal{Call: c.Call, Reason: c.Reason}, &out); err != nil {
		return adminclient.NotRunning(err)
	}
	if c.JSON {
		return term.PrintJSON(out)
	}
	term.Print(0, "People are asked (request %s). Make the very same call again later: if they say yes, it runs, once, "+
		"until %s.\n", term.Visibly(out.Request), out.Until.UTC().Format("15:04 UTC"))
	return nil
}
