package adminapi

import (
	"time"
)

// The operations on grants.
const (
	OpGrants  = "grants"
	OpPropose = "propose"
	OpRevoke  = "revoke"
)

// Grants is the answer of OpGrants.
type Grants struct {
	Now     time.Time `json:"now"` // by the store's clock
	Grants  []Grant   `json:"grants"`
	Trouble string    `json:"store_error,omitempty"` // why grants may be missing from the list
}

// A Grant is one approval that waits for calls.
type Grant struct {
	ID    string    `json:"id"`
	Kind  string    `json:"kind"` // once, session, or a time such as 15m
	Push  string    `json:"push"`
	By    string    `json:"by"`
	Until time.Time `json:"until"`
	Agent string    `json:"agent,omitempty"`
	Dir   string    `json:"dir,omitempty"`
}

// A Proposal is the answer of OpPropose.
type Proposal struct {
	Rule  string `json:"rule"`  // YAML, an item of rules
	Where string `json:"where"` // the file that it belongs into
}
