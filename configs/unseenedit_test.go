package configs_test

import (
	"strings"
	"testing"

	"approver.example"
)

// A skill had a word that became hooks: by an edit in place, and neither the file nor the
// command looked like it. What comes out of a plain edit is judged now, as if it were written.
func TestEditsInPlaceOfTexts(t *testing.T) {
	const (
		skill, command = ".claude/skills/y/SKILL.md", ".claude/commands/c.md"
		almost         = "---\nname: y\nhoXs:\n  Stop:\n    - hoXs:\n        - type: command\n          command: date\n" +
			"---\nhello\n"
		server  = "---\nname: a\nmcpSeZers:\n  - x:\n      command: date\n---\n"
		commits = "---\nallowed-tools: Bash(git status:*)\n---\n- !`git status`\n- !`git diff HEAD`\nRun npm test.\n"
		plain   = "---\nname: y\ndescription: x\n---\nRead `notes` and hook things to the server.\nRun `npm test`!\n"
	)
	for i, c := range []struct {
		command, file, text string
		passes              bool
	}{
		{"sed -i s/X/ok/ " + skill, skill, almost, false},
		{"sed -i s/X/ok/g " + skill, skill, almost, false},
		{"sed -i 's/X/ok/g' " + skill, skill, almost, false},
		{"sed -i \"s|X|ok|\" " + skill, skill, almost, false},
		{"sed -i 's/X./oks/' " + skill, skill, almost, false},
		{"sed -i 's/x/ok/I' " + skill, skill, almost, false},
		{"sed -i -E 's/(X)/ok/' " + skill, skill, almost, false},
		{"sed -i -f s/X/ok/ " + skill, skill, almost, false},
		{"sed -i s/Z/rv/ .claude/agents/a.md", ".claude/agents/a.md", server, false},
		{"sed -i 's/git status/date/' " + command, command, commits, false},
		{"sed -i 's/status/status --output=x/' " + command, command, commits, false},
		// which of them is replaced is not looked at
		{"sed -i 's/hello/hello/2' " + command, command, "hello hello\n", false},
		{"sed -i 's/x.y/hooks/' " + skill, skill, "---\nname: y\nxéy:\n  Stop: []\n---\n", false},
		{"sed -i 's/git status/git status -s/' " + command, command, commits, true},
		{"sed -i 's/git diff HEAD/git diff --stat HEAD/g' " + command, command, commits, true},
		{"sed -i 's#npm#yarn#' " + command, command, commits, true},
		{"sed -i 's/notes/release notes/' " + skill, skill, plain, true},
		{"sed -i s/hook/book/ " + skill, skill, plain, true},
		{"sed -i 's/server/servers/g' " + skill, skill, plain, true},
		{"sed -i -e 's/npm test/npm run test/' " + skill, skill, plain, true},
		{"sed -i '' 's|npm test|pnpm test|g' " + skill, skill, plain, true},
		{"sed -i 's/gone/x/' " + skill, skill, plain, true},
		{"sed -i 's/x.y/z/' " + skill, skill, plain, true},
		{"sed -i s/a/b/ .claude/commands/gone.md", skill, plain, true},
	} {
		if v := (loadRow{"", files(c.file, c.text), "Bash",
			runs(c.command)}).judged(t); (v.Decision > approver.Ask) != c.passes {
			t.Errorf("%d: %s is %v (%s): %s", i, c.command, v.Decision, v.Rule, v.Reason)
		}
	}
}

// The usual command that commits shows the state of the repository first, and writing it was
// a question. What git only tells is none.
func TestTextsThatOnlyTellOfTheRepository(t *testing.T) {
	for command, passes := range map[string]bool{
		"git status": true, "git diff HEAD": true, "git branch --show-current": true, "git log --oneline -10": true,
		"git status -s":            true,
		"git diff --cached --stat": true, "git diff main...HEAD": true, "git log --oneline origin/main..HEAD": true,
		"git rev-parse --abbrev-ref HEAD": true,
		"git diff --output=x":             false, "git diff --ext-diff": false, "git -c core.pager=x log": false,
		"git status; date": false, "git log | sh": false,
		"git branch -D x": false, "git diff $ARGUMENTS": false, "git push": false, "date": false, "git  status && x": false,
		"git status\ndate": false,
	} {
		text := "---\nallowed-tools: Bash(git add:*)\ndescription: Create a git commit\n---\n- !`" + command + "`\nCommit.\n"
		for tool, args := range map[string]map[string]any{
			"Write": {"file_path": ".claude/commands/commit.md", "content": text},
			"Bash":  {"command": "cat > .claude/commands/commit.md <<'END'\n" + text + "END\n"},
		} {
			if v := (loadRow{"", nil, tool, args}).judged(t); (v.Decision > approver.Ask) != passes {
				t.Errorf("%s of %q is %v (%s): %s", tool, command, v.Decision, v.Rule, v.Reason)
			}
		}
	}
}

// Claude Code reads a file beside a SKILL.md as it reads any file, and it runs nothing of it:
// to write one that shows a command was a question.
func TestTextsBesideASkill(t *testing.T) {
	plugin := files(".claude/skills/plug/.claude-plugin/plugin.json", `{"name":"plug","commands":["./more.md"]}`,
		".claude/skills/old/reference.md", forced)
	for name, passes := range map[string]bool{
		".claude/skills/deploy/reference.md": true, ".claude/skills/deploy/references/api.md": true,
		"~/.claude/skills/deploy/README.md": true,
		".claude/skills/deploy/SKILL.md":    false, ".claude/skills/deploy/skill.md": false,
		".claude/skills/deploy/commands/a.md": false,
		".claude/skills/plug/more.md":         false, ".claude/skills/deploy/agents/a.md": false,
		".claude/commands/reference.md":          false,
		".claude/skills/x/.claude/commands/a.md": false, ".claude/skills/x/SKILL.md/../SKILL.md": false,
	} {
		command := "mkdir -p x && cat > " + name + " <<'END'\nUse !`date`.\nEND\n"
		if v := (loadRow{"", plugin, "Bash", runs(command)}).judged(t); (v.Decision > approver.Ask) != passes {
			t.Errorf("%s is %v (%s): %s", name, v.Decision, v.Rule, v.Reason)
		}
		if strings.HasPrefix(name, "~") {
			continue
		}
		if v := (loadRow{"", plugin, "Write",
			map[string]any{"file_path": name, "content": "Use !`date`.\n"}}).judged(t); (v.Decision > approver.Ask) != passes {
			t.Errorf("Write %s is %v (%s): %s", name, v.Decision, v.Rule, v.Reason)
		}
	}
	for _, command := range []string{
		"mv .claude/skills/old/reference.md .claude/skills/old/SKILL.md", "cp -r .claude/skills/old .claude/commands/",
		"ln -s reference.md .claude/skills/old/SKILL.md",
		"git mv .claude/skills/old/reference.md .claude/skills/old/SKILL.md",
	} {
		if v := (loadRow{"", plugin, "Bash", runs(command)}).judged(t); v.Decision > approver.Ask {
			t.Errorf("%s is %v", command, v.Decision)
		}
	}
}
