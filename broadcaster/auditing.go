package broadcaster

import (
	"approver.example"
)

// record is the audit record of what became of a request.
func auditRecord(r Request, e approver.Event) approver.Record {
	if r.N > 0 { // an identical call took the place of the first
		r.Call.ID = r.CallID
	}
	rec := approver.Record{
		Event: e, At: r.Resolution.At, Request: r.ID, Once: r.ID + ":" + string(e), Fingerprint: r.Fingerprint,
		Call: r.Call, Verdict: r.Verdict, Resolution: r.Resolution, Took: r.Resolution.At.Sub(r.Created),
	}
	if e == approver.EventDenied && r.Withheld != approver.NoCause {
		rec.At, rec.Resolution.Approve, rec.Resolution.Cause = r.Acked, false, r.Withheld
		rec.Note = "it was approved, and not given to the agent"
	}
	return rec
}

// lastEvent is the event that ends a request's life.
func lastEvent(r Request) approver.Event {
	switch r.State {
	case approver.Consumed:
		if r.Withheld != approver.NoCause && r.Repeats == 0 {
			return approver.EventDenied
		}
		return approver.EventReleased
	case approver.Expired:
		return approver.EventExpired
	case approver.Withdrawn:
		return approver.EventWithdrawn
	default:
		return approver.EventDenied
	}
}

// ending names the end of a request: after a fail-over it may have another.
func endingOf(r Request) string { return r.ID + ":" + string(lastEvent(r)) }

// recordOf is a record of one of several calls that share a request.
func recordOf(rec approver.Record, callID string) approver.Record {
	rec.Once, rec.Call.ID = rec.Once+":"+callID, callID
	return rec
}
