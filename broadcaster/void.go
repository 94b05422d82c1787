package broadcaster

import (
	"context"
	"errors"

	"approver.example"
)

// This file says whether a yes that people gave still runs a call. Whatever gives a call
// because of a yes asks here after it has taken the yes: what is taken is never given
// where a freeze or a removal came meanwhile.

// void says why the yes to a request must not give this call; nil if it may. The freeze
// of an agent counts whether it is of the agent that asked or of the one that comes back,
// as calls of several sessions can share a yes. What is asked of approver itself outlives
// a freeze, because lifting one is asked, too.
func (c Controls) void(r Request, call approver.ToolCall) error {
	own := r.Call.Control != "" && call.Control != ""
	switch {
	case !own && c.Burns(r.Created):
		return errBurned
	case !own && (c.BurnsFor(call, r.Created) || c.BurnsFor(r.Call, r.Created)):
		return errHeld
	case c.takesBack(r.Resolution):
		return errTakenBack
	}
	return nil
}

// isVoid reports an error of void. Any other is of the store, which may say more later.
func isVoid(err error) bool {
	return errors.Is(err, errBurned) || errors.Is(err, errHeld) || errors.Is(err, errTakenBack) || errors.Is(err, errNoYes)
}

// stillGood is void by the controls of this moment, and that a yes that lasts was not
// revoked. That the store cannot say is an error.
func (k *Grants) stillGood(ctx context.Context, r Request, call approver.ToolCall) error {
	c, err := readControls(ctx, k.store, k.mark)
	if err != nil {
		return err
	}
	if err := c.void(r, call); err != nil || !r.Resolution.Grant.Lasts() {
		return err
	}
	g, _, err := k.load(ctx, scopeOf(r.Call, r.Fingerprint))
	switch {
	case errors.Is(err, approver.ErrNotFound): // it was for once alone
		return nil
	case err != nil:
		return err
	case g.Request.ID == r.ID && g.Ended == "revoked":
		return errNoYes
	case g.Request.ID == r.ID: // the session that asked may be another than the one that comes back
		return c.void(g.Request, call)
	}
	return nil
}

// moot reports that what a question was about is over: a freeze began or ended since.
func (k *Grants) moot(ctx context.Context, r Request) (bool, error) {
	if !aboutFreezes(r.Call) {
		return false, nil
	}
	c, err := readControls(ctx, k.store, k.mark)
	return err == nil && c.changedSince(r), err
}

// yes is of r what Stands needs.
func (r Request) yes() *approver.Yes {
	c := r.Call
	c.Raw, c.Args, c.Command, c.Env = nil, nil, "", nil
	return &approver.Yes{Request: r.ID, Call: c, Fingerprint: r.Fingerprint, Made: r.Created, Resolution: r.Resolution}
}

var errNoYes = errors.New("people have not said yes to it, or took that back")

// Stands says why a yes would not give this call any more: for a freeze, because whoever
// gave it was removed, because it was revoked, or because the store cannot say. Nil is
// that it stands. Whether it is the same call is for the caller to look at.
func (k *Grants) Stands(ctx context.Context, y approver.Yes, call approver.ToolCall) error {
	if y.Request == "" {
		return errNoYes
	}
	r := Request{ID: y.Request, Call: y.Call, Fingerprint: y.Fingerprint, Created: y.Made, Resolution: y.Resolution}
	return patiently(ctx, func() error { return k.stillGood(ctx, r, call) })
}
