package broadcaster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// This file parks requests: the agent is told to run the same call again later,
// the request stays open to its own deadline, and a yes waits for that call.

// GrantMargin is how long after its deadline a parked request still answers the
// call that comes back: with the yes, once, or with the no.
const GrantMargin = 10 * time.Minute

// Park notes that the agent was told to come back. takeBy is until when.
func (r Request) Park(takeBy, now time.Time) (Request, error) {
	switch {
	case r.State.Settled():
		return r, ErrSettled
	case r.State != approver.Pending: // whoever waits takes the yes now
		return r, ErrTooSoon
	}
	r.Parked, r.TakeBy, r.WithdrawAt = true, takeBy, time.Time{}
	for _, c := range r.Also { // those that are here are told to come back, each by itself
		if !c.WithdrawAt.IsZero() {
			r = r.off(approver.AgentGone, now, c)
		}
	}
	r.Also = nil // its yes is for the first call that comes back
	return r, nil
}

// shares reports whether a call is one that the answer to a parked request is
// for: the same content, by the same user and agent, in the same project.
func (r Request) shares(call approver.ToolCall, fp approver.Fingerprint) bool {
	return r.Parked && r.sameCall(call, fp)
}

// sameCall reports whether a call has the content of the one that asked, and comes from
// the same user and agent, in the same folder.
func (r Request) sameCall(call approver.ToolCall, fp approver.Fingerprint) bool {
	return call.ID != "" && fp.Equal(r.Fingerprint) && call.Agent == r.Call.Agent && call.Dir == r.Call.Dir &&
		call.Peer.SameUser(r.Call.Peer)
}

// Take is Consume for a call that came back after its request was parked. The
// record then holds that call's id, and only that call may read the answer
// again, until its courier's deadline.
func (r Request) Take(call approver.ToolCall, fp approver.Fingerprint, audit string, deadline, now time.Time) (Request, error) {
	switch {
	case r.State.Settled():
		return r, ErrSettled
	case !r.shares(call, fp):
		return r, ErrNotBound
	}
	taken := r
	taken.CallID, taken.Deadline = call.ID, deadline
	taken, err := taken.Consume(call.ID, fp, audit, now)
	if err != nil {
		return r, err
	}
	return taken, nil
}

// covers reports that an answer to the question v is one to the question now: it
// is as strict, of the same arguments, and to nobody else. Rules that look at the
// clock can ask about one call in two ways. An answer to an appeal is one to a
// denial by the same rule, and to nothing else, nor is any other answer one to it.
func covers(v, now approver.Verdict) bool {
	if (v.Appeal.Of != "") != (now.Appeal.Of != "") || now.Appeal.Of != "" && (v.By != now.By || v.Rule != now.Rule) {
		return false
	}
	return v.Severity <= now.Severity && bytes.Equal(v.Args, now.Args) && within(v.Approvers, now.Approvers) && within(v.Channels, now.Channels)
}

// within reports that a narrows no less than b. An empty list is everybody.
func within(a, b []string) bool {
	if len(b) == 0 {
		return true
	}
	return len(a) > 0 && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// Granted reports a recorded yes that waits for the call to come back.
func (r Request) Granted() bool {
	return r.State == approver.Approved && r.Parked && r.Resolution.Approve && r.Audit != ""
}

// scopeOf names what an answer that is kept is for. It is a key, not the check:
// the record that it leads to is compared with the call.
func scopeOf(call approver.ToolCall, fp approver.Fingerprint) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %t %d %q", fp, call.Agent, call.Peer.Known, call.Peer.UID, call.Dir))
	return hex.EncodeToString(sum[:16])
}

// mayPark reports that it is time to tell the agent to come back: not before
// people can see the question.
func mayPark(r Request, call approver.ToolCall) bool {
	return r.State == approver.Pending && !call.ParkAt.IsZero() && !time.Now().Before(call.ParkAt) &&
		slices.ContainsFunc(r.Postings, func(p Posting) bool { return p.Phase == Posted })
}

// park lets the call be found when it comes back, and then parks its request.
func (o *opener) park(ctx context.Context, r Request, call approver.ToolCall) (Request, error) {
	takeBy := r.Due.Add(GrantMargin)
	key := approver.Key("parked", scopeOf(call, r.Fingerprint))
	for {
		id, rev, err := o.store.Get(ctx, key)
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return r, err
		}
		if string(id) == r.ID {
			break
		}
		err = o.records.put(ctx, key, []byte(r.ID), rev, approver.NewRev(), time.Time{}, takeBy.Add(o.keepFor))
		if err == nil {
			break
		}
		if !errors.Is(err, approver.ErrConflict) {
			return r, err
		}
	}
	if !r.Parked {
		next, err := o.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Park(takeBy, now) })
		if err != nil {
			return next, err
		}
		r = next
	}
	_, err := o.audit.Record(ctx, approver.Record{
		Event: approver.EventParked, Request: r.ID, Fingerprint: r.Fingerprint, Call: call, Verdict: r.Verdict,
		Note: "the agent was told to run the same call again later",
	})
	return r, err
}

// join finds the parked request that a new call comes back for. ErrNotFound
// means that there is none whose answer this call may have. dead is a request without a
// record that the call's id leads to.
func (o *opener) join(ctx context.Context, call approver.ToolCall, why approver.Verdict, fp approver.Fingerprint, dead string) (Request, error) {
	id, _, err := o.store.Get(ctx, approver.Key("parked", scopeOf(call, fp)))
	if err != nil {
		return Request{}, err
	}
	r, _, err := o.requests.load(ctx, string(id))
	if unreadable(err) {
		return Request{}, approver.ErrNotFound
	} else if err != nil {
		return Request{}, err
	}
	now, err := o.store.Now(ctx)
	if err != nil {
		return Request{}, err
	}
	no := r.State == approver.Denied && r.Resolution.Cause == approver.ByPerson
	switch {
	case !r.shares(call, fp), !now.Before(r.TakeBy), r.State.Settled() && !no:
		return Request{}, approver.ErrNotFound
	case !no && !covers(r.Verdict, why):
		return Request{}, approver.ErrNotFound // what people were asked is not what is to be asked now
	}
	// A courier whose connection is lost finds its request by the call's id.
	_, err = o.requests.leadTo(ctx, call.ID, dead, r.ID, r.TakeBy.Add(o.keepFor))
	return r, err
}

// rejoin takes up the request of a call that had come back for it before.
func (o *opener) rejoin(ctx context.Context, r Request) (Request, error) {
	now, err := o.store.Now(ctx)
	if err == nil && r.State == approver.Consumed && !now.Before(r.Deadline) {
		err = errTooOld
	}
	return r, err
}

// granted makes the record of a yes that waits for its call, which must be
// durable before anybody is told, and brings the cards up to date.
func (l *releases) granted(ctx context.Context, r Request) Request {
	hash, err := l.audit.Record(context.WithoutCancel(ctx), r.record(approver.EventGranted))
	next, changeErr := l.requests.change(context.WithoutCancel(ctx), r.ID, func(r Request, now time.Time) (Request, error) {
		if err != nil || hash == "" {
			return r.Fail(approver.Unrecorded, now)
		}
		if r.State != approver.Approved {
			return r, ErrSettled
		}
		r.Audit = hash
		return r, nil
	})
	if err != nil || changeErr != nil && !errors.Is(changeErr, ErrSettled) {
		l.log.Error("a yes that waits for its call could not be recorded", "request", r.ID, "error", errors.Join(err, changeErr))
	}
	if next.Granted() {
		l.editor.settle(next.ID)
	}
	return next
}

// regrant goes on with what a former process left undone of yeses that wait: the
// record, and the cards.
func (l *releases) regrant(ctx context.Context) {
	open, err := l.requests.Open(ctx)
	if err != nil {
		l.records.noteTrouble(err)
	}
	now, err := l.store.Now(ctx)
	for _, r := range open {
		switch {
		case err != nil || r.State != approver.Approved || !r.Parked:
		case r.Granted():
			l.editor.settle(r.ID)
		case now.Sub(r.Resolution.At) > ReplyWait: // else whoever took the answer is at it
			l.granted(ctx, r)
		}
	}
}

// grantedText is what people are told of a yes that waits.
func (r Request) grantedText() string {
	return "Recorded: the agent was told to come back, and may now run this call once, until " + r.TakeBy.UTC().Format("15:04:05 UTC") + "."
}

// answeredBefore records that a call got the answer of a request that another
// call had asked.
func (l *releases) answeredBefore(ctx context.Context, r Request, call approver.ToolCall) error {
	if r.CallID == call.ID || !r.Parked { // else see recordEnd
		return nil
	}
	_, err := l.audit.Record(context.WithoutCancel(ctx), approver.Record{
		Event: approver.EventVerdict, At: call.At, Request: r.ID, Call: call, Verdict: l.verdict(r, false), Note: "the answer of a request that was parked",
	})
	return err
}
