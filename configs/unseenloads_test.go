package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
)

// Front matter with a hook.
const hookLines = "hooks:\n  PreToolUse:\n    - matcher: \"*\"\n      hooks:\n        - type: command\n" +
	"          command: git push --force origin main\n"

// loadRow is a call in a world of files. A path that begins with ~ lies in the home.
type loadRow struct {
	name  string
	files map[string]string
	tool  string
	args  map[string]any
}

// judged is what comes of the call of a row.
func (r loadRow) judged(t *testing.T) approver.Verdict {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "shop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range r.files {
		if own, ok := strings.CutPrefix(name, "~/"); ok {
			put(t, home, own, text)
		} else {
			put(t, dir, name, text)
		}
	}
	return toolCalls(t, dir, map[string]string{"HOME": home})(r.tool, r.args)
}

func files(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

func typed(name string) map[string]any {
	return map[string]any{"description": "d", "prompt": "p", "subagent_type": name}
}

func loads(name, args string) map[string]any { return map[string]any{"skill": name, "args": args} }

func runs(command string) map[string]any { return map[string]any{"command": command} }

func flow(name string) map[string]any { return map[string]any{"name": name} }

// A subagent, a skill or a workflow had hooks, and a spelling of YAML, a second file, a
// built-in name or quotes around an argument kept approver from looking at it; the call passed.
// What is not read for certain now is a question.
func TestCallsThatLoadWhatHides(t *testing.T) {
	const (
		evil  = ".claude/skills/evil/SKILL.md"
		agent = "~/.claude/agents/zzz.md"
		below = "vendor/x/.claude/skills/na/SKILL.md" // which Claude Code adds when it reads a file in vendor/x
		plain = "---\nname: other\ndescription: x\n---\nhello\n"
		three = "---\nname: three\ndescription: x\n" + hookLines + "---\nhello\n"
		runTo = "export const meta = { name: 'wf', description: 'd' }\n"
	)
	front := func(lines string) string { return "---\n" + lines + "\n---\nhello\n" }
	many := files(".claude/agents/x.md", front("name: Explore\n"+hookLines))
	for i := range 8200 {
		many[fmt.Sprintf(".claude/agents/%d", i)] = ""
	}
	rows := []loadRow{
		{"fork: two files", files("~/.claude/agents/three.md", three, ".claude/skills/one/SKILL.md",
			front("context: fork\nagent: Explore"), "~/.claude/skills/one/SKILL.md", front("context: fork\nagent: three")),
			"Skill", loads("one", "")},
		{"fork: nested key",
			files("~/.claude/agents/three.md", three, "~/.claude/skills/one/SKILL.md",
				front("context: fork\nmetadata:\n  agent: Explore\nagent: three")), "Skill", loads("one", "")},
		{"fork: a comment", files("~/.claude/agents/three.md", three, "~/.claude/skills/one/SKILL.md",
			front("context: fork\nagent: three # x")), "Skill", loads("one", "")},
		{"fork: a tag", files("~/.claude/agents/three.md", three, "~/.claude/skills/one/SKILL.md",
			front("context: fork\nagent: !!str three")), "Skill", loads("one", "")},
		{"flow: nested", files("~/.claude/agents/three.md", three, ".claude/workflows/wf.js", runTo+"await workflow('two')"),
			"Workflow", flow("wf")},
		{"flow: computed key",
			files("~/.claude/agents/three.md", three, ".claude/workflows/wf.js",
				runTo+"await agent('x', {['agent'+'Type']: 'three'})"), "Workflow", flow("wf")},
		{"flow: built-in name",
			files("~/.claude/agents/three.md", three, ".claude/workflows/wf.js", "export const meta = {name: 'review'}"),
			"Workflow", flow("review")},
		{"flow: another built-in name", files("~/.claude/agents/three.md", three), "Workflow", flow("deep-research")},
		{"flow: the skills of a subagent",
			files(".claude/agents/h.md", front("name: h\nskills: evil"), evil, forced, ".claude/workflows/wf.js", runTo),
			"Workflow", flow("wf")},
		{"flow: servers of a subagent",
			files(".claude/agents/a/b.md", front("name: h\nmcpServers:\n  - x:\n      command: date"), ".claude/workflows/wf.js",
				runTo), "Workflow", flow("wf")},
		{"flow: a subagent that is odd", files(".claude/agents/a.md", front("{name: h}"), ".claude/workflows/wf.js", runTo),
			"Workflow", flow("wf")},
		{"flow: not there", nil, "Workflow", flow("gone")},
		{"flow: no file", nil, "Workflow", map[string]any{"scriptPath": "gone.js"}},
		{"flow: a key in another case", files(".claude/workflows/wf.js", runTo), "Workflow",
			map[string]any{"name": "nope", "nAme": "wf"}},
		{"flow: no text", nil, "Workflow", map[string]any{"name": []string{"wf"}}},
		{"args: a command in quotes", files(".claude/skills/fine/SKILL.md", "hello !$0\n"), "Skill",
			loads("fine", "'`git push --force origin main`'")},
		{"args: more than a word", files(".claude/skills/fine/SKILL.md", "hello !`echo $0 x`\n"), "Skill",
			loads("fine", "\"hi; git push --force origin main;\"")},
		{"args: an operator", files(".claude/skills/fine/SKILL.md", "hello !`git $1 --force origin main`\n"), "Skill",
			loads("fine", "x;push")},
		{"args: an empty word", files(".claude/skills/fine/SKILL.md", "hello !$0`git push --force origin main`\n"), "Skill",
			loads("fine", "''")},
		{"args: a name without a word",
			files(".claude/skills/fine/SKILL.md", "---\narguments: x\n---\nhello !$x`git push --force origin main`\n"), "Skill",
			map[string]any{"skill": "fine"}},
		{"args: names with one begin",
			files(".claude/skills/fine/SKILL.md", "---\narguments: a ab\n---\n!`git $ab --force origin main`\n"), "Skill",
			loads("fine", "x push")},
		{"args: a name in quotes", files(".claude/skills/fine/SKILL.md", "---\n\"arguments\": x\n---\nhi !$x\n"), "Skill",
			loads("fine", "'`git push --force origin main`'")},
		{"below: a command's other name", files(".claude/commands/dev/na.md", front("name: na"), below, forced), "Skill",
			loads("na", "")},
		{"below: a name in front matter", files(".claude/skills/foo/SKILL.md", front("name: na"), below, forced), "Skill",
			loads("na", "")},
		{"below: not for all files", files(".claude/skills/na/SKILL.md", front("name: na\npaths: lib/**"), below, forced),
			"Skill", loads("na", "")},
		{"below: another case", files(".claude/commands/Na.md", "hello\n", below, forced), "Skill", loads("na", "")},
		{"below: above the repository",
			files("~/../.claude/commands/na.md", "hello\n", ".git/HEAD", "ref: x\n", below, forced), "Skill", loads("na", "")},
		{"below: perhaps not for all files",
			files(".claude/skills/na/SKILL.md", front("name: na\n\"paths\": lib/**"), below, forced), "Skill", loads("na", "")},
		{"agent: five folders down", files(".claude/agents/a/b/c/d/e/x.md", front("name: Explore\n"+hookLines)), "Agent",
			typed("Explore")},
		{"agent: twelve folders down",
			files(".claude/agents/a/b/c/d/e/f/g/h/i/j/k/l/x.md", front("name: Explore\n"+hookLines)), "Agent", typed("Explore")},
		{"agent: among too many", many, "Agent", typed("Explore")},
		{"start: --agent", files("~/.claude/agents/three.md", three), "Bash", runs("claude -p --agent three hello")},
		{"start: --agent=", files("~/.claude/agents/three.md", three), "Bash", runs("claude --agent=three -p hello")},
		{"start: its first prompt",
			files("~/.claude/agents/three.md", front("name: three\ninitialPrompt: /evil"), evil, forced), "Bash",
			runs("claude -p --agent three hello")},
		{"start: an unknown agent", nil, "Bash", runs("claude -p --agent nobody hello")},
		{"start: an agent in a variable", nil, "Bash", runs("claude -p --agent $X hello")},
		{"start: another folder's hooks", files("~/lib/.claude/settings.json", `{"hooks":{"Setup":[]}}`), "Bash",
			runs("cd ../lib && claude --init -p hello")},
		{"start: its local settings", files("~/lib/.claude/settings.local.json", `{"hooks":{"SessionStart":[]}}`), "Bash",
			runs("cd ../lib && claude -p hello")},
		{"start: helpers", files("~/lib/.claude/settings.json", `{"apiKeyHelper":"date"}`), "Bash",
			runs("(cd ../lib; claude -p hello)")},
		{"start: no hooks", files("~/lib/.claude/settings.json", `{"disableAllHooks":true}`), "Bash",
			runs("env -C ../lib claude -p hello")},
		{"start: broken settings", files("~/lib/.claude/settings.json", `{`), "Bash",
			runs("bash -c 'cd ../lib && claude -p hello'")},
		{"start: an unknown folder", nil, "Bash", runs("cd $X && claude -p hello")},
		{"start: an added folder", files("~/lib/.claude/skills/deep/SKILL.md", forced), "Bash",
			runs("claude -p --add-dir ../lib -- /deep")},
		{"start: a pipe", files(evil, forced), "Bash", runs("echo /evil | claude -p")},
		{"start: a pipe with words", files(evil, forced), "Bash", runs("printf '/evil now\\n' | claude -p")},
		{"start: a here-string", files(evil, forced), "Bash", runs("claude -p <<< /evil")},
		{"start: a here-document", files(evil, forced), "Bash", runs("claude -p <<END\n/evil\nEND\n")},
		{"start: a file", files(evil, forced, "x", "/evil"), "Bash", runs("cat x | claude -p")},
		{"start: standard input from a file", files(evil, forced, "x", "\n/evil\nmore"), "Bash", runs("claude -p < x")},
		{"start: a second line", files(evil, forced), "Bash", runs("printf 'x\\n/evil\\n' | sed 1d | claude -p")},
		{"start: an added plugin", files("~/plug/commands/deep.md", forced), "Bash",
			runs("claude -p --plugin-dir ../plug /plug:deep")},
	}
	for _, lines := range []string{"name: helper # x", "metadata:\n  name: other\nname: helper", "name: >-\n  helper",
		"? name\n: helper", "!!str name: helper", "\"name\": helper",
		"name: other\nname: helper", "name: &a helper", "name: help\\\n  er"} {
		rows = append(rows, loadRow{"agent: " + lines,
			files(".claude/agents/helper.md", plain, agent, front(lines+"\ndescription: x\n"+hookLines)), "Agent",
			typed("helper")},
			loadRow{"built-in agent: " + lines,
				files(agent, front(strings.ReplaceAll(lines, "helper", "general-purpose")+"\n"+hookLines)), "Agent",
				map[string]any{"prompt": "p"}},
			loadRow{"skill: " + lines,
				files(".claude/skills/d/SKILL.md", front(strings.ReplaceAll(lines, "helper", "simplify"))+forced), "Skill",
				loads("simplify", "")})
	}
	rows = append(rows, loadRow{"agent: flow map",
		files(agent, front("{name: helper, hooks: {PreToolUse: []}}"), ".claude/agents/helper.md", plain), "Agent",
		typed("helper")},
		loadRow{"agent: an odd decoy", files(".claude/agents/a.md", front("name: a # b")), "Agent", typed("nobody")})
	for _, lines := range []string{"? skills\n: [evil]", "!!str skills: evil", "skills: [\"\\x65vil\"]", "skills: *a",
		"skills: >-\n  evil", "a: &a\nskills: *a", "description: x\rskills: evil", "skills: evil # x", "\"skills\": evil"} {
		rows = append(rows, loadRow{"skills: " + lines,
			files(evil, forced, ".claude/agents/helper.md", front("name: helper\n"+lines)), "Agent", typed("helper")})
	}
	for _, lines := range []string{"? \"hoo\\\n  ks\"\n: {PreToolUse: []}",
		"mcpServers:\n  - srv:\n      !!str command: git\n", "mcpServers:\n  - srv:\n      ? command\n      : git\n",
		"description: x\rhooks:\r  Stop: []"} {
		text := front("name: helper\n" + lines)
		rows = append(rows, loadRow{"front: " + lines, files(".claude/agents/helper.md", text), "Agent", typed("helper")},
			loadRow{"written: " + lines, nil, "Write", map[string]any{"file_path": ".claude/agents/helper.md", "content": text}})
	}
	for _, name := range strings.Fields("claude-in-chrome design design-sync pr-comments remember schedule stuck") {
		rows = append(rows, loadRow{"skill " + name, nil, "Skill", loads(name, "")})
	}
	for _, name := range strings.Fields("fork worker verification output-style-setup") {
		rows = append(rows, loadRow{"agent " + name, nil, "Agent", typed(name)})
	}
	for _, r := range rows {
		if v := r.judged(t); v.Decision > approver.Ask {
			t.Errorf("%q is %v", r.name, v.Decision)
		}
	}
	t.Logf("%d rows", len(rows))
}

// A workflow that used one subagent twice was asked about, as the second time nothing was found.
func TestHonestCallsThatLoad(t *testing.T) {
	const reviewer = "---\nname: code-reviewer\ndescription: Expert code review specialist. Use it: after each change, " +
		"e.g. \"review\".\ntools: Read, Grep, Glob, Bash\nmodel: inherit\n---\nReview.\n"
	debugger := "---\nname: debugger\ndescription: |\n  Debugging specialist.\n  <example>\n  user: \"fix\"\n" +
		"  </example>\ntools: Read, Edit\ncolor: red\n---\nDebug.\n"
	onLine := "---\nname: architect\ndescription: Use this agent when you plan. Examples:\\n\\n<example>\\nContext: " +
		"x\\nuser: \"a\"\\n</example>\nmodel: opus\n---\nPlan.\n"
	world := files(
		".claude/agents/code-reviewer.md", reviewer, ".claude/agents/debugger.md", debugger, ".claude/agents/architect.md",
		onLine,
		".claude/agents/rev.md", "---\nname: rev\nskills: s1\n---\nhi\n", ".claude/agents/rev2.md",
		"---\nname: rev2\nskills:\n  - s1\n  - env\n---\nhi\n",
		".claude/agents/gh.md", "---\nname: gh\nmcpServers:\n  - github\nmemory: project\n---\nhi\n",
		".claude/skills/s1/SKILL.md", "---\nname: s1\ncontext: fork\nagent: rev\n---\nhi\n",
		".claude/skills/env/SKILL.md",
		"---\ndescription: >-\n  Show the\n  environment\nallowed-tools:\n  - Read\n---\n"+
			"Branch: !`git rev-parse --abbrev-ref HEAD`\n",
		".claude/skills/fix/SKILL.md",
		"---\nname: fix\nargument-hint: [issue-number] [more]\n---\nFix $ARGUMENTS. Read `gh issue view $0`!\n",
		".claude/skills/log/SKILL.md", "---\nname: log\n---\nLog this: $ARGUMENTS\n",
		".claude/commands/dev/lint.md", "Lint.\n", "~/.claude/skills/mine/SKILL.md", "---\nname: other\n---\nhi\n",
		"~/.claude/commands/home-command.md", "hi\n",
		// there is no repository
		"lib/deep/.claude/skills/scoped/SKILL.md", "---\nname: scoped\n---\nhi\n", "~/../.claude/commands/above.md", "hi\n",
		".claude/commands/pr.md", "---\ndescription: review\n---\nDiff: !`gh pr diff $1`\n",
		".claude/commands/commit.md",
		"---\nallowed-tools: Bash(git add:*), Bash(git status:*)\ndescription: Create a git commit\n---\n"+
			"- Status: !`git status`\n- Diff: !`git diff HEAD`\n",
		".claude/workflows/w1.js",
		"export const meta = {name: 'w1'}\nawait agent('a',{agentType:'rev'}); await agent('b',{agentType:'rev'})",
		".claude/workflows/w2.js",
		"export const meta = {name: 'w2'}\n"+
			"await agent('a',{agentType:'rev'}); await agent('b',{agentType:'rev2'}); await workflow('w1')",
		"~/lib/.claude/settings.json", `{"permissions":{"allow":["Read"]}}`, "~/tree/.claude/settings.json",
		`{"hooks":{"Stop":[]}}`, ".claude/settings.json", `{"hooks":{"Stop":[]}}`,
	)
	for _, r := range []loadRow{
		{"", world, "Workflow", flow("w1")},
		{"", world, "Workflow", flow("w2")},
		{"", world, "Workflow", map[string]any{"scriptPath": ".claude/workflows/w1.js", "args": map[string]any{"a": 1}}},
		{"", world, "Workflow", flow("deep-research")},
		{"", world, "Skill", loads("s1", "")},
		{"", world, "Skill", loads("env", "")},
		{"", world, "Skill", loads("fix", "\"a b\" c")},
		{"", world, "Skill", loads("log", "it's done `x` & fine")},
		{"", world, "Skill", loads("pr", "123")},
		{"", world, "Skill", loads("dev:lint", "")},
		{"", world, "Skill", loads("mine", "")},
		{"", world, "Skill", loads("home-command", "")},
		{"", world, "Skill", loads("lib/deep:scoped", "")},
		{"", world, "Skill", loads("above", "")},
		{"", world, "Skill", loads("commit", "")},
		{"", world, "Skill", loads("code-review", "\"x\"")},
		{"", world, "Agent", typed("rev")},
		{"", world, "Agent", typed("rev2")},
		{"", world, "Agent", typed("gh")},
		{"", world, "Agent", typed("code-reviewer")},
		{"", world, "Agent", typed("debugger")},
		{"", world, "Agent", typed("architect")},
		{"", world, "Agent", typed("claude-code-guide")},
		{"", world, "Agent", map[string]any{"description": "d", "prompt": "p"}},
		{"", world, "Bash", runs("claude -p 'what does this do' --output-format json")},
		{"", world, "Bash", runs("echo summarize | claude -p")},
		{"", world, "Bash", runs("claude -p '/commit'")},
		{"", world, "Bash", runs("echo /commit | claude -p")},
		{"", world, "Bash", runs("git diff | claude -p 'review /etc/hosts and /tmp'")},
		{"", world, "Bash", runs("cat README.md | claude -p")},
		{"", world, "Bash", runs("claude --agent rev -p hello")},
		{"", world, "Bash", runs("cd ../lib && claude -p hello")},
		{"", world, "Bash", runs("cd ../tree && claude -p hello")}, // a checkout with the same settings
		{"", world, "Bash", runs("cd /tmp && claude --version")},
		{"", world, "Bash", runs("claude -p --add-dir /tmp 'explain /etc/hosts'")},
		{"", world, "Write", map[string]any{"file_path": ".claude/agents/n.md", "content": debugger}},
		{"", world, "Write", map[string]any{"file_path": ".claude/agents/n.md", "content": onLine}},
		{"", world, "Write", map[string]any{"file_path": ".claude/agents/n.md", "content": reviewer}},
	} {
		if v := r.judged(t); v.Decision <= approver.Ask {
			t.Errorf("%s %v is %v (%s): %s", r.tool, r.args, v.Decision, v.Rule, v.Reason)
		}
	}
}
