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

// An Appealed is the answer to an Appeal: people are being asked.
type Appealed struct {
	Request string    `json:"request"`
	Until   time.Time `json:"until"` // until then a yes lets the call run
}

// An Ask is a script's question on the submit socket.
type Ask struct {
	ID       string            `json:"id"` // 32 hex digits, the same when the command asks again
	Argv     []string          `json:"argv"`
	Dir      string            `json:"dir"`
	Severity approver.Severity `json:"severity"`
	Reason   string            `json:"reason,omitempty"`
	TTL      time.Duration     `json:"ttl,omitempty"`
}

// An Asked is the answer to an Ask.
type Asked struct {
	Approved bool   `json:"approved"`
	Reason   string `json:"reason"`
}
