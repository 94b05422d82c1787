package agentcli

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// plainClaude is the list of docs/agents/claude.md.
func plainClaude() string {
	list := func(names []string) string {
		slices.Sort(names)
		return "`" + strings.Join(names, "` `") + "`"
	}
	var commands, variables []string
	for name, quiet := range claudeQuiet {
		if quiet && !strings.HasSuffix(name, ":") {
			commands = append(commands, strings.ReplaceAll(name, ":", " "))
		}
	}
	for name := range claudeVariables {
		variables = append(variables, name)
	}
	return "- flags: " + list(slices.Collect(maps.Keys(claudeFlags))) + "\n" +
		"- commands: " + list(commands) + "\n" +
		"- variables, behind `CLAUDE_CODE_`: " + list(variables) + "\n"
}

// The page has exactly the flags, commands and variables with which a start of Claude Code is
// no question.
func TestThePageListsPlainStarts(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents/claude.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := plainClaude(); !strings.Contains(string(page), "\n"+want) {
		t.Errorf("docs/agents/claude.md does not list what is plain:\n%s", want)
	}
}
