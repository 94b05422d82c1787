// Package agenttexts judges the texts that agents load, in the way in which an agent's program
// reads them: skills, commands, subagents, workflows and plugins. Their commands run before any
// hook is asked.
//
// A [Reader] reads for one call. call.go judges what a call loads, and start.go what an agent loads
// that a command starts. Both find files with a loader, also in plugins (plugins.go), and in added
// folders and linked working trees (beside.go), and then judge what a text loads (texts.go).
// prompts.go judges what a call writes to places of such texts, and edits.go the result of an edit.
package agenttexts

import (
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/shell"
)

// A Reader reads the texts of one call, and adds what they run to the call.
type Reader struct {
	*analysis.Call
	Place shell.Context // in which they run

	// plugins are the paths that were looked up last, and what they are in a plugin.
	plugins [4]pluginText
	looked  int

	judges bool                // what the call writes for agents is judged
	asks   func(string) string // see [Reader.Orders]
}

type pluginText struct{ path, as string }
