package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
	"approver.example/display"
)

// Removals removes approvers, and brings them back.
type Removals struct {
	*Options
	approvers *Approvers
	controls  *Controller
	grants    *Grants
	requests  *Requests
	backlog   *backlog
	editor    *editor
	records   *records
}

// Remove removes a person for every daemon that shares the store. None of their answers counts
// from now on, and every yes of theirs that has run nothing yet is void. It returns the number
// of those. It needs nobody's approval. If the store refuses it, nothing has changed, and the
// error says so.
func (m *Removals) Remove(ctx context.Context, gone Removal) (voided int, err error) {
	if gone.Person == "" {
		return 0, errors.New("it is not said who is to be removed")
	}
	var at time.Time
	ended := ""
	c, err := m.controls.change(ctx, func(c *Controls, now time.Time) error {
		if at = now; c.Missing { // the loss has frozen everything, and that stays
			c.Missing, c.Freeze, c.Burned = false, Freeze{At: now, By: c.Freeze.By, Reason: c.Freeze.Reason}, now
		}
		ended = c.Loosened(now)
		return c.remove(gone, now)
	})
	gone = gone.bounded()
	if err != nil {
		return 0, fmt.Errorf("%s was NOT removed (approver freeze stops everything): %w", display.Safe(gone.Person), err)
	}
	defer awaitEffect(ctx, time.Now())
	removal := removedRecord(at, gone, ended)
	m.Log.Warn("PEOPLE: " + removal.Note)
	if err = m.backlog.record(ctx, removal); err != nil {
		err = fmt.Errorf("%s is removed, but that could not be recorded: %w", display.Safe(gone.Person), err)
	}
	voided, voidErr := m.voidYeses(ctx, c.Removed.takesBack, "revoked because "+gone.Person+" was removed by "+gone.By)
	return voided, errors.Join(err, voidErr)
}

// voidTakenOff ends what people approved whom the approver list does not name any more, so that nothing of
// it works again when they are put back on the list.
func (m *Removals) voidTakenOff(ctx context.Context) {
	voided, err := m.voidYeses(ctx, m.approvers.tookOff, "revoked because its approver was taken off the approver list")
	if voided > 0 || err != nil {
		m.Log.Warn("PEOPLE: ended what was approved by people who are not on the approver list any more", "yeses", voided,
			"error", err)
	}
}

// A voiding says which answers are void.
type voiding func(approver.Resolution) bool

// voidYeses ends the requests and lasting grants whose yes is void, so that cards and lists show it. One
// that it misses is void all the same: see [Grants.stillGood].
func (m *Removals) voidYeses(ctx context.Context, void voiding, note string) (voided int, err error) {
	open, err := m.requests.Open(ctx)
	for _, r := range open {
		if r.State != approver.Approved || !void(r.Resolution) {
			continue
		}
		failErr := m.voidRequest(ctx, r, void, note)
		switch {
		case failErr == nil:
			voided++
		case !errors.Is(failErr, ErrSettled) && !errors.Is(failErr, approver.ErrNotFound):
			err = errors.Join(err, failErr)
		}
	}
	scopes, listErr := m.records.listed(ctx, "grant")
	err = errors.Join(err, listErr)
	for _, scope := range scopes {
		g, _, loadErr := m.grants.load(ctx, scope)
		if loadErr != nil || g.Ended != "" || !void(g.Request.Resolution) {
			if !errors.Is(loadErr, approver.ErrNotFound) {
				err = errors.Join(err, loadErr)
			}
			continue
		}
		switch endErr := m.grants.end(ctx, scope, "revoked", note); {
		case endErr == nil:
			voided++
		case !errors.Is(endErr, ErrNoGrant) && !errors.Is(endErr, approver.ErrNotFound):
			err = errors.Join(err, endErr)
		}
	}
	return voided, err
}

// voidRequest takes back a yes that was not released yet.
func (m *Removals) voidRequest(ctx context.Context, r Request, void voiding, note string) error {
	waited := r.Granted()
	r, err := m.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		if r.State != approver.Approved || !void(r.Resolution) {
			return r, ErrSettled
		}
		return r.End(approver.Denied, approver.Revoked, now)
	})
	if err != nil {
		return err
	}
	if waited {
		_, err = m.Audit.Record(ctx, eventRecord(r, approver.EventRevoked, note))
	}
	m.editor.settle(r.ID)
	return err
}

// Restore brings a removed person back for every daemon that shares the store. Their answers
// count if an approver list in force names them. What they approved before stays void. seen is
// the removal that people decided about: somebody who was removed again since stays removed,
// with ErrRemovedAnew. It is recorded before it takes effect.
func (m *Removals) Restore(ctx context.Context, seen Removal, by string) error {
	c, now, err := m.controls.Load(ctx)
	if err != nil {
		return err
	}
	if err := c.restore(seen, now); err != nil {
		return err
	}
	note := seen.Person + " is BROUGHT BACK by " + by + ": their answers count again where an approver list names them"
	if _, err := m.Audit.Record(ctx, approver.Record{Event: approver.EventPolicy, At: now, Note: note}); err != nil {
		return err
	}
	_, err = m.controls.change(ctx, func(c *Controls, now time.Time) error {
		return c.restore(seen, now)
	})
	if err != nil {
		return m.controls.notDone(ctx, approver.EventPolicy, note, err)
	}
	m.Log.Warn("PEOPLE: " + note)
	return nil
}

// VoidLost ends the requests and grants whose last step the store has lost, so that no earlier
// answer counts twice, and raises an alarm. missing must not be empty. Other requests are not
// affected.
func (m *Removals) VoidLost(ctx context.Context, missing []approver.Told) error {
	var errs []error
	for _, t := range missing {
		_, err := m.requests.change(ctx, t.Request, func(r Request, now time.Time) (Request, error) {
			if r.State == approver.Consumed { // it ran; who has its yes is not known, so nobody reads it again
				return r.cancelYes(approver.NoCause, now)
			}
			return r.End(approver.Denied, approver.StoreTrouble, now)
		})
		if err == nil {
			m.editor.settle(t.Request)
		} else if !errors.Is(err, ErrSettled) && !errors.Is(err, approver.ErrNotFound) && !errors.Is(err, errNoChange) {
			errs = append(errs, err)
		}
	}
	grants, err := m.grants.List(ctx)
	errs = append(errs, err)
	for _, g := range grants {
		if g.scope == "" || !slices.ContainsFunc(missing, func(t approver.Told) bool { return t.Request == g.ID }) {
			continue
		}
		if err := m.grants.end(ctx, g.scope, "revoked", "the store had lost its end"); !errors.Is(err, ErrNoGrant) {
			errs = append(errs, err)
		}
	}
	note := fmt.Sprintf("the store has lost the last step of %d requests, such as %s (%s): they are void, and asked anew",
		len(missing), missing[0].Request, missing[0].Event)
	m.Log.Error("STORE ALARM", "what", note)
	_, err = m.Audit.Record(ctx, approver.Record{Event: approver.EventAlarm, Alarm: approver.AlarmStore, Note: note})
	return errors.Join(append(errs, err)...)
}
