package adminapi

import "approver.example/broadcaster"

// The operations on people.
const (
	OpPeople  = "people"
	OpRemove  = "remove_person"
	OpRestore = "restore_person"
	OpRecover = "recover_people" // let the configuration's lists count, where nobody is left to approve them
)

// A PersonRequest is the body of all but opPeople.
type PersonRequest struct {
	Person   string `json:"person,omitempty"` // their id, or channel:account
	Reason   string `json:"reason,omitempty"`
	Unlisted bool   `json:"unlisted,omitempty"` // the configuration here does not have them
	// Of opRestore and opRecover, where nobody is asked: change nothing, and say what would
	// count; the digest of what was shown; and that the caller wants to see nothing.
	Show   bool   `json:"show,omitempty"`
	Seen   string `json:"seen,omitempty"`
	Unseen bool   `json:"unseen,omitempty"`
}

// A People is the answer of opPeople.
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
