package main

import (
	"context"
	"fmt"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
)

type grantsProposeCmd struct {
	adminclient.Cmd
	ID string `arg:"" help:"The request's id, from approver pending or the audit."`
}

// Help is the long text.
func (grantsProposeCmd) Help() string {
	return `Shows the narrowest policy rule that would allow the call of a request without asking, and where it belongs. Nothing is changed: put it
there yourself. approver then puts that very change before people as CATASTROPHIC.
` + term.ExitCodes + `
Example:
  approver grants propose 0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11`
}

// Run shows the rule.
func (c grantsProposeCmd) Run(ctx context.Context) error {
	var doc adminapi.Proposal
	if err := c.Operate(ctx, adminapi.OpPropose, adminapi.RequestID{Request: c.ID}, &doc); err != nil {
		return err
	}
	if c.JSON {
		return term.PrintJSON(doc)
	}
	fmt.Printf("# as the first of the rules in %s; approver then asks whether that is meant\n%s", term.Visibly(doc.Where),
		term.Visibly(doc.Rule))
	return nil
}
