package agents

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"approver.example/agents/canary"
	"approver.example/agents/claudesettings"
	"approver.example/agents/settings"
)

// Files implements [Installer].
func (c Claude) Files() settings.Files {
	f := settings.Files{
		Agent: c.Name(), Title: "Claude Code",
		Folder: ".claude", File: "settings.json", Local: "settings.local.json", Home: "CLAUDE_CONFIG_DIR",
		Managed: "/etc/claude-code", ManagedFile: "managed-settings.json", ManagedMore: "managed-settings.d",
		Noted: claudeNoted,
	}
	if runtime.GOOS == "darwin" {
		f.Managed = "/Library/Application Support/ClaudeCode"
	}
	return f
}

// claudeNoted returns the files in which Claude Code may note what it knows about a user whose
// settings are in a folder. They are beside ~/.claude, or in the folder that CLAUDE_CONFIG_DIR
// names. The folder does not say which.
func claudeNoted(folder string) (paths []string) {
	for _, name := range []string{".claude.json", ".claude-custom-oauth.json"} {
		paths = append(paths, filepath.Join(folder, name))
		if filepath.Base(folder) == ".claude" {
			paths = append(paths, filepath.Join(filepath.Dir(folder), name))
		}
	}
	return append(paths, filepath.Join(folder, ".config.json"))
}

// NewFile implements [Installer].
func (Claude) NewFile(_ string, hooks settings.Hooks) ([]byte, error) {
	text, err := json.Marshal(map[string]settings.Hooks{"hooks": hooks})
	if err != nil {
		return nil, err
	}
	var file claudeFile[json.RawMessage]
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	return encoded(file, "  ")
}

// ReadHooks implements [Installer].
func (Claude) ReadHooks(path string, text []byte) (settings.Hooks, error) {
	s, err := claudesettings.Read(path, text)
	return s.Hooks, err
}

// WithHooks implements [Installer].
func (Claude) WithHooks(path string, text []byte, hooks settings.Hooks) ([]byte, error) {
	return claudesettings.WithHooks(path, text, hooks)
}

// Timeout implements [Installer].
func (Claude) Timeout(hook json.RawMessage) time.Duration {
	var h claudesettings.Entry
	if json.Unmarshal(hook, &h) != nil || h.Timeout <= 0 {
		return 10 * time.Minute // Claude Code's own
	}
	return time.Duration(h.Timeout * float64(time.Second))
}

// Compare implements [Installer].
func (Claude) Compare(sources []settings.Source, want settings.Want) []settings.Finding {
	return claudesettings.Compare(sources, want)
}

// Beside implements [Searcher].
func (Claude) Beside(p settings.Places, sources []settings.Source, want settings.Want) ([]settings.Finding, error) {
	return claudesettings.AllBeside(p, sources, want)
}

// Environment implements [Adviser].
func (Claude) Environment(env []string) []settings.Finding {
	return claudesettings.Environment(env, false)
}

// Advice implements [Adviser].
func (c Claude) Advice(sources []settings.Source) []settings.Finding {
	managed, open := claudesettings.Managedness(sources)
	if !managed {
		return []settings.Finding{{
			Harmless: true,
			Text: "a single start of claude with --bare, --safe-mode, --restricted, --settings, --managed-settings, " +
				"--setting-sources, --agents or --worktree, or with CLAUDE_CODE_SIMPLE, CLAUDE_CODE_USE_COWORK_PLUGINS " +
				"or CLAUDE_CONFIG_DIR, can run without the hooks of a user or a project; claude mcp serve asks no hook at all",
			Fix: c.Files().Install() + " --system as root; docs/agents/claude.md says what else managed settings close",
		}}
	}
	var found []settings.Finding
	if len(open) > 0 {
		found = append(found, settings.Finding{
			Harmless: true, Text: "the managed settings leave open: " + strings.Join(open, "; "),
			Fix: "docs/agents/claude.md, managed settings",
		})
	}
	return append(found, settings.Finding{
		Harmless: true, Fine: true,
		Text: "claude mcp serve asks no hook, not even a managed one: " +
			"when a person or another program starts it, its tools run unasked",
		Fix: "start it nowhere but in a sandbox; docs/threat-model.md",
	})
}

// Recipe implements [Tester].
func (Claude) Recipe() (canary.Recipe, bool) { return canary.Claude(), true }
