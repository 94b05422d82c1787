package adminapi

// The operations by which root approves where nobody else can.
const (
	OpOwnerShow    = "owner_show"
	OpOwnerApprove = "owner_approve"
)

// An OwnerRequest is their body.
type OwnerRequest struct {
	Request string `json:"request"`
	Code    string `json:"code,omitempty"` // as typed, of opOwnerApprove
}

// An OwnerAnswer is the answer of opOwnerShow: the whole card, and a code of its own. Without
// a code root answers as everybody does.
type OwnerAnswer struct {
	Shown Shown  `json:"shown,omitzero"`
	Code  string `json:"code,omitempty"`
	Text  string `json:"text,omitempty"` // of opOwnerApprove: what became of it
	Done  bool   `json:"done,omitempty"`
}
