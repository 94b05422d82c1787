package agentstest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The plugin of plugins/claude, installed by Claude Code itself.
var pluginScenarios = []scenario{
	{"plugin: a call denied, and an own question approved", func(t *testing.T) {
		w := withPlugin(t, true, func(command string) string {
			if strings.Contains(command, "push") {
				return "deny"
			}
			return "approve"
		})
		w.mode = "default"
		w.claude(bash(force), bash("touch made"))
		w.pushed(0)
		w.told(0, "denied by")
		w.askedTimes(2)
		w.made(true)
		if out, err := w.approver("doctor"); strings.Contains(out, "another PreToolUse hook") {
			t.Errorf("doctor takes the plugin for another program's: %v: %s", err, out)
		}
	}},
	{"plugin and settings: a call is reported twice and ran once", func(t *testing.T) {
		w := withPlugin(t, true, always("approve"))
		w.install()
		w.claude(bash(force), bash("touch made"))
		w.pushed(1)
		w.askedTimes(2)
		w.made(true)
	}},
	{"plugin: its skill", func(t *testing.T) {
		w := withPlugin(t, true, always("deny"))
		w.claude(skill("approver:approver"))
		w.askedTimes(0)
		w.told(0, "approver")
	}},
	{"plugin: without the program nothing runs", func(t *testing.T) {
		w := withPlugin(t, false, always("approve"))
		w.claude(bash("touch made"))
		w.made(false)
		w.told(0, "approver-hook is not installed")
	}},
}

// withPlugin is a world in which no settings have hooks, and the plugin is installed.
func withPlugin(t *testing.T, program bool, answers func(string) string) *claudeWorld {
	t.Helper()
	w := newClaude(t, "")
	w.serve()
	w.watch(answers)
	if program {
		w.sh("mkdir -p bin && ln -s " + filepath.Join(programs, "approver-hook") + " bin/approver-hook")
	}
	place, err := filepath.Abs("../../plugins/claude")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"marketplace", "add", place}, {"install", "approver@approver"}} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		cmd := w.command(ctx, os.Getenv("APPROVER_CLAUDE"), append([]string{"plugin"}, args...)...)
		cmd.Env = append(cmd.Env, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Fatalf("plugin %v: %v: %s", args, err, out)
		}
	}
	return w
}
