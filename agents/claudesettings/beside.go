package claudesettings

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"approver.example/agents/settings"
	"approver.example/internal/lazyregexp"
)

// Claude Code also reads hooks and tool servers from other files than its settings: the front
// matter of agents and skills, plugins, and lists of MCP servers.

// Beside says what a file other than the settings does to the hooks: the front matter of an agent
// or a skill, hooks.json of a plugin, or a list of MCP servers. A copy of approver's hook in such a
// file replaces the hook in the settings.
func Beside(s settings.Source, want settings.Want) (found []settings.Finding) {
	switch {
	case s.Missing:
		return nil
	case s.Err != nil:
		return []settings.Finding{{
			Harmless: true, Path: s.Path, Text: "cannot be read, so nobody can say which hooks it has: " + s.Err.Error(),
			Fix: "make it readable, or remove it",
		}}
	}
	text := unmarked(s.Text)
	if filepath.Ext(s.Path) == ".md" {
		text = frontMatter(text)
		if text == nil {
			return nil
		}
	}
	have, err := Read(s.Path, text)
	if err != nil {
		// It is not known here what Claude Code reads in it, or what an escape hides.
		escaped := escapedLetter().Match(text)
		if !escaped && !bytes.Contains(text, []byte("hook")) {
			return servers(s.Path, text)
		}
		return append([]settings.Finding{{
			Harmless: !escaped && !bytes.Contains(text, []byte("approver")), Path: s.Path,
			Text: "has hooks that cannot be read", Fix: "mend " + s.Path + ", or remove it",
		}}, servers(s.Path, text)...)
	}
	f := file{Source: s, Settings: have}
	for _, one := range f.others(want, true) {
		if !one.Harmless {
			one.Text += ": Claude Code runs equal command lines once, so this one can take the place of the hook in the settings"
			one.Fix = "take the hook out of " + s.Path
		} else if one.Fix == "" {
			continue // as good as the one in the settings
		}
		found = append(found, one)
	}
	return append(found, servers(s.Path, text)...)
}

// escapedLetter matches what can hide a word in JSON or YAML: a letter as a number, or a line that
// continues in the next. Escapes such as \n, which are frequent in descriptions, cannot.
var escapedLetter = lazyregexp.New(`\\(?:[xuU]|\r?\n)`)

// tagged matches a tag of YAML, which may change the key after it.
var tagged = lazyregexp.New(`(?m)(?:^|[\s,\[{])![^\s]`)

// frontMatter returns the YAML at the beginning of a text as JSON; nil: there is none. If it is not
// valid YAML, or if YAML parsers read it differently, the result is the text itself.
func frontMatter(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte("---"))
	if !ok {
		return nil
	}
	head, _, _ := bytes.Cut(rest, []byte("\n---"))
	var fields map[string]any
	if err := yaml.Unmarshal(head, &fields); err != nil || merges(fields) ||
		tagged().Match(head) && bytes.Contains(head, []byte("hook")) {
		return head
	}
	if fields["hooks"] == nil {
		return nil
	}
	asJSON, err := json.Marshal(map[string]any{"hooks": fields["hooks"]})
	if err != nil {
		return head
	}
	return asJSON
}

// merges reports whether a key << is left after parsing. Claude Code merges its value even if the
// key is in quotes, and the parser here does not.
func merges(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if key == "<<" || merges(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, merges)
	}
	return false
}

// agentServer matches the command line of an MCP server that is an agent. It runs tools of its own,
// and starts agents that ask nobody.
var agentServer = lazyregexp.New(`(?i)(^|[\s/@])(claude|claude-code)(@\S*|\.exe|\.cmd)?` +
	`\s(.*\s)?mcp\s(.*\s)?serve(\s|$)` +
	`|(^|[\s/@])claude-code/\S+\s(.*\s)?mcp\s(.*\s)?serve(\s|$)` +
	`|(^|[\s/@])codex(@\S*|\.exe|\.cmd)?\s(.*\s)?(mcp-server|mcp)(\s|$)`)

// Servers returns the MCP servers in a file that are agents themselves. A text that is not JSON has
// no server that Claude Code would start.
func Servers(s settings.Source) []settings.Finding {
	if s.Missing || s.Err != nil {
		return nil
	}
	return servers(s.Path, s.Text)
}

func servers(path string, text []byte) (found []settings.Finding) {
	text = unmarked(text)
	var projects map[string]json.RawMessage
	exactly(text, "projects", &projects)
	lists := []json.RawMessage{text}
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		lists = append(lists, projects[name])
	}
	for _, list := range lists {
		var all map[string]json.RawMessage
		exactly(list, "mcpServers", &all)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			var words []string
			exactly(all[name], "args", &words)
			var command string
			exactly(all[name], "command", &command)
			line := strings.Join(append([]string{command}, words...), " ")
			if agentServer().MatchString(line) {
				found = append(found, settings.Finding{
					Path: path, Text: "the MCP server " + name + " is an agent itself, " + shortened(line) +
						": what it runs asks no hook",
					Fix: "take the server " + name + " out of " + path,
				})
			}
		}
	}
	return found
}

// exactly reads the value of one key into what to points to. Like Claude Code, it compares the case
// of keys, and of two equal keys the last one counts; encoding/json would accept Command for
// command. If the text is not an object, or the value has another type, to has what could be read.
func exactly(object json.RawMessage, key string, to any) {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) == nil && len(all[key]) > 0 {
		_ = json.Unmarshal(all[key], to) // as the comment says
	}
}
