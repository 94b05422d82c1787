package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"approver.example/agents"
	"approver.example/agents/claudesettings"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/hookinstall"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/hookwatch"
)

// What Claude Code notes of a user is read beside ~/.claude and in the folder that
// CLAUDE_CONFIG_DIR names, by doctor, by the watch and when settings change.
func TestWatchReadsTheGlobalFiles(t *testing.T) {
	for _, home := range []string{".claude", "elsewhere"} {
		for _, name := range []string{".claude.json", ".claude-custom-oauth.json", ".config.json", "../.claude.json",
			"../.claude-custom-oauth.json"} {
			dir := filepath.Join(t.TempDir(), home)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(`{"env":{"CLAUDE_CODE_SIMPLE":"1"}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			want := home == ".claude" || !strings.HasPrefix(name, "..")
			for _, p := range []settings.Places{{Managed: "/nowhere", Home: dir}, {Managed: "/nowhere", Config: dir}} {
				found := claudesettings.Compare(p.Sources(agents.Claude{}.Files()),
					settings.Want{Hooks: map[string][]claudesettings.Matcher{"PreToolUse": nil}, In: "/x"})
				got := slices.ContainsFunc(found, func(f settings.Finding) bool {
					return f.Path == path && strings.Contains(f.Text, "CLAUDE_CODE_SIMPLE")
				})
				if got != want {
					t.Errorf("%s in %s: found %v", name, home, found)
				}
			}
			in := hookfiles.Installed{Path: filepath.Join(dir, "settings.json"),
				Hooks: map[string][]claudesettings.Matcher{"PreToolUse": nil}}
			lines, err := (&hookwatch.Watch{Managed: "/nowhere"}).Weakness(in, hookfiles.Installs{})
			weak := strings.Join(lines, "\n")
			if got := strings.Contains(weak, "CLAUDE_CODE_SIMPLE"); got != want || err != nil {
				t.Errorf("%s in %s: the watch says %s", name, home, weak)
			}
		}
	}
}

// The story: the hooks were in the managed settings, which the daemon watched, and an
// agent wrote "env" into the user's own files: CLAUDE_CODE_SHELL_PREFIX there runs
// another program in the place of every hook, managed ones too. The watch said nothing.
// Of a user's files it looks at what goes over managed hooks, and at nothing else.
func TestTheWatchOfManagedSettingsReadsUsersFiles(t *testing.T) {
	m := newClaudeMachine(t)
	for dir := m.dir; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		m.must(os.Chmod(dir, 0o755))
	}
	m.must(hookinstall.AgentCmd{Agent: "claude", Target: settings.Target{System: true, Managed: m.managed("")},
		Hook: m.hook}.Install())
	m.must(hookinstall.UninstallAgentCmd{Agent: "claude"}.Run())
	home := filepath.Join(m.dir, "agent", ".claude")
	m.watch.Homes = []string{home}
	settings, global := filepath.Join(home, "settings.json"), filepath.Join(m.dir, "agent", ".claude.json")
	for _, tt := range []struct{ path, text, want string }{
		{settings, `{}`, ""},
		{settings, `{"model":"opus","env":{"EDITOR":"vi","GOMAXPROCS":"8"}}`, ""},
		{settings, `{"disableAllHooks":true,"env":{"CLAUDE_CODE_SIMPLE":"1"}}`, ""}, // managed hooks run all the same
		{settings, `{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/evil"}}`, "CLAUDE_CODE_SHELL_PREFIX"},
		{settings, `{"env":{"LD_TRACE_LOADED_OBJECTS":"1"}}`, "LD_TRACE_LOADED_OBJECTS"},
		{settings, `{"env":{"GOMAXPROCS":"100000"}}`, "GOMAXPROCS"},
		{settings, `{"env":{"GOMAXPROCS":100000}}`, "GOMAXPROCS"},
		{settings, `{"env":{"BASH_ENV":"/x"}}`, "BASH_ENV"},
		{global, `{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/evil"}}`, "CLAUDE_CODE_SHELL_PREFIX"},
		{global, `{"env":{"LD_PRELOAD":"/x"}}`, "LD_PRELOAD"},
		{global, `{"numStartups":3}`, ""},
	} {
		m.write(tt.path, tt.text)
		m.watch.Look(t.Context())
		got := strings.Join(m.watch.Now(), "\n")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: the watch says %q", tt.path, tt.text, got)
		}
		m.must(os.Remove(tt.path))
	}
}
