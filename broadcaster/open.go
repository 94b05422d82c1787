package broadcaster

import (
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/tokens"
	"github.com/google/uuid"
)

// An opener makes the request of a call, or finds the one that the call is to wait for.
type opener struct {
	*Options
	approvers    *Approvers
	controls     *Controller
	environments *Environments
	requests     *Requests
	codes        *codes
	editor       *editor
	endings      *endings
	poster       *poster
	records      *records
	tasks        *tasks
}

// A question is what people are to be asked.
type question struct {
	call   approver.ToolCall
	why    approver.Verdict
	bound  approver.Binding
	holder string // the connection on which the call's courier waits
	// dead is a request that the call's id leads to, although it has no record or is not for
	// this call.
	dead string
}

// asks reports whether a request is about the call of the question.
func (q question) asks(r Request) bool { return sameCall(r, q.call, q.bound.Fingerprint) }

// openOrResume makes the request of a call, or resumes it if the call was here before.
func (o *opener) openOrResume(ctx context.Context, q question) (Request, error) {
	r, dead, err := o.requests.findByCall(ctx, q.call.ID)
	if errors.Is(err, approver.ErrNotFound) {
		q.dead = dead
		if r, err = o.joinParked(ctx, q); !errors.Is(err, approver.ErrNotFound) {
			return r, err
		}
		r, err = o.joinOrCreate(ctx, q)
		if !errors.Is(err, errReused) { // errReused: the courier is here on two connections
			return r, err
		}
		r, _, err = o.requests.findByCall(ctx, q.call.ID)
	}
	if err != nil {
		return Request{}, err
	}
	for range 8 {
		if r.Parked || r.callers().includes(q.call.ID) || !q.asks(r) {
			return o.resume(ctx, r, q)
		}
		q.dead = r.ID
		next, err := o.joinOrCreate(ctx, q)
		if !errors.Is(err, errReused) { // as above
			return next, err
		}
		if r, _, err = o.requests.findByCall(ctx, q.call.ID); err != nil {
			return Request{}, err
		}
	}
	return Request{}, errReused
}

// claimTime is how long identical calls wait for the request that one of them is making.
const claimTime = 2 * time.Second

// shareable reports whether a call may wait together with identical ones. Nobody waits for an
// appeal, and what the daemon asks about itself is asked by itself. So is an agent's own question:
// the agent asks once for each call.
func shareable(call approver.ToolCall, why approver.Verdict) bool {
	return call.Control == "" && call.Peer.Known && why.Appeal.Of == "" && !why.Prompt
}

// joinOrCreate finds the waiting request of an identical call, or makes one that others can
// find.
func (o *opener) joinOrCreate(ctx context.Context, q question) (Request, error) {
	if !shareable(q.call, q.why) {
		return o.create(ctx, q)
	}
	key := approver.Key("same", scopeOf(q.call, q.bound.Fingerprint))
	claimed := ""
	for give := time.Now(); ; {
		id, rev, err := o.Store.Get(ctx, key)
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return Request{}, err
		}
		if other := string(id); other != "" {
			r, err := o.joinWaiting(ctx, other, q)
			if !errors.Is(err, approver.ErrNotFound) && !errors.Is(err, errNotShared) {
				return r, err
			}
			if claimed != other {
				claimed, give = other, time.Now().Add(claimTime)
			}
			// Another identical call is making it at this moment, or its process has died.
			if errors.Is(err, approver.ErrNotFound) && time.Now().Before(give) && sleep(ctx, retryEvery) {
				continue
			}
		}
		mine, err := uuid.NewV7()
		if err != nil {
			return Request{}, err
		}
		next := approver.NewRev()
		err = o.records.put(ctx, key, []byte(mine.String()), rev, next, time.Time{}, time.Now().Add(o.KeepFor+time.Hour))
		if errors.Is(err, approver.ErrConflict) {
			continue
		} else if err != nil {
			return Request{}, err
		}
		r, err := o.createAs(ctx, mine.String(), q)
		if err != nil { // so that nobody waits for it
			_ = o.records.put(context.WithoutCancel(ctx), key, nil, next, approver.NewRev(), time.Time{},
				time.Now().Add(o.KeepFor))
		}
		return r, err
	}
}

// joinWaiting lets a call wait for the answer to an identical one. It returns ErrNotFound if
// that one has no record, and errNotShared if this call needs a request of its own.
func (o *opener) joinWaiting(ctx context.Context, id string, q question) (Request, error) {
	r, _, now, err := o.requests.loadNow(ctx, id)
	switch {
	case unreadable(err):
		return r, errNotShared
	case err != nil:
		return r, err
	case r.State != approver.Pending || r.Parked || !q.asks(r), r.Verdict.Appeal.Of != "",
		!coversOther(r.Verdict, q.why):
		return r, errNotShared
	}
	// The agent kills its hook at its own deadline, which must not come before the answer.
	// The deadlines of calls that come together differ a little.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline)-AnswerMargin/2 < r.Due.Sub(now) {
		return r, errNotShared
	}
	// A courier whose connection is lost finds its request by the call's id.
	led := false
	if q.dead != id {
		led, err = o.requests.linkCall(ctx, q.call.ID, q.dead, id, r.Due.Add(o.KeepFor))
	}
	if err != nil {
		return r, err
	}
	// A call that waits is in the audit before anything else can fail. It is recorded once,
	// however often it is tried.
	_, err = o.Audit.Record(context.WithoutCancel(ctx), approver.Record{
		Event: approver.EventAsked, At: q.call.At, Request: id, Once: id + ":asked:" + q.call.ID,
		Fingerprint: q.bound.Fingerprint, Call: q.call, Verdict: q.why, Note: "it waits for the answer to an identical call",
	})
	if err != nil {
		return r, err
	}
	r, err = o.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if r.callers().includes(q.call.ID) {
			return r, errReused // the courier is here on two connections: the other one has joined
		}
		return r.AddCaller(Caller{CallID: q.call.ID, Session: q.call.Session, Holder: q.holder}, now)
	})
	switch {
	case errors.Is(err, ErrSettled), errors.Is(err, approver.ErrOverdue), errors.Is(err, ErrTooSoon):
		switch {
		case q.dead == id:
			return r, errNotShared
		case !led: // another connection of this courier did it
			return r, errReused
		}
		// The id leads there now, although the answer is not for this call: undo that.
		return o.requests.unlinkCall(ctx, q.call.ID, id, q.dead, err)
	}
	return r, err
}

// create stores a new request and starts to post its cards.
func (o *opener) create(ctx context.Context, q question) (Request, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Request{}, err
	}
	return o.createAs(ctx, id.String(), q)
}

// createAs is create with a given id.
func (o *opener) createAs(ctx context.Context, id string, q question) (Request, error) {
	to, err := o.approvers.audience(q.why)
	if err != nil {
		return Request{}, err
	}
	controls, now, err := o.controls.Load(ctx)
	if err != nil {
		return Request{}, err
	}
	ttl, readable := o.lifetimes(ctx, q.call, q.why)
	if ttl <= 0 {
		return Request{}, errNoTime
	}
	if err := o.countQuestion(ctx, q.holder, q.call); err != nil {
		return Request{}, err
	}
	// The record has no environment, which may hold secrets: the fingerprint binds it, and
	// a courier that comes back sends its own.
	kept := q.call
	kept.Env, kept.Environment = nil, o.environments.changes(ctx, q.call)
	r := Request{
		ID: id, CallID: q.call.ID, Holder: q.holder, Fingerprint: q.bound.Fingerprint,
		Unbound: q.call.Display().MaskNames(q.bound.Unbound), Call: kept, Verdict: q.why,
		Created: now, Due: now.Add(ttl), Deadline: now.Add(readable), State: approver.Pending, Notice: controls.Notice(now),
		Notices: controls.notices(now),
	}
	if !q.call.ParkAt.IsZero() {
		r.ParkAt = now.Add(max(0, time.Until(q.call.ParkAt)))
	}
	if q.why.Appeal.Of != "" { // nobody waits
		r.Parked, r.ParkAt, r.TakeBy = true, now, r.Due.Add(GrantMargin)
	}
	ways, err := o.codes.mint(&r, to, now)
	if err != nil {
		return Request{}, err
	}
	// The order of the request and of its audit record does not matter: no card is posted
	// before both are durable.
	asked := r
	var saveErr, askErr error
	_ = inParallel(2, func(n int) error {
		if n == 0 {
			saveErr = o.requests.saveNew(ctx, &r, ways, now, q.dead)
		} else {
			askErr = o.endings.recordAsked(context.WithoutCancel(ctx), asked)
		}
		return nil
	})
	if saveErr != nil {
		o.abandon(ctx, asked, askErr == nil)
		return Request{}, saveErr
	}
	r.Asked = askErr == nil // if not, post tries once more, and then denies
	codes := map[int]tokens.Code{}
	for _, w := range ways {
		codes[w.entry.Posting] = w.code
	}
	o.editor.live.note(r, codes)
	if r.Parked {
		o.editor.follow(r.ID)
	}
	o.tasks.start(func(ctx context.Context) {
		if !o.isOvertaken(ctx, r) {
			o.poster.post(ctx, r, codes, false)
		}
	})
	return r, nil
}

// isOvertaken reports whether a freeze came between the check of the gate and this request, and
// then denies it: a yes would release nothing, so nobody is asked. The freeze stores itself and
// then lists the open requests, and this looks at the freeze after the request is stored: one of
// the two sees the other. If the store does not answer, the release looks again.
func (o *opener) isOvertaken(ctx context.Context, r Request) bool {
	c, err := readControls(ctx, o.Store, o.Mark)
	if err != nil {
		return false
	}
	void := c.void(r, r.Call)
	if !isAny(void, errBurned, errHeld) {
		return false
	}
	if _, err := o.requests.fail(ctx, r.ID, causeOf(void)); err != nil && !errors.Is(err, ErrSettled) {
		return false
	}
	o.editor.settle(r.ID)
	return true
}

// abandon ends a request that could not be saved. Its record may be stored in spite of the
// error. The agent is about to hear a no, so nobody must be asked about it later.
func (o *opener) abandon(ctx context.Context, r Request, recorded bool) {
	first, cancel := context.WithTimeout(context.WithoutCancel(ctx), PostTimeout)
	defer cancel()
	if o.endUnsaved(first, r, recorded) {
		return
	}
	o.tasks.start(func(ctx context.Context) {
		for sleep(ctx, time.Second) && !o.endUnsaved(ctx, r, recorded) {
		}
	})
}

// endUnsaved denies the request in the store, which then records its end. If the store does
// not have it, the end of a question that is in the audit is recorded here. It reports whether
// there is nothing left to do.
func (o *opener) endUnsaved(ctx context.Context, r Request, recorded bool) bool {
	_, err := o.requests.fail(ctx, r.ID, approver.StoreTrouble)
	switch {
	case err == nil, errors.Is(err, ErrSettled):
		return true
	case !errors.Is(err, approver.ErrNotFound):
		return unreadable(err)
	case !recorded:
		return true
	}
	rec := eventRecord(r, approver.EventDenied,
		"the question could not be stored: nobody saw it, and nothing was let through")
	rec.Once, rec.Resolution = r.ID+":"+string(approver.EventDenied), approver.Resolution{Cause: approver.StoreTrouble}
	_, err = o.Audit.Record(ctx, rec)
	return err == nil
}

// lifetimes returns how long people may answer a request, and how long its answer may be read.
func (o *opener) lifetimes(
	ctx context.Context, call approver.ToolCall, why approver.Verdict,
) (ttl, readable time.Duration) {
	ttl = why.TTL
	if ttl <= 0 {
		ttl = o.TTL
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return ttl, ttl + time.Minute + maxMore*approver.MoreTime
	}
	// The agent kills its hook at its own deadline and then runs the call, so the request
	// must end before that.
	readable = time.Until(deadline)
	if call.ParkAt.IsZero() {
		ttl = min(ttl, readable-AnswerMargin)
	}
	return ttl, readable
}

// countQuestion counts a question against the limits before it is put before people. Calls of
// the daemon itself have no peer and are not counted; those of other processes about approver
// have one. It counts by connection, not by call id, because one id can make many requests.
func (o *opener) countQuestion(ctx context.Context, holder string, call approver.ToolCall) error {
	if !call.Peer.Known {
		return nil
	}
	return o.Limit(ctx, holder, call)
}
