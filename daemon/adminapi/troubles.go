package adminapi

// FixMark stands between what is wrong and what mends it.
const FixMark = "; fix: "

// CannotLook begins a line about what cannot be looked at.
const CannotLook = "cannot look "

// A trouble is one thing for which the exit code of status is 1. Status prints it, and
// doctor makes a failed check of it, or a warning if it is about people: there is no other
// list.
type trouble struct {
	Part string // the part of status that prints it; or, for doctor, people and mode
	what string // what fails, in doctor's words
	Why  string
	Cure string
}

// The parts that have troubles.
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

// Text is what fails and why, in doctor's words.
func (t trouble) Text() string {
	if t.what == "" {
		return t.Why
	}
	return t.what + ": " + t.Why
}
