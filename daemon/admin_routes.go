package daemon

import (
	"context"
	"encoding/json"
	"fmt"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
	"approver.example/tokens"
)

// control does an operation that changes what calls may run. What tightens is
// done at once; what loosens is put before people first.
func (d *Admin) control(
	ctx context.Context, peer approver.Peer, op string, body json.RawMessage,
) (adminapi.ControlAnswer, error) {
	var req adminapi.ControlRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return adminapi.ControlAnswer{}, err
	}
	by := fmt.Sprintf("uid %d", peer.UID)
	switch {
	case op == adminapi.OpFreeze:
		denied, before, err := d.People.Controls.FreezeBeside(context.WithoutCancel(ctx), by, req.Reason)
		return adminapi.ControlAnswer{Done: true, Denied: denied, Text: frozenText(before, req.Reason, denied)}, err
	case op == adminapi.OpPause && req.For == 0:
		_, err := d.People.Controls.Pause(ctx, nil, 0, false, by)
		return adminapi.ControlAnswer{Done: true, Text: "not paused: people are asked"}, err
	case op == adminapi.OpPause:
		return d.pause(ctx, peer, req, by)
	case op == adminapi.OpObserve:
		return d.observe(ctx, peer, req, by)
	case op == adminapi.OpEnforce:
		return d.enforce(ctx, by)
	}
	return d.unfreeze(ctx, peer, req, by)
}

// pair waits on the daemon's own connection: two cannot receive for one bot.
func (d *Admin) pair(ctx context.Context, which adminapi.PairRequest) (approver.Paired, error) {
	code, err := tokens.Parse(which.Code)
	if err != nil {
		return approver.Paired{}, err
	}
	for _, c := range d.channels {
		if c.Name() != which.Channel {
			continue
		}
		p, can := c.(approver.Pairer)
		if !can {
			return approver.Paired{}, fmt.Errorf("nobody is paired on the channel %s", which.Channel)
		}
		if err := d.People.Channels.Deaf(c.Name()); err != nil {
			return approver.Paired{},
				fmt.Errorf("this daemon does not receive from %s now, so nobody can be paired here: %w", which.Channel, err)
		}
		d.log.Info("somebody is being paired", "channel", which.Channel)
		ctx, done := d.pairs.begin(ctx)
		defer done()
		return p.Pair(ctx, code)
	}
	return approver.Paired{}, fmt.Errorf("the daemon has no channel %s", which.Channel)
}

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

// Operate does one operation.
func (d *Admin) Operate(
	ctx context.Context, peer approver.Peer, op string, body json.RawMessage,
) (json.RawMessage, error) {
	var out any
	var err error
	switch op {
	case adminapi.OpStatus:
		out, err = d.status(ctx)
	case adminapi.OpPending:
		out, err = d.pending(ctx)
	case adminapi.OpShow:
		var which adminapi.RequestID
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.show(ctx, which)
		}
	case adminapi.OpFreeze, adminapi.OpUnfreeze, adminapi.OpPause, adminapi.OpObserve, adminapi.OpEnforce:
		out, err = d.control(ctx, peer, op, body)
	case adminapi.OpPair:
		var which adminapi.PairRequest
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.pair(ctx, which)
		}
	case adminapi.OpAdmit:
		var who adminapi.AdmitRequest
		if err = json.Unmarshal(body, &who); err == nil {
			out, err = d.admit(ctx, peer, who)
		}
	case adminapi.OpPeople, adminapi.OpRemove, adminapi.OpRestore, adminapi.OpRecover, adminapi.OpOwnerShow,
		adminapi.OpOwnerApprove:
		out, err = d.persons(ctx, peer, op, body)
	case adminapi.OpGrants:
		out, err = d.listGrants(ctx)
	case adminapi.OpPropose:
		var which adminapi.RequestID
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.propose(ctx, which)
		}
	case adminapi.OpRevoke:
		var which adminapi.RequestID
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.revoke(ctx, peer, which)
		}
	default:
		err = httpapi.ErrNoOperation
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
