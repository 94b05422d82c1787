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
	OpRecover = "recover_people" // let the configuration's lists count, where nobody is left to approve them
)

// A PersonRequest is the body of all but OpPeople.
type PersonRequest struct {
	Person   string `json:"person,omitempty"` // their id, or channel:account
	Reason   string `json:"reason,omitempty"`
	Unlisted bool   `json:"unlisted,omitempty"` // the configuration here does not have them
	// Of OpRestore and OpRecover, where nobody is asked: change nothing, and say what would
	// count; the digest of what was shown; and that the caller wants to see nothing.
	Show   bool   `json:"show,omitempty"`
	Seen   string `json:"seen,omitempty"`
	Unseen bool   `json:"unseen,omitempty"`
}

// A People is the answer of OpPeople.
type People struct {
	People []Person `json:"people"`
	// Away are those who were removed, also where no configuration has them.
	Away   []broadcaster.Removal `json:"removed"`
	Nobody string                `json:"nobody_can_approve,omitempty"`
}

// A Person is one person of the configuration.
type Person struct {
	ID       string    `json:"id"`
	Accounts []Account `json:"accounts"`
}

// An Account is one of their accounts. Why is empty where its answers count.
type Account struct {
	Account string `json:"account"` // channel:id
	Name    string `json:"name,omitempty"`
	Why     string `json:"why_not,omitempty"`
}

// StillListed is said of somebody who was removed, and whom the configuration has.
const StillListed = ", and still stands in the configuration: take them out there, too"

// AnyRequest is which requests, where nobody can approve one.
const AnyRequest = "ANY request"

// The operations by which root approves where nobody else can.
const (
	OpOwnerShow    = "owner_show"
	OpOwnerApprove = "owner_approve"
)

// An OwnerRequest is their body.
type OwnerRequest struct {
	Request string `json:"request"`
	Code    string `json:"code,omitempty"` // as typed, of OpOwnerApprove
}

// An OwnerAnswer is the answer of OpOwnerShow: the whole card, and a code of its own. Without
// a code root answers as everybody does.
type OwnerAnswer struct {
	Shown Shown  `json:"shown,omitzero"`
	Code  string `json:"code,omitempty"`
	Text  string `json:"text,omitempty"` // of OpOwnerApprove: what became of it
	Done  bool   `json:"done,omitempty"`
}

// The operations of the command pair.
const (
	OpPair  = "pair"         // wait for a code on a channel
	OpAdmit = "add_approver" // let people allow one more approver
)

// A PairRequest is the body of OpPair, whose answer is an approver.Paired.
type PairRequest struct {
	Channel string `json:"channel"`
	Code    string `json:"code"`
}

// An AdmitRequest is the body of OpAdmit.
type AdmitRequest struct {
	Channel string          `json:"channel"`
	Who     approver.Paired `json:"who"`
	Person  string          `json:"person,omitempty"`
	File    string          `json:"file"`
	Diff    []string        `json:"diff"`
}
