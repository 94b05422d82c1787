package agents

import "approver.example/agents/facts"

// Parts of blocking documents, up to the reason.
const (
	denyTool = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
		`"permissionDecisionReason":`
	denyPrompt = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":`
	denyFlat   = `{"permission":"deny","user_message":` // with a text for the user, which the model reads too
	block      = `{"decision":"block","reason":`
)

// others are the agents that have no [Adapter] yet, but whose blocking answer is known. The daemon
// does not decide their calls; their hooks block.
var others = [...]facts.Agent{}
