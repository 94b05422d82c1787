package daemon

import (
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/audit"
)

// endUnstored records the end of each question that is open in the audit but missing from the
// store. There are two kinds. One is a question without a card: audit and store get it at the
// same time, and the previous daemon may have died between the two. In a shared store only
// questions of the last hours are ended, because another daemon may have answered older ones
// that the store no longer has.
//
// The other kind is a question with a card that the store has forgotten because no daemon ran
// for a long time. Its end is recorded only if the store is not shared, so that no other
// daemon can have recorded it.
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
			r.Note = "the store had forgotten the question when the daemon started: no release of it is known"
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
