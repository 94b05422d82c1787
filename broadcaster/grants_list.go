package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file lists grants, and takes them back.

// ErrNoGrant means that there is nothing to take back.
var ErrNoGrant = errors.New("there is no such grant: approver grants lists them")

// List lists the grants that still hold, the newest last.
func (k *Grants) List(ctx context.Context) ([]Grant, error) {
	c, now, err := k.controls.Load(ctx)
	if err != nil {
		return nil, err
	}
	open, err := k.requests.Open(ctx)
	var out []Grant
	for _, r := range open {
		if !r.Granted() || !now.Before(r.TakeBy) || c.void(r, r.Call) != nil || !k.approvers.listed(r.Resolution) {
			continue
		}
		out = append(out, k.listed(r, "once", r.TakeBy, ""))
	}
	scopes, listErr := k.records.listed(ctx, "grant")
	for _, scope := range scopes {
		g, _, loadErr := k.load(ctx, scope)
		r := g.Request
		if loadErr != nil || g.Ended != "" || !now.Before(g.Until) || c.void(r, r.Call) != nil ||
			!k.approvers.listed(r.Resolution) {
			if loadErr != nil && !errors.Is(loadErr, approver.ErrNotFound) {
				listErr = errors.Join(listErr, fmt.Errorf("%w: grant %s: %w", ErrIncomplete, scope, loadErr))
			}
			continue
		}
		out = append(out, k.listed(r, r.Resolution.Grant.String(), g.Until, scope))
	}
	err = errors.Join(err, listErr)
	slices.SortStableFunc(out, func(a, b Grant) int { return a.Until.Compare(b.Until) })
	return out, err
}

// listed describes a grant for people.
func (k *Grants) listed(r Request, kind string, until time.Time, scope string) Grant {
	card, res := k.cards.Of(r), r.Resolution
	return Grant{
		ID: r.ID, Kind: kind, Push: card.Push, Until: until, Agent: Agent(r.Call),
		Dir: display.Safe(r.Call.Dir), scope: scope,
		By: display.Safe(cmp.Or(res.Person.Name, res.Person.ID)) + " via " + display.Platform(res.Identity.Channel),
	}
}

// Revoke takes a grant back, and records by whom. A request whose record cannot be read is
// deleted: nothing ran by it, and nothing will.
func (k *Grants) Revoke(ctx context.Context, id, by string) error {
	grants, err := k.List(ctx)
	if err != nil && !errors.Is(err, ErrIncomplete) {
		return err
	}
	for _, g := range grants {
		if g.ID == id && g.scope != "" {
			return k.end(ctx, g.scope, "revoked", by)
		}
	}
	r, err := k.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if !r.Granted() {
			return r, ErrNoGrant
		}
		return r.End(approver.Denied, approver.Revoked, now)
	})
	switch {
	case errors.Is(err, approver.ErrNotFound):
		return ErrNoGrant
	case errors.Is(err, errNoRecord), errors.Is(err, approver.ErrTampered):
		return k.discard(ctx, id, by)
	case err != nil:
		return err
	}
	_, err = k.Audit.Record(ctx, eventRecord(r, approver.EventRevoked, "revoked by "+by))
	k.editor.settle(r.ID)
	return err
}

// discard deletes the record of a request that cannot be read. A call that waits for it is
// asked anew.
func (k *Grants) discard(ctx context.Context, id, by string) error {
	note := approver.Record{
		Event: approver.EventRevoked, Request: id, Note: "its record could not be read, and was taken away by " + by,
	}
	if _, err := k.Audit.Record(ctx, note); err != nil {
		return err
	}
	_, rev, now, err := approver.GetNow(ctx, k.Store, approver.Key("req", id))
	if d, ok := k.Store.(approver.Discarder); ok && errors.Is(err, approver.ErrTampered) {
		return d.Discard(ctx, approver.Key("req", id))
	}
	if err != nil {
		return err
	}
	return k.records.put(ctx, approver.Key("req", id), nil, rev, approver.NewRev(), time.Time{}, now.Add(time.Millisecond))
}

// end ends a grant: its time is over, or by revoked it.
func (k *Grants) end(ctx context.Context, scope, how, by string) error {
	var now time.Time
	g, err := k.change(ctx, scope, func(g *lastingGrant) (before time.Time, err error) {
		if now, err = k.Store.Now(ctx); err != nil {
			return time.Time{}, err
		}
		if g.Ended != "" || how == "expired" && now.Before(g.Until) {
			return time.Time{}, ErrNoGrant
		}
		g.Ended = how
		return time.Time{}, nil
	})
	if err != nil {
		return err
	}
	event, note := approver.EventGrantExpired, "its time is over"
	if how != "expired" {
		event, note = approver.EventRevoked, "revoked by "+by
		k.cancelYes(ctx, g.Request.ID, by)
	}
	rec := eventRecord(g.Request, event, note)
	rec.At = now
	_, err = k.Audit.Record(ctx, rec)
	return err
}

// cancelYes ends the time in which a revoked yes may still be taken, for the first call and
// for those that share it, and has its cards say by whom it was revoked. A new grant may replace the old
// one: see stillGood.
func (k *Grants) cancelYes(ctx context.Context, id, by string) {
	_, err := k.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		next, err := r.cancelYes(approver.Revoked, now)
		if err != nil && !errors.Is(err, errNoChange) {
			return r, err
		}
		next.Revoked, next.Postings = by, next.Postings.redrawn()
		return next, nil
	})
	switch {
	case err == nil:
		k.editor.settle(id)
	case !errors.Is(err, errNoChange) && !errors.Is(err, approver.ErrNotFound) && !errors.Is(err, ErrTooSoon):
		k.Log.Warn("a call that waits for a yes that was revoked may be told so late", "request", id, "error", err)
	}
}

// awaitLasting waits until the grant of a request is stored, or ctx ends.
func (k *Grants) awaitLasting(ctx context.Context, r Request) (until time.Time, ok bool) {
	for {
		g, _, err := k.load(ctx, scopeOf(r.Call, r.Fingerprint))
		if err == nil && g.Request.ID == r.ID && g.Ended == "" {
			return g.Until, true
		}
		if !sleep(ctx, retryEvery) {
			return time.Time{}, false
		}
	}
}
