package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/daemon/hooks"
)

// A trust says whether the store is the one that was used with the audit. If records were
// taken out of the store, or old ones put back, that must not lift a freeze, bring back an
// approval that was used, or let others answer.
type trust struct {
	mark   *broadcaster.ControlMark
	doubts []string // the reasons against trust
	first  string   // why this start wrote the first record of the controls; empty if it did not
	// survives means that the store never loses what it accepted, like one in a file: what is
	// missing was taken out.
	survives bool
	lost     bool            // the first doubt is about the audit
	revoked  []approver.Told // what people revoked, and an older store may have open again
	upgraded bool            // this is the first start after a version that kept no use records
	missing  []approver.Told // what a failover of the store has lost: it is made void
	end      time.Time       // when the audit ended before this start

	stop atomic.Pointer[func(ctx context.Context, why string) error] // set by settle
}

// judge compares the store with what the audit knows about it.
func (t *trust) judge(ctx context.Context, store approver.KV, found audit.Opening) error {
	c, err := broadcaster.LoadControls(ctx, store)
	if err != nil {
		return err
	}
	known := found.Controls
	t.mark, t.revoked, t.end = broadcaster.NewControlMark(known), found.Revoked, found.End
	missing, err := broadcaster.Unheard(ctx, store, found.Told)
	if err != nil {
		return err
	}
	if found.Lost != "" {
		t.lost = true
		t.doubts = append(t.doubts, "the audit is not what the store knows: "+found.Lost+t.sharedStore(found.Head))
	}
	if found.Older != "" {
		t.doubts = append(t.doubts, found.Older)
	}
	t.lacks(missing)
	switch {
	case found.Frozen.After(newestFreeze(c)):
		t.doubts = append(t.doubts, "the store is older than the audit: it does not know of the last freeze")
	case !c.Missing && c.Version < known:
		t.doubts = append(t.doubts,
			fmt.Sprintf("the store is older than the audit: its record of freezes and pauses is version %d, and was %d",
				c.Version, known))
	case found.Head == nil && found.Seq > 0 && !found.Renamed:
		t.doubts = append(t.doubts, "the store has lost what it knew of the audit")
	}
	if !c.Missing || len(t.doubts) > 0 || known > 0 {
		return nil // a record that is missing is a freeze, see broadcaster.Controls
	}
	switch {
	case found.Seq == 0 && found.Head == nil:
		t.first = "a new installation"
	case found.Head != nil && found.Seq >= found.Head.Seq:
		t.first, t.upgraded = "the version before kept none", true
	default:
		return nil
	}
	t.mark = broadcaster.NewControlMark(1) // so that the audit says from its first line on that there is one
	return broadcaster.BeginControls(ctx, store)
}

// sharedStore names another possible cause if the audit differs from what the store knows.
func (t *trust) sharedStore(head *audit.Head) string {
	if t.survives || head == nil {
		return ""
	}
	return fmt.Sprintf(" (if another daemon on this store, such as one of a copied machine, has the audit's id %s, "+
		"too: give each its own audit.id)", head.Log)
}

// newestFreeze returns when a freeze, of everything or of one agent, last began or ended.
func newestFreeze(c broadcaster.Controls) time.Time {
	newest := c.Burned
	for _, h := range c.Holds {
		for _, at := range []time.Time{h.At, h.Burned} {
			if at.After(newest) {
				newest = at
			}
		}
	}
	return newest
}

// lacks takes what the store should know but does not. If a failover can have lost it, it is
// added to missing; otherwise it is a reason for distrust.
func (t *trust) lacks(missing []approver.Told) {
	if len(missing) == 0 {
		return
	}
	first := missing[0]
	if !t.survives && t.end.Sub(first.At) <= audit.MaxLag {
		t.missing = append(t.missing, missing...)
		return
	}
	t.distrust("the store is older than the audit: it does not know of %d requests how far they came, such as %s, "+
		"which was %s", len(missing), first.Request, first.Event)
}

// reopened checks whether anything that people revoked is open again in the store.
func (t *trust) reopened(ctx context.Context, people *broadcaster.Broadcaster) {
	if len(t.revoked) == 0 {
		return
	}
	requests, requestsErr := people.Requests.Open(ctx) // with an error it returns what could be read
	grants, grantsErr := people.Grants.List(ctx)
	var open []string
	for _, r := range requests {
		open = append(open, r.ID)
	}
	for _, g := range grants {
		open = append(open, g.ID)
	}
	t.lacks(slices.DeleteFunc(slices.Clone(t.revoked),
		func(r approver.Told) bool { return !slices.Contains(open, r.Request) }))
	if err := errors.Join(requestsErr, grantsErr); err != nil {
		people.Log.Warn("whether the store has open again what people took back is not known", "error", err)
	}
}

// released returns the calls that may still run and that only the audit knows.
func (t *trust) released(records *audit.Log) (*audit.Released, error) {
	if !t.upgraded {
		return nil, nil
	}
	return records.Released(time.Now().Add(-hooks.UseKeep))
}

// note is what the audit says about the store at a start.
func (t *trust) note() string {
	if t.first == "" {
		return ""
	}
	return "; the first record of freezes was written: " + t.first
}

// distrust adds a reason against trust.
func (t *trust) distrust(format string, args ...any) {
	if t != nil {
		t.doubts = append(t.doubts, fmt.Sprintf(format, args...))
	}
}

// settle freezes everything if there is a doubt, and then lets the audit write to the store.
func (t *trust) settle(ctx context.Context, people *broadcaster.Broadcaster, records *audit.Log) error {
	t.reopened(ctx, people)
	if len(t.doubts) > 0 {
		about := approver.AlarmStore
		if t.lost {
			about = approver.AlarmAudit
		}
		err := freezeFor(context.WithoutCancel(ctx), people, about, strings.Join(t.doubts, "; "))
		if err != nil {
			return fmt.Errorf("the store is not to be trusted (%s), and that could not be noted: %w",
				strings.Join(t.doubts, "; "), err)
		}
	}
	if len(t.missing) > 0 && len(t.doubts) == 0 { // a freeze has voided them anyway
		if err := people.Removals.VoidLost(context.WithoutCancel(ctx), t.missing); err != nil {
			return fmt.Errorf("the store has lost what a fail-over can take along, and that could not be made void: %w", err)
		}
	}
	stop := func(ctx context.Context, why string) error {
		return freezeFor(ctx, people, approver.AlarmAudit, why)
	}
	t.stop.Store(&stop)
	records.Accept()
	return nil
}

// freezeFor freezes everything because of a doubt. It succeeds if everything is frozen: the
// record follows as soon as it can be written, and the log says what else failed.
func freezeFor(ctx context.Context, people *broadcaster.Broadcaster, about approver.Alarm, why string) error {
	err := people.Controls.Distrust(ctx, about, why)
	c, _, readErr := people.Controls.Load(ctx)
	if readErr != nil || !c.Frozen() || c.Missing || c.Here != "" {
		return err
	}
	return nil
}

// changed freezes everything because somebody changed the audit while it was written.
func (t *trust) changed(ctx context.Context, why string) error {
	stop := t.stop.Load()
	if stop == nil {
		return errors.New("the daemon is still starting")
	}
	return (*stop)(ctx, why)
}

// watch freezes everything if the store turns out to be an older one while the daemon runs.
func (t *trust) watch(people *broadcaster.Broadcaster, records *audit.Log) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case why := <-records.Older():
				_ = people.Controls.Distrust(ctx, approver.AlarmStore, why) // it logs its own failures
			}
		}
	}
}
