package adminapi

// FixMark separates a problem from its fix in one line.
const FixMark = "; fix: "

// CannotLook is the beginning of a line about something that cannot be checked.
const CannotLook = "cannot look "

// A trouble is one problem for which the exit code of status is 1. Status prints it, and
// doctor makes it a failed check, or a warning if it is about people. There is no other list
// of them.
type trouble struct {
	Part string // the part of status that prints it; or, for doctor, people and mode
	what string // what fails, in doctor's words
	Why  string
	Cure string
}

// The values of trouble.Part.
const (
	PartSocket    = "socket"
	PartStore     = "store"
	PartChannel   = "channel"
	PartPeople    = "people"
	PartHooks     = "hooks"
	PartMode      = "mode"
	PartFiles     = "files"
	PartModel     = "model"
	PartEvaluator = "evaluator"
	PartBudget    = "budget"
	PartAudit     = "audit"
)

// Text says what fails and why, in doctor's words.
func (t trouble) Text() string {
	if t.what == "" {
		return t.Why
	}
	return t.what + ": " + t.Why
}
