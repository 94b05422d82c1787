package daemon

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/terminal"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
	"approver.example/display"
)

// watchersOf is how many terminals watch of people whose answers count, and how many
// others; nil of a channel that is none.
func (d *Admin) watchersOf(c approver.Channel) (count *int, others int) {
	local, is := c.(*terminal.Channel)
	if !is {
		return nil, 0
	}
	n, others := local.Watching(d.People.Approvers.Counting())
	return &n, others
}

// chats reports whether any chat is connected, and so whether there is anybody
// who could be asked.
func (d *Admin) chats() bool { return len(d.besideTerminal()) > 0 }

// nobody says which requests nobody could approve now, why, and what helps; empty if
// every one could be approved.
func (d *Admin) nobody(ctx context.Context) string {
	which, why := adminapi.AnyRequest, d.People.Approvers.Nobody(approver.High)
	if unwatched := d.onlyUnwatched(); why == "" && unwatched != "" {
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

// onlyUnwatched says that every channel is a terminal that nobody watches whose answers
// count; it is empty if that is not so.
func (d *Admin) onlyUnwatched() (why string) {
	for _, c := range d.channels {
		switch n, others := d.watchersOf(c); {
		case n == nil, *n > 0:
			return ""
		case others > 0:
			why = "nobody whose answers count watches the terminal"
		default:
			why = "nobody watches the terminal"
		}
	}
	return why
}

// wayOut is what an owner can do where nobody can approve.
func (d *Admin) wayOut(ctx context.Context) string {
	var ways, root []string
	if os.Getuid() != 0 {
		root = d.backAgain(ctx)
	}
	switch {
	case len(d.People.Approvers.Counting()) == 0: // then no channel is at fault
	case d.onlyUnwatched() != "" && d.takesHigh():
		ways = append(ways, "answer in this terminal (approver watch)")
	case len(root) == 0 && d.notTaken("") != "" && d.authority != nil && d.authority.allowsTerminal():
		ways = append(ways, "restart the daemon (channels.terminal.allow_answers counts from its next start)")
	case len(root) == 0 && d.notTaken("") != "":
		ways = append(ways, "let the terminal answer (channels.terminal.allow_answers: true)")
	}
	if others := d.besideTerminal(); len(others) == 0 {
		ways = append(ways, "pair a chat (approver pair telegram)")
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

// rootApproves is how root approves a request. Where no answer of anybody counts, or there
// is no channel, none waits: each call is denied at once.
func (d *Admin) rootApproves(ctx context.Context) (commands []string) {
	if len(d.People.Approvers.Counting()) == 0 || len(d.channels) == 0 {
		return nil
	}
	if c, _, err := d.People.Controls.Load(ctx); err == nil {
		if gone, away := c.Removal(broadcaster.Owner()); away { // else root's word does not count
			commands = append(commands, display.AsRoot("people restore "+words.ShellWord(gone.Person))+" (root was removed)")
		}
	}
	approve := display.AsRoot("approve ID")
	if d.onlyUnwatched() != "" {
		approve += " (while approver watch is open)" // a request that nobody is shown is denied
	}
	return append(commands, approve)
}

// sentence begins with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// backAgain are root's commands that let count who waits in the configuration, and bring
// back who was removed.
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
	for _, gone := range c.Away() {
		if len(d.authority.linesOf(broadcaster.Controls{Removed: []broadcaster.Removal{gone}})) > 0 {
			commands = append(commands, display.AsRoot("people restore "+words.ShellWord(gone.Person)))
		}
	}
	return commands
}

// besideTerminal are the channels besides the terminal.
func (d *Admin) besideTerminal() (names []string) {
	for _, c := range d.channels {
		if c.Name() != terminal.Name {
			names = append(names, c.Name())
		}
	}
	return names
}

// notTaken says why the terminal takes no answer, and what does instead; empty where it
// takes them, or there is none.
func (d *Admin) notTaken(request string) string {
	for _, c := range d.channels {
		if t, is := c.(interface{ NotTaken(request string) string }); is {
			return t.NotTaken(request)
		}
	}
	return ""
}

// takesHigh reports whether the terminal takes a yes to a HIGH request.
func (d *Admin) takesHigh() bool {
	return slices.ContainsFunc(d.channels, func(c approver.Channel) bool {
		taker, is := c.(approver.Taker)
		return is && c.Name() == terminal.Name && taker.Takes(approver.High)
	})
}

// takesHere reports whether root answers in the terminal as others do.
func (d *Admin) takesHere(s approver.Severity) bool {
	id, _ := broadcaster.Owner()
	if _, counts := d.People.Approvers.Counting()[id]; !counts {
		return false
	}
	for _, c := range d.channels {
		if taker, is := c.(approver.Taker); is && c.Name() == terminal.Name {
			return taker.Takes(s)
		}
	}
	return false
}
