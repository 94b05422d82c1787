package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// Programs that are agents: started, they run tools of their own, and whether these are
// asked about is up to the settings that they find. One line is one agent.

// An agent is a program that runs tools by itself.
type agent struct {
	// id is the word for it, as in --agent where approver has hooks for it.
	id string
	// names are its programs, and the last parts of the names of its packages and images.
	names string
	// starts are the first words and the flags that start it, where its name means other
	// programs too; empty: whatever is not in quiet does.
	starts string
	// quiet are the first words that start nothing, besides those of all agents.
	quiet string
	// answers are the flags that start nothing with one word behind them.
	answers string
}

var agentPrograms = []agent{
	{id: "claude", names: "claude claude-code claude-code-acp claude-agent-acp", quiet: "setup-token hooks migrate-installer"},
	{id: "codex", names: "codex codex-cli codex-acp codex-universal", quiet: "features debug"},
	{id: "gemini", names: "gemini gemini-cli", quiet: "extensions skills gemma hooks --list-sessions --list-extensions", answers: "--delete-session"},
	{id: "qwen", names: "qwen qwen-code", quiet: "extensions skills"},
	{id: "copilot", names: "copilot-cli @github/copilot", quiet: "plugin"},
	{id: "copilot", names: "copilot", starts: "-p --prompt -i --interactive --resume --continue --acp --banner --yolo --allow-all --allow-all-tools --autopilot"},
	{id: "cursor", names: "cursor-agent", quiet: "create-chat ls"},
	{id: "cursor", names: "cursor", starts: "agent"},
	{id: "opencode", names: "opencode opencode-ai", quiet: "debug agent stats export import github"},
	{id: "goose", names: "goose-cli goose-ai goosed"},
	{id: "goose", names: "goose", starts: "run session s acp web serve recipe schedule bench term"},
	{id: "crush", names: "crush", quiet: "logs dirs schema projects"},
	{id: "droid", names: "droid", quiet: "search"},
	{id: "cline", names: "cline", quiet: "history"},
	{id: "kilo", names: "kilocode kilo @kilocode/cli"},
	{id: "pi", names: "pi-coding-agent"},
	{id: "pi", names: "pi", starts: "-p --print -c --continue -r --resume --mode --session --model --provider"},
	{id: "amp", names: "@sourcegraph/amp @ampcode/cli"},
	{id: "amp", names: "amp", starts: "-x --execute --dangerously-allow-all --stream-json threads t"},
	{id: "aider", names: "aider aider-chat aider-install aider-full", quiet: "--list-models --models --show-repo-map --show-prompts --analytics-disable --check-update --just-check-update", answers: "--list-models --models"},
	{id: "kiro", names: "kiro-cli kiro-cli-chat", quiet: "agent settings whoami theme integrations inline"},
	{id: "kiro", names: "q qchat", starts: "chat"},
	{id: "openclaw", names: "openclaw", starts: "agent tui"},
	{id: "continue", names: "@continuedev/cli"},
	{id: "continue", names: "cn", starts: "-p --print serve --resume --auto --prompt --agent --config"},
	{id: "plandex", names: "plandex pdx", quiet: "plans ls rm log diff diffs convo branches current cd sign-in set-config rewind reject"},
	{id: "gptme", names: "gptme"},
	{id: "interpreter", names: "interpreter open-interpreter"},
	{id: "auggie", names: "auggie", quiet: "session token"},
	{id: "openhands", names: "openhands openhands-ai openhands-cli", quiet: "conversations"},
	{id: "mini-swe-agent", names: "mini-swe-agent"},
	{id: "kimi", names: "kimi-cli"},
	{id: "kimi", names: "kimi", starts: "-p --print -c --command --prompt --yolo -y --acp acp"},
	{id: "vibe", names: "mistral-vibe"},
	{id: "vibe", names: "vibe", starts: "-p --prompt --auto-approve --continue -c --resume"},
	{id: "iflow", names: "iflow iflow-cli"},
	{id: "codebuddy", names: "codebuddy codebuddy-code"},
	{id: "trae", names: "trae-agent"},
	{id: "trae", names: "trae-cli", starts: "run interactive"},
	{id: "rovodev", names: "acli", starts: "rovodev"},
	{id: "forge", names: "forgecode"},
	{id: "jules", names: "jules", starts: "new remote"},
	{id: "grok", names: "grok-cli"},
	{id: "grok", names: "grok", starts: "-p --prompt -d --directory"},
	{id: "gpt-engineer", names: "gpt-engineer gpte"},
	{id: "smol", names: "smolagent"},
	{id: "vscode", names: "code code-insiders", starts: "chat"},
	{id: "cursor", names: "agent", starts: "-p --print --force -f"},
	{id: "warp", names: "warp oz", starts: "agent"},
	{id: "ollama", names: "ollama", starts: "launch"},
}

// agentQuiet are the words with which an agent only says, fetches or stores something.
var agentQuiet = wordSet(`help version doctor update upgrade install uninstall login logout auth status mcp config configure completion completions models model list ls plugin plugins stats sessions whoami usage info cache feedback
	-h --help -help -v -V --version -version`)

// agentServes are the words behind a quiet one that start it all the same.
var agentServes = wordSet("serve server start run")

// agentRecords are the words for what agents have kept of their work, and agentLists those
// that then say or store something and start nothing.
var (
	agentRecords = wordSet("session sessions thread threads conversation conversations history")
	agentLists   = wordSet("list ls delete rm remove export show info search")
)

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// agentsNamed are the agents by the names of their programs, in small letters.
var agentsNamed = func() map[string][]*agent {
	m := map[string][]*agent{}
	for i := range agentPrograms {
		a := &agentPrograms[i]
		for name := range strings.FieldsSeq(a.names) {
			m[name] = append(m[name], a)
		}
	}
	return m
}()

// launchers are the programs that start others by the name of a package, an image or a
// file of theirs: the word that starts those names, empty for any.
var launchers = map[string]string{
	"node": "", "nodejs": "", "bun": "", "deno": "", "tsx": "", "ts-node": "", "python": "", "python3": "", "pypy3": "", "go": "run", "nix": "", "docker": "", "podman": "", "nerdctl": "", "uv": "run", "mise": "", "nix-shell": "", "electron": "", "java": "",
	"sh": "", "bash": "", "zsh": "", "dash": "", "ksh": "",
}

// startsAgent notes that a command starts an agent, and whether it is a second copy of
// one: from a package or an image, or under another name than its program's.
func (in *interp) startsAgent(mark int) {
	args := in.fields[mark:]
	name := args[0].text
	if len(name) > 256 {
		return
	}
	base := programName(name)
	copied := base != name && (strings.HasPrefix(name, "@") || strings.Contains(name, "node_modules") || strings.ContainsAny(name[1:], "@:")) || fetchers[in.via]
	for _, key := range [...]string{packageName(name), base} {
		for _, a := range agentsNamed[key] {
			if a.begins(args[1:]) {
				in.agentStarts(a.id, copied, name)
			}
			if key != base {
				return
			}
		}
	}
	if packageManagers[base] {
		in.renames(args)
	}
	if _, ok := launchers[strings.TrimRight(base, "0123456789.")]; !ok && base != "python3" {
		return
	}
	in.launches(base, args)
}

// fetchers run a program of a package that they fetch, under whatever name.
var fetchers = map[string]bool{"npx": true, "pnpx": true, "bunx": true, "npx.cmd": true, "npm exec": true, "npm x": true, "pnpm dlx": true, "yarn dlx": true, "bun x": true, "uvx": true, "uv tool run": true, "pipx run": true, "uv x": true}

// launches looks for an agent among the words of a program that starts others.
func (in *interp) launches(base string, args []field) {
	word := launchers[strings.TrimRight(base, "0123456789.")]
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
		switch {
		case script && runsScripts[strings.TrimRight(base, "0123456789.")] && inPath(w) && (strings.Contains(w, "/") || !strings.HasSuffix(base, "sh")):
			id = packageOf(w)
		case container && args[i-1].text != "-v" && args[i-1].text != "--name" && args[i-1].text != "-w" && args[i-1].text != "--volume" && args[i-1].text != "--network":
			id = imageOf(w)
		case container:
		case args[i-1].text == "-m":
			id = packageOf(strings.ReplaceAll(w, "_", "-"))
		case strings.HasPrefix(w, "npm:"), strings.HasPrefix(w, "jsr:"), word != "", base == "nix", base == "nix-shell", base == "mise":
			id = packageOf(strings.TrimPrefix(strings.TrimPrefix(w[strings.LastIndexByte(w, '#')+1:], "npm:"), "jsr:"))
		case strings.Contains(w, "node_modules/"), strings.Contains(w, "site-packages/"), strings.Contains(w, "/dist-packages/"), strings.HasPrefix(w, effect.Unknown+"/"), strings.Contains(w, "/@"):
			id = installedOf(w)
		}
		if id == "" {
			continue
		}
		rest := args[i+1:]
		if !slices.ContainsFunc(agentPrograms, func(a agent) bool { return a.id == id && a.starts == "" && a.begins(rest) }) {
			return
		}
		in.agentStarts(id, true, base)
		return
	}
}

// isolates are the programs that run another one in a place of its own: with other files,
// another home or another user's session, where it may not find the settings that it has here.
var isolates = wordSet("bwrap firejail chroot unshare nsenter systemd-run flatpak-spawn wsl")

// agentVariables say where an agent finds its settings, or what it does without asking.
var agentVariables = [...]string{
	"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SHELL_PREFIX", "CODEX_HOME", "GEMINI_CONFIG_DIR", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_SETTINGS_PATH", "OPENCODE_CONFIG",
	"OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "OPENCODE_PERMISSION", "GEMINI_CLI_HOME", "CURSOR_CONFIG_DIR", "COPILOT_HOME", "QWEN_HOME", "FACTORY_HOME", "AIDER_YES_ALWAYS", "AIDER_YES", "COPILOT_ALLOW_ALL",
	"CLAUDE_DANGEROUSLY_SKIP_PERMISSIONS", "GOOSE_MODE", "CLAUDE_CODE_DISABLE_HOOKS", "DISABLE_HOOKS",
}

// inherits notes the settings that an agent finds in variables, however they came there:
// read, printf -v, ${A:=b} and references set them too, and are no assignments.
func (in *interp) inherits(by string) {
	for _, name := range agentVariables {
		if in.lookup(name) == nil {
			continue
		}
		if now := in.value(name); !now.known() || now.text != in.environment(name).text {
			in.environ(name, now)
		}
	}
	if in.sourced || slices.ContainsFunc(in.words, in.setsAgent) {
		in.add(effect.Effect{Kind: effect.Permission, Target: effect.Unknown, What: "agent-settings", By: by})
	}
}

// setsAgent reports whether a word of a command that leads to an agent, or code in it, sets a
// variable that says where its settings are: tmux new -e NAME=VALUE, os.environ.
func (in *interp) setsAgent(word string) bool {
	if home, ok := strings.CutPrefix(word, "HOME="); ok {
		return home != in.value("HOME").text
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
func (in *interp) renames(args []field) {
	for _, f := range args[1:] {
		for _, sign := range [...]string{"@npm:", "=npm:"} {
			name, pkg, ok := strings.Cut(f.text, sign)
			if !ok || name == "" || len(f.text) > 512 {
				continue
			}
			if id := packageOf(pkg); id != "" && packageOf(name[strings.LastIndexByte(name, '.')+1:]) != id {
				in.agentStarts(id, true, args[0].text)
			}
		}
	}
}

// packageManagers are those that install a package under another name.
var packageManagers = wordSet("npm pnpm yarn bun cnpm")

func (in *interp) agentStarts(id string, copied bool, by string) {
	in.inherits(by)
	if copied || in.homeless {
		id = "copy of " + id
	}
	in.add(effect.Effect{Kind: effect.Permission, Target: "agent-start", What: id, By: by})
}

// begins reports whether the words behind an agent's name start it.
func (a *agent) begins(args []field) bool {
	if len(args) > 1 && agentRecords[args[0].text] && agentLists[args[1].text] {
		return false
	}
	if a.starts != "" {
		for _, f := range args {
			flag, _, _ := strings.Cut(f.text, "=")
			if contains(a.starts, flag) && (flag[0] == '-' || f == args[0]) {
				return true
			}
		}
		return false
	}
	if len(args) == 0 {
		return true
	}
	first := args[0].text
	if last := args[len(args)-1].text; len(args) == 2 && (last == "--help" || last == "-h" || last == "--version") {
		return false
	}
	if len(args) == 2 && contains(a.answers, first) && args[1].text != "" && args[1].known() && args[1].text[0] != '-' {
		return false
	}
	if !agentQuiet[first] && !contains(a.quiet, first) {
		return true
	}
	if first != "" && first[0] == '-' {
		return len(args) > 1 && first != "--help" && first != "--version"
	}
	return len(args) > 1 && agentServes[args[1].text]
}

// contains reports whether a list of words has a word.
func contains(list, word string) bool {
	if word == "" {
		return false
	}
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// programName is the name of a program without its folder, its version and its ending, in
// small letters.
func programName(word string) string {
	word = strings.ToLower(word[strings.LastIndexAny(word, `/\`)+1:])
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	for _, ending := range [...]string{".exe", ".cmd", ".ps1", ".bat", ".js", ".mjs", ".cjs", ".git"} {
		word = strings.TrimSuffix(word, ending)
	}
	return word
}

// packageName is a name with its scope, without a version, in small letters.
func packageName(word string) string {
	word = strings.ToLower(word)
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	return word
}

// packageOf is the agent of a package; empty: it is none.
func packageOf(word string) string {
	for _, key := range [...]string{packageName(word), programName(word)} {
		for _, a := range agentsNamed[key] {
			if a.starts == "" {
				return a.id
			}
		}
	}
	return ""
}

// imageOf is the agent of a container's image; its tag may name it.
func imageOf(word string) string {
	image, tag, _ := strings.Cut(word[strings.LastIndexByte(word, '/')+1:], ":")
	image, _, _ = strings.Cut(image, "@")
	if id := packageOf(image); id != "" {
		return id
	}
	return packageOf(tag)
}

// runsScripts are the launchers whose first operand is a file to run.
var runsScripts = wordSet("node nodejs bun deno tsx python pypy sh bash zsh dash ksh")

// inPath reports whether a word is a program as which prints it, or lies where programs do.
func inPath(word string) bool {
	dir, base := path.Split(word)
	return !strings.Contains(base, ".") && (dir == "" || strings.HasSuffix(path.Base(dir), "bin"))
}

// installedOf is the agent of which a file is installed.
func installedOf(word string) string {
	parts := strings.Split(word, "/")
	for i, part := range parts {
		if id := packageOf(strings.ReplaceAll(part, "_", "-")); id != "" && i > 0 && (strings.HasSuffix(parts[i-1], "-packages") || parts[i-1] == "node_modules" || parts[i-1] == ".bin" || strings.HasPrefix(parts[i-1], "@") || parts[i-1] == effect.Unknown && i+2 < len(parts)) {
			return id
		}
	}
	return ""
}
