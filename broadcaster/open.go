package broadcaster

import (
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
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
	history      *history
	poster       *poster
	escalator    *escalator
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
		return o.create(ctx, q, nil)
	}
	scope := scopeOf(q.call, q.bound.Fingerprint)
	key := approver.Key("same", scope)
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
			// A daemon of an older version writes the claim before the request.
			if errors.Is(err, approver.ErrNotFound) && time.Now().Before(give) && sleep(ctx, retryEvery) {
				continue
			}
		}
		r, err := o.create(ctx, q, &claim{scope: scope, key: key, prev: rev})
		if !errors.Is(err, errClaimed) {
			return r, err
		}
		q.dead = r.ID // the call's id leads there
	}
}

// claimTime is how long identical calls wait for the request of a claim.
const claimTime = 2 * time.Second

// A claim makes the request of a call the one that identical calls wait for. It is written with
// the request, in its shard.
type claim struct {
	scope, key string
	prev       approver.Rev
}

// errClaimed means that an identical call has made its request in the same moment.
var errClaimed = errors.New("an identical call was faster")

// markAt is where the mark of its makers is among the random bytes of a request's id.
const markAt = 9

// newID returns the id of a request, in the shard of the claim if there is one.
func (c *claim) newID(mark sealing.Mark) (string, error) {
	for {
		id, err := uuid.NewV7()
		copy(id[markAt:], mark[:])
		if err != nil || c == nil {
			return id.String(), err
		}
		for last := range 256 { // one of 64 fits
			id[15] += byte(min(last, 1))
			if text := id.String(); approver.ShardOf(text) == approver.ShardOf(c.scope) {
				return text, nil
			}
		}
	}
}

// write is the record of the claim, beside that of the request with this id.
func (c *claim) write(id string, keep time.Time) []approver.Write {
	if c == nil {
		return nil
	}
	return []approver.Write{{Key: c.key, Value: []byte(id), Prev: c.prev, Next: approver.NewRev(), KeepUntil: keep}}
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

// unfit says why nothing new may be entrusted to a store: it would have been refused at the start. What
// is in it already is answered as ever, and freezes and denials are stored.
func unfit(store approver.KV) error {
	if s, ok := store.(approver.Inspected); ok {
		err, _ := s.Fitness()
		return err
	}
	return nil
}

// create stores a new request and starts to post its cards.
func (o *opener) create(ctx context.Context, q question, c *claim) (Request, error) {
	id, err := c.newID(o.requests.sealer.Mark())
	if err != nil {
		return Request{}, err
	}
	to, err := o.approvers.audience(q.why)
	if err != nil {
		return Request{}, err
	}
	controls, now, err := o.controls.Recent(ctx)
	if err != nil {
		return Request{}, err
	}
	to, climb, err := o.escalator.first(q.why, q.call, to, now)
	if err != nil {
		return Request{}, err
	}
	ttl, readable := o.lifetimes(ctx, q.call, q.why)
	if ttl <= 0 {
		return Request{}, errNoTime
	}
	if err := unfit(o.Store); err != nil {
		return Request{}, err
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
		Notices: controls.notices(now), Climb: climb,
	}
	_, r.Renews = o.waits(q.call, q.why.Severity)
	switch {
	case !q.call.ParkAt.IsZero():
		r.ParkAt = now.Add(max(0, time.Until(q.call.ParkAt)))
	case ttl > readable-AnswerMargin: // its agent does not wait for as long
		r.ParkAt = now.Add(readable - parkMargin)
	}
	if q.why.Appeal.Of != "" { // nobody waits
		r.Parked, r.ParkAt, r.TakeBy = true, now, r.Due.Add(GrantMargin)
	}
	ways, err := o.codes.mint(&r, to, now)
	if err != nil {
		return Request{}, err
	}
	err = o.requests.saveNew(ctx, &r, ways, now, q.dead, c.write(id, r.Due.Add(o.KeepFor+time.Hour)))
	if errors.Is(err, errClaimed) {
		return r, err
	} else if err != nil {
		o.abandon(ctx, r.ID)
		return Request{}, err
	}
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
func (o *opener) abandon(ctx context.Context, id string) {
	first, cancel := context.WithTimeout(context.WithoutCancel(ctx), PostTimeout)
	defer cancel()
	if o.endUnsaved(first, id) {
		return
	}
	o.tasks.start(func(ctx context.Context) {
		for sleep(ctx, time.Second) && !o.endUnsaved(ctx, id) {
		}
	})
}

// endUnsaved denies the request in the store, if it is there. It reports whether there is
// nothing left to do.
func (o *opener) endUnsaved(ctx context.Context, id string) bool {
	_, err := o.requests.fail(ctx, id, approver.StoreTrouble)
	return err == nil || isAny(err, ErrSettled, approver.ErrNotFound) || unreadable(err)
}

// lifetimes returns how long people may answer a request, and how long its answer may be read.
func (o *opener) lifetimes(
	ctx context.Context, call approver.ToolCall, why approver.Verdict,
) (ttl, readable time.Duration) {
	ttl = why.TTL
	if ttl <= 0 {
		ttl = o.TTL
	}
	if wait, waits := o.waits(call, why.Severity); waits && ttl >= codeLife { // a rule that has less means it
		ttl = max(ttl, wait)
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return ttl, ttl + time.Minute + maxMore*approver.MoreTime
	}
	// The agent kills its hook at its own deadline and then runs the call, so the request
	// must end before that.
	readable = time.Until(deadline)
	if call.ParkAt.IsZero() && (readable <= parkMargin || !o.comesBack(call, why)) {
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
