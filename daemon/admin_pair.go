package daemon

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/discord"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/display"
)

// What opAdmit takes for a channel and for a user's id, as every platform writes it.
var (
	pairChannels = []string{telegram.Name, discord.Name, slack.Name}
	platformID   = regexp.MustCompile(`^[A-Za-z0-9]{1,32}$`)
)

// admit puts one more approver before those who are, with the exact change of
// the configuration. The first whom a chat reaches needs nobody's yes, and an
// isolated daemon takes its operator's.
func (d *Admin) admit(ctx context.Context, peer approver.Peer, req adminapi.AdmitRequest) (adminapi.ControlAnswer, error) {
	if req.Channel == "" || req.Who.ID == "" || len(req.Diff) == 0 {
		return adminapi.ControlAnswer{}, errors.New("it is not said who is to be added, and how")
	}
	// Both stand in what approver says by itself, where a caller must tell no story.
	if !slices.Contains(pairChannels, req.Channel) || !platformID.MatchString(req.Who.ID) {
		return adminapi.ControlAnswer{}, errors.New("an approver is added on telegram, discord or slack, by the id that the platform gave them")
	}
	if err := d.notRemoved(ctx, req); err != nil {
		return adminapi.ControlAnswer{}, err
	}
	who := fmt.Sprintf("%s user %s", req.Channel, req.Who.ID)
	line := []string{configs.ApproverLine(req.Channel, req.Who.ID, req.Person)}
	switch {
	case d.trusts(peer):
		d.log.Warn("an approver is added by the operator", "who", who, "uid", peer.UID)
		return adminapi.ControlAnswer{Done: true, Text: "this daemon is isolated, so your word counts"}, d.authority.admit(ctx, line, fmt.Sprintf("added by uid %d", peer.UID))
	case !d.chats():
		return adminapi.ControlAnswer{Done: true, Text: "the first approver whom a chat reaches"}, nil
	}
	shown := map[string]any{"channel": req.Channel, "user": req.Who.ID, "person": req.Person, "file": req.File, "diff": req.Diff}
	by, err := d.ask(ctx, peer, adminapi.OpAdmit, shown, "calls themselves "+display.Visible(req.Who.Name), "adds an approver: "+who+" could then allow what agents do")
	if err == nil {
		err = d.notRemoved(ctx, req) // somebody may have been since
	}
	if err != nil {
		return adminapi.ControlAnswer{}, err
	}
	return adminapi.ControlAnswer{Done: true, Text: "approved by " + by}, d.authority.admit(ctx, line, "approved by "+by)
}

// notRemoved fails for somebody who was removed: pairing them anew is no way back.
func (d *Admin) notRemoved(ctx context.Context, req adminapi.AdmitRequest) error {
	c, err := broadcaster.LoadControls(ctx, d.authority.Store)
	if err != nil {
		return err
	}
	who := approver.Person{ID: req.Person}
	if who.ID == "" {
		who.ID = approver.SelfPerson(req.Channel, req.Who.ID)
	}
	if gone, away := c.Removal(approver.Identity{Channel: req.Channel, ID: req.Who.ID}, who); away {
		return fmt.Errorf("%s: bring them back first, with approver people restore %s", gone.Line(), gone.Person)
	}
	return nil
}
