package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/httpapi"
)

// This file is the one place that keeps whoever was removed from the resolve socket: on an
// isolated installation whoever that admits is taken at their word.

// A porter stands between the resolve socket and what is behind it.
type porter struct {
	desk  *desk
	local httpapi.Resolver // nil without a terminal: then there is nothing to watch
}

// maxOperation bounds the body of an operation in bytes. A freeze is taken whatever its
// reason says, which is cut, and a pairing has the change of a file with it.
const maxOperation = 16 << 10

// errGone means that a peer's account, or the person whose it is, was removed.
var errGone = errors.New("only approver status and approver freeze are open to them; root, and whoever else may use this socket, can bring them back")

// Operate implements [httpapi.Operator].
func (p porter) Operate(ctx context.Context, peer approver.Peer, op string, body json.RawMessage) (json.RawMessage, error) {
	if n := len(body); n > maxOperation && op != opFreeze && op != opAdmit {
		return nil, fmt.Errorf("what was sent with %s has %d bytes, more than %d: say it shorter", approver.OneLine(cutOp(op)), n, maxOperation)
	}
	if op != opStatus && op != opFreeze {
		if err := p.desk.admits(ctx, peer); err != nil {
			return nil, err
		}
	}
	return p.desk.Operate(ctx, peer, op, body)
}

// Watch implements [httpapi.Resolver]. A stream ends before the first card that comes after
// the removal of whoever reads it.
func (p porter) Watch(ctx context.Context, peer approver.Peer, emit func(json.RawMessage) error) error {
	if err := p.desk.admits(ctx, peer); err != nil {
		return err
	}
	return p.local.Watch(ctx, peer, func(event json.RawMessage) error {
		if err := p.desk.admits(ctx, peer); errors.Is(err, errGone) { // that it is not known ends nobody's watch
			return err
		}
		return emit(event)
	})
}

// Answer implements [httpapi.Resolver]. Whoever was removed is refused behind it, with
// every other way of answering, and the audit has that.
func (p porter) Answer(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error) {
	return p.local.Answer(ctx, peer, body)
}

// admits fails for whoever was removed, and where that is not known. Root is root; and on
// an installation that is not isolated nothing counts by the word of the daemon's own user,
// who can still ask others to bring somebody back.
func (d *desk) admits(ctx context.Context, peer approver.Peer) error {
	if peer.Known && (peer.UID == 0 || d.notice != "" && int(peer.UID) == os.Getuid()) {
		return nil
	}
	id := approver.Identity{Channel: terminal.Name, ID: strconv.FormatUint(uint64(peer.UID), 10)}
	gone, away, err := d.people.Removal(ctx, id, d.authority.listed()[id])
	switch {
	case err != nil:
		return fmt.Errorf("it is not known whether %s was removed, so only approver status and approver freeze are open to them: %w",
			approver.SelfPerson(id.Channel, id.ID), err)
	case away:
		d.log.Warn("refused an operation of somebody who was removed", "uid", peer.UID, "person", gone.Person)
		return fmt.Errorf("%s: %w (approver people restore)", gone.Line(), errGone)
	}
	return nil
}

// cutOp is the name of an operation, which may be anything.
func cutOp(op string) string { return op[:min(len(op), 32)] }
