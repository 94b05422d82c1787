package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"approver.example"
)

// guard looks after the record of the controls until ctx ends: when a call has
// found it missing or older, and every guardEvery. It gives the store a freeze that it did
// not take.
func (k *Controller) guard(ctx context.Context) {
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		if held := k.mark.holding(); held != nil {
			if _, _, err := k.freeze(ctx, held.By, held.Reason, true); !errors.Is(err, ErrNotFrozen) {
				k.mark.refused(err) // else at the next look
			}
		}
		switch c, _, err := k.Load(ctx); {
		case err != nil:
		case c.Missing:
			_ = k.Distrust(ctx, approver.AlarmStore, c.Freeze.Reason) // else at the next look
		case k.backlog.pending.has() || !c.Unrecorded.IsZero():
			_ = k.backlog.flush(ctx, c) // else at the next look
		}
		select {
		case <-ctx.Done():
			return
		case <-k.mark.wake:
			if !sleep(ctx, retryEvery) { // a store that does not take it must not be asked without a break
				return
			}
		case <-tick.C:
		}
	}
}

// Distrust freezes everything because the store, or the audit, cannot be believed, and
// alarms. why says what was found; how it is mended is added. An audit that was changed has
// its own alarm: beside it, the freeze is recorded. While the store does not take the freeze, or
// the audit does not work, Distrust is called again: the log tells of the one cause once.
func (k *Controller) Distrust(ctx context.Context, about approver.Alarm, why string) (err error) {
	k.distrusted.Lock()
	defer k.distrusted.Unlock()
	again := k.distrusted.last == string(about)+why && (k.distrusted.refused || k.backlog.pending.has())
	if c, _, readErr := k.Load(ctx); again && readErr == nil && c.Frozen() && !c.Missing && c.Here == "" {
		k.distrusted.refused = false // the store has it by now: what comes later is news
		return nil
	}
	switch {
	case about == approver.AlarmStore:
		err = k.backlog.tellLoss(ctx, why)
	case !again:
		k.log.Error(strings.ToUpper(string(about))+" ALARM", "what", distrustNote(about, why))
	}
	k.mark.hold(Freeze{At: time.Now(), By: "approver", Reason: why}) // whatever the store takes
	_, _, freezeErr := k.freeze(ctx, "approver", why, false)
	k.distrusted.last, k.distrusted.refused = string(about)+why, k.mark.refused(freezeErr)
	if freezeErr != nil {
		err = errors.Join(err, fmt.Errorf("the freeze is not whole: %w", freezeErr))
	}
	if err != nil {
		k.log.Error("what is wrong with the "+string(about)+" could not be noted everywhere", "error", err)
	}
	return err
}
