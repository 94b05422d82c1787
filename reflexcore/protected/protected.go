// Package protected recognizes, by their paths, the files that approver protects: its own, the
// settings and hooks through which agents ask it, and those of other guard programs.
package protected

import (
	"path"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/wordset"
)

// AgentFolders are the folders in which agents keep their settings.
var AgentFolders = wordset.Of(".claude .codex .gemini .qwen .factory .cursor .windsurf .kiro .copilot .cline " +
	".openclaw .opencode .approver")

// IsAgentFolder reports whether a name is in [AgentFolders], ignoring case.
func IsAgentFolder(name string) bool {
	return len(name) > 4 && name[0] == '.' && AgentFolders[strings.ToLower(name)]
}

// FindsAgentFolder reports whether a pattern matches one of the folders but not every name.
func FindsAgentFolder(pattern string) bool {
	if !strings.HasPrefix(pattern, ".") || !strings.ContainsAny(pattern, "*?[\x00") {
		return false
	}
	pattern = strings.ReplaceAll(pattern, effect.Unknown, "*")
	for name := range AgentFolders {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

// InAgentFolder reports whether a path leads through the folder of an agent.
func InAgentFolder(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if IsAgentFolder(part) || part == ".claude-plugin" || part == "opencode" {
			return true
		}
	}
	return false
}

// SettingsFiles are the files in an agent's folder that contain its hooks.
var SettingsFiles = [...]string{"settings.json", "settings.local.json"}

// SettingsHomes are the variables for where an agent keeps its settings, with the default folders.
var SettingsHomes = [...]struct{ Variable, Folder string }{
	{"CLAUDE_CONFIG_DIR", ".claude"}, {"CODEX_HOME", ".codex"}, {"CURSOR_CONFIG_DIR", ".cursor"},
	{"COPILOT_HOME", ".copilot"}, {"QWEN_HOME", ".qwen"}, {"FACTORY_HOME", ".factory"},
}

// IsSettings reports whether a path holds the settings or the hooks of an agent. Lists of servers
// and copied plugins do not count.
func IsSettings(p string, known *places.Cache) bool {
	if dir, base := path.Split(p); IsAgentFolder(path.Base(dir)) &&
		!effect.IsPlain(base) {
		return true // any file of the folder
	} else if above, below := path.Split(strings.TrimSuffix(dir, "/")); below == effect.Unknown &&
		IsAgentFolder(path.Base(above)) && FindsSettings(base) {
		return true // any such file below it
	}
	if known.Classify(p).Kind != content.Agent {
		return false
	}
	lower := strings.ToLower(p)
	base := path.Base(lower)
	for _, begin := range agentState {
		if strings.Contains(lower, begin) {
			return false // asked about by a rule
		}
	}
	if strings.Contains(base, "mcp") || base == ".claude.json" || base == "claude_desktop_config.json" {
		return false
	}
	if strings.Contains(lower, "/.claude/hooks") || strings.HasPrefix(lower, ".claude/hooks") ||
		strings.Contains(lower, ".github/hooks") {
		return true
	}
	switch path.Ext(base) {
	case ".json", ".jsonc", ".toml", ".yaml", ".yml":
		return true
	case ".md":
		return false // a text; rules ask about those that run
	}
	return !effect.IsPlain(p)
}

// agentState has the prefixes of what Claude Code itself stores, and starts or runs from there. No
// settings for hooks are below them.
var agentState = [...]string{
	".claude/plugins/", ".claude/shell-snapshots/", ".claude/session-env/", ".claude/jobs", ".claude/daemon",
	".claude/dev-mods/", ".claude/rm-guard/", ".claude/seed-admin/", ".claude/cowork_plugins/",
	".claude/mcp-skill-archives/", ".claude/scheduled_tasks.json", ".claude/launch.json", ".claude/local/",
	".local/share/claude/",
}

// FindsSettings reports whether a pattern matches a name of a settings file.
func FindsSettings(pattern string) bool {
	pattern = strings.ReplaceAll(pattern, effect.Unknown, "*")
	for _, name := range [...]string{"settings.json", "settings.local.json", "hooks.json", "config.toml", "opencode.jsonc",
		"approver.yaml"} {
		if ok, err := path.Match(pattern, name); ok || err != nil {
			return true
		}
	}
	return false
}

// IsOwn reports whether a path lies in one of approver's folders.
func IsOwn(p string) bool {
	return strings.Contains(p, "/.approver") || strings.HasPrefix(p, "/etc/approver") ||
		strings.HasPrefix(p, "/var/lib/approver") || strings.HasPrefix(p, "/run/approver") ||
		strings.HasPrefix(p, "/var/run/approver")
}

// IsOwnProgram reports whether a name is one of approver's programs.
func IsOwnProgram(base string) bool { return base == "approver" || base == "approver-hook" }

// OnlyPerhaps reports whether a path is one of approver's only for some values of its wildcards or
// unknown parts.
func OnlyPerhaps(p string) bool {
	return !effect.IsPlain(p) && !strings.Contains(strings.ToLower(p), "approver")
}

// InBin reports whether a path lies in a folder of programs.
func InBin(p string) bool {
	dir := path.Base(path.Dir(p))
	return dir == "bin" || dir == "sbin"
}

// guardWords are words in the names of other guard programs.
var guardWords = wordset.Of("guard guards guardrail guardrails safety safetynet sentinel warden shield " +
	"gatekeeper tirith dcg cupcake vectimus dippy agentshield")

// IsGuard reports whether a program, by its name, guards others.
func IsGuard(name string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(name),
		func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		if guardWords[word] {
			return true
		}
	}
	return false
}

// IsGuardPath reports whether a path is in the settings folder of a guard program: a hidden one, one
// below .config, or one of the system.
func IsGuardPath(p string) bool {
	if InBin(p) {
		return false // the program itself, which may be new
	}
	hidden := strings.HasPrefix(p, "/etc/")
	for part := range strings.SplitSeq(p, "/") {
		if hidden && IsGuard(part) || strings.HasPrefix(part, ".") && IsGuard(part) {
			return true
		}
		hidden = hidden || part == ".config"
	}
	return false
}
