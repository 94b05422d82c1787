package claudesettings

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"approver.example/agents/settings"
)

// Claude Code takes hooks and servers of tools from more than its settings: from the front
// matter of agents and skills, from plugins, and from lists of MCP servers.

// Beside says what a file that is none of the settings does to the hooks: the front matter
// of an agent or a skill, hooks.json of a plugin, or a list of MCP servers. A copy of
// approver's hook there takes the place of the one in the settings.
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
		// What Claude Code makes of it nobody knows here, nor what an escape hides.
		escaped := escapedLetter.Match(text)
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

// What can hide a word in JSON or YAML: a letter by its number, or a line that goes on in the
// next. \n and its like, of which descriptions are full, cannot.
var escapedLetter = regexp.MustCompile(`\\(?:[xuU]|\r?\n)`)

// tagged matches a tag of YAML, which may make another key of what is behind it.
var tagged = regexp.MustCompile(`(?m)(?:^|[\s,\[{])![^\s]`)

// frontMatter returns the YAML at the head of a text as JSON; nil: there is none. Of one
// that is no YAML, or that readers of YAML take for different things, it returns the text
// itself.
func frontMatter(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte("---"))
	if !ok {
		return nil
	}
	head, _, _ := bytes.Cut(rest, []byte("\n---"))
	var fields map[string]any
	if err := yaml.Unmarshal(head, &fields); err != nil || merges(fields) ||
		tagged.Match(head) && bytes.Contains(head, []byte("hook")) {
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

// merges reports a key << that is left. Where it is quoted, Claude Code merges what is
// behind it as if it were not, and the reader here does not.
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

// agentServer matches the command line of an MCP server that is an agent: it runs tools of
// its own, and starts agents that ask nobody.
var agentServer = regexp.MustCompile(`(?i)(^|[\s/@])(claude|claude-code)(@\S*|\.exe|\.cmd)?` +
	`\s(.*\s)?mcp\s(.*\s)?serve(\s|$)` +
	`|(^|[\s/@])claude-code/\S+\s(.*\s)?mcp\s(.*\s)?serve(\s|$)` +
	`|(^|[\s/@])codex(@\S*|\.exe|\.cmd)?\s(.*\s)?(mcp-server|mcp)(\s|$)`)

// Servers names the MCP servers in a file that are agents themselves. A text that is no
// JSON has none that Claude Code would start.
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
			if agentServer.MatchString(line) {
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

// exactly reads the value of one key into what to points to. A key counts as it is written,
// and the last of two does, as Claude Code reads; encoding/json takes Command for command.
// What is no object, or of another kind, leaves to as far as it could be read.
func exactly(object json.RawMessage, key string, to any) {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) == nil && len(all[key]) > 0 {
		_ = json.Unmarshal(all[key], to) // as the comment says
	}
}
