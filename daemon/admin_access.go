package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/httpapi"
)

// This file is the one place that keeps whoever was removed from the resolve socket: on an
// isolated installation whoever that admits is taken at their word.

// A doorkeeper stands between the resolve socket and what is behind it.
type doorkeeper struct {
	admin *Admin
	local httpapi.Resolver // nil without a local channel: then there is nothing to watch
}

// maxOperation bounds the body of an operation in bytes. A freeze is taken whatever its
// reason says, which is cut, and a pairing has the change of a file with it.
const maxOperation = 16 << 10

// errGone means that a peer's account, or the person whose it is, was removed.
var errGone = errors.New("only approver status and approver freeze are open to them; root, and whoever else may use " +
	"this socket, can bring them back")

// Operate implements [httpapi.Operator].
func (p doorkeeper) Operate(
	ctx context.Context, peer approver.Peer, op string, body json.RawMessage,
) (json.RawMessage, error) {
	if n := len(body); n > maxOperation && op != adminapi.OpFreeze && op != adminapi.OpAdmit {
		return nil, fmt.Errorf("what was sent with %s has %d bytes, more than %d: say it shorter", display.OneLine(cutOp(op)),
			n, maxOperation)
	}
	if op != adminapi.OpStatus && op != adminapi.OpFreeze {
		if err := p.admin.admits(ctx, peer, op); err != nil {
			return nil, err
		}
	}
	return p.admin.Operate(ctx, peer, op, body)
}

// opWatch is what the log calls a watch.
const opWatch = "watch"

// goneEvery is how often a watch looks whether its reader was removed.
const goneEvery = 250 * time.Millisecond

// Watch implements [httpapi.Resolver]. A stream ends with the removal of whoever reads it:
// before the next card, and without one as soon as this process knows of it.
func (p doorkeeper) Watch(ctx context.Context, peer approver.Peer, emit func(json.RawMessage) error) error {
	if err := p.admin.admits(ctx, peer, opWatch); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		tick := time.NewTicker(goneEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if gone, away := p.admin.knownGone(peer); away {
				end(goneFrom(gone))
				return
			}
		}
	})
	defer looking.Wait()
	defer end(nil)
	err := p.local.Watch(ctx, peer, func(event json.RawMessage) error {
		if err := p.admin.admits(ctx, peer, opWatch); errors.Is(err, errGone) { // that it is not known ends nobody's watch
			return err
		}
		return emit(event)
	})
	if cause := context.Cause(ctx); errors.Is(cause, errGone) {
		return cause
	}
	return err
}

// Answer implements [httpapi.Resolver]. It lets everybody through: answers of whoever was
// removed are refused later, on every way of answering alike, and the audit records that.
func (p doorkeeper) Answer(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error) {
	return p.local.Answer(ctx, peer, body)
}

// admits fails for whoever was removed, and where that is not known. Root is root; and on
// an installation that is not isolated nothing counts by the word of the daemon's own user,
// who can still ask others to bring somebody back.
func (d *Admin) admits(ctx context.Context, peer approver.Peer, op string) error {
	if d.always(peer) {
		return nil
	}
	id := localIdentity(peer.UID)
	gone, away, err := d.People.Approvers.Removal(ctx, id, d.authority.listed()[id])
	switch {
	case err != nil:
		return fmt.Errorf("it is not known whether %s was removed, so only approver status and approver freeze are open "+
			"to them: %w",
			approver.SelfPerson(id.Channel, id.ID), err)
	case away:
		// With an error it is told once a minute, and else as often as they come.
		d.log.Warn("refused an operation of somebody who was removed", "uid", peer.UID, "person", gone.Person, "operation",
			cutOp(op), "error", errRemoved)
		return goneFrom(gone)
	}
	return nil
}

// errRemoved is why, for the log.
var errRemoved = errors.New("only status and freeze are open to them")

// always reports who is never kept out.
func (d *Admin) always(peer approver.Peer) bool {
	return peer.Known && (peer.UID == 0 || d.notice != "" && int(peer.UID) == os.Getuid())
}

// knownGone is admits as far as this process knows without asking the store.
func (d *Admin) knownGone(peer approver.Peer) (broadcaster.Removal, bool) {
	id := localIdentity(peer.UID)
	gone, away := d.People.Mark.Removed().Of(id, d.authority.listed()[id])
	return gone, away && !d.always(peer)
}

// goneFrom is what somebody who was removed is told.
func goneFrom(gone broadcaster.Removal) error {
	return fmt.Errorf("%s: %w (approver people restore)", gone.Line(), errGone)
}

// cutOp is the name of an operation, which may be anything.
func cutOp(op string) string { return op[:min(len(op), 32)] }
