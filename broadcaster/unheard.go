package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"approver.example"
)

// storedState is the part of a stored request that says how far the request came. It is not
// sealed.
type storedState struct {
	State   approver.State `json:"state"`
	Acked   time.Time      `json:"acked"`
	Repeats int            `json:"repeats"`
	N       int            `json:"n"` // of the first call
	Also    []Caller       `json:"also"`
}

// gave reports that the call with this number took its yes. Nobody gets one by a request
// without a yes.
func (h storedState) gave(n int) bool {
	if h.State != approver.Consumed || h.N == n {
		return h.State.Settled()
	}
	return slices.ContainsFunc(h.Also, func(c Caller) bool { return c.N == n && !c.Taken.IsZero() })
}

// has reports whether a store with this state knows of an event that the audit has.
func (r storedState) has(t approver.Told) bool {
	if slices.ContainsFunc(t.Shared, func(n int) bool { return !r.gave(n) }) {
		return false
	}
	switch t.Event {
	case approver.EventPosted, approver.EventParked, approver.EventGrantUsed:
		return true
	case approver.EventApproved, approver.EventGranted:
		return r.State != approver.Pending
	case approver.EventReleased:
		return r.State == approver.Consumed
	case approver.EventRepeated:
		return r.State == approver.Consumed && r.Repeats >= repeats(t)
	case approver.EventAcked:
		return r.State == approver.Consumed && !r.Acked.IsZero()
	default:
		return r.State.Settled()
	}
}

// repeats is how often the yes had been repeated then; see releases.mayRun.
func repeats(t approver.Told) int {
	times, err := strconv.Atoi(t.Once[strings.LastIndexByte(t.Once, ':')+1:])
	if err != nil {
		return 0 // no such record
	}
	return times
}

// Unheard returns the events of the audit that the store does not know of, the oldest first:
// it has no record of their request, or an older one.
func Unheard(
	ctx context.Context, store approver.KV, told map[string]approver.Told,
) (missing []approver.Told, err error) {
	for _, t := range slices.SortedFunc(maps.Values(told), func(a, b approver.Told) int { return a.At.Compare(b.At) }) {
		value, _, err := store.Get(ctx, approver.Key("req", t.Request))
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return nil, err
		}
		var r storedState
		if err != nil || json.Unmarshal(value, &r) != nil || !r.has(t) {
			missing = append(missing, t)
		}
	}
	return missing, nil
}
