// Package agenttexts judges the texts that agents load, by what an agent's own program would
// make of them: skills, commands, subagents, workflows and plugins. Their commands run
// before any hook is asked.
//
// A [Reader] reads for one call. call.go is what a call loads, and start.go what an agent
// loads that a command starts: both find files by a loader, in plugins (plugins.go), in added
// folders and in further working trees (beside.go), and follow what a text brings with it
// (texts.go). prompts.go is what a call writes
// where such texts lie, and edits.go what an edit makes of them.
package agenttexts

import (
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/shell"
)

// A Reader reads the texts of one call, and adds to the call what they run.
type Reader struct {
	*analysis.Call
	Place shell.Context // in which they run
}
