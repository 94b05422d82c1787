// Package claudehooks knows where Claude Code's settings lie, which hooks install put into
// them, and what stands beside them. The daemon, doctor, install and uninstall share it.
//
// Read file.go and places.go first: which file is meant, and which files count. wanted.go is
// what has to stand there, installed.go what was put there.
package claudehooks

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"approver.example/agents/claudesettings"
	"approver.example/daemon/words"
)

// Target is which settings are meant: the user's own unless a flag says
// otherwise.
type Target struct {
	Project string `help:"The settings of a project, by its folder." placeholder:"DIR"`
	System  bool   `help:"The managed settings of the machine, which no user and no project overrides."`
	File    string `help:"A settings file by its path." placeholder:"FILE"`
	// Managed is the folder of managed settings; empty: the machine's.
	Managed    string `kong:"-"`
	ConfigFile string `kong:"-"` // the configuration that was named, for the cures that are told
}

// ManagedDir is the folder of the managed settings.
func (c Target) ManagedDir() string {
	switch {
	case c.Managed != "":
		return c.Managed
	case runtime.GOOS == "darwin":
		return "/Library/Application Support/ClaudeCode"
	}
	return "/etc/claude-code"
}

// Path is the file that is meant.
func (c Target) Path() (string, error) {
	switch {
	case c.File != "" && c.Project != "", c.File != "" && c.System, c.Project != "" && c.System:
		return "", errors.New("--project, --system and --file exclude each other: keep one")
	case c.File != "":
		return filepath.Abs(c.File)
	case c.Project != "":
		return filepath.Abs(filepath.Join(c.Project, ".claude", "settings.json"))
	case c.System:
		return filepath.Join(c.ManagedDir(), "managed-settings.json"), nil
	}
	home, err := Home()
	return filepath.Join(home, "settings.json"), err
}

// Home is where Claude Code has the user's own settings.
func Home() (string, error) {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".claude"), err
}

// OfMachine reports whether a file is one of the managed settings, which every user
// has to be able to read.
func (c Target) OfMachine(path string) bool {
	dir := filepath.Dir(path)
	return dir == c.ManagedDir() || dir == filepath.Join(c.ManagedDir(), "managed-settings.d")
}

// Elsewhere reports that no file was named, and that the managed settings have the hooks
// and those of the user have none.
func (c Target) Elsewhere(sources []claudesettings.Source, path string) bool {
	if c.File != "" || c.Project != "" || c.System {
		return false
	}
	managed := false
	for _, s := range sources {
		_, has := HookIn([]claudesettings.Source{s}, s.Path)
		if has && s.Path == path {
			return false
		}
		managed = managed || has && s.Place == claudesettings.Managed
	}
	return managed
}

// Holder is the file that is looked at for the hooks: the one that was named, but of
// the managed settings the one that has them, and of a project those of its user where
// it has none itself.
func (c Target) Holder(sources []claudesettings.Source, path string) string {
	has := func(s claudesettings.Source) bool {
		_, there := HookIn([]claudesettings.Source{s}, s.Path)
		return there
	}
	for _, s := range sources {
		if c.System && s.Place == claudesettings.Managed && has(s) {
			return s.Path
		}
		if s.Path == path && has(s) {
			return path
		}
	}
	if c.Project != "" {
		for _, s := range sources {
			if s.Place == claudesettings.User {
				return s.Path
			}
		}
	}
	return path
}

// Names reports whether the file is one that has to hold the hooks itself.
func (c Target) Names(path string) bool {
	named, err := c.Path()
	return c.File != "" || c.System || c.Project != "" && (err != nil || path == named)
}

// Cure is the command that puts the hooks into a file.
func (c Target) Cure(path string) string {
	user, _ := Target{}.Path() // without a home there is none
	cure := "approver install claude"
	switch {
	case path == user || path == "":
	case path == filepath.Join(c.ManagedDir(), "managed-settings.json"):
		cure += " --system"
	case filepath.Base(path) == "settings.json" && filepath.Base(filepath.Dir(path)) == ".claude":
		cure += " --project " + words.ShellWord(filepath.Dir(filepath.Dir(path)))
	default:
		cure += " --file " + words.ShellWord(path)
	}
	if c.ConfigFile != "" {
		cure += " --config " + words.ShellWord(c.ConfigFile)
	}
	return cure
}

// HookIn returns the hook before tools of a file, or else the first of any.
func HookIn(sources []claudesettings.Source, path string) (first claudesettings.Entry, there bool) {
	for _, s := range sources {
		settings, err := claudesettings.Read(s.Path, s.Text)
		if s.Missing || s.Err != nil || err != nil {
			continue
		}
		for _, m := range settings.Hooks["PreToolUse"] {
			for _, raw := range m.Hooks {
				var h claudesettings.Entry
				if !claudesettings.Ours(raw) || json.Unmarshal(raw, &h) != nil {
					continue
				}
				if s.Path == path {
					return h, true
				}
				if !there {
					first, there = h, true
				}
			}
		}
	}
	return first, there
}
