package approver

import "approver.example/display"

// Display is what people are shown of a call.
func (c ToolCall) Display() display.Call {
	return display.Call{
		Tool: c.Tool, Command: c.Command, Args: c.Args, Claimed: c.Claimed, Dir: c.Dir,
		OwnShell: c.Agent == "claude" && c.Tool == "Bash", Describes: c.hasClaim(), Question: c.own(),
	}
}

// Text is the whole call for people; see [display.Call.Text].
func (c ToolCall) Text() string { return c.Display().Text() }

// obscured reports that the card of a request hides something that may say what
// runs, or where. It takes the typed code, once.
func (r Request) obscured() bool {
	_, hidden := r.Call.Display().Shown()
	return hidden || display.HidesEnvironment(r.Call.Environment)
}

// hasClaim reports a tool whose argument "description" is Claimed and nothing else.
func (c ToolCall) hasClaim() bool {
	return c.Agent == "claude" && (c.Tool == "Bash" || c.Tool == "PowerShell" || c.Tool == "Monitor")
}
