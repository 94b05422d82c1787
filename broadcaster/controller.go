package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// A Controller changes the controls: it freezes, pauses and observes.
type Controller struct {
	*Options
	requests *Requests
	backlog  *backlog
	editor   *editor
	records  *records

	distrusted distrusted
	frozen     lastSaid // in the log about a freeze of everything
}

// Load reads the controls, and the store's clock.
func (k *Controller) Load(ctx context.Context) (c Controls, now time.Time, err error) {
	c, _, now, err = loadControls(ctx, k.Store, k.Mark)
	return c, now, err
}

// Recent is Load for a step of a call. The controls may have been read for another step, a moment ago.
func (k *Controller) Recent(ctx context.Context) (c Controls, now time.Time, err error) {
	c, ok := k.Mark.recent()
	if !ok {
		return k.Load(ctx)
	}
	now, err = k.Store.Now(ctx)
	return c, now, err
}

// change applies one step to the controls. It returns once every process goes by it, unless it is a freeze: see
// recentFor, and awaitEffect.
func (k *Controller) change(ctx context.Context, step func(*Controls, time.Time) error) (Controls, error) {
	c, err := changeControls(ctx, k.Store, k.Mark, k.records.put, func(c *Controls, now time.Time) error {
		missing, why := c.Missing, c.Freeze.Reason
		if err := step(c, now); err != nil {
			return err
		}
		if missing && !c.Missing {
			if err := k.backlog.tellLoss(ctx, why); err != nil {
				k.Log.Error("what is wrong with the store could not be noted everywhere", "error", err)
			}
		}
		return nil
	})
	if err == nil {
		k.backlog.loss.forget()
		if !c.Frozen() { // a freeze waits longer, once this process need not hold it any more
			_ = sleep(context.WithoutCancel(ctx), recentFor)
		}
	}
	return c, err
}

// Freeze stops every call from now on, denies the open requests and voids every grant. It
// returns how many requests it denied. A second freeze changes nothing but the reason, which
// is added to the first.
//
// The freeze holds in this process at once. If the store refuses it, it still holds here, and
// the error says so; [Broadcaster.Run] repeats the write until the store takes it.
func (k *Controller) Freeze(ctx context.Context, by, reason string) (denied int, err error) {
	denied, _, err = k.FreezeBeside(ctx, by, reason, "")
	return denied, err
}

// FreezeBeside is Freeze. It also returns the freeze that held before; the zero Freeze means
// that there was none. event, if it is not empty, names what brought the wish.
func (k *Controller) FreezeBeside(
	ctx context.Context, by, reason, event string,
) (denied int, before Freeze, err error) {
	by, reason = cutText(by, maxBy), cutText(reason, maxReason)
	k.Mark.hold(Freeze{At: time.Now(), By: by, Reason: reason})
	denied, before, err = k.freeze(ctx, by, reason, event)
	if !k.Mark.refused(err) {
		return denied, before, err
	}
	defer awaitEffect(ctx, time.Now())
	k.Log.Error("FROZEN by this daemon alone: the store does not take it", "by", by, "reason", reason, "error", err)
	// No frozen: at the next start that would be a store that has lost it.
	note := fmt.Sprintf("frozen by %s, %s, by this daemon alone: the store does not take it: %v",
		by, cmp.Or(reason, "no reason given"), err)
	_, auditErr := k.Audit.Record(context.WithoutCancel(ctx), approver.Record{
		Event: approver.EventAlarm, Alarm: approver.AlarmStore, Note: note,
	})
	err = fmt.Errorf("frozen here until restart or until the store takes it: this daemon denies every call from now on, "+
		"and other daemons on the store go on: stop them, or mend the store; the store said: %w", err)
	return 0, Freeze{}, errors.Join(err, auditErr)
}

// freeze is Freeze in the store.
func (k *Controller) freeze(
	ctx context.Context, by, reason, event string,
) (denied int, before Freeze, err error) {
	by, reason = cutText(by, maxBy), cutText(reason, maxReason)
	c, err := k.change(ctx, func(c *Controls, now time.Time) error {
		c.usesReserve, before = true, Freeze{}
		if c.Frozen() && !c.Missing && (c.Here == "" || c.held.last.After(c.held.At)) {
			before = c.Freeze
		}
		switch {
		case c.Here != "":
			c.Freeze.At, c.Freeze.Reason = now, c.Freeze.also(by, reason)
		case c.Missing:
			c.Missing, c.Freeze = false, c.Freeze.beside(Freeze{At: now, By: by, Reason: reason})
		case !c.Frozen():
			c.Freeze = Freeze{At: now, By: by, Reason: reason}
		default:
			c.Freeze.Reason = c.Freeze.also(by, reason)
		}
		c.Burned, c.Pause, c.Observe, c.Events = now, Pause{}, Observe{}, c.Events.with(event)
		return nil
	})
	if err != nil {
		return 0, before, err
	}
	stored := time.Now()
	k.Mark.took(c.held)
	denied, err = k.noteFrozen(ctx, c, by, reason)
	awaitEffect(ctx, stored)
	return denied, before, err
}

// effectTime is how long after it was stored a freeze is acknowledged, and the removal of a person:
// a call whose release looked before that has its yes by then, so that none is released after
// somebody heard of a freeze. See lookAgainAfter.
const effectTime = 50 * time.Millisecond

// awaitEffect waits until effectTime after a moment.
func awaitEffect(ctx context.Context, stored time.Time) {
	_ = sleep(ctx, effectTime-time.Since(stored))
}

// freezeAgain writes to the store the freeze that this process holds, which somebody may have
// lifted meanwhile.
func (k *Controller) freezeAgain(ctx context.Context) error {
	c, err := k.freezeHeld(ctx)
	if err == nil {
		_, err = k.noteFrozen(ctx, c, c.held.By, c.held.Reason)
	}
	return err
}

// noteFrozen logs and records a freeze that the store has, and denies the open requests.
func (k *Controller) noteFrozen(ctx context.Context, c Controls, by, reason string) (denied int, err error) {
	// Two may freeze everything at the same time.
	if k.frozen.isNew(fmt.Sprintf("%q %q", by, reason), guardEvery) {
		k.Log.Error("FROZEN: every call is denied", "by", by, "reason", reason)
	}
	auditErr := k.backlog.record(ctx, frozenRecord(c.Burned, Freeze{By: by, Reason: reason}))
	if auditErr != nil {
		auditErr = fmt.Errorf("every call is denied from now on, but the freeze could not be recorded: %w", auditErr)
	}
	denied, err = k.denyOpen(ctx, approver.Frozen, func(approver.ToolCall) bool { return true })
	return denied, errors.Join(auditErr, err)
}

// freezeHeld writes to the store the freeze that this process holds, unless people have lifted
// it meanwhile.
func (k *Controller) freezeHeld(ctx context.Context) (c Controls, err error) {
	done, err := k.Mark.give(ctx)
	if err != nil {
		return c, err
	}
	defer done()
	c, err = k.change(ctx, func(c *Controls, now time.Time) error {
		if c.held == nil {
			return ErrNotFrozen
		}
		if c.usesReserve = true; c.Missing {
			c.Missing, c.Freeze = false, c.Freeze.beside(c.held.Freeze)
		}
		if c.Burned.After(now) { // it was set by this process's clock
			if c.Burned = now; c.Freeze.At.After(now) {
				c.Freeze.At = now
			}
		}
		c.Pause, c.Observe = Pause{}, Observe{}
		return nil
	})
	if err == nil {
		k.Mark.took(c.held)
	}
	return c, err
}

// Unfreeze lifts every freeze, also those of single agents. What they voided stays void. It is
// recorded before it takes effect.
func (k *Controller) Unfreeze(ctx context.Context, by string) error {
	c, _, err := k.Load(ctx)
	if err != nil {
		return err
	}
	return k.UnfreezeAs(ctx, c, by)
}

// UnfreezeAs is Unfreeze for people who have seen the controls c. It fails if a freeze began
// or ended since, or somebody was removed, because the decision may be theirs.
func (k *Controller) UnfreezeAs(ctx context.Context, c Controls, by string) error {
	now, err := k.Store.Now(ctx)
	if err != nil {
		return err
	}
	if c.FrozenText() == "" {
		return ErrNotFrozen
	}
	if c.hidden() { // people have not seen this freeze: store and record it, and lift nothing
		return errors.Join(errFrozenAnew, k.freezeAgain(ctx))
	}
	if err := k.backlog.flush(ctx, c); err != nil {
		return err
	}
	note := "lifted by " + by
	if held := c.Held(); len(held) > 0 {
		note += ": " + c.FrozenText()
	}
	if _, err := k.Audit.Record(ctx, approver.Record{Event: approver.EventUnfrozen, At: now, Note: note}); err != nil {
		return err
	}
	err = k.lift(ctx, c)
	if err != nil && k.Mark.Held().Frozen() {
		err = fmt.Errorf("the store does not take the end of a freeze that this daemon alone holds: "+
			"make the store work, or restart the daemon: %w", err)
	}
	if err != nil {
		return k.notDone(ctx, approver.EventUnfrozen, note, err)
	}
	k.Log.Warn("the freeze is lifted", "by", by)
	if _, err := k.denyOpen(ctx, approver.Frozen, func(approver.ToolCall) bool { return false }); err != nil {
		k.Log.Warn("questions about the freeze may still be open; a yes to them does nothing", "error", err)
	}
	return nil
}

// lift ends every freeze if the freezes are still those that were seen.
func (k *Controller) lift(ctx context.Context, seen Controls) error {
	done, err := k.Mark.give(ctx) // else the guard may write the lifted freeze again
	if err != nil {
		return err
	}
	defer done()
	c, err := k.change(ctx, func(c *Controls, now time.Time) error {
		if !c.Freeze.At.Equal(seen.Freeze.At) || !c.SameFreezes(seen) {
			if c.FrozenText() != "" {
				return errFrozenAnew // people approved the lifting of another freeze
			}
			return ErrNotFrozen
		}
		if err := c.StillAs(&seen); err != nil {
			return err
		}
		c.usesReserve = true
		c.lift(now)
		return nil
	})
	if err == nil {
		k.Mark.took(c.held)
	}
	return err
}

// notDone records that a change which is in the audit did not take effect, or may not have. It
// returns err, joined with the error of that record.
func (k *Controller) notDone(ctx context.Context, e approver.Event, note string, err error) error {
	said := "this is not known to have taken effect: "
	never := func(why error) bool { return errors.Is(err, why) }
	if slices.ContainsFunc([]error{ErrFrozen, ErrNotFrozen, errFrozenSince, errRemovedSince, errFullControls}, never) {
		said = "this did not take effect: "
	}
	_, auditErr := k.Audit.Record(context.WithoutCancel(ctx), approver.Record{
		Event: e, Note: said + note + ": " + err.Error(),
	})
	return errors.Join(err, auditErr)
}

// Hold freezes one agent: every call of it is denied from now on, its open requests are
// denied, and every yes to one of its calls is void. It returns how many requests it denied.
// If the store refuses the freeze, everything is frozen instead: that holds in this process
// until the store takes it.
func (k *Controller) Hold(ctx context.Context, who Who, by, reason string) (denied int, err error) {
	who = who.bounded()
	by, reason = cutText(by, maxBy), cutText(reason, maxReason)
	var at time.Time
	_, err = k.change(ctx, func(c *Controls, now time.Time) error {
		at, c.usesReserve = now, true
		c.hold(Hold{Freeze: Freeze{By: by, Reason: reason}, Who: who}, now)
		return nil
	})
	switch {
	case errors.Is(err, ErrFrozen):
		return 0, err
	case err != nil:
		why := who.String() + " was to be frozen, and the store does not take that: " + cmp.Or(reason, "no reason given")
		denied, freezeErr := k.Freeze(ctx, by, why)
		return denied, errors.Join(fmt.Errorf("everything is frozen in place of one agent: %w", err), freezeErr)
	}
	defer awaitEffect(ctx, time.Now())
	k.Log.Error("FROZEN: every call of one agent is denied", "who", who.String(), "by", by, "reason", reason)
	auditErr := k.backlog.record(ctx, heldRecord(at, Hold{Freeze: Freeze{By: by, Reason: reason}, Who: who}))
	if auditErr != nil {
		auditErr = fmt.Errorf("every call of %s is denied from now on, but the freeze could not be recorded: %w", who,
			auditErr)
	}
	denied, err = k.denyOpen(ctx, approver.Held, who.Is)
	return denied, errors.Join(auditErr, err)
}

// denyOpen denies the open requests whose call is frozen, and ends every question about an
// earlier freeze. Requests that are made after this list, by calls that were judged before,
// are denied by [opener.isOvertaken].
func (k *Controller) denyOpen(
	ctx context.Context, why approver.Cause, frozen func(approver.ToolCall) bool,
) (denied int, err error) {
	open, err := k.requests.Open(ctx)
	for _, r := range open {
		cause := why
		if aboutFreezes(r.Call) {
			cause = approver.Moot
		} else if r.Call.Control != "" || !frozen(r.Call) {
			continue
		}
		_, failErr := k.requests.fail(ctx, r.ID, cause)
		switch {
		case failErr == nil:
			if cause == why {
				denied++
			}
			k.editor.settle(r.ID)
		case !errors.Is(failErr, ErrSettled):
			err = errors.Join(err, failErr)
		}
	}
	return denied, err
}

// distrusted is the last cause of Distrust, and whether the store refused the freeze.
type distrusted struct {
	sync.Mutex
	last    string
	refused bool
}

// guardEvery is how often the record of the controls is looked at.
const guardEvery = 2 * time.Second

// held returns the freeze that stops a call now, of everything or of its agent.
func (k *Controller) held(ctx context.Context, call approver.ToolCall) (f Freeze, frozen bool) {
	c, _, err := k.Load(ctx)
	if err != nil {
		return Freeze{}, false
	}
	return c.freezeOf(call)
}
