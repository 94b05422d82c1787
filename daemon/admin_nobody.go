package daemon

import (
	"context"
	"fmt"
	"os"
	"strings"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
	"approver.example/display"
)

// nobody says which requests nobody could approve now, why, and what helps. It is empty if
// every request could be approved.
func (d *Admin) nobody(ctx context.Context) string {
	which, why := adminapi.AnyRequest, d.People.Approvers.Nobody(approver.High)
	if unwatched := d.audience().onlyUnwatched(); why == "" && unwatched != "" {
		why = unwatched + ", and there is no other channel"
	}
	if why == "" {
		if why = d.People.Approvers.Nobody(approver.Catastrophic); why == "" {
			return ""
		}
		which = "a CATASTROPHIC request"
	}
	return fmt.Sprintf("nobody can approve %s: %s. %s", which, why, d.wayOut(ctx))
}

// wayOut says what the owner can do while nobody can approve.
func (d *Admin) wayOut(ctx context.Context) string {
	var ways, root []string
	if os.Getuid() != 0 {
		root = d.backAgain(ctx)
	}
	switch {
	case len(d.People.Approvers.Counting()) == 0: // then no channel is at fault
	case d.audience().onlyUnwatched() != "" && d.audience().takesHere(approver.High):
		ways = append(ways, "answer in this terminal (approver watch)")
	case len(root) == 0 && d.audience().notTaken("") != "" && d.authority != nil && d.authority.allowsLocal():
		ways = append(ways, "restart the daemon (channels.terminal.allow_answers counts from its next start)")
	case len(root) == 0 && d.audience().notTaken("") != "":
		ways = append(ways, "let the terminal answer (channels.terminal.allow_answers: true)")
	}
	if others := d.audience().chats(); len(others) == 0 {
		ways = append(ways, "pair a chat (approver "+words.PairExample+")")
	} else if len(d.People.Approvers.Counting()) > 0 {
		ways = append(ways, "see why no yes comes from "+strings.Join(others, ", ")+" (approver doctor)")
	}
	if os.Getuid() == 0 {
		const cannot = "root of this machine cannot, because the daemon runs as root"
		if len(ways) == 0 {
			return sentence(cannot) + ". docs/nobody.md"
		}
		return sentence(strings.Join(ways, ", or ") + "; " + cannot)
	}
	root = append(append(root, d.rootApproves(ctx)...), display.AsRoot("unfreeze"))
	if len(ways) > 0 {
		return sentence(strings.Join(ways, ", or ") + ", or as root: " + strings.Join(root, ", ") + ". docs/nobody.md")
	}
	return "As root: " + strings.Join(root, ", ") + ". docs/nobody.md"
}

// rootApproves returns the commands by which root approves a request. It returns none if
// nobody's answers count or there is no channel: then no request waits, because each call is
// denied at once.
func (d *Admin) rootApproves(ctx context.Context) (commands []string) {
	if len(d.People.Approvers.Counting()) == 0 || len(d.channels) == 0 {
		return nil
	}
	if c, _, err := d.People.Controls.Load(ctx); err == nil {
		if gone, away := c.Removed.Of(broadcaster.Owner()); away { // otherwise root's approval does not count
			commands = append(commands, display.AsRoot("people restore "+words.ShellWord(gone.Person))+" (root was removed)")
		}
	}
	approve := display.AsRoot("approve ID")
	if d.audience().onlyUnwatched() != "" {
		approve += " (while approver watch is open)" // a request that is shown to nobody is denied
	}
	return append(commands, approve)
}

// sentence capitalizes the first letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// backAgain returns the commands by which root makes the waiting entries of the configuration
// count, and brings back removed people.
func (d *Admin) backAgain(ctx context.Context) (commands []string) {
	if d.authority == nil {
		return nil
	}
	if len(d.authority.waiting()) > 0 {
		commands = append(commands, display.AsRoot("people recover")+" (for what waits in the configuration)")
	}
	if len(d.People.Approvers.Counting()) > 0 {
		return commands
	}
	c, _, err := d.People.Controls.Load(ctx)
	if err != nil {
		return commands // status says that the store fails
	}
	for _, gone := range c.Removed.InForce() {
		if len(d.authority.linesOf(broadcaster.Controls{Removed: []broadcaster.Removal{gone}})) > 0 {
			commands = append(commands, display.AsRoot("people restore "+words.ShellWord(gone.Person)))
		}
	}
	return commands
}
