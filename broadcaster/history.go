package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"approver.example"
)

// A history keeps the audit in step with the requests. What the audit has to say of a request
// follows from the request as it is stored: the commit of a step is the commit of its records.
// So nobody waits for the log, and what a crash takes from it is made again, with the same Once,
// by whoever closes the request: only a request whose records are all durable is Closed.
type history struct {
	*Options
	requests *Requests
	records  *records
	tasks    *tasks
	noted    func(callID string) bool // something of a call is still to be stored

	handovers *handovers

	mu sync.Mutex
	of map[string]*chapter // by request
}

// A chapter is what this process has handed to the audit about one request.
type chapter struct {
	turn  chan struct{}               // has a value while nobody writes
	known bool                        // the request is not closed, as far as this process knows
	lines map[string]approver.Written // by Record.Once
	at    time.Time                   // when it was last used
	told  bool                        // OnAnswer was called
}

// maxChapters and chapterLife bound what is remembered of requests that others close. What was
// forgotten is handed to the audit once more, where it counts as one.
const (
	maxChapters = 4096
	chapterLife = 10 * time.Minute
)

// chapter returns what this process has written of a request.
func (n *history) chapter(id string) *chapter {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, found := n.of[id]
	if !found {
		if len(n.of) >= maxChapters {
			maps.DeleteFunc(n.of, func(_ string, c *chapter) bool { return time.Since(c.at) > chapterLife })
		}
		c = &chapter{turn: make(chan struct{}, 1), lines: map[string]approver.Written{}}
		c.turn <- struct{}{}
		n.of[id] = c
	}
	c.at = time.Now()
	return c
}

// forget forgets a request that is closed.
func (n *history) forget(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.of, id)
}

// follow hands to the audit what it does not have yet of a request that is stored as r, each
// record once per process however many ask for it. It does not wait for the log.
func (n *history) follow(ctx context.Context, r Request) error {
	_, err := n.write(ctx, r, true, "")
	return err
}

// followTaken is follow for the connection that is about to give a shared yes to a call.
func (n *history) followTaken(ctx context.Context, r Request, callID string) error {
	_, err := n.write(ctx, r, true, callID)
	return err
}

// ended is follow for a request that was just ended. A failure is tried again by whoever updates
// its cards.
func (n *history) ended(ctx context.Context, r Request) {
	if err := n.follow(context.WithoutCancel(ctx), r); err != nil {
		n.Log.Debug("the end of a request is to be recorded later", "request", r.ID, "error", err)
	}
}

// durable is follow that waits until the audit has all of it. hurry is that of
// [approver.Written].
func (n *history) durable(ctx context.Context, r Request, hurry bool) error {
	return n.durableTwice(ctx, r, hurry, true)
}

// yesDurable is durable of all that comes before the end of a request: of the people's yes. Its
// courier may still not get it.
func (n *history) yesDurable(ctx context.Context, r Request) error {
	return n.durableTwice(ctx, r, true, false)
}

// durableTwice waits once more for what had to be made again: that the log lost a line long ago
// says nothing of now.
func (n *history) durableTwice(ctx context.Context, r Request, hurry, ended bool) error {
	err := n.durableOnce(ctx, r, hurry, ended)
	if err != nil && ctx.Err() == nil {
		err = n.durableOnce(ctx, r, hurry, ended)
	}
	return err
}

func (n *history) durableOnce(ctx context.Context, r Request, hurry, ended bool) error {
	c, err := n.write(ctx, r, ended, "")
	if c == nil || err != nil {
		return err
	}
	if err := c.take(ctx); err != nil {
		return err
	}
	lines := maps.Clone(c.lines)
	c.give()
	var errs []error
	for once, written := range lines {
		if err := unpanicked(func() error { return written(ctx, hurry) }); err != nil {
			errs = append(errs, err)
			if ctx.Err() == nil {
				c.lost(once)
			}
		}
	}
	return errors.Join(errs...)
}

// lost notes that the log has lost a line, which has to be made again.
func (c *chapter) lost(once string) {
	<-c.turn
	defer c.give()
	delete(c.lines, once)
}

// followQuestion is follow for what the audit has to say of the question and its cards. It says
// nothing of a release that its courier does not have yet.
func (n *history) followQuestion(ctx context.Context, r Request) error {
	if r.logged() {
		return nil
	}
	r.State, r.Parked, r.Resolution = approver.Pending, false, approver.Resolution{}
	return n.follow(ctx, r)
}

// found records a card that was found by its button.
func (n *history) found(ctx context.Context, r Request, which string, ref approver.Ref, how string) error {
	c := n.chapter(r.ID)
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.give()
	rec := postedRecord(r, ref, how)
	rec.Once = postedOnce(r.ID, which, ref)
	written, err := approver.Follow(ctx, n.Audit, rec)
	if err == nil {
		c.lines[rec.Once] = written
	}
	return err
}

func (c *chapter) take(ctx context.Context) error {
	select {
	case <-c.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *chapter) give() { c.turn <- struct{}{} }

// write is follow, without the end of the request unless ended. taking is the call that is about
// to get a shared yes. It returns nil for a request that is closed.
func (n *history) write(ctx context.Context, r Request, ended bool, taking string) (*chapter, error) {
	if r.logged() {
		return nil, nil //nolint:nilnil // there is nothing left to write
	}
	c := n.chapter(r.ID)
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	defer c.give()
	if !c.known && r.State.Settled() {
		// The caller's copy may be older than the end of the request: only the record says
		// whether it is closed.
		fresh, _, err := n.requests.load(ctx, r.ID)
		switch {
		case err != nil && !errors.Is(err, approver.ErrNotFound):
			return nil, err
		case err == nil && fresh.logged():
			n.forget(r.ID)
			return nil, nil //nolint:nilnil // as above
		}
	}
	c.known = true
	took := func(c Caller) bool { return c.CallID == taking || n.mayTell(ctx, r.ID, c) }
	for once, record := range said(&r, ended, took) {
		if _, has := c.lines[once]; has {
			continue
		}
		rec := record()
		rec.Once = once
		var written approver.Written
		err := unpanicked(func() (err error) {
			written, err = approver.Follow(context.WithoutCancel(ctx), n.Audit, rec)
			return err
		})
		if err != nil {
			return nil, err
		}
		c.lines[once] = written
		n.tellAnswer(c, rec)
	}
	return c, nil
}

// tellAnswer calls OnAnswer for a person's answer to the very call: whoever changed it said
// neither yes nor no to it.
func (n *history) tellAnswer(c *chapter, rec approver.Record) {
	answer := rec.Event == approver.EventApproved || rec.Event == approver.EventDenied
	if answer && rec.Resolution.Cause == approver.ByPerson && rec.Resolution.Edit == nil && n.OnAnswer != nil && !c.told {
		c.told = true
		kept := rec // only a record that is told lives on
		n.tasks.start(func(ctx context.Context) { n.OnAnswer(ctx, kept) })
	}
}

// someNoted reports that something of the calls of a request is still to be stored.
func (n *history) someNoted(r Request) bool {
	return n.noted(r.CallID) || slices.ContainsFunc(r.Also, func(c Caller) bool { return n.noted(c.CallID) })
}

// mayTell reports whether this process may say that a call took its yes: its own releases looked
// once more before that, and those of other processes have had their time.
func (n *history) mayTell(ctx context.Context, id string, c Caller) bool {
	switch {
	case n.noted(c.CallID), n.handovers.has(c.Holder): // it may not get it, or that is on its way to the store
		return false
	case c.TakenBy != n.process && time.Since(c.Taken) <= 5*settleGrace:
		return false
	}
	fresh, _, err := n.requests.load(ctx, id) // or that has just come there
	i := fresh.Also.at(c.CallID)
	return err == nil && i >= 0 && !fresh.Also[i].Lost
}

// said lists what the audit has to say of a request, in order: each record by its Once; its end only
// if ended. took says which of the calls that share a yes have it. Calls that were taken off the
// request, deeds and notes of couriers have their own records: see recordEnded, deeds and Reports.
func said(r *Request, ended bool, took func(Caller) bool) iter.Seq2[string, func() approver.Record] {
	return func(yield func(string, func() approver.Record) bool) {
		if r.Closed {
			_ = ended && saidOfShared(r, took, yield)
			return
		}
		_ = (r.Asked || yield(r.ID+":asked", func() approver.Record { return askedRecord(*r) })) &&
			saidOfCards(r, yield) && saidOfYes(r, yield) && ended && saidOfEnd(r, took, yield)
	}
}

func askedRecord(r Request) approver.Record {
	rec := eventRecord(r, approver.EventAsked, "")
	rec.At = r.Created
	return rec
}

func saidOfCards(r *Request, yield func(string, func() approver.Record) bool) bool {
	for i := range r.Postings {
		p := &r.Postings[i]
		if p.Ref.Message != "" && p.Phase == Posted && !yield(postedOnce(r.ID, strconv.Itoa(i), p.Ref),
			func() approver.Record {
				rec := postedRecord(*r, p.Ref, "")
				rec.At = p.PostedAt
				return rec
			}) {
			return false
		}
	}
	return true
}

// postedOnce is the Once of the record of a card. which distinguishes the postings of a request.
func postedOnce(id, which string, ref approver.Ref) string {
	return id + ":posted:" + which + ":" + ref.Message
}

// postedRecord is the record that people can see a card.
func postedRecord(r Request, ref approver.Ref, how string) approver.Record {
	return eventRecord(r, approver.EventPosted,
		fmt.Sprintf("%s/%s message %s", ref.Channel, ref.Conversation, ref.Message)+how)
}

// saidOfYes lists a yes: one that waits for its call, and one that was given to it. A yes that
// was taken back before it was given never was an approval.
func saidOfYes(r *Request, yield func(string, func() approver.Record) bool) bool {
	say := func(e approver.Event) bool {
		return yield(r.ID+":"+string(e), func() approver.Record { return auditRecord(*r, e) })
	}
	granted := r.Granting
	yes := r.Resolution.Cause == approver.ByPerson && r.Resolution.Approve
	if granted.At.IsZero() && r.Parked && r.Audit != "" && yes {
		granted = Granting{r.Resolution.At, r.CallID, r.Session} // of an older version
	}
	if !granted.At.IsZero() && !yield(grantRecord(*r), func() approver.Record { return grantedRecord(*r, granted) }) {
		return false
	}
	return r.State != approver.Consumed || !r.Resolution.Approve || say(approver.EventApproved)
}

// grantedRecord is the record of a yes that waits for its call, whatever became of it since.
func grantedRecord(r Request, g Granting) approver.Record {
	r.CallID, r.Session, r.Withheld = g.Call, g.Session, approver.NoCause
	r.Resolution.Approve, r.Resolution.Cause, r.Resolution.At = true, approver.ByPerson, g.At
	return auditRecord(r, approver.EventGranted)
}

// saidOfEnd lists the end of a request: of each call that waited for it.
func saidOfEnd(r *Request, took func(Caller) bool, yield func(string, func() approver.Record) bool) bool {
	if !r.State.Settled() {
		return true
	}
	e := lastEvent(*r)
	if r.State == approver.Consumed {
		if !saidOfShared(r, took, yield) {
			return false
		}
	} else {
		for _, c := range r.Also {
			if !yield(r.ID+":"+string(e)+":"+c.CallID, func() approver.Record {
				return recordOf(auditRecord(*r, e), c.CallID, c.Session)
			}) {
				return false
			}
		}
	}
	return yield(r.ID+":"+string(e), func() approver.Record { return auditRecord(*r, e) })
}

// saidOfShared lists the calls beside the first that took a yes.
func saidOfShared(r *Request, took func(Caller) bool, yield func(string, func() approver.Record) bool) bool {
	for _, c := range r.Also {
		if c.unlogged() && took(c) &&
			!yield(approver.OnceShared(r.ID, c.N), func() approver.Record { return sharedRecord(*r, c) }) {
			return false
		}
	}
	return true
}

// sharedRecord is the record that a yes released a call other than the first.
func sharedRecord(r Request, c Caller) approver.Record {
	rec := recordOf(auditRecord(r, approver.EventReleased), c.CallID, c.Session)
	rec.At, rec.Note = c.Taken, "by the yes to a card that showed this call with identical ones"
	return rec
}

// recordEnded records the calls that were taken off a request before its answer. A failure is
// tried again, because the request stays due.
func (n *history) recordEnded(ctx context.Context, r Request) {
	if len(r.Ended) == 0 {
		return
	}
	for _, e := range r.Ended {
		rec := recordOf(auditRecord(r, approver.EventWithdrawn), e.CallID, e.Session)
		rec.Once += ":" + strconv.FormatInt(e.At.UnixMilli(), 10) // it may come back, and leave again
		rec.At, rec.Took, rec.Resolution = e.At, e.At.Sub(r.Created), approver.Resolution{Cause: e.Why, At: e.At}
		rec.Note = "its courier did not come back, or not for its yes; other calls may wait for the same answer"
		if e.Why == approver.Revoked {
			rec.Note = "the yes was taken back before it was given to this call"
		}
		if e.Why == approver.NotShown {
			rec.Note = "the yes was not for it: if it still waits, it is asked about anew"
		}
		if _, err := n.Audit.Record(ctx, rec); err != nil {
			n.Log.Error("the end of a call that shared a request could not be recorded; trying again", "request", r.ID, "call",
				e.CallID, "error", err)
			return
		}
	}
	_, err := n.requests.change(ctx, r.ID, func(fresh Request, _ time.Time) (Request, error) {
		left := fresh.Ended.without(r.Ended)
		if len(left) == len(fresh.Ended) {
			return fresh, errNoChange
		}
		fresh.Ended = left
		return fresh, nil
	})
	if err != nil && !errors.Is(err, errNoChange) {
		n.records.noteTrouble(err)
	}
}

// eventRecord is the audit record of something that happened to a request.
func eventRecord(r Request, e approver.Event, note string) approver.Record {
	return approver.Record{
		Event: e, Request: r.ID, Fingerprint: r.Fingerprint, Call: r.Call, Verdict: r.Verdict, Note: note,
	}
}

// auditRecord is the audit record of what became of a request. It names the call that a yes was
// released to, which may be another one than the first, of another session.
func auditRecord(r Request, e approver.Event) approver.Record {
	if r.CallID != "" {
		r.Call.ID, r.Call.Session = r.CallID, cmp.Or(r.Session, r.Call.Session)
	}
	rec := eventRecord(r, e, "")
	rec.At, rec.Took = r.Resolution.At, r.Resolution.At.Sub(r.Created)
	rec.Once, rec.Resolution = r.ID+":"+string(e), r.Resolution
	if e == approver.EventDenied && r.Withheld != approver.NoCause {
		rec.At, rec.Resolution.Approve, rec.Resolution.Cause = r.Acked, false, r.Withheld
		rec.Note = "it was approved, and not given to the agent"
	}
	return rec
}

// lastEvent is the event that ends a request's life.
func lastEvent(r Request) approver.Event {
	switch r.State {
	case approver.Consumed:
		if r.Withheld != approver.NoCause && r.Repeats == 0 {
			return approver.EventDenied
		}
		return approver.EventReleased
	case approver.Expired:
		return approver.EventExpired
	case approver.Withdrawn:
		return approver.EventWithdrawn
	default:
		return approver.EventDenied
	}
}

// recordOf is rec for one of several calls that share a request.
func recordOf(rec approver.Record, callID, session string) approver.Record {
	rec.Once, rec.Call.ID, rec.Call.Session = rec.Once+":"+callID, callID, cmp.Or(session, rec.Call.Session)
	return rec
}
