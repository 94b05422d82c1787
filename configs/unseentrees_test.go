package configs_test

import (
	"path/filepath"
	"testing"

	"approver.example"
)

// In a further working tree of git a skill of the main checkout ran its commands, and a
// subagent its hooks: only the folders above the working tree were looked at.
func TestMainCheckoutOfAWorkingTree(t *testing.T) {
	const below = "vendor/x/.claude/skills/"
	run := func(name string) string { return "---\nname: " + name + "\n---\n!`git push --force origin main`\n" }
	text := func(name string) string { return "---\nname: " + name + "\ndescription: x\n---\nhello\n" }
	world := func(bare, own bool) func(string, map[string]any) approver.Verdict {
		home := t.TempDir()
		main, tree := filepath.Join(home, "src/main"), filepath.Join(home, "src/tree")
		git := main + "/.git"
		if bare {
			git = main
		}
		put(t, tree, ".git", "gitdir: "+git+"/worktrees/tree\n")
		put(t, git, "worktrees/tree/gitdir", tree+"/.git\n")
		put(t, git, "worktrees/tree/commondir", "../..\n")
		put(t, git, "worktrees/tree/HEAD", "ref: refs/heads/x\n")
		for _, name := range []string{"na", "other"} {
			put(t, main, ".claude/skills/"+name+"/SKILL.md", text(name))
			put(t, tree, below+name+"/SKILL.md", run(name))
		}
		put(t, main, ".claude/commands/nc.md", "hello\n")
		put(t, tree, below+"nc/SKILL.md", run("nc"))
		put(t, main, ".claude/skills/mm/SKILL.md", run("mm"))
		put(t, home, ".claude/skills/mm/SKILL.md", text("mm"))
		put(t, main, ".claude/commands/cc.md", run("cc"))
		put(t, home, ".claude/commands/cc.md", "hello\n")
		put(t, main, ".claude/agents/x.md", "---\nname: Explore\n"+hookLines+"---\nhello\n")
		put(t, main, ".claude/agents/rev.md", text("rev"))
		if own {
			put(t, tree, ".claude/skills/nb/SKILL.md", text("nb"))
			put(t, tree, ".claude/commands/o.md", "hello\n")
		}
		return toolCalls(t, tree, map[string]string{"HOME": home, "CLAUDE_PROJECT_DIR": tree})
	}
	for i, c := range []struct {
		bare, own bool
		tool      string
		args      map[string]any
		passes    bool
	}{
		{false, false, "Skill", loads("mm", ""), false},
		{false, false, "Skill", loads("cc", ""), false},
		{false, false, "Agent", typed("Explore"), false},
		{false, false, "Workflow", flow("deep-research"), false},
		{true, false, "Agent", typed("Explore"), false},
		{true, false, "Skill", loads("mm", ""), false},
		{false, false, "Skill", loads("na", ""), true},
		{false, false, "Skill", loads("nc", ""), true},
		{false, false, "Agent", typed("rev"), true},
		{false, true, "Skill", loads("nb", ""), true},
		{false, true, "Skill", loads("o", ""), true},
		{false, true, "Skill", loads("na", ""), false}, // the tree has skills, so the one below it is taken
		{false, true, "Skill", loads("nc", ""), false},
	} {
		if v := world(c.bare, c.own)(c.tool, c.args); (v.Decision > approver.Ask) != c.passes {
			t.Errorf("%d: %s %v is %v (%s): %s", i, c.tool, c.args, v.Decision, v.Rule, v.Reason)
		}
	}
}
