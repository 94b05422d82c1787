// Package display makes what people see: texts with their secrets masked, and every
// character visible.
//
// It knows texts only, no requests and no stores, so that every package may use it. Read
// call.go first: what a card shows of a call. mask.go finds and hides secrets, by the table
// of their forms in forms.go and keys.go, in JSON (members.go), and where known programs take
// credentials (package places). meaning.go decides what of a call must stay in sight because
// it says what runs or where; reading.go, with the patterns in text.go, is what it finds in the
// text. visible.go makes each character visible; environment.go, question.go and part.go are
// single lines and pages of a card; replace.go is for the outputs of programs.
package display
