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

// Help is the long text.
func (peopleCmd) Help() string {
	return `Who may approve is in the configuration, and counts once those who count approved it. A removal is stronger
than any list.

Example:
  approver people
  approver people remove ada --reason left`
}

type peopleListCmd struct{ adminclient.Cmd }

// Help is the long text.
func (peopleListCmd) Help() string {
	return "Lists the people of this daemon's configuration, and everybody who was removed on its store.\n" +
		term.ExitCodes + `
Example:
  approver people list
  approver people list --json`
}

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

// Help is the long text.
func (peopleRemoveCmd) Help() string {
	return `From now on no answer of that person counts, from none of their accounts, on every daemon that shares the
store. What they approved and nobody has used yet, grants that last included, is void, and pairings under way end,
as do a pause and observe mode. Their uid is left status and freeze on this machine. It outlives restarts, whatever
the configuration says. Nobody is asked first. What they approved before and what ran is done: look at approver
audit tail.
` + term.ExitCodes + `
Example:
  approver people remove ada --reason left
  approver people remove telegram:10042567`
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

// Help is the long text.
func (peopleRestoreCmd) Help() string {
	return `Those who count approve it first, as CATASTROPHIC. Root's word counts where the daemon is not root, and on
an isolated install its operator's: they see which accounts would count and are asked for a yes, which holds for
those alone. They count again where an approver list names them. What they had approved before stays void.
` + term.ExitCodes + `
Example:
  approver people restore ada --reason mistake`
}

// Run restores.
func (c peopleRestoreCmd) Run(ctx context.Context) error {
	return c.AfterLook(ctx, adminapi.OpRestore, adminapi.PersonRequest{Person: c.Person, Reason: c.Reason}, c.Yes)
}

type peopleRecoverCmd struct {
	adminclient.Cmd
	Yes bool `help:"Do not show first what would count." short:"y"`
}

// Help is the long text.
func (peopleRecoverCmd) Help() string {
	return `For when those who could approve are gone, and what the configuration adds waits for nobody. Write whom you
want into the configuration, restart the daemon, and run this as root, or on an isolated install as any user whom
the resolve socket admits. It is refused while somebody could approve, where the daemon runs as root, and to the
user of a daemon that is not isolated: that could be an agent. What
it shows is what counts: if that has changed before your yes, nothing does. The audit and the log tell it.
docs/nobody.md has the whole way.
` + term.ExitCodes + `
Example:
  approver people recover`
}

// Run recovers.
func (c peopleRecoverCmd) Run(ctx context.Context) error {
	return c.AfterLook(ctx, adminapi.OpRecover, adminapi.PersonRequest{}, c.Yes)
}
