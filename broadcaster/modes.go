package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"approver.example"
)

// This file begins and ends pauses and observe mode.

// Pause lets calls through that would be asked, for at most MaxPause. It is recorded before it
// takes effect; if it then fails, a second record says so. A zero time ends a pause, and is
// recorded afterwards. asked are the controls that people were asked about, or nil: it fails
// if they have changed since, see [Controls.StillAs].
func (k *Controller) Pause(ctx context.Context, asked *Controls, d time.Duration, all bool, by string) (Pause, error) {
	by = cutText(by, maxBy)
	if d < 0 || d > MaxPause {
		return Pause{}, fmt.Errorf("a pause of %v: at most %v is possible", d, MaxPause)
	}
	note := fmt.Sprintf("asking is paused for %v by %s", d, by)
	switch {
	case d == 0:
		note = "the pause was ended by " + by
	case all:
		note += ", also for CATASTROPHIC calls"
	}
	if d > 0 {
		if _, err := k.Audit.Record(ctx, approver.Record{Event: approver.EventPaused, Note: note}); err != nil {
			return Pause{}, err
		}
	}
	c, err := k.change(ctx, func(c *Controls, now time.Time) error {
		if c.Frozen() {
			return ErrFrozen
		}
		if err := c.StillAs(asked); err != nil {
			return err
		}
		c.usesReserve = d == 0
		if c.Pause = (Pause{}); d > 0 {
			c.Pause = Pause{Until: now.Add(d), By: by, All: all}
		}
		return nil
	})
	if err != nil {
		return Pause{}, k.notDone(ctx, approver.EventPaused, note, err)
	}
	k.Log.Warn("PAUSE: " + note)
	if d == 0 { // afterwards, so that the audit has the new version of the controls
		_, err = k.Audit.Record(ctx, approver.Record{Event: approver.EventPaused, Note: note})
	}
	return c.Pause, err
}

// PausedFor is Gate.Paused: whether a call of this severity is let through to the agent's own
// permission flow. If the store cannot say, people are asked.
func (k *Controller) PausedFor(ctx context.Context, s approver.Severity) (string, bool) {
	c, now, err := k.Recent(ctx)
	if err != nil || !c.Paused(s, now) {
		return "", false
	}
	return c.Notice(now), true
}

// Observe begins observe mode. It is recorded before it takes effect; if it then fails, a
// second record says so. asked is as for Pause.
func (k *Controller) Observe(ctx context.Context, asked *Controls, d time.Duration, by string) (Observe, error) {
	by = cutText(by, maxBy)
	if _, err := starting(time.Time{}, d, by); err != nil {
		return Observe{}, err
	}
	note := fmt.Sprintf("for %v nothing is asked or denied, by %s", d, by)
	if _, err := k.Audit.Record(ctx, approver.Record{Event: approver.EventObserving, Note: note}); err != nil {
		return Observe{}, err
	}
	c, err := k.change(ctx, func(c *Controls, now time.Time) (err error) {
		if c.Frozen() {
			return ErrFrozen
		}
		if err := c.StillAs(asked); err != nil {
			return err
		}
		c.Observe, err = starting(now, d, by)
		return err
	})
	if err != nil {
		return Observe{}, k.notDone(ctx, approver.EventObserving, note, err)
	}
	k.Log.Warn(c.Observe.notice())
	return c.Observe, nil
}

// Enforce ends observe mode. It returns the last Observe, and whether it was in force.
func (k *Controller) Enforce(ctx context.Context, by string) (last Observe, ended bool, err error) {
	c, err := k.change(ctx, func(c *Controls, now time.Time) error {
		c.usesReserve = true
		if ended = c.Observing(now); ended {
			c.Observe.Until = now
		}
		return nil
	})
	if err != nil || !ended {
		return c.Observe, false, err
	}
	k.Log.Warn("observe mode is over: calls are asked and denied", "by", by)
	_, err = k.Audit.Record(ctx, approver.Record{Event: approver.EventEnforcing, Note: "observe mode was ended by " + by})
	return c.Observe, true, err
}

// Observing is Gate.Observe: whether findings are recorded and not enforced. If the store
// cannot say, they are enforced.
func (k *Controller) Observing(ctx context.Context, _ approver.Verdict) (string, bool) {
	c, now, err := k.Recent(ctx)
	if err != nil || !c.Observing(now) {
		return "", false
	}
	return c.Observe.notice(), true
}

// guard watches the record of the controls until ctx ends: when a call has found it missing or
// older, and every guardEvery. It also repeats the write of a freeze that the store refused, but not one
// that is being given to it: the audit would have that one twice.
func (k *Controller) guard(ctx context.Context) {
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		if k.Mark.isRefused() {
			if err := k.freezeAgain(ctx); !errors.Is(err, ErrNotFrozen) {
				k.Mark.refused(err) // or at the next look
			}
		}
		switch c, _, err := k.Load(ctx); {
		case err != nil:
		case c.Missing:
			_ = k.Distrust(ctx, approver.AlarmStore, c.Freeze.Reason) // or at the next look
		case k.backlog.pending.has() || !c.Unrecorded.IsZero():
			_ = k.backlog.flush(ctx, c) // or at the next look
		}
		select {
		case <-ctx.Done():
			return
		case <-k.Mark.wake:
			if !sleep(ctx, retryEvery) { // do not retry without a pause
				return
			}
		case <-tick.C:
		}
	}
}

// Distrust freezes everything and raises an alarm, because the store or the audit cannot be
// trusted. why says what was found; how to repair it is added. A changed audit has an alarm of
// its own, so only the freeze is recorded. While the store refuses the freeze or the audit
// fails, Distrust is called again, and logs one cause once.
func (k *Controller) Distrust(ctx context.Context, about approver.Alarm, why string) (err error) {
	k.distrusted.Lock()
	defer k.distrusted.Unlock()
	again := k.distrusted.last == string(about)+why && (k.distrusted.refused || k.backlog.pending.has())
	if c, _, readErr := k.Load(ctx); again && readErr == nil && c.Frozen() && !c.Missing && c.Here == "" {
		k.distrusted.refused = false // the store has it by now
		return nil
	}
	switch {
	case about == approver.AlarmStore:
		err = k.backlog.tellLoss(ctx, why)
	case !again:
		k.Log.Error(strings.ToUpper(string(about))+" ALARM", "what", distrustNote(about, why))
	}
	k.Mark.hold(Freeze{At: time.Now(), By: "approver", Reason: why}) // whatever the store takes
	_, _, freezeErr := k.freeze(ctx, "approver", why, "")
	k.distrusted.last, k.distrusted.refused = string(about)+why, k.Mark.refused(freezeErr)
	if freezeErr != nil {
		err = errors.Join(err, fmt.Errorf("the freeze is not whole: %w", freezeErr))
	}
	if err != nil {
		k.Log.Error("what is wrong with the "+string(about)+" could not be noted everywhere", "error", err)
	}
	return err
}
