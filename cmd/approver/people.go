package main

import (
	"context"
	"fmt"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
	"approver.example/display"
)

type peopleCmd struct {
	List    peopleListCmd    `cmd:"" default:"withargs" help:"List who may approve, with their accounts, and who was removed."`
	Remove  peopleRemoveCmd  `cmd:"" help:"Take a person away everywhere, at once."`
	Restore peopleRestoreCmd `cmd:"" help:"Bring a person back who was removed."`
	Recover peopleRecoverCmd `cmd:"" help:"Let the approver lists count where nobody is left to approve them; for root, or an isolated daemon's operator."`
}

type peopleListCmd struct{ adminclient.Cmd }

// Run prints the list.
func (c peopleListCmd) Run(ctx context.Context) error {
	var doc adminapi.People
	if err := c.Operate(ctx, adminapi.OpPeople, struct{}{}, &doc); err != nil {
		return err
	}
	if c.JSON {
		return term.PrintJSON(doc)
	}
	for _, p := range doc.People {
		term.Print(0, "%s\n", display.OneLine(p.ID))
		for _, a := range p.Accounts {
			says := "counts"
			if a.Why != "" {
				says = "DOES NOT COUNT: " + a.Why
			}
			term.Say(fmt.Sprintf("    %s %s: %s", display.OneLine(a.Account), display.OneLine(a.Name), says))
		}
	}
	for _, gone := range doc.Away {
		term.Say("REMOVED: " + gone.Line())
	}
	if doc.Nobody != "" {
		term.Say("WARNING: " + doc.Nobody)
	}
	return nil
}

type peopleRemoveCmd struct {
	adminclient.Cmd
	Person   string `arg:"" help:"The person, or one of their accounts as CHANNEL:ID; approver people has both."`
	Reason   string `help:"Why, for the audit." placeholder:"TEXT"`
	Unlisted bool   `help:"Somebody whom only other daemons on the same store list."`
}

// Run removes.
func (c peopleRemoveCmd) Run(ctx context.Context) error {
	return c.Control(ctx, adminapi.OpRemove,
		adminapi.PersonRequest{Person: c.Person, Reason: c.Reason, Unlisted: c.Unlisted})
}

type peopleRestoreCmd struct {
	adminclient.Cmd
	Person string `arg:"" help:"The person, as approver people names who was removed."`
	Reason string `help:"Why; the people who are asked see it as claimed." placeholder:"TEXT"`
	Yes    bool   `help:"Where nobody is asked: do not show first what would count." short:"y"`
}

// Run restores.
func (c peopleRestoreCmd) Run(ctx context.Context) error {
	return c.AfterLook(ctx, adminapi.OpRestore, adminapi.PersonRequest{Person: c.Person, Reason: c.Reason}, c.Yes)
}

type peopleRecoverCmd struct {
	adminclient.Cmd
	Yes bool `help:"Do not show first what would count." short:"y"`
}

// Run recovers.
func (c peopleRecoverCmd) Run(ctx context.Context) error {
	return c.AfterLook(ctx, adminapi.OpRecover, adminapi.PersonRequest{}, c.Yes)
}
