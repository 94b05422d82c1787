package approver

import (
	"approver.example/agents/facts"
	"approver.example/display"
)

// Display is what people are shown of a call.
func (c ToolCall) Display() display.Call {
	return display.Call{
		Tool: c.Tool, Command: c.Command, Args: c.Args, Claimed: c.Claimed, Dir: c.Dir,
		OwnShell: facts.OwnShell(c.Agent, c.Tool), Describes: c.hasClaim(), Question: c.AboutApprover(),
	}
}

// Text is the whole call for people; see [display.Call.Text].
func (c ToolCall) Text() string { return c.Display().Text() }

// hasClaim reports a tool whose argument "description" is Claimed and nothing else.
func (c ToolCall) hasClaim() bool {
	return facts.Describes(c.Agent, c.Tool)
}

// AboutApprover reports a question about approver itself. No agent's call is one.
func (c ToolCall) AboutApprover() bool { return c.Own || c.Control != "" }
