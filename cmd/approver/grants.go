package main

import (
	"context"
	"errors"
	"fmt"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
)

type grantsCmd struct {
	List    grantsListCmd    `cmd:"" default:"withargs" help:"List what may run without being asked again."`
	Propose grantsProposeCmd `cmd:"" help:"Show the policy rule that would allow a call without asking."`
	Revoke  grantsRevokeCmd  `cmd:"" help:"Take a grant back."`
}

// Help is the long text.
func (grantsCmd) Help() string {
	return `A grant is a yes that waits: for a parked call to come back once, or for the same call in a session or for
some minutes (/approve CODE session, /approve CODE 15m). It is bound to exactly what was shown.

Example:
  approver grants
  approver grants revoke 0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11`
}

type grantsListCmd struct{ adminclient.Cmd }

// Help is the long text.
func (grantsListCmd) Help() string {
	return `Lists the grants of every daemon that shares the store.
What cannot be read of the store is told in one line (store_error of --json) after what can, and fails.
` + term.ExitCodes + `
Example:
  approver grants list
  approver grants list --json`
}

// Run prints the list.
func (c grantsListCmd) Run(ctx context.Context) error {
	var doc adminapi.Grants
	if err := c.Operate(ctx, adminapi.OpGrants, struct{}{}, &doc); err != nil {
		return err
	}
	if c.JSON {
		return errors.Join(term.PrintJSON(doc), missing(doc.Trouble))
	}
	if len(doc.Grants) == 0 && doc.Trouble == "" {
		term.Print(0, "there are no grants\n")
	}
	for _, g := range doc.Grants {
		term.Say(fmt.Sprintf("%s  %s  %s\n    %s · %s · approved by %s · %s", g.ID, g.Kind, g.Push, g.Agent, g.Dir, g.By,
			left(g.Until, doc.Now)))
	}
	return missing(doc.Trouble)
}

type grantsRevokeCmd struct {
	adminclient.Cmd
	ID string `arg:"" help:"The grant's id, from approver grants."`
}

// Help is the long text.
func (grantsRevokeCmd) Help() string {
	return "Takes a grant back: the call is asked anew when it comes. Nobody is asked first.\n" + term.ExitCodes + `
Example:
  approver grants revoke 0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11`
}

// Run revokes.
func (c grantsRevokeCmd) Run(ctx context.Context) error {
	var doc adminapi.ControlAnswer
	if err := c.Operate(ctx, adminapi.OpRevoke, adminapi.RequestID{Request: c.ID}, &doc); err != nil {
		return err
	}
	return c.Print(doc)
}

type grantsProposeCmd struct {
	adminclient.Cmd
	ID string `arg:"" help:"The request's id, from approver pending or the audit."`
}

// Help is the long text.
func (grantsProposeCmd) Help() string {
	return `Shows the narrowest policy rule that would allow the call of a request without asking, and where it
belongs. Nothing is changed: put it there yourself. approver then puts that very change before people as CATASTROPHIC.
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
