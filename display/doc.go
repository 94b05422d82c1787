// Package display makes what people see: texts with their secrets masked, and every
// character visible.
//
// It knows texts only, no requests and no stores, so that every package may use it. Read
// it in this order: text.go and visible.go have what stands for itself; keys.go and
// forms.go are the one table of what secrets look like; mask.go hides them; call.go and meaning.go decide what of a call must stay in sight, because it
// says what runs or where; environment.go, question.go and unbound.go are single lines
// and pages of a card; replace.go is for the outputs of programs.
package display
