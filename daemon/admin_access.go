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

// This file alone keeps removed people off the resolve socket. On an isolated installation,
// whoever that socket admits is trusted.

// A doorkeeper stands between the resolve socket and the handlers behind it.
type doorkeeper struct {
	admin *Admin
	local httpapi.Resolver // nil without a local channel: there is nothing to watch then
}

// maxOperation bounds the body of an operation in bytes. It does not apply to a freeze, which
// is always accepted and whose reason is cut, nor to the operation that adds a paired
// approver, which includes the diff of a file.
const maxOperation = 16 << 10

// errGone means that the peer's account, or the person it belongs to, was removed.
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

// opWatch is the operation that the log names for a watch.
const opWatch = "watch"

// goneEvery is how often a watch checks whether its reader was removed.
const goneEvery = 250 * time.Millisecond

// Watch implements [httpapi.Resolver]. When the reader is removed, the stream ends: before the
// next card, and without one as soon as this process knows of the removal.
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
		if err := p.admin.admits(ctx, peer, opWatch); errors.Is(err, errGone) { // a failed lookup ends no watch
			return err
		}
		return emit(event)
	})
	if cause := context.Cause(ctx); errors.Is(cause, errGone) {
		return cause
	}
	return err
}

// Answer implements [httpapi.Resolver]. It lets everybody through: answers of removed people
// are refused later, for every way of answering alike, and the audit records that.
func (p doorkeeper) Answer(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error) {
	return p.local.Answer(ctx, peer, body)
}

// admits returns an error for a peer who was removed, and if that cannot be determined. It
// never fails for root, nor, on an installation that is not isolated, for the daemon's own
// user: there that user's word counts for nothing, and they can still ask others to bring
// somebody back.
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
		// The attribute "error" makes the log write this once a minute, not at each attempt.
		d.log.Warn("refused an operation of somebody who was removed", "uid", peer.UID, "person", gone.Person, "operation",
			cutOp(op), "error", errRemoved)
		return goneFrom(gone)
	}
	return nil
}

// errRemoved is the error that the log shows for a removed peer.
var errRemoved = errors.New("only status and freeze are open to them")

// always reports whether a peer is never kept out.
func (d *Admin) always(peer approver.Peer) bool {
	return peer.Known && (peer.UID == 0 || d.notice != "" && int(peer.UID) == os.Getuid())
}

// knownGone reports whether a peer was removed, as far as this process knows without asking
// the store.
func (d *Admin) knownGone(peer approver.Peer) (broadcaster.Removal, bool) {
	id := localIdentity(peer.UID)
	gone, away := d.People.Mark.Removed().Of(id, d.authority.listed()[id])
	return gone, away && !d.always(peer)
}

// goneFrom returns the error for somebody who was removed.
func goneFrom(gone broadcaster.Removal) error {
	return fmt.Errorf("%s: %w (approver people restore)", gone.Line(), errGone)
}

// cutOp shortens the name of an operation, which may be any text.
func cutOp(op string) string { return op[:min(len(op), 32)] }
