package adminapi

import (
	"time"

	"approver.example"
)

// An Appeal names a call that was denied.
type Appeal struct {
	Call   string `json:"call"` // 32 hex digits
	Reason string `json:"reason,omitempty"`
}

// An Appealed is the answer: people are being asked.
type Appealed struct {
	Request string    `json:"request"`
	Until   time.Time `json:"until"` // the last moment in which a yes lets the call run
}

// An Ask is what a script asks on the submit socket.
type Ask struct {
	ID       string            `json:"id"` // 32 hex digits, the same when the command comes back
	Argv     []string          `json:"argv"`
	Dir      string            `json:"dir"`
	Severity approver.Severity `json:"severity"`
	Reason   string            `json:"reason,omitempty"`
	TTL      time.Duration     `json:"ttl,omitempty"`
}

// An Asked is the answer.
type Asked struct {
	Approved bool   `json:"approved"`
	Reason   string `json:"reason"`
}
