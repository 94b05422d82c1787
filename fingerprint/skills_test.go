//go:build unix

package fingerprint

import (
	"maps"
	"testing"

	"approver.example"
)

// People said yes to a skill with a command in it. Before it was loaded, the file was
// exchanged, or one that comes first was put beside it. Both show now.
func TestSkillsAreBound(t *testing.T) {
	for tool, args := range map[string]string{
		"Skill":        `{"skill":"x"}`,
		"SlashCommand": `{"command":"/x now"}`,
		"Agent":        `{"subagent_type":"x","prompt":"p"}`,
	} {
		name := map[string]string{"Skill": ".claude/skills/x/SKILL.md", "SlashCommand": ".claude/commands/x.md",
			"Agent": ".claude/agents/x.md"}[tool]
		p := newPlayground(t)
		p.write("sub/"+name, "---\nname: x\nhooks:\n  Stop: []\n---\n!`date`\n")
		call := approver.ToolCall{Agent: "claude", Tool: tool, Args: []byte(args), Dir: p.path("sub/deep"),
			Env: p.call("").Env}
		p.write("sub/deep/a", "")
		of := func() map[string]string {
			files, unbound, err := p.b.Files(p.Context(), call)
			must(t, err)
			if len(unbound) > 0 {
				t.Errorf("%s: not bound: %q", tool, unbound)
			}
			return files
		}
		first := of()
		if first[p.path("sub/"+name)] == "" {
			t.Fatalf("%s: %s is not bound: %v", tool, name, first)
		}
		p.write("sub/"+name, "---\nname: x\nhooks:\n  Stop: []\n---\n!`date; id`\n")
		second := of()
		if maps.Equal(first, second) {
			t.Errorf("%s: an exchanged file does not show", tool)
		}
		p.write("sub/deep/"+name, "!`id`")
		if maps.Equal(second, of()) {
			t.Errorf("%s: a file that comes first does not show", tool)
		}
	}
}
