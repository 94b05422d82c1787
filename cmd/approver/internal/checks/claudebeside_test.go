package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents/claudesettings"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/finding"
)

// The story: the installed command stood once more in the front matter of a user's agent,
// with "async", or Claude Code itself was entered as a server of tools. Calls ran without
// an answer, and doctor and the daemon, which knew settings only, said that all is well.
func TestHooksBesideSettingsAreNamed(t *testing.T) {
	m := newClaudeMachine(t)
	project := filepath.Join(m.dir, "project")
	t.Chdir(project)
	line, _, _ := strings.Cut(m.read()[strings.Index(m.read(), `"command": "`)+len(`"command": "`):], `"`)
	front := func(hook string) string {
		return "---\nname: x\nhooks:\n  PreToolUse:\n    - matcher: '*'\n      hooks:\n        - " + hook + "\n---\nwork\n"
	}
	async := front(`{type: command, command: "` + line + `", async: true, timeout: 290}`)
	other := front("{type: command, command: /x/guard}")
	server := `{"mcpServers":{"me":{"command":"claude","args":["mcp","serve"]}}}`
	user := func(name string) string { return filepath.Join(m.dir, ".claude", name) }
	for _, c := range []struct {
		path, text, says string
		r                finding.Result
		watched          bool
	}{
		{user("agents/x.md"), async, "takes the place", finding.Fail, true},
		{user("agents/deep/x.md"), async, "another hook of approver", finding.Fail, true},
		{user("skills/x/SKILL.md"), async, "another hook of approver", finding.Fail, true},
		{user("skills/x/SKILL.md"), other, "another PreToolUse hook", finding.Warn, false},
		{user("plugins/cache/m/p/1/hooks/hooks.json"),
			`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/x/guard"}]}]}}`, "another PreToolUse hook",
			finding.Warn, false},
		{filepath.Join(project, ".claude", "skills/x/SKILL.md"), other, "another PreToolUse hook", finding.Warn, false},
		{filepath.Join(project, ".mcp.json"), server, "MCP server me is an agent itself", finding.Fail, false},
		{filepath.Join(m.dir, ".claude.json"), server, "MCP server me is an agent itself", finding.Fail, true},
		{filepath.Join(m.dir, ".claude.json"), `{"projects":{"/p":` + server + `}}`, "MCP server me is an agent itself",
			finding.Fail, true},
		{filepath.Join(m.dir, ".claude.json"), `{"env":{"CLAUDE_CODE_USE_COWORK_PLUGINS":"1"}}`, "cowork_settings.json",
			finding.Fail, true},
	} {
		m.write(c.path, c.text)
		d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
		d.hook(settings.Target{Managed: filepath.Join(m.dir, "managed")}, "")
		d.has(t, "hook", c.r, strings.ReplaceAll(c.says, "takes the place", "can take the place"))
		m.watch.Look(t.Context())
		if weak := strings.Join(m.watch.Now(), "\n"); strings.Contains(weak, filepath.Base(c.path)) != c.watched {
			t.Errorf("%s: watched: %s", c.path, weak)
		}
		m.write(c.path, map[bool]string{true: "{}", false: "---\nname: x\n---\n"}[filepath.Ext(c.path) == ".json"])
		m.watch.Look(t.Context())
		if weak := m.watch.Now(); len(weak) > 0 {
			t.Errorf("%s: still weak: %s", c.path, weak)
		}
	}
	d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
	d.hook(settings.Target{Managed: filepath.Join(m.dir, "managed")}, "")
	d.has(t, "hook", finding.OK, m.settings)
}

// The story: the folder of a user's agents was a link, as it is where people keep their
// dotfiles, and one of the agents had a copy of the hook that waits for nothing. Claude Code
// follows such links; doctor and the watch did not, nor beyond the two thousandth file.
func TestAgentsBehindLinksAreLookedAt(t *testing.T) {
	m := newClaudeMachine(t)
	t.Chdir(filepath.Join(m.dir, "project"))
	line, _, _ := strings.Cut(m.read()[strings.Index(m.read(), `"command": "`)+len(`"command": "`):], `"`)
	double := "---\nname: x\nhooks:\n  PreToolUse:\n    - hooks:\n        - {type: command, command: \"" + line +
		"\", async: true}\n---\n"
	agents := filepath.Join(m.dir, ".claude", "agents")
	look := func(want string) {
		t.Helper()
		d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
		d.hook(settings.Target{Managed: filepath.Join(m.dir, "managed")}, "")
		d.has(t, "hook", finding.Fail, want)
		m.watch.Look(t.Context())
		if len(m.watch.Now()) == 0 {
			t.Errorf("the watch says nothing of %s", want)
		}
		if err := os.RemoveAll(agents); err != nil {
			t.Fatal(err)
		}
	}
	link := func(at, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := filepath.Join(m.dir, "dotfiles")
	m.write(filepath.Join(elsewhere, "x.md"), double)
	link(agents, elsewhere)
	look("another hook of approver")
	link(filepath.Join(agents, "sub"), elsewhere)
	link(filepath.Join(elsewhere, "round"), agents) // Claude Code comes to an end with it
	look("another hook of approver")
	for i := range claudesettings.MaxBeside {
		m.write(filepath.Join(agents, fmt.Sprintf("a%04d.md", i)), "---\nname: x\n---\n")
	}
	m.write(filepath.Join(agents, "zz.md"), double)
	look("more than 2000")
}

// The story: a Claude Code was started with a variable that names another file of the
// user's settings, and ran everything unasked. Doctor in that environment said nothing.
func TestDoctorKnowsTheVariableOfAStart(t *testing.T) {
	m := newClaudeMachine(t)
	t.Chdir(filepath.Join(m.dir, "project"))
	t.Setenv("CLAUDE_CODE_USE_COWORK_PLUGINS", "1")
	d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
	d.hook(settings.Target{Managed: filepath.Join(m.dir, "managed")}, "")
	d.has(t, "hook", finding.Warn, "CLAUDE_CODE_USE_COWORK_PLUGINS is set here")
	for _, start := range []string{"--worktree", "--managed-settings", "--agents", "claude mcp serve"} {
		d.has(t, "hook", finding.Warn, start)
	}
}
