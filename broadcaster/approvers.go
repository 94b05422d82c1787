package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"approver.example"
	"approver.example/display"
)

// Approvers knows the people whose answers count, and to whom a request goes.
type Approvers struct {
	*Options
	channels *Channels

	people atomic.Pointer[approver.People] // the list now
}

// Removal returns the removal of the person who has this account, if they are removed. An
// error means that this is not known: the store does not answer within [StorePatience], or has
// lost it.
func (a *Approvers) Removal(
	ctx context.Context, id approver.Identity, who approver.Person,
) (gone Removal, away bool, err error) {
	var c Controls
	err = patiently(ctx, func() (err error) {
		c, err = readStored(ctx, a.Store, a.Mark)
		return err
	})
	if err != nil {
		return Removal{}, false, err
	}
	if gone, away = c.Removed.Of(id, who); !away && c.Missing {
		err = errors.New(c.Freeze.Reason)
	}
	return gone, away, err
}

// Set replaces the approver list for every later answer. The caller must not change the list
// afterwards.
func (a *Approvers) Set(p approver.People) { a.people.Store(&p) }

// counted returns the person who answers, or why their answer does not count. away means that the store did not
// say.
func (a *Approvers) counted(
	ctx context.Context, channel, id string,
) (who approver.Person, why display.Message, away bool) {
	who, ok := a.people.Load().Lookup(channel, id)
	if !ok {
		return approver.Person{}, display.Msg("You are not on the approver list of this channel."), false
	}
	var c Controls
	err := whenThere(ctx, func() (err error) { c, err = readControls(ctx, a.Store, a.Mark); return err })
	if err != nil {
		a.Log.Warn("whether somebody was removed is not known, so their answer does not count", "channel", channel, "error",
			err)
		return approver.Person{}, display.Msg("The store had a problem, so this answer does not count. Please try again."),
			comesBack(err)
	}
	if gone, is := c.Removed.Of(approver.Identity{Channel: channel, ID: id}, who); is {
		a.Log.Warn("refused an answer of somebody who was removed", "channel", channel, "sender", id, "person", who.ID)
		return approver.Person{}, display.Msg("You were removed from the approvers at %s: your answers do not count.",
			gone.At.UTC().Format("2006-01-02 15:04 UTC")), false
	}
	return who, display.Message{}, false
}

// listed reports whether a yes is of somebody whose answers count: who is taken off the list lets nothing
// run any more. Root of this machine is on no list.
func (a *Approvers) listed(res approver.Resolution) bool {
	if root, _ := Owner(); res.Cause != approver.ByPerson || res.Identity == root {
		return true
	}
	who, ok := a.people.Load().Lookup(res.Identity.Channel, res.Identity.ID)
	return ok && who.ID == res.Person.ID
}

// tookOff reports whether a yes is of somebody whom the list of that platform does not name any more. The
// list of a terminal, or of a platform that is not configured here, says nothing of other machines.
func (a *Approvers) tookOff(res approver.Resolution) bool {
	channel, here := a.channels.byName[res.Identity.Channel]
	_, terminal := channel.(approver.Presence)
	return here && !terminal && res.Approve && !a.listed(res)
}

// Counting returns the people on the list who were not removed, as far as this process knows.
func (a *Approvers) Counting() approver.People {
	people := maps.Clone(*a.people.Load())
	removed := a.Mark.Removed()
	maps.DeleteFunc(people, func(id approver.Identity, who approver.Person) bool {
		_, away := removed.Of(id, who)
		return away
	})
	return people
}

// Nobody says why nobody could approve a request of this severity in a chat or a terminal now;
// empty if somebody could. Root of this machine may still be able to.
func (a *Approvers) Nobody(s approver.Severity) string { return display.Texts{}.Message(a.nobody(s)) }

func (a *Approvers) nobody(s approver.Severity) (why display.Message) {
	if len(a.Destinations) == 0 {
		return display.Msg("no channel is configured")
	}
	add := func(m display.Message) {
		if why.Format != "" {
			m = display.Msg("%s, %s", why, m)
		}
		why = m
	}
	people := a.Counting()
	for _, name := range slices.Sorted(maps.Keys(a.channels.shownWhere())) {
		switch {
		case a.channels.pages(name): // nobody expects answers from there
		case !slices.ContainsFunc(slices.Collect(maps.Keys(people)),
			func(id approver.Identity) bool { return id.Channel == name }):
			add(display.Msg("of %s no approver counts", name))
		case !a.channels.takes(name, s):
			add(display.Msg("the %s takes no approval of %s requests", name, s.String()))
		case a.channels.Deaf(name) != nil:
			add(display.Msg("from %s no answers arrive", name))
		case a.channels.State(name).Hearing().Why != "":
			add(display.Msg("from %s no answers arrive now", name))
		default:
			return display.Message{}
		}
	}
	if why.Format == "" {
		return display.Msg("no channel is configured")
	}
	return why
}

// takesYes reports whether one of these people can approve a request on a channel. Whoever is at a terminal may.
func (a *Approvers) takesYes(people approver.People, v approver.Verdict, channel string) bool {
	if a.channels.screen(channel) {
		return true
	}
	if a.channels.pages(channel) || !a.channels.takes(channel, v.Severity) {
		return false
	}
	for id, who := range people {
		if id.Channel == channel && isFor(v, who) {
			return true
		}
	}
	return false
}

// audience returns where the cards of a request go. If the verdict names channels or people,
// and nobody among them could approve it, the error is errNobody.
func (a *Approvers) audience(v approver.Verdict) ([]approver.Destination, error) {
	people := a.Counting()
	if len(people) == 0 && len(a.Destinations) > 0 {
		return nil, errNobodyLeft
	}
	to := slices.DeleteFunc(slices.Clone(a.Destinations), func(d approver.Destination) bool {
		return !shownOn(v, d.Channel)
	})
	if len(v.Channels) == 0 && len(v.Approvers) == 0 {
		return to, nil
	}
	for id, who := range people {
		if !a.channels.takes(id.Channel, v.Severity) {
			continue
		}
		if isFor(v, who) && slices.ContainsFunc(to, func(d approver.Destination) bool { return d.Channel == id.Channel }) {
			return to, nil
		}
	}
	who, where := "nobody", "any channel"
	if len(v.Approvers) > 0 {
		who = "none of " + a.namesOf(v.Approvers)
	}
	if len(v.Channels) > 0 {
		where = strings.Join(v.Channels, " or ")
	}
	return nil, fmt.Errorf("%w: %s can approve it on %s", errNobody, who, where)
}

// namesOf returns the names of the people with these ids, for people.
func (a *Approvers) namesOf(ids []string) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id
		var known []string
		for who := range maps.Values(*a.people.Load()) {
			if who.ID == id && who.Name != "" {
				known = append(known, who.Name)
			}
		}
		if len(known) > 0 { // one person may have a name on each platform
			names[i] = slices.Min(known)
		}
	}
	return strings.Join(names, ", ")
}

// notAsked tells a person that their yes does not count, and whose would.
func (a *Approvers) notAsked(v approver.Verdict, who approver.Person) display.Message {
	if !isFor(v, who) {
		return display.Msg("This request is for %s: your yes does not count. You may deny it.", a.namesOf(v.Approvers))
	}
	var where display.Message
	for i, channel := range v.Channels {
		if name := display.Platform(channel); i == 0 {
			where = display.Msg("%s", name)
		} else {
			where = display.Msg("%s or %s", where, name)
		}
	}
	return display.Msg("This request is answered on %s: your yes here does not count. You may deny it here.", where)
}

// OwnerMay says why root may not approve a request; empty if root may. Root may only if nobody
// else could, if the verdict names nobody else, and if the agent that asks is not root itself.
// The caller checks whether the daemon is root.
func (a *Approvers) OwnerMay(ctx context.Context, r Request) string {
	id, who := Owner()
	c, err := readControls(ctx, a.Store, a.Mark)
	gone, away := c.Removed.Of(id, who)
	res := approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: who, Identity: id}
	switch {
	case err != nil:
		return "the store cannot say who was removed: " + err.Error()
	case away:
		return "root of this machine was removed from the approvers (" + gone.Line() + "): " +
			display.AsRoot("people restore "+shellWord(gone.Person)) + " brings root back"
	case r.Call.Peer.Known && r.Call.Peer.UID == 0:
		return "the call comes from root, so root's yes proves nothing: let agents run as another user, or pair a chat"
	case admits(r.Verdict, res) != nil:
		return display.Texts{}.Message(a.notAsked(r.Verdict, who))
	case a.Nobody(r.Verdict.Severity) == "":
		return "others can approve it: answer where its card is"
	}
	return ""
}

// shellWord quotes a name for a command line.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
