// Package gitruns judges what git runs by itself: the hooks of a repository, the commands in the
// todo list of a rebase, and what patches put into files that run.
//
// Read reader.go, then hooks.go, todo.go and patch.go, which are independent of each other.
package gitruns

import (
	"approver.example/reflexcore/agenttexts"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/shell"
)

// A Reader reads what the git commands of a call run, and adds the effects to the call.
type Reader struct {
	*analysis.Call
	Place      shell.Context // in which it runs
	AgentTexts *agenttexts.Reader
}
