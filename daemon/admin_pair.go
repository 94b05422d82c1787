package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
	"approver.example/tokens"
)

// platformID matches a user id in the form that all platforms use.
var platformID = lazyregexp.New(`^[A-Za-z0-9]{1,32}$`)

// platforms returns the names of the channels on which people can be paired.
func platforms() (names []string) {
	for _, ch := range (configs.Channels{}).AllPlatforms() {
		names = append(names, ch.Name)
	}
	return names
}

// admit asks the existing approvers about one more approver, and shows them the exact change
// of the configuration. Nobody is asked about the first approver who is reached by a chat, nor
// on an isolated daemon, which trusts its operator.
func (d *Admin) admit(
	ctx context.Context, peer approver.Peer, req adminapi.AdmitRequest,
) (none adminapi.ControlAnswer, err error) {
	if req.Channel == "" || req.Who.ID == "" || len(req.Diff) == 0 {
		return none, errors.New("it is not said who is to be added, and how")
	}
	// Both appear in text that approver vouches for, so a caller must not choose them freely.
	all := platforms()
	if !slices.Contains(all, req.Channel) || !platformID().MatchString(req.Who.ID) {
		last := len(all) - 1
		return none, fmt.Errorf("an approver is added on %s or %s, by the id that the platform gave them",
			strings.Join(all[:last], ", "), all[last])
	}
	if err := d.notRemoved(ctx, req); err != nil {
		return none, err
	}
	who := fmt.Sprintf("%s user %s", req.Channel, req.Who.ID)
	line := []string{configs.ApproverLine(req.Channel, req.Who.ID, req.Person)}
	switch {
	case d.trusts(peer):
		d.log.Warn("an approver is added by the operator", "who", who, "uid", peer.UID)
		return adminapi.ControlAnswer{Done: true, Text: "this daemon is isolated, so your word counts"},
			d.authority.admit(ctx, line, "added by "+uidOf(peer))
	case len(d.audience().chats()) == 0:
		return adminapi.ControlAnswer{Done: true, Text: "the first approver whom a chat reaches"}, nil
	}
	shown := map[string]any{"channel": req.Channel, "user": req.Who.ID, "person": req.Person, "file": req.File,
		"diff": req.Diff}
	by, err := d.ask(ctx, peer, adminapi.OpAdmit, shown, "calls themselves "+display.Visible(req.Who.Name),
		effectOf("adds an approver: "+who+" could then allow what agents do",
			"whoever is added could then allow what agents do", "Add an approver: %s", who))
	if err == nil {
		err = d.notRemoved(ctx, req) // they may have been removed since
	}
	if err != nil {
		return none, err
	}
	return adminapi.ControlAnswer{Done: true, Text: "approved by " + by}, d.authority.admit(ctx, line, "approved by "+by)
}

// notRemoved returns an error for somebody who was removed: pairing again must not bring them
// back.
func (d *Admin) notRemoved(ctx context.Context, req adminapi.AdmitRequest) error {
	c, err := broadcaster.LoadControls(ctx, d.authority.Store)
	if err != nil {
		return err
	}
	who := approver.Person{ID: req.Person}
	if who.ID == "" {
		who.ID = approver.SelfPerson(req.Channel, req.Who.ID)
	}
	if gone, away := c.Removed.Of(approver.Identity{Channel: req.Channel, ID: req.Who.ID}, who); away {
		return fmt.Errorf("%s: bring them back first, with approver people restore %s", gone.Line(), gone.Person)
	}
	return nil
}

// pair waits for the code on the daemon's own connection, because two connections cannot
// receive for one bot.
func (d *Admin) pair(
	ctx context.Context, _ approver.Peer, which adminapi.PairRequest,
) (none approver.Paired, err error) {
	code, err := tokens.Parse(which.Code)
	if err != nil {
		return none, err
	}
	for _, c := range d.channels {
		if c.Name() != which.Channel {
			continue
		}
		p, can := c.(approver.Pairer)
		if !can {
			return none, fmt.Errorf("nobody is paired on the channel %s", which.Channel)
		}
		if err := d.People.Channels.Deaf(c.Name()); err != nil {
			return none,
				fmt.Errorf("this daemon does not receive from %s now, so nobody can be paired here: %w", which.Channel, err)
		}
		d.log.Info("somebody is being paired", "channel", which.Channel)
		ctx, done := d.pairs.begin(ctx)
		defer done()
		return p.Pair(ctx, code)
	}
	return none, fmt.Errorf("the daemon has no channel %s", which.Channel)
}

// passed says what was sent on a channel that was not the code, since the last pairing there began.
func (d *Admin) passed(
	_ context.Context, _ approver.Peer, which adminapi.PairRequest,
) (none approver.Passed, err error) {
	for _, c := range d.channels {
		if p, can := c.(approver.Pairer); can && c.Name() == which.Channel {
			return p.Passed(), nil
		}
	}
	return none, fmt.Errorf("the daemon has no channel %s", which.Channel)
}

// pairings are those in progress. The zero value has none.
type pairings struct{ all sync.Map } // each one's cancel function, keyed by a pointer to it

// begin registers a pairing; done must be called.
func (p *pairings) begin(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	p.all.Store(&cancel, cancel)
	return ctx, func() {
		cancel(nil)
		p.all.Delete(&cancel)
	}
}

// end cancels all pairings.
func (p *pairings) end(why error) {
	p.all.Range(func(_, cancel any) bool {
		cancel.(context.CancelCauseFunc)(why)
		return true
	})
}
