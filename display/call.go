package display

import (
	"bytes"
	"encoding/json"
	"strings"

	"approver.example/display/shape"
)

// A Call is the part of a tool call, or of a question that approver itself asks, that people
// are shown. This package handles only text, so it has its own type for a call.
type Call struct {
	Tool    string
	Command string // set when the tool is a shell
	Args    []byte // JSON
	Claimed string // the agent's own description
	Dir     string
	// OwnShell says that the tool is the agent's own shell, so Text leaves out its name.
	OwnShell bool
	// Describes says that the tool's argument "description" is Claimed and nothing else.
	Describes bool
	// Question says that approver itself asks, such as whether to end a freeze.
	Question bool
}

// Text returns the whole call for people: the command, or the tool with its arguments. The
// other arguments of a command (a timeout, a flag to run in the background) are shown too,
// because they also have an effect. An argument is left out only if the card certainly shows
// it elsewhere: the command itself and, with Describes, the description, which is Claimed.
// What "command" and "description" mean to any other tool is not known here. Every tool except
// the agent's own shell is named, because another tool runs the same command elsewhere.
func (c Call) Text() string {
	name, command, options := c.texts()
	return name + command + options
}

// texts returns the pieces of Text: the tool's name, the command or the arguments, and the
// other arguments of a command. A secret is recognized by the words around it, and only words
// of the same piece count.
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

// Shown is Mask for a call that people are asked about. A value that only its name marks as a
// secret is shown if it says what runs or where. obscured reports whether something is hidden
// that says or may say what runs or where.
func (call Call) Shown() (shown string, obscured bool) {
	v := call.view()
	return v.name + masked(v.text, v.hide), v.obscured
}

// A view is a prepared call with what is hidden in it. The whole text is name followed by text,
// which is a command or arguments and then, from options on, the other arguments of a command.
type view struct {
	name, text string
	options    int
	hide       []part
	kept       []string // values that look like secrets and are shown, because they say what runs or where
	obscured   bool
}

func (call Call) view() view {
	name, command, options := call.texts()
	v, parts := call.parts(name, command, options)
	s := v.text
	c := &reading{text: s, command: call.Command, left: shape.MaxSteps}
	// in a private key, or the name
	hidden := strings.Count(v.name+s, hiddenWords) > strings.Count(name+command+options, hiddenWords)
	v.obscured = Mask(call.Dir) != call.Dir || hidden && c.rereads()
	for _, p := range parts {
		m := c.of(p)    // also for what looks like our code: a cluster may be named confirm-east99
		if c.left < 0 { // nobody reads that much on a card either
			v.hide, v.obscured = append(v.hide, p), true
			continue
		}
		value := s[p.from:p.to]
		if m == meansChoice && (p.role == byName || p.role == inHeader) && !shape.IsOpaque(value) ||
			p.role == byName && inSight(s, value, parts) {
			v.kept = append(v.kept, value)
			continue
		}
		v.hide, v.obscured = append(v.hide, p), v.obscured || m != meansCredential
	}
	return v
}

// parts returns a call, whose texts these are, without what is known about its parts, and the parts of its text that
// Mask hides. The name of the tool, the command and its options are examined separately: a word before
// the command, or a closing quote after it, would change its meaning.
func (call Call) parts(name, command, options string) (v view, parts []part) {
	name, command, options = Mask(name), prepared(command), prepared(options)
	s := command + options
	v = view{name: name, text: s, options: len(command)}
	if call.Question {
		return v, ownParts(s)
	}
	parts = hiddenParts(command)
	if call.Command == "" {
		return v, memberParts(s, 0, parts)
	}
	if options == "" {
		return v, parts
	}
	for _, p := range hiddenParts(s) {
		if !overlaps(parts, p) {
			parts = append(parts, p)
		}
	}
	return v, memberParts(s, len(command), parts)
}
