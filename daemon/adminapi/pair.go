package adminapi

import (
	"approver.example"
)

// The operations of the command pair.
const (
	OpPair  = "pair"         // wait for a code on a channel
	OpAdmit = "add_approver" // let people allow one more approver
)

// A PairRequest is the body of opPair, whose answer is an approver.Paired.
type PairRequest struct {
	Channel string `json:"channel"`
	Code    string `json:"code"`
}

// An AdmitRequest is the body of opAdmit.
type AdmitRequest struct {
	Channel string          `json:"channel"`
	Who     approver.Paired `json:"who"`
	Person  string          `json:"person,omitempty"`
	File    string          `json:"file"`
	Diff    []string        `json:"diff"`
}
