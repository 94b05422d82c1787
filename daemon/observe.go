package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
)

// observe puts observe mode before people, and begins it.
func (d *Admin) observe(ctx context.Context, peer approver.Peer, req adminapi.ControlRequest, by string) (adminapi.ControlAnswer, error) {
	if req.For < approver.MinObserve || req.For > approver.MaxObserve {
		return adminapi.ControlAnswer{}, fmt.Errorf("observing lasts %v to %v", approver.MinObserve, words.Days(approver.MaxObserve))
	}
	c, _, err := d.People.Controls(ctx)
	switch {
	case err != nil:
		return adminapi.ControlAnswer{}, err
	case c.Frozen():
		return adminapi.ControlAnswer{}, approver.ErrFrozen
	}
	who, err := d.ask(ctx, peer, adminapi.OpObserve, req.Args("EVERY call, also what a rule denies"), req.Reason, fmt.Sprintf("for %v NOTHING is asked or denied: every call goes on, and is only recorded", words.Days(req.For)))
	if err != nil {
		return adminapi.ControlAnswer{}, err
	}
	if err := d.stillAs(ctx, c); err != nil {
		return adminapi.ControlAnswer{}, err
	}
	o, err := d.People.ObserveAs(context.WithoutCancel(ctx), c, req.For, who+", for "+by)
	return adminapi.ControlAnswer{Done: true, Until: o.Until.UTC(), Text: "observing until " + words.Minute(o.Until) + ", approved by " + who + ": nothing is asked or denied"}, err
}

// enforce ends observe mode.
func (d *Admin) enforce(ctx context.Context, by string) (adminapi.ControlAnswer, error) {
	last, ended, err := d.People.Enforce(context.WithoutCancel(ctx), by)
	doc := adminapi.ControlAnswer{Done: true, Since: last.Since, Text: "rules were enforced already, and nothing was changed"}
	if ended {
		doc.Text, doc.Ended = "observe mode is over: rules are enforced", true
	}
	if nobody := d.nobody(ctx); nobody != "" {
		doc.Text += "\nWARNING: " + nobody
	}
	return doc, err
}

// An observer keeps observe mode from being forgotten: it counts what was let go
// and says so, at the start, each hour and at the end.
type observer struct {
	people *approver.Broadcaster
	log    *slog.Logger
	counts [approver.Allow + 1]atomic.Int64 // by decision, since the daemon started
}

// What the observer's times are.
const (
	observerLook  = time.Minute
	observerWarns = time.Hour
)

// observe is Gate.Observe.
func (o *observer) observe(ctx context.Context, found approver.Verdict) (string, bool) {
	notice, ok := o.people.Observing(ctx, found)
	if ok {
		o.counts[found.Decision].Add(1)
	}
	return notice, ok
}

// note is what the audit says of it at each start.
func (o *observer) note(ctx context.Context) string {
	if notice, on := o.people.Observing(ctx, approver.Verdict{}); on {
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
		switch notice, on := o.people.Observing(ctx, approver.Verdict{}); {
		case on && time.Since(said) >= observerWarns:
			said = time.Now()
			o.log.Warn(notice, "would_have_asked", o.counts[approver.Ask].Load(), "would_have_denied", o.counts[approver.Deny].Load(), "end_it_with", "approver enforce")
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

func (o *observer) status(c approver.Controls, now time.Time) *adminapi.Observe {
	if !c.Observing(now) {
		return nil
	}
	return &adminapi.Observe{Observe: c.Observe, WouldAsk: o.counts[approver.Ask].Load(), WouldDeny: o.counts[approver.Deny].Load()}
}
