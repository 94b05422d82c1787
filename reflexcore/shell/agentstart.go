package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

func (ag *agentReader) agentStarts(id string, copied bool, by string) {
	ag.inherits(by)
	if (copied || ag.homeless || ag.installed == id) && !strings.HasPrefix(id, "copy of ") {
		id = "copy of " + id
	}
	ag.in.add(effect.Effect{Kind: effect.Permission, Target: "agent-start", What: id, By: by})
}

// inherits notes the settings that an agent finds in variables, however they came there:
// read, printf -v, ${A:=b} and references set them too, and are no assignments.
func (ag *agentReader) inherits(by string) {
	for _, name := range agentVariables {
		if ag.in.par.lookup(name) == nil {
			continue
		}
		if now := ag.in.par.valueOf(name); !now.known() || now.text != ag.in.vars.environment(name).text {
			ag.in.env.affects(name, now)
		}
	}
	if ag.in.env.sourced || ag.bringsCode() || slices.ContainsFunc(ag.in.programs.words, ag.setsAgent) {
		ag.in.add(effect.Effect{Kind: effect.Permission, Target: effect.Unknown, What: "agent-settings", By: by})
	}
}

// setsAgent reports whether a word of a command that leads to an agent, or code in it, sets a
// variable that says where its settings are: tmux new -e NAME=VALUE, os.environ.
func (ag *agentReader) setsAgent(word string) bool {
	if home, ok := strings.CutPrefix(word, "HOME="); ok {
		return home != ag.in.par.valueOf("HOME").text
	}
	if agentcli.SetsClaude(word) {
		return true
	}
	if !strings.ContainsAny(word, "_") {
		return false
	}
	return slices.ContainsFunc(agentVariables[:], func(name string) bool {
		at := strings.Index(word, name)
		return at == 0 && (len(word) == len(name) || word[len(name)] == '=' || word[len(name)] == ' ') || at > 0 && strings.ContainsAny(word, "=(:{") || at > 0 && strings.Contains(word, "env")
	})
}

// bringsCode reports whether a variable that was set may have the Claude Code that starts run
// or load something.
func (ag *agentReader) bringsCode() bool {
	ag.in.rep.steps += len(ag.in.vars.list) / 16 // looking through many is work
	for i := range ag.in.vars.list {
		name := ag.in.vars.list[i].name
		if name == "" || ag.in.vars.list[i].unset || !agentcli.ClaudeVariable(name, ag.in.vars.list[i].text) {
			continue
		}
		if now := ag.in.par.valueOf(name); !now.known() || now.text != ag.in.vars.environment(name).text && now.text != "" && agentcli.ClaudeVariable(name, now.text) {
			return true
		}
	}
	return false
}

// agentVariables say where an agent finds its settings, or what it does without asking.
var agentVariables = [...]string{
	"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SHELL_PREFIX",
	"CLAUDE_CODE_USE_COWORK_PLUGINS", "CLAUDE_CODE_RESTRICTED", "CODEX_HOME", "GEMINI_CONFIG_DIR", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_SETTINGS_PATH", "OPENCODE_CONFIG",
	"OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "OPENCODE_PERMISSION", "GEMINI_CLI_HOME", "CURSOR_CONFIG_DIR", "COPILOT_HOME", "QWEN_HOME", "FACTORY_HOME", "AIDER_YES_ALWAYS", "AIDER_YES", "COPILOT_ALLOW_ALL",
	"CLAUDE_DANGEROUSLY_SKIP_PERMISSIONS", "CLAUDE_CODE_MANAGED_SETTINGS_PATH", "GOOSE_MODE", "CLAUDE_CODE_DISABLE_HOOKS", "DISABLE_HOOKS",
}

// installs notes which agent a command installs in a version that it names, which may be
// an old one, that does not stop where its hooks fail.
func (ag *agentReader) installs(base string, args []field) {
	if len(args) < 3 || !installWords[args[1].text] && !installWords[args[2].text] {
		return
	}
	for i, f := range args[2:min(len(args), maxWords)] {
		name, version, ok := strings.Cut(strings.Replace(f.text[min(1, len(f.text)):], "==", "@", 1), "@")
		if slash := strings.IndexByte(name, '/'); ok && slash < 0 && f.text[0] == '@' {
			continue
		}
		id := agentcli.PackageOf(base)
		if id != "" && args[i+1].text == "install" {
			version = f.text
		} else if id = agentcli.PackageOf(f.text[:min(1, len(f.text))] + name); id == "" || !ok {
			continue
		}
		if version != "" && strings.IndexByte("0123456789v^~<=", version[0]) >= 0 || !effect.IsKnown(version) {
			ag.installed = id
		}
	}
}

// installWords are the subcommands that install something.
var installWords = wordset.Of("install i add upgrade use")
