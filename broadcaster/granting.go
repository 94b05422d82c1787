package broadcaster

import (
	"context"
	"errors"

	"approver.example"
)

// keepGrant has the audit follow a yes that waits for its call, before anybody is told, and
// brings the cards up to date.
func (l *releases) keepGrant(ctx context.Context, r Request) Request {
	ctx = context.WithoutCancel(ctx)
	err := approver.Ready(l.Audit)
	switch {
	case err != nil:
	case l.SyncRelease:
		err = l.history.durable(ctx, r, true)
	default:
		err = l.history.follow(ctx, r)
	}
	if err != nil {
		l.Log.Error("a yes that waits for its call could not be recorded", "request", r.ID, "error", err)
		next, err := l.requests.fail(ctx, r.ID, approver.Unrecorded)
		if err != nil && !errors.Is(err, ErrSettled) {
			l.Log.Error("nor could it be taken back", "request", r.ID, "error", err)
			return r
		}
		r = next
	}
	if r.Granted() {
		l.editor.settle(r.ID)
	}
	return r
}

// resumeGrants finishes what a former process left undone of yeses that wait.
func (l *releases) resumeGrants(ctx context.Context) {
	open, err := l.requests.Open(ctx)
	if err != nil {
		l.records.noteTrouble(err)
	}
	for _, r := range open {
		if r.State == approver.Approved && r.Parked && r.Audit == "" { // of a version that stored this in two steps
			if next, err := l.requests.change(ctx, r.ID, Request.noteGrant); err == nil {
				r = next
			}
		}
		if r.Granted() { // the cards, and the audit
			l.editor.settle(r.ID)
		}
	}
}
