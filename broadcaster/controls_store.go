package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"approver.example"
)

// This file keeps the controls in one record of the store.

func controlKey() string { return approver.Key("control", "all") }

const controlsKeep = 10 * 365 * 24 * time.Hour

// LoadControls reads the controls as the store has them, whatever was known before.
func LoadControls(ctx context.Context, store approver.KV) (Controls, error) {
	return readControls(ctx, store, nil)
}

func loadControls(
	ctx context.Context, store approver.KV, mark *ControlMark,
) (c Controls, rev approver.Rev, now time.Time, err error) {
	c, err = decodeControls(mark, func() (value []byte, err error) {
		value, rev, now, err = approver.GetNow(ctx, store, controlKey())
		if errors.Is(err, approver.ErrTampered) {
			var clockErr error
			if now, clockErr = store.Now(ctx); clockErr != nil {
				err = clockErr
			}
		}
		return value, err
	})
	return c, rev, now, err
}

// readControls reads the controls without the clock. If the store fails while this process
// holds a freeze, the freeze counts.
func readControls(ctx context.Context, store approver.KV, mark *ControlMark) (Controls, error) {
	c, err := readStored(ctx, store, mark)
	if err != nil {
		if held := mark.Held(); held.Frozen() { // whatever becomes of calls when the store fails
			return held, nil
		}
	}
	return c, err
}

// recentControls is readControls that is content with what was read a moment ago.
func recentControls(ctx context.Context, store approver.KV, mark *ControlMark) (Controls, error) {
	if c, ok := mark.recent(); ok {
		return c, nil
	}
	return readControls(ctx, store, mark)
}

// readStored is readControls that needs the store's answer: a freeze that this process holds
// does not tell who was removed.
func readStored(ctx context.Context, store approver.KV, mark *ControlMark) (Controls, error) {
	return decodeControls(mark, func() ([]byte, error) {
		value, _, err := store.Get(ctx, controlKey())
		return value, err
	})
}

// decodeControls reads the record by read. A missing or forged record is a freeze, because the
// record is written at the first start and never removed.
func decodeControls(mark *ControlMark, read func() ([]byte, error)) (c Controls, err error) {
	for {
		held := mark.holding()
		c, err = decodeOnce(mark, read)
		if held == nil || mark.holding() != nil {
			return c, err
		}
		// The store took the held freeze meanwhile: what was read may be older than that, and the
		// mark no longer adds it.
	}
}

func decodeOnce(mark *ControlMark, read func() ([]byte, error)) (c Controls, err error) {
	known, began := mark.Version(), time.Now()
	value, err := read()
	if err == nil {
		c, err = mark.decode(value)
	}
	why := vanished
	switch {
	case err == nil:
		mark.noteRead(c, began)
		return mark.check(c, known), nil
	case errors.Is(err, approver.ErrTampered):
		why = fmt.Sprintf("%s (the key %s)", forged, controlKey())
	case !errors.Is(err, approver.ErrNotFound):
		return Controls{}, fmt.Errorf("whether approver is frozen: %w", err)
	}
	return mark.check(Controls{Missing: true, Freeze: Freeze{By: "approver", Reason: why}}, known), nil
}

// A putFunc is KV.Put.
type putFunc func(ctx context.Context, key string, value []byte, prev, next approver.Rev, due,
	keepUntil time.Time) error

// changeControls applies one step to the controls by compare-and-set.
func changeControls(
	ctx context.Context, store approver.KV, mark *ControlMark, put putFunc, step func(*Controls, time.Time) error,
) (Controls, error) {
	for {
		c, rev, now, err := loadControls(ctx, store, mark)
		if err != nil {
			return c, err
		}
		tampered := c.Missing && rev == "" && c.Freeze.Reason != vanished
		if err := step(&c, now); err != nil {
			return c, err
		}
		if c.Missing {
			return c, ErrFrozen // only a freeze, or lifting it, may write a new record
		}
		c.Version = max(c.Version, mark.Version()) + 1
		c.bound()
		value, err := json.Marshal(c)
		if err != nil {
			return c, err
		}
		if err := c.fits(value); err != nil {
			return c, err
		}
		if d, ok := store.(approver.Discarder); ok && tampered {
			if err := d.Discard(ctx, controlKey()); err != nil && !errors.Is(err, approver.ErrConflict) {
				return c, err
			}
		}
		// A freeze stays until it is lifted: the record must outlive it.
		err = put(ctx, controlKey(), value, rev, approver.NewRev(), time.Time{}, now.Add(controlsKeep))
		if err == nil {
			mark.check(c, 0)
		}
		if !errors.Is(err, approver.ErrConflict) {
			return c, err
		}
	}
}

// BeginControls writes the first record of the controls, unless the store has one. From then
// on a store without one is frozen.
func BeginControls(ctx context.Context, store approver.KV) error {
	err := beginControls(ctx, store, Controls{Version: 1})
	if errors.Is(err, approver.ErrConflict) {
		return nil
	}
	return err
}

// BeginObserving lets a new installation begin in observe mode. It fails with ErrConflict if
// anything was ever frozen, paused or observed there: after that, people are asked.
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

// Count raises the version of the controls when another record changes that decides who may
// answer or what is asked. A store that is rolled back has older versions of both, so the loss
// shows. Missing controls are a freeze, which needs no version. A nil mark counts nothing.
func (m *ControlMark) Count(ctx context.Context, store approver.KV) error {
	if m == nil {
		return nil
	}
	_, err := changeControls(ctx, store, m, store.Put, func(c *Controls, _ time.Time) error {
		c.usesReserve = true
		return nil
	})
	if errors.Is(err, ErrFrozen) {
		return nil
	}
	return err
}
