package broadcaster

import (
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/tokens"
	"github.com/google/uuid"
)

// This file makes requests and their codes, and finds the request of a courier
// that came back.

// An opener makes requests, and finds those that a call is to wait for.
type opener struct {
	approvers    *Approvers
	controls     *Controller
	environments *Environments
	requests     *Requests
	codes        *codes
	editor       *editor
	poster       *poster
	records      *records
	tasks        *tasks
	audit        approver.Recorder
	keepFor      time.Duration
	limit        func(ctx context.Context, question string, call approver.ToolCall) error
	store        approver.KV
	ttl          time.Duration
}

// open makes the request of a call, or takes it up if the call was here before.
func (o *opener) open(ctx context.Context, call approver.ToolCall, why approver.Verdict, bound approver.Binding, holder string) (Request, error) {
	fp := bound.Fingerprint
	r, dead, err := o.requests.find(ctx, call.ID)
	if errors.Is(err, approver.ErrNotFound) {
		if r, err = o.join(ctx, call, why, fp, dead); !errors.Is(err, approver.ErrNotFound) {
			return r, err
		}
		r, err = o.openShared(ctx, call, why, bound, holder, dead)
		if !errors.Is(err, errReused) { // else the same courier is here on two connections at once
			return r, err
		}
		r, _, err = o.requests.find(ctx, call.ID)
	}
	if err != nil {
		return Request{}, err
	}
	for range 8 {
		if !r.left(call, fp) && (r.State != approver.Pending || r.Parked || r.lists(call.ID) || !r.sameCall(call, fp)) {
			return o.resume(ctx, r, call, why, fp, holder)
		}
		next, err := o.openShared(ctx, call, why, bound, holder, r.ID)
		if !errors.Is(err, errReused) { // else as above
			return next, err
		}
		if r, _, err = o.requests.find(ctx, call.ID); err != nil {
			return Request{}, err
		}
	}
	return Request{}, errReused
}

// passing reports an error that may be over in a moment, as when Redis fails
// over. The agent waits for people anyway; it can wait for the store.
func passing(err error) bool {
	var many *approver.TooManyError
	if errors.As(err, &many) {
		return false
	}
	if isVoid(err) {
		return false
	}
	for _, final := range []error{ErrNotBound, approver.ErrTampered, ErrSealed, approver.ErrNotFound, approver.ErrConflict, errNoTime, errTooOld, errReused, errNotRunning, errNobody, errNobodyLeft} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true
}

// patiently does something with a store that may be away for a moment.
func patiently(ctx context.Context, do func() error) error {
	give := time.Now().Add(StorePatience)
	for {
		err := do()
		if err == nil || !passing(err) || !time.Now().Before(give) || !sleep(ctx, pollEvery/2) {
			return err
		}
	}
}

// find returns the request that a call id stands for. If the id leads to a
// request that has no record, it waits as long as one may be on its way, and then
// says which request is dead.
func (q *Requests) find(ctx context.Context, callID string) (r Request, dead string, err error) {
	for give := time.Now().Add(PostTimeout + time.Second); ; {
		id, _, err := q.requestOf(ctx, callID)
		if err != nil {
			return Request{}, "", err
		}
		r, _, err := q.load(ctx, id)
		if !errors.Is(err, approver.ErrNotFound) {
			return r, "", err
		}
		if time.Now().After(give) || !sleep(ctx, pollEvery) {
			return Request{}, id, err
		}
	}
}

// create stores a new request and starts to post its cards. dead is a request
// without a record that the call id led to, or one that is not for the call.
func (o *opener) create(ctx context.Context, call approver.ToolCall, why approver.Verdict, bound approver.Binding, holder, dead string) (Request, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Request{}, err
	}
	return o.createAs(ctx, id.String(), call, why, bound, holder, dead)
}

// createAs is create with the id of the request.
func (o *opener) createAs(ctx context.Context, id string, call approver.ToolCall, why approver.Verdict, bound approver.Binding, holder, dead string) (Request, error) {
	to, err := o.approvers.audience(why)
	if err != nil {
		return Request{}, err
	}
	controls, now, err := o.controls.Load(ctx)
	if err != nil {
		return Request{}, err
	}
	ttl, readable := o.lives(ctx, call, why)
	if ttl <= 0 {
		return Request{}, errNoTime
	}
	if err := o.mayAsk(ctx, holder, call); err != nil {
		return Request{}, err
	}
	// The environment is bound by the fingerprint, and a courier that comes back
	// brings its own: nobody reads it from the record, and it may hold secrets.
	kept := call
	kept.Env, kept.Environment = nil, o.environments.shown(ctx, call)
	r := Request{
		ID: id, CallID: call.ID, Holder: holder, Fingerprint: bound.Fingerprint, Unbound: call.Display().MaskNames(bound.Unbound), Call: kept, Verdict: why,
		Created: now, Due: now.Add(ttl), Deadline: now.Add(readable), State: approver.Pending, Notice: controls.Notice(now),
	}
	if !call.ParkAt.IsZero() {
		r.ParkAt = now.Add(max(0, time.Until(call.ParkAt)))
	}
	if why.Appeal.Of != "" { // nobody waits
		r.Parked, r.ParkAt, r.TakeBy = true, now, r.Due.Add(GrantMargin)
	}
	ways, err := o.codes.mint(&r, to, now)
	if err != nil {
		return Request{}, err
	}
	// The question and its records are independent until somebody sees a card,
	// which nobody does before both are durable.
	asked := r
	var saveErr, askErr error
	_ = inParallel(2, func(n int) error {
		if n == 0 {
			saveErr = o.requests.saveNew(ctx, &r, ways, now, dead)
		} else {
			askErr = o.poster.recordAsked(context.WithoutCancel(ctx), asked)
		}
		return nil
	})
	if saveErr != nil {
		return Request{}, saveErr
	}
	r.Asked = askErr == nil // else post tries once more, and denies
	codes := map[int]tokens.Code{}
	for _, w := range ways {
		codes[w.entry.Posting] = w.code
	}
	o.editor.shown.note(r, codes)
	o.tasks.start(func(ctx context.Context) { o.poster.post(ctx, r, codes, false) })
	return r, nil
}

// lives says how long people may answer a request, and how long its answer may be read.
func (o *opener) lives(ctx context.Context, call approver.ToolCall, why approver.Verdict) (ttl, readable time.Duration) {
	ttl = why.TTL
	if ttl <= 0 {
		ttl = o.ttl
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return ttl, ttl + time.Minute
	}
	// The agent kills its hook at its own deadline and then runs the call: the request
	// must end before.
	readable = time.Until(deadline)
	if call.ParkAt.IsZero() {
		ttl = min(ttl, readable-AnswerMargin)
	}
	return ttl, readable
}

// resume takes up the request of a courier that came back.
func (o *opener) resume(ctx context.Context, r Request, call approver.ToolCall, why approver.Verdict, fp approver.Fingerprint, holder string) (Request, error) {
	// A call id is the agent's to choose: it must not carry an answer over to a
	// stricter question. What was released before is told again.
	if !r.State.Settled() && !covers(r.Verdict, why) {
		return r, ErrNotBound
	}
	if r.shares(call, fp) {
		return o.rejoin(ctx, r)
	}
	if !call.Peer.SameUser(r.Call.Peer) {
		return r, ErrNotBound // another user's call id is not one to end its request by
	}
	if !r.lists(call.ID) || !fp.Equal(r.Fingerprint) {
		if r, err := o.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Fail(approver.CallChanged, now) }); err == nil {
			return r, nil
		}
		return r, ErrNotBound
	}
	late := false
	next, err := o.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		late = !now.Before(r.Deadline)
		return r.Hold(call.ID, fp, holder)
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
