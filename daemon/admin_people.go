package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
	"approver.example/display"
)

func (d *Admin) listPeople(
	ctx context.Context, _ approver.Peer, _ adminapi.PersonRequest,
) (adminapi.People, error) {
	c, _, err := d.People.Controls.Load(ctx)
	if err != nil {
		return adminapi.People{}, err
	}
	doc := adminapi.People{People: []adminapi.Person{}, Away: c.Removed.InForce(), Nobody: d.nobody(ctx)}
	listed, counts := d.authority.listed(), d.People.Approvers.Counting()
	ids := slices.SortedFunc(maps.Keys(listed), func(a, b approver.Identity) int {
		return strings.Compare(listed[a].ID+"\x00"+a.Channel+a.ID, listed[b].ID+"\x00"+b.Channel+b.ID)
	})
	for _, id := range ids {
		who := listed[id]
		account := adminapi.Account{Account: approver.SelfPerson(id.Channel, id.ID), Name: who.Name}
		_, in := counts[id]
		gone, away := c.Removed.Of(id, who)
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

// removed returns a line for each removed person, which says whether the configuration still
// lists them.
func (d *Admin) removed(c broadcaster.Controls) []string {
	var lines []string
	for _, gone := range c.Removed.InForce() {
		line := gone.Line()
		for id, who := range d.authority.listed() {
			if _, is := (broadcaster.RemovedPeople{gone}).Of(id, who); is {
				line += adminapi.StillListed
				break
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// remove removes a person. It needs no approval: like a freeze it only tightens.
func (d *Admin) remove(
	ctx context.Context, peer approver.Peer, req adminapi.PersonRequest,
) (none adminapi.ControlAnswer, err error) {
	ctx = context.WithoutCancel(ctx)
	if n := len(req.Person); n > broadcaster.MaxName {
		return none, fmt.Errorf("whom to remove is said in %d bytes: nobody's name or account has more than %d", n,
			broadcaster.MaxName)
	}
	gone := broadcaster.Removal{Person: req.Person, By: uidOf(peer), Reason: req.Reason,
		ByRoot: peer.Known && peer.UID == 0}
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
			return none, fmt.Errorf("nobody here is %q: %s. If only another daemon on this store knows them, say --unlisted",
				display.OneLine(req.Person), knownPeople(listed))
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
		return none, err
	}
	d.pairs.end(fmt.Errorf("%s was removed from the approvers meanwhile: start the pairing anew", gone.Person))
	ended := ""
	if c, now, err := d.People.Controls.Load(ctx); err == nil { // only for the answer's text
		ended = c.Loosened(now)
	}
	voided, err := d.People.Removals.Remove(ctx, gone)
	if c, _, readErr := d.People.Controls.Load(ctx); readErr == nil {
		err = errors.Join(err, d.authority.takeAway(ctx, c, gone.Person+" was removed by "+gone.By))
	}
	if err != nil {
		return none, err
	}
	text := fmt.Sprintf("%s is removed: no answer of theirs counts any more, on any channel of any daemon on this "+
		"store (%s); %d unused yeses of theirs are void",
		display.OneLine(gone.Person), accountNames(gone.Identities), voided)
	if ended != "" {
		text += "\nthis is over, because it may be by their word: " + ended
	}
	text += spared + "\ntake them out of the chats and of the approver lists, too; approver people restore brings them " +
		"back"
	if nobody := d.nobody(ctx); nobody != "" {
		text += "\nWARNING: " + nobody
	}
	return adminapi.ControlAnswer{Done: true, Denied: voided, Text: text}, nil
}

// rootStays takes root's account out of a removal that root did not request, and returns a
// note that says so. If the configuration makes root the person behind the named account, the
// removal applies to that account instead of the person.
func rootStays(gone *broadcaster.Removal, named string) (note string, err error) {
	id, root := broadcaster.Owner()
	switch {
	case gone.ByRoot:
		if gone.Person != root.ID && !slices.Contains(gone.Identities, id) {
			return "", nil
		}
		return "\nthat is root of this machine: " + display.AsRoot("approve ID") + " works no more, until " +
			display.AsRoot("people restore "+words.ShellWord(gone.Person)), nil
	case named == root.ID && gone.Person != root.ID: // it would remove a person by root's account
		return "", fmt.Errorf("%w; to remove whoever answers with it, name the person: approver people remove %s",
			broadcaster.ErrOnlyRoot, words.ShellWord(gone.Person))
	case gone.Person == root.ID:
		gone.Person = named
	}
	if !slices.Contains(gone.Identities, id) {
		return "", nil
	}
	gone.Identities = slices.DeleteFunc(gone.Identities, func(of approver.Identity) bool { return of == id })
	return fmt.Sprintf("\nuid 0 is root of this machine and stays that: as %s it answers no more, and what root alone "+
		"may do (docs/nobody.md) it still may", display.OneLine(gone.Person)), nil
}

// knownPeople names the listed people.
func knownPeople(listed approver.People) string {
	ids := map[string]bool{}
	for _, who := range listed {
		ids[display.OneLine(who.ID)] = true
	}
	if len(ids) == 0 {
		return "the configuration lists nobody"
	}
	return "there are " + strings.Join(slices.Sorted(maps.Keys(ids)), ", ")
}
