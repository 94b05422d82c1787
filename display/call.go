package display

import (
	"bytes"
	"encoding/json"
	"strings"

	"approver.example/display/shape"
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
		if rest, err := EncodeJSON(args); len(args) < all && err == nil {
			options = string(rest)
		}
	}
	if options == "" || options == "{}" {
		return name, c.Command, ""
	}
	return name, c.Command, "\n\n" + c.Tool + " options: " + options
}

// Shown is Mask for a call that people are asked about. A value that is a secret only by its
// name, and that says what runs or where, is shown. obscured reports whether something is
// hidden that says this, or may say it.
func (call Call) Shown() (shown string, obscured bool) {
	raw := call.Text()
	name, s, parts := call.parts()
	c := &reading{text: s, command: call.Command, left: shape.MaxSteps}
	hidden := strings.Count(name+s, hiddenWords) > strings.Count(raw, hiddenWords) // in private keys, or the tool's name
	obscured = Mask(call.Dir) != call.Dir || hidden && c.rereads()
	var hide []part
	for _, p := range parts {
		m := c.of(p)    // also of what looks like a code of ours: a cluster may be called confirm-east99
		if c.left < 0 { // nobody reads so much on a card either
			hide, obscured = append(hide, p), true
			continue
		}
		value := s[p.from:p.to]
		if m == meansChoice && (p.role == byName || p.role == inHeader) && !shape.IsOpaque(value) ||
			p.role == byName && inSight(s, value, parts) {
			continue
		}
		hide, obscured = append(hide, p), obscured || m != meansCredential
	}
	return name + masked(s, hide), obscured
}

// parts is the text of a call, prepared, and what Mask hides of it. The command, its
// options and the name of the tool are looked at one by one: with a word put before it, or
// with a quote closed behind it, a command would be read as another. name stays before s.
func (call Call) parts() (name, s string, parts []part) {
	name, command, options := call.texts()
	name, command, options = Mask(name), prepared(command), prepared(options)
	s = command + options
	if call.Question {
		return name, s, ownParts(s)
	}
	parts = hiddenParts(command)
	if call.Command == "" {
		return name, s, memberParts(s, 0, parts)
	}
	if options == "" {
		return name, s, parts
	}
	for _, p := range hiddenParts(s) {
		if !overlaps(parts, p) {
			parts = append(parts, p)
		}
	}
	return name, s, memberParts(s, len(command), parts)
}
