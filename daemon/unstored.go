package daemon

import (
	"context"
	"errors"
	"time"

	"approver.example"
	"approver.example/audit"
)

// endUnstored records the end of each question that the audit has and the store does not. Both
// get it at the same time, and the daemon before this one may have died between the two. No
// card of it was posted. Other daemons on a shared store may have answered a question whose
// record has expired since, so there only the questions of the last hours count.
func endUnstored(ctx context.Context, store approver.KV, records *audit.Log, shared bool) error {
	asked, err := records.Unposted()
	if err != nil {
		return err
	}
	for _, r := range asked {
		if shared && time.Since(r.At) > approver.MinKeepFor/2 {
			continue
		}
		_, _, err := store.Get(ctx, approver.Key("req", r.Request))
		if err == nil {
			continue
		}
		if !errors.Is(err, approver.ErrNotFound) {
			return err
		}
		r.Event, r.At, r.Once = approver.EventDenied, time.Time{}, r.Request+":"+string(approver.EventDenied)
		r.Resolution = approver.Resolution{Cause: approver.StoreTrouble}
		r.Note = "the question was not stored when the daemon ended: nobody saw it, and nothing was let through"
		if _, err := records.Record(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
