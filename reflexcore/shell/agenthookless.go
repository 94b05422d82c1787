package shell

import (
	"encoding/json"
	"strings"
)

// An agent that is started by its own program finds the hooks of the one that starts it,
// except in the ways of this file.

// elsewhere reports whether an agent is told to run its tools where it has none of the
// hooks that it has here: on a machine of its maker's, as a server of tools, with other
// settings than the ones on the disk, or in a way that is not known to be plain.
func elsewhere(id string, args []field) bool {
	return id == "claude" && (servesTools(args) || unhooks(args) || isDriven(args) || claudeWords(args))
}

// servesTools reports whether the words behind Claude Code's name make it a server that
// runs its tools for whoever writes to its input: claude mcp serve. No hook is asked
// there, not even one of managed settings.
func servesTools(args []field) bool {
	for i := range args {
		if args[i].text != "mcp" {
			continue
		}
		rest := args[i+1:]
		for len(rest) > 0 && (rest[0].text == "" || rest[0].text[0] == '-') {
			rest = rest[1:]
		}
		if len(rest) > 0 && (rest[0].text == "serve" || !rest[0].known()) {
			return true
		}
	}
	return false
}

// isDriven reports whether the words behind Claude Code's name hand this machine to whoever
// writes to its maker's server: claude remote-control.
func isDriven(args []field) bool {
	return len(args) > 0 && contains("remote-control rc", args[0].text) &&
		(len(args) == 1 || !contains("-h --help", args[len(args)-1].text))
}

// unhooks reports whether a flag of Claude Code keeps the hooks of users or projects out
// of one start, or puts others in their place.
func unhooks(args []field) bool {
	for i, f := range args {
		flag, value, joined := strings.Cut(f.text, "=")
		switch {
		case contains("--remote --cloud --teleport --managed-settings --restricted --worktree", flag):
			return true
		case flag == "--agents" && !joined:
			if i+1 < len(args) && mayHook(args[i+1]) {
				return true
			}
		case flag == "--agents":
			f.text = value
			if mayHook(f) {
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

// mayHook reports whether the agents that are defined for one start may run or load something
// of their own: hooks, which take the place of those in the settings, servers, skills, or what
// is not known. They are JSON, or the name of a file.
func mayHook(agents field) bool {
	var defined map[string]map[string]json.RawMessage
	if !agents.known() || json.Unmarshal([]byte(agents.text), &defined) != nil {
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
var agentKeys = wordSet(`description prompt tools disallowedTools model effort maxTurns autoCompactWindow memory background omitClaudeMd color`)

// plainAgentKey reports whether another key of an agent has a value that runs and loads nothing.
func plainAgentKey(key string, value json.RawMessage) bool {
	var text string
	var names []string
	switch key {
	case "permissionMode":
		return json.Unmarshal(value, &text) == nil && contains("default manual plan dontAsk auto", text)
	case "isolation":
		return string(value) == `"worktree"`
	case "initialPrompt": // one that begins with a slash loads a text
		return json.Unmarshal(value, &text) == nil && !strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\r\n\v\f\u00a0"), "/")
	case "mcpServers": // names are those of servers that are there already
		return json.Unmarshal(value, &names) == nil
	}
	return false
}

// isolates are the programs that run another one in a place of its own: with other files,
// another home or another user's session, where it may not find the settings that it has here.
var isolates = wordSet("bwrap firejail chroot unshare nsenter systemd-run flatpak-spawn wsl")
