package broadcaster

import (
	"time"

	"approver.example"
)

// maxCallers is how many identical calls wait beside the first.
const maxCallers = 31

// A Caller is one more call that waits for the answer of a request.
type Caller struct {
	CallID     string    `json:"call"`
	Holder     string    `json:"holder"` // the connection that waits
	N          int       `json:"n"`      // in the order of joining; the first call is 0
	WithdrawAt time.Time `json:"withdraw_at,omitzero"`
	Taken      time.Time `json:"taken,omitzero"` // since when it has its yes
	Fate       Fate      `json:"fate,omitzero"`  // what became of it then
	// Lost reports that it took its yes and was not released: see void.
	Lost bool `json:"lost,omitempty"`
}

// An Ending is a call that waited for the answer of a request, and does not any more.
type Ending struct {
	CallID string         `json:"call"`
	Why    approver.Cause `json:"why"`
	At     time.Time      `json:"at"`
}
