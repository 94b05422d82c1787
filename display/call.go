package display

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A Call is what people are shown of a tool call, or of a question that approver itself
// asks. This package knows texts only, so it has words of its own for a call.
type Call struct {
	Tool    string
	Command string // set when the tool is a shell
	Args    []byte // JSON
	Claimed string // the agent's own description
	Dir     string
	// OwnShell says that the tool is the agent's own shell, which needs no name.
	OwnShell bool
	// Describes says that the tool's argument "description" is Claimed and nothing else.
	Describes bool
	// Question says that approver itself asks, such as whether a freeze is to end.
	Question bool
}

// Text is the whole call for people: the command, or the tool with its
// arguments. Arguments beside a command (a time-out, a flag to run in the
// background) are shown too, because they run too. An argument is left out only
// if it is sure to stand elsewhere on the card: the command itself, and what a
// tool that Describes is told for its user to read, which is Claimed. What
// "command" and "description" mean to any other tool is not known here. Every
// tool but the agent's own shell is named: the same words run elsewhere there.
func (c Call) Text() string {
	name, command, options := c.texts()
	return name + command + options
}

// texts are the pieces of Text: the tool's name, the command or the arguments, and the
// arguments beside a command. A secret is known by the words around it, and only those
// of the same piece are.
func (c Call) texts() (name, command, options string) {
	if c.Question {
		return "", c.ownText(), ""
	}
	if c.Command == "" {
		var pretty bytes.Buffer
		switch {
		case len(c.Args) == 0:
			return c.Tool, "", ""
		case json.Indent(&pretty, c.Args, "", "  ") != nil:
			return c.Tool + " ", string(c.Args), ""
		}
		return c.Tool + " ", unescapeHTML(pretty.String()), ""
	}
	if !c.OwnShell {
		name = c.Tool + ": "
	}
	elsewhere := map[string]string{"command": c.Command}
	if c.Describes {
		elsewhere["description"] = c.Claimed
	}
	args := map[string]json.RawMessage{}
	options = string(c.Args)
	if json.Unmarshal(c.Args, &args) == nil {
		all := len(args)
		for key, shown := range elsewhere {
			var value string
			if raw := args[key]; len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &value) == nil && value == shown {
				delete(args, key)
			}
		}
		var rest bytes.Buffer
		enc := json.NewEncoder(&rest)
		enc.SetEscapeHTML(false)
		if len(args) < all && enc.Encode(args) == nil {
			options = strings.TrimSpace(rest.String())
		}
	}
	if options == "" || options == "{}" {
		return name, c.Command, ""
	}
	return name, c.Command, "\n\n" + c.Tool + " options: " + options
}
