package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
)

func (d *Admin) persons(ctx context.Context, peer approver.Peer, op string, body json.RawMessage) (any, error) {
	if op == adminapi.OpOwnerShow || op == adminapi.OpOwnerApprove {
		return d.ownerAnswers(ctx, peer, op, body)
	}
	var req adminapi.PersonRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	switch op {
	case adminapi.OpRemove:
		return d.remove(context.WithoutCancel(ctx), peer, req)
	case adminapi.OpRestore:
		return d.restore(ctx, peer, req)
	case adminapi.OpRecover:
		return d.recover(context.WithoutCancel(ctx), peer, req)
	}
	return d.listPeople(ctx)
}

func (d *Admin) listPeople(ctx context.Context) (adminapi.People, error) {
	c, _, err := d.People.Controls(ctx)
	if err != nil {
		return adminapi.People{}, err
	}
	doc := adminapi.People{People: []adminapi.Person{}, Away: c.Away(), Nobody: d.nobody(ctx)}
	listed, counts := d.authority.listed(), d.People.Counting()
	ids := slices.SortedFunc(maps.Keys(listed), func(a, b approver.Identity) int {
		return strings.Compare(listed[a].ID+"\x00"+a.Channel+a.ID, listed[b].ID+"\x00"+b.Channel+b.ID)
	})
	for _, id := range ids {
		who := listed[id]
		account := adminapi.Account{Account: approver.SelfPerson(id.Channel, id.ID), Name: who.Name}
		_, in := counts[id]
		gone, away := c.Removal(id, who)
		switch {
		case away:
			account.Why = gone.Line()
		case !in:
			account.Why = "waits until people approve it"
		}
		if n := len(doc.People); n == 0 || doc.People[n-1].ID != who.ID {
			doc.People = append(doc.People, adminapi.Person{ID: who.ID})
		}
		last := &doc.People[len(doc.People)-1]
		last.Accounts = append(last.Accounts, account)
	}
	return doc, nil
}

// removed says for status who was taken away, and who of them stands in the
// configuration all the same.
func (d *Admin) removed(c approver.Controls) []string {
	var lines []string
	for _, gone := range c.Away() {
		line := gone.Line()
		for id, who := range d.authority.listed() {
			if _, is := (approver.Controls{Removed: []approver.Removal{gone}}).Removal(id, who); is {
				line += adminapi.StillListed
				break
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// remove takes a person away. It needs nobody's yes: like a freeze it only tightens.
func (d *Admin) remove(ctx context.Context, peer approver.Peer, req adminapi.PersonRequest) (adminapi.ControlAnswer, error) {
	if n := len(req.Person); n > approver.MaxName {
		return adminapi.ControlAnswer{}, fmt.Errorf("whom to remove is said in %d bytes: nobody's name or account has more than %d", n, approver.MaxName)
	}
	gone := approver.Removal{Person: req.Person, By: fmt.Sprintf("uid %d", peer.UID), Reason: req.Reason, ByRoot: peer.Known && peer.UID == 0}
	listed := d.authority.listed()
	for id, who := range listed {
		if approver.SelfPerson(id.Channel, id.ID) == req.Person {
			gone.Person = who.ID
		}
	}
	for id, who := range listed {
		if who.ID == gone.Person {
			gone.Identities = append(gone.Identities, id)
		}
	}
	if len(gone.Identities) == 0 {
		if !req.Unlisted || req.Person == "" {
			return adminapi.ControlAnswer{}, fmt.Errorf("nobody here is %q: %s. If only another daemon on this store knows them, say --unlisted",
				approver.OneLine(req.Person), knownPeople(listed))
		}
		if channel, id, ok := strings.Cut(req.Person, ":"); ok {
			gone.Identities = []approver.Identity{{Channel: channel, ID: id}}
		}
	}
	slices.SortFunc(gone.Identities, func(a, b approver.Identity) int {
		return strings.Compare(a.Channel+":"+a.ID, b.Channel+":"+b.ID)
	})
	gone.Unlisted = !d.trusts(peer) && !d.authority.counted(gone.Person)
	spared, err := rootStays(&gone, req.Person)
	if err != nil {
		return adminapi.ControlAnswer{}, err
	}
	d.pairs.end(fmt.Errorf("%s was removed from the approvers meanwhile: start the pairing anew", gone.Person))
	ended := ""
	if c, now, err := d.People.Controls(ctx); err == nil { // for this answer; the record has it
		ended = c.Loosened(now)
	}
	voided, err := d.People.Remove(ctx, gone)
	if c, _, readErr := d.People.Controls(ctx); readErr == nil {
		err = errors.Join(err, d.authority.takeAway(ctx, c, gone.Person+" was removed by "+gone.By))
	}
	if err != nil {
		return adminapi.ControlAnswer{}, err
	}
	text := fmt.Sprintf("%s is removed: no answer of theirs counts any more, on any channel of any daemon on this store (%s); %d unused yeses of theirs are void",
		approver.OneLine(gone.Person), accountNames(gone.Identities), voided)
	if ended != "" {
		text += "\nthis is over, because it may be by their word: " + ended
	}
	text += spared + "\ntake them out of the chats and of the approver lists, too; approver people restore brings them back"
	if nobody := d.nobody(ctx); nobody != "" {
		text += "\nWARNING: " + nobody
	}
	return adminapi.ControlAnswer{Done: true, Denied: voided, Text: text}, nil
}

// rootStays takes root's account out of a removal that is not by root's word, and says so.
// Whoever has root for their person, by a name in the configuration, goes by the account
// that was named.
func rootStays(gone *approver.Removal, named string) (note string, err error) {
	id, root := approver.Owner()
	switch {
	case gone.ByRoot:
		if gone.Person != root.ID && !slices.Contains(gone.Identities, id) {
			return "", nil
		}
		return "\nthat is root of this machine: " + approver.AsRoot("approve ID") + " works no more, until " + approver.AsRoot("people restore "+words.ShellWord(gone.Person)), nil
	case named == root.ID && gone.Person != root.ID: // it would take away a person by root's name
		return "", fmt.Errorf("%w; to remove whoever answers with it, name the person: approver people remove %s", approver.ErrOnlyRoot, words.ShellWord(gone.Person))
	case gone.Person == root.ID:
		gone.Person = named
	}
	if !slices.Contains(gone.Identities, id) {
		return "", nil
	}
	gone.Identities = slices.DeleteFunc(gone.Identities, func(of approver.Identity) bool { return of == id })
	return fmt.Sprintf("\nuid 0 is root of this machine and stays that: as %s it answers no more, and what root alone may do (docs/nobody.md) it still may", approver.OneLine(gone.Person)), nil
}

// knownPeople names those of a list.
func knownPeople(listed approver.People) string {
	ids := map[string]bool{}
	for _, who := range listed {
		ids[approver.OneLine(who.ID)] = true
	}
	if len(ids) == 0 {
		return "the configuration lists nobody"
	}
	return "there are " + strings.Join(slices.Sorted(maps.Keys(ids)), ", ")
}

func accountNames(ids []approver.Identity) string {
	if len(ids) == 0 {
		return "by the name of the person alone"
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = approver.OneLine(approver.SelfPerson(id.Channel, id.ID))
	}
	return strings.Join(names, ", ")
}

// nobody says which requests nobody could approve now, why, and what helps; empty if
// every one could be approved.
func (d *Admin) nobody(ctx context.Context) string {
	which, why := adminapi.AnyRequest, d.People.Nobody(approver.High)
	if unwatched := d.onlyUnwatched(); why == "" && unwatched != "" {
		why = unwatched + ", and there is no other channel"
	}
	if why == "" {
		if why = d.People.Nobody(approver.Catastrophic); why == "" {
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
	case len(d.People.Counting()) == 0: // then no channel is at fault
	case d.onlyUnwatched() != "" && d.takesHigh():
		ways = append(ways, "answer in this terminal (approver watch)")
	case len(root) == 0 && d.notTaken("") != "" && d.authority != nil && d.authority.allowsTerminal():
		ways = append(ways, "restart the daemon (channels.terminal.allow_answers counts from its next start)")
	case len(root) == 0 && d.notTaken("") != "":
		ways = append(ways, "let the terminal answer (channels.terminal.allow_answers: true)")
	}
	if others := d.besideTerminal(); len(others) == 0 {
		ways = append(ways, "pair a chat (approver pair telegram)")
	} else if len(d.People.Counting()) > 0 {
		ways = append(ways, "see why no yes comes from "+strings.Join(others, ", ")+" (approver doctor)")
	}
	if os.Getuid() == 0 {
		const cannot = "root of this machine cannot, because the daemon runs as root"
		if len(ways) == 0 {
			return sentence(cannot) + ". docs/nobody.md"
		}
		return sentence(strings.Join(ways, ", or ") + "; " + cannot)
	}
	root = append(append(root, d.rootApproves(ctx)...), approver.AsRoot("unfreeze"))
	if len(ways) > 0 {
		return sentence(strings.Join(ways, ", or ") + ", or as root: " + strings.Join(root, ", ") + ". docs/nobody.md")
	}
	return "As root: " + strings.Join(root, ", ") + ". docs/nobody.md"
}

// rootApproves is how root approves a request. Where no answer of anybody counts, or there
// is no channel, none waits: each call is denied at once.
func (d *Admin) rootApproves(ctx context.Context) (commands []string) {
	if len(d.People.Counting()) == 0 || len(d.channels) == 0 {
		return nil
	}
	if c, _, err := d.People.Controls(ctx); err == nil {
		if gone, away := c.Removal(approver.Owner()); away { // else root's word does not count
			commands = append(commands, approver.AsRoot("people restore "+words.ShellWord(gone.Person))+" (root was removed)")
		}
	}
	approve := approver.AsRoot("approve ID")
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
		commands = append(commands, approver.AsRoot("people recover")+" (for what waits in the configuration)")
	}
	if len(d.People.Counting()) > 0 {
		return commands
	}
	c, _, err := d.People.Controls(ctx)
	if err != nil {
		return commands // status says that the store fails
	}
	for _, gone := range c.Away() {
		if len(d.authority.linesOf(approver.Controls{Removed: []approver.Removal{gone}})) > 0 {
			commands = append(commands, approver.AsRoot("people restore "+words.ShellWord(gone.Person)))
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
	id, _ := approver.Owner()
	if _, counts := d.People.Counting()[id]; !counts {
		return false
	}
	for _, c := range d.channels {
		if taker, is := c.(approver.Taker); is && c.Name() == terminal.Name {
			return taker.Takes(s)
		}
	}
	return false
}
