package daemon

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
)

// An observer keeps observe mode from being forgotten: it counts what was let go and logs it
// at the start, every hour and at the end.
type observer struct {
	people *broadcaster.Broadcaster
	log    *slog.Logger
	counts [approver.Allow + 1]atomic.Int64 // by decision, since the daemon started
}

// How often the observer checks the mode, and how often it warns.
const (
	observerLook  = time.Minute
	observerWarns = time.Hour
)

// observe implements the Observe function of [gate.Gate].
func (o *observer) observe(ctx context.Context, found approver.Verdict) (string, bool) {
	notice, ok := o.people.Controls.Observing(ctx, found)
	if ok {
		o.counts[found.Decision].Add(1)
	}
	return notice, ok
}

// note is what the audit says about observe mode at each start.
func (o *observer) note(ctx context.Context) string {
	if notice, on := o.people.Controls.Observing(ctx, approver.Verdict{}); on {
		return "; " + notice
	}
	return ""
}

// run watches the mode until ctx ends.
func (o *observer) run(ctx context.Context) error {
	tick := time.NewTicker(observerLook)
	defer tick.Stop()
	var said time.Time // when it last warned; zero while rules are enforced
	for {
		switch notice, on := o.people.Controls.Observing(ctx, approver.Verdict{}); {
		case on && time.Since(said) >= observerWarns:
			said = time.Now()
			o.log.Warn(notice, "would_have_asked", o.counts[approver.Ask].Load(), "would_have_denied",
				o.counts[approver.Deny].Load(), "end_it_with", "approver enforce")
		case !on && !said.IsZero() && ctx.Err() == nil:
			said = time.Time{}
			o.log.Warn("observe mode is over, or cannot be read: rules are enforced")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (o *observer) status(c broadcaster.Controls, now time.Time) *adminapi.Observe {
	if !c.Observing(now) {
		return nil
	}
	return &adminapi.Observe{Observe: c.Observe, WouldAsk: o.counts[approver.Ask].Load(),
		WouldDeny: o.counts[approver.Deny].Load()}
}
