package agents

import (
	"bytes"
	"cmp"
	"encoding/json"

	"approver.example"
	"approver.example/agents/blocking"
)

// This file has the documents that several agents read.

// Parts of blocking documents, up to the reason.
const (
	denyTool = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
		`"permissionDecisionReason":`
	denyPrompt  = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":`
	noteFailure = `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":`
	denyWord    = `{"decision":"deny","reason":`
	block       = `{"decision":"block","reason":`
)

// The documents of Claude Code, which others read as well. Field order is the order of the output.
type (
	claudeOutput struct {
		SystemMessage string          `json:"systemMessage,omitempty"`
		Specific      *claudeSpecific `json:"hookSpecificOutput"`
	}
	claudeSpecific struct {
		Event    string          `json:"hookEventName"`
		Decision string          `json:"permissionDecision,omitempty"`
		Reason   string          `json:"permissionDecisionReason,omitempty"`
		Prompt   *claudePrompt   `json:"decision,omitempty"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
		Context  string          `json:"additionalContext,omitempty"`
		Output   json.RawMessage `json:"updatedToolOutput,omitempty"`
	}
	claudePrompt struct {
		Behavior    string            `json:"behavior"`
		Input       json.RawMessage   `json:"updatedInput,omitempty"`
		Permissions []json.RawMessage `json:"updatedPermissions,omitempty"`
	}
)

// permitLikeClaude returns the document for an agent that reads those of Claude Code's hooks.
func permitLikeClaude(ev Event, v approver.Verdict, args json.RawMessage) any {
	out := &claudeOutput{Specific: &claudeSpecific{Event: ev.Name}}
	yes := v.Decision == approver.Modify || v.Decision == approver.Allow && ev.Kind != Ran
	switch {
	case yes && ev.Kind == Prompted:
		out.Specific.Prompt = &claudePrompt{Behavior: "allow", Input: args}
	case yes:
		out.Specific.Decision, out.Specific.Input = "allow", args
		out.Specific.Reason = allowed(v)
	case v.Decision == approver.Warn && ev.Kind != Prompted:
		out.Specific.Context = warning(v)
	default:
		return nil
	}
	return out
}

// warning and allowed are the texts of a Warn, and of a yes with a place for one.
func warning(v approver.Verdict) string {
	return blocking.Line(cmp.Or(v.Reason, "take care with this call"))
}
func allowed(v approver.Verdict) string {
	return blocking.Line(cmp.Or(v.Reason, "allowed by approver"))
}

// encoded writes JSON with a line end, and < and & as they are. Without an indent it is one line.
func encoded(doc any, indent string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(doc)
	return out.Bytes(), err
}
