package broadcaster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file holds observe mode: for some days every call is judged and recorded
// as ever, and what would be asked or denied goes on.

// An Observe is the time in which findings of rules are recorded and not
// enforced. The zero value is over.
type Observe struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // from here on everything is enforced, by itself
	By    string    `json:"by"`
}

// How long observe mode may last, and lasts unless something else is said.
const (
	MinObserve     = time.Minute
	MaxObserve     = 30 * 24 * time.Hour
	DefaultObserve = 7 * 24 * time.Hour
)

// Observing reports whether findings are recorded and not enforced now.
func (c Controls) Observing(now time.Time) bool {
	return !c.Frozen() && now.Before(c.Observe.Until)
}

// notice is what status, cards and logs say of it.
func (o Observe) notice() string {
	return "OBSERVING until " + o.Until.UTC().Format("2006-01-02 15:04 UTC") + " by " + display.Safe(o.By) + ": nothing is asked or denied, it is only recorded"
}

// starting checks a time and begins it.
func starting(now time.Time, d time.Duration, by string) (Observe, error) {
	if d < MinObserve || d > MaxObserve {
		return Observe{}, fmt.Errorf("observing for %v: from %v to %d days are possible", d, MinObserve, MaxObserve/(24*time.Hour))
	}
	return Observe{Since: now, Until: now.Add(d), By: by}, nil
}

// BeginObserving lets a new installation begin in observe mode. It fails with
// ErrConflict if anything was ever frozen, paused or observed there: from then
// on people are asked.
func BeginObserving(ctx context.Context, store approver.KV, d time.Duration, by string) (Observe, error) {
	now, err := store.Now(ctx)
	if err != nil {
		return Observe{}, err
	}
	o, err := starting(now, d, by)
	if err != nil {
		return Observe{}, err
	}
	return o, beginControls(ctx, store, Controls{Version: 1, Observe: o})
}

// beginControls writes a first record of the controls, unless there is one.
func beginControls(ctx context.Context, store approver.KV, c Controls) error {
	now, err := store.Now(ctx)
	if err != nil {
		return err
	}
	value, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return store.Put(ctx, controlKey(), value, "", approver.NewRev(), time.Time{}, now.Add(controlsKeep))
}

// Observe begins observe mode. The record of it is durable first; if it fails
// after that, a second record says so.
func (k *Controller) Observe(ctx context.Context, d time.Duration, by string) (Observe, error) {
	return k.startObserving(ctx, nil, d, by)
}

// ObserveAs is Observe by the word of people who were asked about these controls: it fails
// if they have changed since as [Controls.StillAs] says.
func (k *Controller) ObserveAs(ctx context.Context, asked Controls, d time.Duration, by string) (Observe, error) {
	return k.startObserving(ctx, &asked, d, by)
}

func (k *Controller) startObserving(ctx context.Context, asked *Controls, d time.Duration, by string) (Observe, error) {
	by = cutText(by, maxBy)
	if _, err := starting(time.Time{}, d, by); err != nil {
		return Observe{}, err
	}
	note := fmt.Sprintf("for %v nothing is asked or denied, by %s", d, by)
	if _, err := k.audit.Record(ctx, approver.Record{Event: approver.EventObserving, Note: note}); err != nil {
		return Observe{}, err
	}
	c, err := k.change(ctx, func(c *Controls, now time.Time) (err error) {
		if c.Frozen() {
			return ErrFrozen
		}
		if err := c.stillAs(asked); err != nil {
			return err
		}
		c.Observe, err = starting(now, d, by)
		return err
	})
	if err != nil {
		return Observe{}, k.notDone(ctx, approver.EventObserving, note, err)
	}
	k.log.Warn(c.Observe.notice())
	return c.Observe, nil
}

// Enforce ends observe mode. It returns the observing that it ended, or the
// last one, and whether there was one to end.
func (k *Controller) Enforce(ctx context.Context, by string) (last Observe, ended bool, err error) {
	c, err := k.change(ctx, func(c *Controls, now time.Time) error {
		c.must = true
		if ended = c.Observing(now); ended {
			c.Observe.Until = now
		}
		return nil
	})
	if err != nil || !ended {
		return c.Observe, false, err
	}
	k.log.Warn("observe mode is over: calls are asked and denied", "by", by)
	_, err = k.audit.Record(ctx, approver.Record{Event: approver.EventEnforcing, Note: "observe mode was ended by " + by})
	return c.Observe, true, err
}

// Observing is Gate.Observe: whether findings are recorded and not enforced. If
// the store cannot say, they are enforced.
func (k *Controller) Observing(ctx context.Context, _ approver.Verdict) (string, bool) {
	c, now, err := k.Load(ctx)
	if err != nil || !c.Observing(now) {
		return "", false
	}
	return c.Observe.notice(), true
}
