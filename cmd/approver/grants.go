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

type grantsListCmd struct{ adminclient.Cmd }

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
