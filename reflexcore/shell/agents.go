package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// launchers are the programs that start others by the name of a package, an image or a
// file of theirs: the word that starts those names, empty for any.
var launchers = map[string]string{
	"node": "", "nodejs": "", "cargo": "run", "bun": "", "deno": "", "tsx": "", "ts-node": "", "python": "", "python3": "", "pypy3": "", "go": "run", "nix": "", "docker": "", "podman": "", "nerdctl": "", "uv": "run", "mise": "", "nix-shell": "", "electron": "", "java": "",
	"sh": "", "bash": "", "zsh": "", "dash": "", "ksh": "",
}

// starters are the names of all programs that [agentReader.startsAgent] looks at.
var starters = func() map[string]bool {
	m := map[string]bool{"python3": true}
	for name := range agentsNamed {
		m[name] = true
	}
	for name := range launchers {
		m[name] = true
	}
	for name := range packageManagers {
		m[name] = true
	}
	return m
}()

// startsAgent notes that a command starts an agent, and whether it is a second copy of
// one: from a package or an image, or under another name than its program's. Base is the
// [programName] of the command.
func (ag *agentReader) startsAgent(mark int, base string, std *input) {
	args := ag.in.exp.fields[mark:]
	name := args[0].text
	if len(name) > 256 {
		return
	}
	if u := unnumbered(base); name == base && !args[0].glob && !starters[u] && (u == base || !starters[base]) { // most
		ag.installs(base, args)
		return
	}
	for i, key := range [...]string{packageName(name), base} {
		if i == 1 && key == name {
			break // it was looked up already
		}
		for _, a := range agentsNamed[key] {
			apart := elsewhere(a.id, args[1:])
			if apart || a.begins(args[1:], std.present) {
				copied := apart || fetchers[ag.in.via] ||
					base != name && (name[0] == '@' || strings.Contains(name, "node_modules") || strings.ContainsAny(name[1:], "@:"))
				ag.agentStarts(a.id, copied, name)
			}
			if apart {
				ag.executesFlag(slices.Clone(args[1:]))
			}
			if key != base {
				return
			}
		}
	}
	if args[0].glob {
		ag.patternStarts(base, args[1:], std.present)
		ag.patternTells(base, args[1:])
	}
	if packageManagers[base] {
		ag.renames(args)
		ag.runsInstalled(args)
	}
	ag.installs(base, args)
	if strings.IndexByte(name, '/') >= 0 && ag.in.Table.Find(base) != nil {
		ag.mayBeLink(name, args[1:])
	} else if strings.IndexByte(name, '/') >= 0 {
		if f := ag.in.fs.created(name); f != nil && f.alias != "" {
			name = f.alias
		}
		ag.mayBeAgent(name, args[1:])
		if id := versionOf(name); elsewhere(id, args[1:]) {
			ag.agentStarts(id, true, name)
		}
	}
	if _, ok := launchers[unnumbered(base)]; !ok && base != "python3" {
		return
	}
	ag.launches(base, args)
}

// fetchers run a program of a package that they fetch, under whatever name.
var fetchers = map[string]bool{"npx": true, "pnpx": true, "bunx": true, "npx.cmd": true, "npm exec": true, "npm x": true, "pnpm dlx": true, "yarn dlx": true, "bun x": true, "uvx": true, "uv tool run": true, "pipx run": true, "uv x": true}

// launches looks for an agent among the words of a program that starts others.
func (ag *agentReader) launches(base string, args []field) {
	if base == "go" {
		ag.runsOwn(args)
	}
	word := launchers[unnumbered(base)]
	container := base == "docker" || base == "podman" || base == "nerdctl"
	if word != "" && (len(args) < 2 || args[1].text != word) {
		return
	}
	if container && !slices.ContainsFunc(args[1:min(len(args), 4)], func(f field) bool { return f.text == "run" || f.text == "create" || f.text == "sandbox" }) {
		return
	}
	first := true // no operand was seen yet
	for i := 1; i < len(args) && i < 64; i++ {
		w := args[i].text
		if len(w) > 512 || w == "" || w[0] == '-' || word != "" && (w[0] == '.' || w[0] == '/') {
			continue
		}
		id := ""
		script := first
		first = false
		if script && runsScripts[unnumbered(base)] && args[i-1].text != "-n" && !isCode(unnumbered(base), args[i-1].text) {
			ag.mayBeAgent(w, args[i+1:])
		}
		switch {
		case base == "cargo" && args[i-1].text != "--bin" && args[i-1].text != "-p" && args[i-1].text != "--package":
		case word == "" && w[0] == '@' && contains("-r --require --import", args[i-1].text):
			id = installedOf("node_modules/" + w)
		case args[i-1].text == "-m":
			id = moduleOf(w, args[i+1:])
		case script && runsScripts[unnumbered(base)] && inPath(w): // where a shell looks too
			id = packageOf(w)
		case container && args[i-1].text != "-v" && args[i-1].text != "--name" && args[i-1].text != "-w" && args[i-1].text != "--volume" && args[i-1].text != "--network":
			id = imageOf(w)
		case container:
		case strings.HasPrefix(w, "npm:"), strings.HasPrefix(w, "jsr:"), word != "", base == "nix", base == "nix-shell", base == "mise":
			id = packageOf(strings.TrimPrefix(strings.TrimPrefix(w[strings.LastIndexByte(w, '#')+1:], "npm:"), "jsr:"))
		case ClaudeInstalled(w):
			id = "claude"
		case strings.Contains(w, "node_modules/"), strings.Contains(w, "site-packages/"), strings.Contains(w, "/dist-packages/"), strings.HasPrefix(w, effect.Unknown+"/"), strings.Contains(w, "/@"):
			id = installedOf(w)
		}
		if id == "" {
			continue
		}
		rest := args[i+1:]
		if args[i-1].text != "-m" && !installedStarts(id, rest) {
			return
		}
		ag.agentStarts(id, true, base)
		return
	}
}

// agentVariables say where an agent finds its settings, or what it does without asking.
var agentVariables = [...]string{
	"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SHELL_PREFIX",
	"CLAUDE_CODE_USE_COWORK_PLUGINS", "CLAUDE_CODE_RESTRICTED", "CODEX_HOME", "GEMINI_CONFIG_DIR", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_SETTINGS_PATH", "OPENCODE_CONFIG",
	"OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "OPENCODE_PERMISSION", "GEMINI_CLI_HOME", "CURSOR_CONFIG_DIR", "COPILOT_HOME", "QWEN_HOME", "FACTORY_HOME", "AIDER_YES_ALWAYS", "AIDER_YES", "COPILOT_ALLOW_ALL",
	"CLAUDE_DANGEROUSLY_SKIP_PERMISSIONS", "CLAUDE_CODE_MANAGED_SETTINGS_PATH", "GOOSE_MODE", "CLAUDE_CODE_DISABLE_HOOKS", "DISABLE_HOOKS",
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
	if setsClaude(word) {
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

// renames notes that a package manager is told to give an agent's package another name,
// under which nobody knows it: npm i tool@npm:@openai/codex.
func (ag *agentReader) renames(args []field) {
	for _, f := range args[1:] {
		for _, sign := range [...]string{"@npm:", "=npm:"} {
			name, pkg, ok := strings.Cut(f.text, sign)
			if !ok || name == "" || len(f.text) > 512 {
				continue
			}
			if id := packageOf(pkg); id != "" && packageOf(name[strings.LastIndexByte(name, '.')+1:]) != id {
				ag.agentStarts(id, true, args[0].text)
			}
		}
	}
}

// runsInstalled notes an agent that a package manager starts by the name of its program:
// yarn codex, pnpm run gemini.
func (ag *agentReader) runsInstalled(args []field) {
	if base := programName(args[0].text); base != "yarn" && base != "pnpm" && base != "bun" || len(args) < 2 {
		return
	}
	rest := args[1:]
	if len(rest) > 1 && rest[0].text == "run" {
		rest = rest[1:]
	}
	for _, a := range agentsNamed[rest[0].text] {
		if a.starts == "" && a.begins(rest[1:], false) {
			ag.agentStarts(a.id, true, args[0].text)
			return
		}
	}
}

// packageManagers are those that install a package under another name.
var packageManagers = wordSet("npm pnpm yarn bun cnpm")

func (ag *agentReader) agentStarts(id string, copied bool, by string) {
	ag.inherits(by)
	if (copied || ag.homeless || ag.installed == id) && !strings.HasPrefix(id, "copy of ") {
		id = "copy of " + id
	}
	ag.in.add(effect.Effect{Kind: effect.Permission, Target: "agent-start", What: id, By: by})
}

// runsScripts are the launchers whose first operand is a file to run.
var runsScripts = wordSet("node nodejs bun deno tsx python pypy sh bash zsh dash ksh")

// isCode reports whether what follows a flag of one of those is code, and no file.
func isCode(base, flag string) bool {
	switch base {
	case "node", "nodejs", "bun", "tsx":
		return contains("-e -p -pe --eval --print", flag)
	case "python", "pypy":
		return flag == "-c"
	case "sh", "bash", "zsh", "dash", "ksh":
		return len(flag) > 1 && flag[0] == '-' && flag[1] != '-' && strings.IndexByte(flag, 'c') > 0
	}
	return false
}
