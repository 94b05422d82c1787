package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
)

// Requests are the requests in the store: one record each, read, stepped and written back by
// compare-and-set.
type Requests struct {
	*Options
	codes   *codes
	records *records

	sealer *sealing.Sealer
	cache  requestCache
	// ended is called after this process ended a request without a release, to have the audit
	// follow at once.
	ended func(context.Context, Request)
}

// load reads a request. A settled one is returned only when it is as durable as the store is
// configured to make it. The caller acts on it, and a fail-over must not take back what people
// and agents were told.
func (q *Requests) load(ctx context.Context, id string) (Request, approver.Rev, error) {
	r, rev, err := q.unlessKnown(ctx, id)
	if !errors.Is(err, errors.ErrUnsupported) {
		return r, rev, err
	}
	value, rev, err := q.Store.Get(ctx, approver.Key("req", id))
	if err != nil {
		return Request{}, "", err
	}
	r, err = q.decode(ctx, id, value, rev)
	return r, rev, err
}

// unlessKnown is load from a store that does not return again what this process has.
func (q *Requests) unlessKnown(ctx context.Context, id string) (Request, approver.Rev, error) {
	store, ok := q.Store.(approver.RevReader)
	if _, confirms := q.Store.(approver.Confirmer); !ok || confirms {
		return Request{}, "", errors.ErrUnsupported
	}
	known, had, _ := q.cache.last(id)
	value, rev, err := store.GetUnless(ctx, approver.Key("req", id), had)
	switch {
	case err != nil:
		return Request{}, "", err
	case value == nil:
		return known, rev, nil
	}
	r, err := q.decode(ctx, id, value, rev)
	return r, rev, err
}

// Get returns a request as it is stored. ErrNotFound means that there is
// none with this id.
func (q *Requests) Get(ctx context.Context, id string) (Request, error) {
	r, _, err := q.load(ctx, id)
	return r, err
}

// loadPatiently is load that waits for a store that is away.
func (q *Requests) loadPatiently(ctx context.Context, id string) (r Request, err error) {
	err = whenThere(ctx, func() (err error) { r, _, err = q.load(ctx, id); return err })
	return r, err
}

// loadNow is load, together with the store's clock.
func (q *Requests) loadNow(ctx context.Context, id string) (Request, approver.Rev, time.Time, error) {
	return q.reload(ctx, Request{ID: id}, "")
}

// reload is loadNow for a caller that has the record as it was at revision seen. A record that
// has not changed is not decoded again.
func (q *Requests) reload(ctx context.Context, r Request, seen approver.Rev) (Request, approver.Rev, time.Time, error) {
	next, rev, err := q.unlessKnown(ctx, r.ID)
	if !errors.Is(err, errors.ErrUnsupported) { // the clock of such a store costs nothing
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return Request{}, "", time.Time{}, err
		}
		now, clockErr := q.Store.Now(ctx)
		return next, rev, now, cmp.Or(clockErr, err)
	}
	value, rev, now, err := approver.GetNow(ctx, q.Store, approver.Key("req", r.ID))
	if err != nil {
		return Request{}, "", now, err
	}
	if rev == seen {
		return r, rev, now, nil
	}
	r, err = q.decode(ctx, r.ID, value, rev)
	return r, rev, now, err
}

func (q *Requests) decode(ctx context.Context, id string, value []byte, rev approver.Rev) (r Request, err error) {
	r, ok := q.cache.at(id, rev)
	if !ok {
		if r, err = DecodeRequest(q.sealer, value); err != nil {
			return Request{}, fmt.Errorf("request %s: %w: %w", id, errNoRecord, err)
		}
		if r.ID != id {
			return Request{}, fmt.Errorf("request %s: the stored record is of another request: %w", id, approver.ErrTampered)
		}
		kept := r
		q.cache.note(&kept, rev, len(value))
	}
	if confirmer, ok := q.Store.(approver.Confirmer); ok && r.State.Settled() {
		if err := confirmer.Confirm(ctx, approver.Key("req", id), value, rev); err != nil {
			return Request{}, fmt.Errorf("request %s: its end is not known to be durable: %w", id, err)
		}
	}
	return r, nil
}

// change applies one step to a stored request. It returns the request as it now is, also when
// the step refuses. What a person decides takes effect before the deadline or not at all, by
// the store's clock at the time of the write.
func (q *Requests) change(
	ctx context.Context, id string, step func(Request, time.Time) (Request, error),
) (Request, error) {
	for r, rev, guess := q.cache.last(id); ; guess = false {
		// The cached record is most likely current. If it is not, the write is a
		// conflict. A step that refuses is tried again with the stored record.
		var now time.Time
		var err error
		if guess {
			now, err = q.Store.Now(ctx)
		} else {
			r, rev, now, err = q.loadNow(ctx, id)
		}
		if err != nil {
			return r, err
		}
		next, err := step(r, now)
		if err != nil && guess {
			continue
		}
		if err != nil {
			return r, err
		}
		if next.State.Settled() && !r.State.Settled() {
			next.EndedBy = q.process
		}
		value, stored, err := encodeRequest(q.sealer, next)
		if err != nil {
			return r, err
		}
		var before time.Time
		if next.State != r.State && next.Resolution.Cause == approver.ByPerson || next.More > r.More {
			before = r.Due
		}
		newRev := approver.NewRev()
		done := q.cache.begin(newRev, stored)
		err = q.records.putBefore(ctx, before, approver.Key("req", id), value, rev, newRev, next.Attention(now),
			q.keepUntil(next))
		if err == nil {
			q.cache.wrote(stored, newRev, len(value))
		}
		done()
		switch {
		case err == nil:
			if next.State.Settled() && !r.State.Settled() && next.State != approver.Consumed {
				q.ended(ctx, next)
			}
			return next, nil
		case errors.Is(err, approver.ErrOverdue) && sleep(ctx, retryEvery): // the next step refuses it as late
		case !errors.Is(err, approver.ErrConflict):
			return r, err
		}
	}
}

// unendedFor is how long the store keeps a request without an end after its deadline, or one whose
// records are not all durable in the audit, at least. No daemon may have run since: the next one
// ends the request, updates its cards, and has the audit follow.
const unendedFor = 90 * 24 * time.Hour

// keepUntil is when the store may forget a request.
func (q *Requests) keepUntil(r Request) time.Time {
	keep := q.KeepFor
	if r.Disowned.By != "" {
		keep *= evidenceFor
	}
	switch {
	case !r.State.Settled(), !r.logged(): // the audit may lack what only this record says
		return r.Due.Add(max(keep, unendedFor))
	case r.Resolution.At.After(r.Due): // it ended late, and its cards are yet to be updated
		return r.Resolution.At.Add(keep)
	}
	return r.Due.Add(keep)
}

// fail denies a request for a cause other than a person's no.
func (q *Requests) fail(ctx context.Context, id string, cause approver.Cause) (Request, error) {
	return q.change(ctx, id, func(r Request, now time.Time) (Request, error) { return r.End(approver.Denied, cause, now) })
}

// findByCall returns the request that a call id leads to. If that request has no record, it
// waits as long as the record may still be on its way, and then returns its id as dead.
func (q *Requests) findByCall(ctx context.Context, callID string) (r Request, dead string, err error) {
	for give := time.Now().Add(PostTimeout + time.Second); ; {
		id, _, err := q.idByCall(ctx, callID)
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

// idByCall returns the id of the request that a call's id leads to, and the revision of that
// index. An index that was undone is ErrNotFound, as if there were none.
func (q *Requests) idByCall(ctx context.Context, callID string) (id string, rev approver.Rev, err error) {
	value, rev, err := q.Store.Get(ctx, approver.Key("call", callID))
	if err == nil && len(value) == 0 {
		err = approver.ErrNotFound
	}
	return string(value), rev, err
}

// linkCall makes a call's id lead to a request instead of dead, and reports whether it did not
// before. If the id leads to a third request, it is in use on two connections at once:
// errReused.
func (q *Requests) linkCall(ctx context.Context, callID, dead, id string, keep time.Time) (led bool, err error) {
	was, rev, err := q.idByCall(ctx, callID)
	switch {
	case err != nil && !errors.Is(err, approver.ErrNotFound):
		return false, err
	case was == id:
		return false, nil
	case was != dead:
		return false, errReused
	}
	err = q.records.put(ctx, approver.Key("call", callID), []byte(id), rev, approver.NewRev(), time.Time{}, keep)
	if errors.Is(err, approver.ErrConflict) {
		return false, errReused
	}
	return err == nil, err
}

// unlinkCall undoes linkCall for a call that came too late to a request.
func (q *Requests) unlinkCall(ctx context.Context, callID, id, dead string, why error) (Request, error) {
	if _, err := q.linkCall(ctx, callID, id, dead, time.Now().Add(q.KeepFor)); err != nil {
		return Request{}, errors.Join(why, err)
	}
	return Request{}, errNotShared
}

// saveNew writes a new request with its claim, the index from its call id, and the links from
// its codes, all at once. A crash in between can leave an index without a request, which
// takeOverLink replaces; a request without an index, which is denied before it is shown; or
// codes that nobody was shown. So does a claim that another request has: errClaimed.
func (q *Requests) saveNew(
	ctx context.Context, r *Request, ways []codeLink, now time.Time, dead string, claim []approver.Write,
) error {
	value, stored, err := encodeRequest(q.sealer, *r)
	if err != nil {
		return err
	}
	rev, id := approver.NewRev(), r.ID
	defer q.cache.begin(rev, stored)()
	keep := r.Due.Add(q.KeepFor)
	writes := []approver.Write{
		{Key: approver.Key("req", id), Value: value, Next: rev, Due: r.Attention(now),
			KeepUntil: q.keepUntil(*r), With: claim},
		{Key: approver.Key("call", r.CallID), Value: []byte(r.ID), Next: approver.NewRev(), KeepUntil: keep},
	}
	for _, w := range ways {
		write, err := w.write(keep)
		if err != nil {
			return err
		}
		writes = append(writes, write)
	}
	errs := q.records.putAll(ctx, writes)
	if claim != nil && errors.Is(errs[0], approver.ErrConflict) { // the id is new
		return errClaimed
	}
	if errs[0] == nil {
		q.cache.wrote(stored, rev, len(value))
	}
	if errs[0] == nil && errors.Is(errs[1], approver.ErrConflict) {
		errs[1] = q.takeOverLink(ctx, *r, keep, dead)
	}
	for i := range ways {
		if errors.Is(errs[2+i], approver.ErrConflict) && errs[0] == nil && errs[1] == nil {
			errs[2+i] = q.replaceCode(ctx, r, &ways[i], keep)
		}
	}
	return errors.Join(errs...)
}

// takeOverLink replaces an index that leads to a dead request. If it leads to any other, the
// same call id came twice at once.
func (q *Requests) takeOverLink(ctx context.Context, r Request, keep time.Time, dead string) error {
	key := approver.Key("call", r.CallID)
	id, rev, err := q.Store.Get(ctx, key)
	switch {
	case err != nil || string(id) == r.ID:
		return err
	case string(id) != dead:
		return errReused
	}
	return q.records.put(ctx, key, []byte(r.ID), rev, approver.NewRev(), time.Time{}, keep)
}

// replaceCode gives a posting that was not yet shown another code, because its first one
// belongs to another request already.
func (q *Requests) replaceCode(ctx context.Context, r *Request, w *codeLink, keep time.Time) error {
	if err := q.codes.mintAnew(ctx, w, keep); err != nil {
		return err
	}
	next, err := q.change(ctx, r.ID, func(r Request, _ time.Time) (Request, error) {
		if r.State != approver.Pending || w.entry.Posting >= len(r.Postings) {
			return r, ErrTooSoon
		}
		r.Postings = slices.Clone(r.Postings)
		r.Postings[w.entry.Posting].Code = w.hash
		return r, nil
	})
	if err == nil {
		r.Postings = next.Postings
	}
	return err
}

// orphaned reports a request that its call id does not lead to: its maker died before it was
// complete, and the agent has another request or none. An error means that this is not known,
// as while the call id is taken over.
func (q *Requests) orphaned(ctx context.Context, r Request) (bool, error) {
	id, _, err := q.Store.Get(ctx, approver.Key("call", r.CallID))
	switch {
	case errors.Is(err, approver.ErrNotFound):
		return true, nil
	case err != nil || string(id) == r.ID:
		return false, err
	}
	_, _, err = q.load(ctx, string(id))
	return err == nil, err
}

// Open lists the open requests of all daemons that share the store, the oldest first, up to
// 1000 in each shard of the store. With ErrIncomplete the list has all that can be read.
func (q *Requests) Open(ctx context.Context) ([]Request, error) {
	ids, err := q.records.listed(ctx, "req")
	if err != nil {
		return nil, err
	}
	found, errs := make([]Request, len(ids)), make([]error, len(ids))
	_ = spread(len(ids), func(i int) error {
		found[i], _, errs[i] = q.load(ctx, ids[i])
		if errors.Is(errs[i], approver.ErrNotFound) {
			errs[i] = nil
		}
		return nil // one that cannot be read hides no other
	})
	open := slices.DeleteFunc(found, func(r Request) bool { return r.ID == "" || r.State.Settled() })
	err = errors.Join(errs...)
	slices.SortFunc(open, func(a, b Request) int { return a.Created.Compare(b.Created) })
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	return open, err
}

// untilSettled waits until a request is settled, or ctx ends.
func (q *Requests) untilSettled(ctx context.Context, r Request) (Request, bool) {
	if r.State.Settled() {
		return r, true
	}
	hint := hints(ctx, q.Store, approver.Key("req", r.ID))
	dropFirst(hint)
	for {
		if fresh, _, err := q.load(ctx, r.ID); err == nil {
			if r = fresh; r.State.Settled() {
				return r, true
			}
		}
		if !hinted(ctx, &hint, pollEvery) {
			return r, false
		}
	}
}

// idInKey returns the id of a request from its key.
func idInKey(key string) (string, bool) {
	_, id, ok := strings.Cut(key, "}:req:")
	return id, ok
}
