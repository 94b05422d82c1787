package broadcaster

import (
	"context"
	"fmt"
	"time"

	"approver.example"
)

// This file begins and ends a pause: for a while nobody is asked.

// Pause lets calls through that would be asked, for at most MaxPause; a zero
// time ends a pause, and is recorded after that. The record of a pause is durable
// first; if it fails after that, a second record says so.
func (k *Controller) Pause(ctx context.Context, d time.Duration, all bool, by string) (Pause, error) {
	return k.pause(ctx, nil, d, all, by)
}

// PauseAs is Pause by the word of people who were asked about these controls: it fails if
// they have changed since as [Controls.StillAs] says.
func (k *Controller) PauseAs(ctx context.Context, asked Controls, d time.Duration, all bool, by string) (Pause, error) {
	return k.pause(ctx, &asked, d, all, by)
}

func (k *Controller) pause(ctx context.Context, asked *Controls, d time.Duration, all bool, by string) (Pause, error) {
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
		if _, err := k.audit.Record(ctx, approver.Record{Event: approver.EventPaused, Note: note}); err != nil {
			return Pause{}, err
		}
	}
	c, err := k.change(ctx, func(c *Controls, now time.Time) error {
		if c.Frozen() {
			return ErrFrozen
		}
		if err := c.stillAs(asked); err != nil {
			return err
		}
		c.must = d == 0
		if c.Pause = (Pause{}); d > 0 {
			c.Pause = Pause{Until: now.Add(d), By: by, All: all}
		}
		return nil
	})
	if err != nil {
		return Pause{}, k.notDone(ctx, approver.EventPaused, note, err)
	}
	k.log.Warn("PAUSE: " + note)
	if d == 0 { // after it, so that the audit knows the version that ended it
		_, err = k.audit.Record(ctx, approver.Record{Event: approver.EventPaused, Note: note})
	}
	return c.Pause, err
}

// PausedFor is Gate.Paused: whether a call of this severity is let through to
// the agent's own permission flow. If the store cannot say, people are asked.
func (k *Controller) PausedFor(ctx context.Context, s approver.Severity) (string, bool) {
	c, now, err := k.Load(ctx)
	if err != nil || !c.Paused(s, now) {
		return "", false
	}
	return c.Notice(now), true
}
