package daemon

import (
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/audit"
)

// endUnstored records the end of each question that the audit has open and the store does not
// have. There are two kinds:
//
//   - A question without a card. Audit and store get it at the same time, and the daemon before
//     this one may have died between the two.
//   - A question that the store has forgotten because no daemon ran for long. The end of this
//     kind is recorded only where no other daemon can have recorded it: in a store that is not
//     shared. Of the first kind, only the questions of the last hours count in a shared store,
//     because another daemon may have answered what is long gone from it.
func endUnstored(ctx context.Context, store approver.KV, records *audit.Log, shared bool) error {
	open, err := records.Unended()
	if err != nil {
		return err
	}
	for _, r := range open {
		posted := r.Event != approver.EventAsked
		if shared && (posted || time.Since(r.At) > approver.MinKeepFor/2) {
			continue
		}
		_, _, err := store.Get(ctx, approver.Key("req", r.Request))
		if err == nil {
			continue
		}
		if !errors.Is(err, approver.ErrNotFound) {
			return err
		}
		if posted {
			r.Event, r.Resolution = approver.EventExpired, approver.Resolution{Cause: approver.TimedOut}
			r.Note = "the store had forgotten the question when the daemon started: nothing was let through"
		} else {
			r.Event, r.Resolution = approver.EventDenied, approver.Resolution{Cause: approver.StoreTrouble}
			r.Note = "the question was not stored when the daemon ended: nobody saw it, and nothing was let through"
		}
		r.At, r.Once = time.Time{}, r.Request+":"+string(r.Event)
		if _, err := records.Record(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
