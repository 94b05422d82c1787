package adminapi

import (
	"approver.example"
	"approver.example/broadcaster"
)

// The operations on people.
const (
	OpPeople  = "people"
	OpRemove  = "remove_person"
	OpRestore = "restore_person"
	OpRecover = "recover_people" // make the lists count when nobody is left to approve them
)

// A PersonRequest is the body of all operations on people except OpPeople.
type PersonRequest struct {
	Person   string `json:"person,omitempty"` // their id, or channel:account
	Reason   string `json:"reason,omitempty"`
	Unlisted bool   `json:"unlisted,omitempty"` // this daemon's configuration need not list them
	// For OpRestore and OpRecover when nobody is asked. Show changes nothing and returns what
	// would count. Seen is the digest of what was shown. Unseen approves it without being shown.
	Show   bool   `json:"show,omitempty"`
	Seen   string `json:"seen,omitempty"`
	Unseen bool   `json:"unseen,omitempty"`
}

// People is the answer of OpPeople.
type People struct {
	People []Person `json:"people"`
	// Away are the removed people, including those whom no configuration lists.
	Away   []broadcaster.Removal `json:"removed"`
	Nobody string                `json:"nobody_can_approve,omitempty"`
}

// A Person is one person whom the configuration lists.
type Person struct {
	ID       string    `json:"id"`
	Accounts []Account `json:"accounts"`
}

// An Account is one of a person's accounts. Why is empty if its answers count.
type Account struct {
	Account string `json:"account"` // channel:id
	Name    string `json:"name,omitempty"`
	Why     string `json:"why_not,omitempty"`
}

// StillListed follows the line of somebody who was removed and whom the configuration still
// lists.
const StillListed = ", and still stands in the configuration: take them out there, too"

// AnyRequest stands for all requests in [Status.Nobody].
const AnyRequest = "ANY request"

// The operations by which root approves what nobody else can.
const (
	OpOwnerShow    = "owner_show"
	OpOwnerApprove = "owner_approve"
)

// An OwnerRequest is the body of these operations.
type OwnerRequest struct {
	Request string `json:"request"`
	Code    string `json:"code,omitempty"` // as typed, for OpOwnerApprove
}

// An OwnerAnswer is the answer of these operations. OpOwnerShow returns the whole card and a
// code for this purpose. Without a code, root answers the usual way.
type OwnerAnswer struct {
	Shown Shown  `json:"shown,omitzero"`
	Code  string `json:"code,omitempty"`
	Text  string `json:"text,omitempty"` // for OpOwnerApprove: the result
	Done  bool   `json:"done,omitempty"`
}

// The operations of the command pair.
const (
	OpPair   = "pair"         // wait for a code on a channel
	OpPassed = "pair_passed"  // what was sent there that was not the code
	OpAdmit  = "add_approver" // let people allow one more approver
)

// A PairRequest is the body of OpPair, whose answer is an approver.Paired, and without a code of
// OpPassed, whose answer is an approver.Passed.
type PairRequest struct {
	Channel string `json:"channel"`
	Code    string `json:"code,omitempty"`
}

// An AdmitRequest is the body of OpAdmit.
type AdmitRequest struct {
	Channel string          `json:"channel"`
	Who     approver.Paired `json:"who"`
	Person  string          `json:"person,omitempty"`
	File    string          `json:"file"`
	Diff    []string        `json:"diff"`
}
