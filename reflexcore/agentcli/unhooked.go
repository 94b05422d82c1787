package agentcli

import (
	"encoding/json"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// An agent that is started by its own program uses the hooks of the one that starts it, except in
// the ways in this file.

// Unhooked reports whether an agent is started in a way in which it may run its tools without its
// hooks: on a machine of its vendor, as a tool server, with other settings than those on the disk,
// or in a way that is not known to be harmless.
func Unhooked(id string, args []string) bool {
	if id == "claude" {
		return servesTools(args) || unhooks(args) || isRemoteControlled(args) || claudeWords(args)
	}
	return id != "" && slices.ContainsFunc(programs, func(a Agent) bool { return a.ID == id && a.isApart(args) })
}

// isApart reports whether the words after an agent's name start it apart from the hooks of the one that
// starts it.
func (a *Agent) isApart(args []string) bool {
	if a.apart == "" || !a.Begins(args, false) {
		return false
	}
	first := 0
	for first < len(args) && strings.HasPrefix(args[first], "-") {
		first++
	}
	for i, word := range args {
		name, _, _ := strings.Cut(word, "=")
		isWord := i == first && (wordset.Has(a.apart, name) || i+1 < len(args) && wordset.Has(a.apart, name+":"+args[i+1]))
		if isWord || strings.HasPrefix(name, "-") && wordset.Has(a.apart, name) {
			return true
		}
	}
	return false
}

// servesTools reports whether Claude Code is started as a server that runs its tools for whoever
// writes to its input: claude mcp serve. No hook is asked then, not even one of managed settings.
func servesTools(args []string) bool {
	for i := range args {
		if args[i] != "mcp" {
			continue
		}
		rest := args[i+1:]
		for len(rest) > 0 && (rest[0] == "" || rest[0][0] == '-') {
			rest = rest[1:]
		}
		if len(rest) > 0 && (rest[0] == "serve" || !effect.IsKnown(rest[0])) {
			return true
		}
	}
	return false
}

// isRemoteControlled reports whether Claude Code is started so that it can be controlled over its vendor's
// server: claude remote-control.
func isRemoteControlled(args []string) bool {
	return len(args) > 0 && wordset.Has("remote-control rc", args[0]) &&
		(len(args) == 1 || !wordset.Has("-h --help", args[len(args)-1]))
}

// unhooks reports whether a flag of Claude Code disables or replaces the hooks of users or projects
// for one start.
func unhooks(args []string) bool {
	for i, f := range args {
		flag, value, joined := strings.Cut(f, "=")
		switch {
		case wordset.Has("--remote --cloud --teleport --managed-settings --restricted --worktree", flag):
			return true
		case flag == "--agents" && !joined:
			if i+1 < len(args) && definesHooks(args[i+1]) {
				return true
			}
		case flag == "--agents":
			f = value
			if definesHooks(f) {
				return true
			}
		case len(flag) > 1 && flag[0] == '-' && flag[1] != '-': // -w x, -wx, -pw x
			if strings.HasPrefix(strings.TrimLeft(flag[1:], "pc"), "w") {
				return true
			}
		}
	}
	return false
}

// definesHooks reports whether agents that are defined for one start may run or load something of their
// own: hooks, which replace those in the settings, servers, skills, or something unknown. They are
// JSON, or the name of a file.
func definesHooks(agents string) bool {
	var defined map[string]map[string]json.RawMessage
	if !effect.IsKnown(agents) || json.Unmarshal([]byte(agents), &defined) != nil {
		return true
	}
	for _, keys := range defined {
		for key, value := range keys {
			if !agentKeys[key] && !plainAgentKey(key, value) {
				return true
			}
		}
	}
	return false
}

// agentKeys are the keys of an agent that run and load nothing.
var agentKeys = wordset.Of(`description prompt tools disallowedTools model effort maxTurns autoCompactWindow memory ` +
	`background omitClaudeMd color`)

// plainAgentKey reports whether another key of an agent has a value that runs and loads nothing.
func plainAgentKey(key string, value json.RawMessage) bool {
	var text string
	var names []string
	switch key {
	case "permissionMode":
		return json.Unmarshal(value, &text) == nil && wordset.Has("default manual plan dontAsk auto", text)
	case "isolation":
		return string(value) == `"worktree"`
	case "initialPrompt": // one that begins with a slash loads a text
		return json.Unmarshal(value, &text) == nil &&
			!strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\r\n\v\f\u00a0"), "/")
	case "mcpServers": // names are those of servers that are there already
		return json.Unmarshal(value, &names) == nil
	}
	return false
}
