package agents

import (
	"encoding/json"
	"fmt"
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

// HookConfig returns the settings, as indented JSON, with which Claude Code asks approver before
// each tool and before its own questions, reports after it, says when the calls of a turn are over,
// and asks whether to use settings that changed. They belong in ~/.claude/settings.json or in the
// managed settings. binary is the absolute path of approver-hook, and ttl is the longest time that
// people have to answer, from 5 s to 1 h. socket is the daemon's submit socket; empty means the
// default place. README and docs/agents/claude.md show the result for the default place and any ttl
// up to 280 s.
//
// "onFailure":"block" is known to Claude Code 2.1.295 and later; older versions
// ignore it and run the tool when the hook is killed.
func (c Claude) HookConfig(binary, socket string, ttl time.Duration) ([]byte, error) {
	if err := hookable(binary, socket, ttl); err != nil {
		return nil, err
	}
	type command struct {
		Type      string `json:"type"`
		Command   string `json:"command"`
		Timeout   int    `json:"timeout"` // seconds
		OnFailure string `json:"onFailure,omitempty"`
		Async     bool   `json:"async,omitempty"`
	}
	program := settings.ShellWord(binary) + " --agent " + c.Name()
	if socket != "" {
		program += " --socket " + settings.ShellWord(socket)
	}
	entry := func(flags string, deadline time.Duration, onFailure string) []claudeMatcher[command] {
		deadline = deadline.Truncate(time.Second)
		line := fmt.Sprintf("%s%s --deadline %ds", program, flags, int(deadline.Seconds()))
		hook := command{"command", line, int(hookTimeout(deadline).Seconds()), onFailure, false}
		return []claudeMatcher[command]{{"*", []command{hook}}}
	}
	var file claudeFile[command]
	file.Hooks.Pre = entry("", max(usualPatience, ttl+grace), "block")
	// Without onFailure: when this hook fails, the question stays in Claude Code's own dialog, and
	// without a dialog the call does not run.
	file.Hooks.Asks = entry(" --event PermissionRequest", max(usualPatience, ttl+grace), "")
	file.Hooks.Post = entry(" --event PostToolUse", reportDeadline, "")
	file.Hooks.Fail = entry(" --event PostToolUseFailure", reportDeadline, "")
	file.Hooks.Over = entry(" --event PostToolBatch", reportDeadline, "")
	file.Hooks.Over[0].Hooks[0].Async = true // it says nothing, so nothing waits for it
	file.Hooks.File = entry(" --event ConfigChange", reportDeadline, "block")
	return encoded(file, "  ")
}

// A claudeFile is a new settings file, with hooks of one form, in the order in which people look for
// them.
type claudeFile[H any] struct {
	Hooks struct {
		Pre  []claudeMatcher[H] `json:"PreToolUse,omitempty"`
		Asks []claudeMatcher[H] `json:"PermissionRequest,omitempty"`
		Post []claudeMatcher[H] `json:"PostToolUse,omitempty"`
		Fail []claudeMatcher[H] `json:"PostToolUseFailure,omitempty"`
		Over []claudeMatcher[H] `json:"PostToolBatch,omitempty"`
		File []claudeMatcher[H] `json:"ConfigChange,omitempty"`
	} `json:"hooks"`
}

type claudeMatcher[H any] struct {
	Matcher string `json:"matcher"`
	Hooks   []H    `json:"hooks"`
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
