// Package gitruns judges what git runs by itself: the hooks of a repository, the commands in
// what a rebase is to do, and what differences put into files that run.
//
// Read reader.go, then hooks.go, todo.go and patch.go: each is judged by itself.
package gitruns

import (
	"approver.example/reflexcore/agenttexts"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/shell"
)

// A Reader reads what the git of one call runs, and adds to the call what that does.
type Reader struct {
	Call  *analysis.Call
	Place shell.Context // in which it runs
	Texts *agenttexts.Reader
}
