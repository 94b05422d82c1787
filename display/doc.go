// Package display writes texts for people: secrets are masked, and every character is visible.
//
// It handles only text, no requests and no stores, so every package can use it. Read call.go
// first: it writes a call as one text. body.go makes the blocks of a card of it (edit.go and diff.go
// those of files), title.go its title, and cover.go hides in each block what is hidden in the text.
// warnings.go says in sentences what visible.go marks.
//
// mask.go finds and hides secrets: those of the forms in forms.go and keys.go, those in JSON
// (members.go), those that are split (split.go), and those in places where known programs take
// credentials (package places). meaning.go decides which parts of a call must be shown because they
// say what runs or where. It uses reading.go, which analyzes the text with the patterns in text.go.
// visible.go makes each character visible. environment.go, question.go and part.go write single
// parts of a card. replace.go is for the outputs of programs.
package display
