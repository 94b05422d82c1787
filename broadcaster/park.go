package broadcaster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"approver.example"
)

// maxParked bounds the requests that may wait for one call to come back.
const maxParked = 8

// parkedIDs are the requests that wait for a call to come back, the newest last.
func parkedIDs(stored []byte) []string { return strings.Fields(string(stored)) }

// joinParked finds the parked request that a new call comes back for: the newest that has an answer, or else
// the newest that waits for one. It returns ErrNotFound if there is none whose answer this call may have.
func (o *opener) joinParked(ctx context.Context, q question) (Request, error) {
	stored, _, err := o.Store.Get(ctx, approver.Key("parked", scopeOf(q.call, q.bound.Fingerprint)))
	if err != nil {
		return Request{}, err
	}
	var found Request
	for _, id := range slices.Backward(parkedIDs(stored)) {
		r, err := o.parkedFor(ctx, id, q)
		if errors.Is(err, approver.ErrNotFound) {
			continue
		} else if err != nil {
			return Request{}, err
		}
		if answered := r.State != approver.Pending; answered || found.ID == "" {
			if found = r; answered {
				break
			}
		}
	}
	if found.ID == "" {
		return found, approver.ErrNotFound
	}
	// A courier whose connection is lost finds its request by the call's id.
	_, err = o.requests.linkCall(ctx, q.call.ID, q.dead, found.ID, found.TakeBy.Add(o.KeepFor))
	return found, err
}

// parkedFor reads a parked request. It returns ErrNotFound if a call may not have its answer.
func (o *opener) parkedFor(ctx context.Context, id string, q question) (Request, error) {
	r, _, now, err := o.requests.loadNow(ctx, id)
	if unreadable(err) {
		return Request{}, approver.ErrNotFound
	} else if err != nil {
		return Request{}, err
	}
	no := r.State == approver.Denied && r.Resolution.Cause == approver.ByPerson
	switch {
	case !r.Parked || !q.asks(r), !now.Before(r.TakeBy), r.State.Settled() && !no:
		return Request{}, approver.ErrNotFound
	case !no && !coversOther(r.Verdict, q.why):
		return Request{}, approver.ErrNotFound // people were asked another question
	}
	return r, nil
}

// resume continues the request of a courier that came back.
func (o *opener) resume(ctx context.Context, r Request, q question) (Request, error) {
	// The agent chooses its call ids, so an id must not carry an answer over to a
	// stricter question. A call that was released before gets its answer again.
	if !r.State.Settled() && !covers(r.Verdict, q.why) {
		return r, ErrNotBound
	}
	if r.Parked && q.asks(r) {
		return o.resumeParked(ctx, r)
	}
	if !q.call.Peer.SameUser(r.Call.Peer) {
		return r, ErrNotBound // a user must not end another user's request by its call id
	}
	if !r.callers().includes(q.call.ID) || !q.bound.Fingerprint.Equal(r.Fingerprint) {
		if r, err := o.requests.fail(ctx, r.ID, approver.CallChanged); err == nil {
			return r, nil
		}
		return r, ErrNotBound
	}
	late := false
	next, err := o.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		late = !now.Before(r.Deadline)
		return r.Hold(q.call.ID, q.bound.Fingerprint, q.holder)
	})
	if late {
		return r, errTooOld
	}
	if errors.Is(err, ErrSettled) {
		return next, nil
	}
	if err == nil {
		o.tasks.start(func(ctx context.Context) { o.poster.repost(ctx, next.ID) })
	}
	return next, err
}

// resumeParked continues the request of a call that had come back for it before.
func (o *opener) resumeParked(ctx context.Context, r Request) (Request, error) {
	now, err := o.Store.Now(ctx)
	if err == nil && r.State == approver.Consumed && !now.Before(r.Deadline) {
		err = errTooOld
	}
	return r, err
}

// park indexes the call so that it is found when it comes back, and then parks its request.
func (o *opener) park(ctx context.Context, r Request, call approver.ToolCall) (Request, error) {
	takeBy := r.Due.Add(GrantMargin)
	key := approver.Key("parked", scopeOf(call, r.Fingerprint))
	for {
		stored, rev, err := o.Store.Get(ctx, key)
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return r, err
		}
		ids := parkedIDs(stored)
		if slices.Contains(ids, r.ID) {
			break
		}
		// One that waits for the same call, from another session, may yet get its answer.
		ids = append(ids, r.ID)
		ids = ids[max(0, len(ids)-maxParked):]
		err = o.records.put(ctx, key, []byte(strings.Join(ids, " ")), rev, approver.NewRev(), time.Time{},
			takeBy.Add(o.KeepFor))
		if err == nil {
			break
		}
		if !errors.Is(err, approver.ErrConflict) {
			return r, err
		}
	}
	if !r.Parked {
		next, err := o.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
			return r.Park(r.Due.Add(GrantMargin), now) // people may have given it more time
		})
		if err != nil {
			return next, err
		}
		r = next
	}
	o.editor.follow(r.ID)
	_, err := o.Audit.Record(ctx, approver.Record{
		Event: approver.EventParked, Request: r.ID, Fingerprint: r.Fingerprint, Call: call, Verdict: r.Verdict,
		Note: "the agent was told to run the same call again later",
	})
	return r, err
}

// mayPark reports that it is time to tell the agent to come back. People must see the question
// first, or it must be on its way to them.
func mayPark(r Request, at time.Time) bool {
	return r.State == approver.Pending && !at.IsZero() && !time.Now().Before(at) &&
		slices.ContainsFunc(r.Postings, func(p Posting) bool {
			return !p.Page && (p.Phase == Posted || p.Phase == Sending && p.Full)
		})
}
