package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"approver.example"
	"approver.example/audit"
)

// A trust says whether the store is the one that the audit was written beside. What
// was taken out of it, or put back into it, must not lift a freeze, bring back a
// yes that was used, or let others answer.
type trust struct {
	mark   *approver.ControlMark
	doubts []string // why not
	first  string   // why this start wrote the first record of the controls; empty if it did not
	ended  []string // what people denied or took back, and the store may have open again
}

// judge compares the store with what the audit knew of it.
func (t *trust) judge(ctx context.Context, store approver.KV, found audit.Opening) error {
	c, err := approver.LoadControls(ctx, store)
	if err != nil {
		return err
	}
	known := found.Controls
	t.mark, t.ended = approver.NewControlMark(known), found.Ended
	lost, err := approver.Unreleased(ctx, store, found.Released)
	switch {
	case err != nil:
		return err
	case found.Older != "":
		t.doubts = append(t.doubts, found.Older)
	case len(lost) > 0:
		t.doubts = append(t.doubts, fmt.Sprintf("the store is older than the audit: it does not know that %d requests were released, such as %s", len(lost), lost[0]))
	case found.Frozen.After(c.Burned):
		t.doubts = append(t.doubts, "the store is older than the audit: it does not know of the last freeze")
	case !c.Missing && c.Version < known:
		t.doubts = append(t.doubts, fmt.Sprintf("the store is older than the audit: its record of freezes and pauses is version %d, and was %d", c.Version, known))
	case found.Head == nil && found.Seq > 0 && !found.Renamed:
		t.doubts = append(t.doubts, "the store has lost what it knew of the audit")
	}
	if !c.Missing || len(t.doubts) > 0 || known > 0 {
		return nil // a record that is missing is a freeze, see approver.Controls
	}
	switch {
	case found.Seq == 0 && found.Head == nil:
		t.first = "a new installation"
	case found.Head != nil && found.Seq >= found.Head.Seq:
		t.first = "the version before kept none"
	default:
		return nil
	}
	t.mark = approver.NewControlMark(1) // so that the audit says from its first line on that there is one
	return approver.BeginControls(ctx, store)
}

// reopened doubts a store that has open again what people denied or took back.
func (t *trust) reopened(ctx context.Context, people *approver.Broadcaster) {
	if len(t.ended) == 0 {
		return
	}
	requests, requestsErr := people.Requests(ctx) // beside an error is what could be read
	grants, grantsErr := people.Grants(ctx)
	var open []string
	for _, r := range requests {
		open = append(open, r.ID)
	}
	for _, g := range grants {
		open = append(open, g.ID)
	}
	for _, id := range t.ended {
		if slices.Contains(open, id) {
			t.doubt("the store is older than the audit: it has open again what people denied or took back, such as %s", id)
			return
		}
	}
	if err := errors.Join(requestsErr, grantsErr); err != nil {
		people.Log.Warn("whether the store has open again what people denied or took back is not known", "error", err)
	}
}

// note is what the record of a start says of it.
func (t *trust) note() string {
	if t.first == "" {
		return ""
	}
	return "; the first record of freezes was written: " + t.first
}

// doubt notes one more reason.
func (t *trust) doubt(format string, args ...any) {
	if t != nil {
		t.doubts = append(t.doubts, fmt.Sprintf(format, args...))
	}
}

// settle freezes if there is a doubt, and then lets the store hear of the audit.
func (t *trust) settle(ctx context.Context, people *approver.Broadcaster, records *audit.Log) error {
	t.reopened(ctx, people)
	if len(t.doubts) > 0 {
		err := people.Distrust(context.WithoutCancel(ctx), strings.Join(t.doubts, "; "))
		// Frozen is enough to start: what else could not be done is in the log.
		if c, _, readErr := people.Controls(ctx); err != nil && (readErr != nil || !c.Frozen() || c.Missing) {
			return fmt.Errorf("the store is not to be trusted (%s), and that could not be noted: %w", strings.Join(t.doubts, "; "), err)
		}
	}
	records.Accept()
	return nil
}

// watch freezes when the store is found to be an older one while the daemon runs.
func (t *trust) watch(people *approver.Broadcaster, records *audit.Log) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case why := <-records.Older():
				_ = people.Distrust(ctx, why) // it says itself what it cannot do
			}
		}
	}
}
