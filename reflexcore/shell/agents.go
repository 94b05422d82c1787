package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

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

// begins reports whether the words behind an agent's name start it. Its input is what it
// is to do if it is fed.
func (a *agent) begins(args []field, fed bool) bool {
	if len(args) > 1 && agentRecords[args[0].text] && agentLists[args[1].text] {
		return false
	}
	if a.starts != "" {
		return a.beginsWith(args, fed)
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
	if len(args) > 1 && contains(a.quiet, first+":"+args[1].text) {
		return false
	}
	if (!agentQuiet[first] || contains(a.loud, first)) && !contains(a.quiet, first) {
		return true
	}
	if first != "" && first[0] == '-' {
		return len(args) > 1 && first != "--help" && first != "--version"
	}
	return len(args) > 1 && agentServes[args[1].text]
}

// beginsWith is begins of an agent whose name means other programs too.
func (a *agent) beginsWith(args []field, fed bool) bool {
	if len(args) == 0 {
		return contains(a.starts, ".") || fed && a.fed
	}
	first := args[0].text
	if a.said && strings.Contains(first, " ") && first[0] != '-' {
		return true
	}
	for i, f := range args {
		flag, _, _ := strings.Cut(f.text, "=")
		switch {
		case flag == "" || flag == ".":
		case i == 0 && flag[0] != '-' && contains(a.starts, flag): // gh agent-task list
			return len(args) == 1 || !contains(a.quiet, first+":"+args[1].text) && (&agent{quiet: a.quiet}).begins(args[1:], fed)
		case flag[0] == '-' && contains(a.starts, flag), i == 0 && contains(a.starts, "^"+flag):
			return true
		}
	}
	return false
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
	if isBare(word) { // most
		return word
	}
	word = strings.ToLower(word[max(strings.LastIndexByte(word, '/'), strings.LastIndexByte(word, '\\'))+1:])
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	if strings.IndexByte(word, '.') < 0 && strings.IndexByte(word, '-') < 0 { // most
		return word
	}
	for _, ending := range [...]string{".exe", ".cmd", ".ps1", ".bat", ".js", ".mjs", ".cjs", ".git"} {
		word = strings.TrimSuffix(word, ending)
	}
	for _, machine := range [...]string{"-x86_64", "-aarch64", "-arm64", "-linux", "-darwin", "-macos"} {
		if plain, _, ok := strings.Cut(word, machine); ok && len(agentsNamed[plain]) > 0 {
			return plain // codex-x86_64-unknown-linux-musl
		}
	}
	return word
}

// isBare reports whether a word has small letters, digits and underscores only.
func isBare(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// unnumbered is a program's name without the version at its end, as in python3.11.
func unnumbered(name string) string {
	for name != "" && (name[len(name)-1] == '.' || name[len(name)-1] >= '0' && name[len(name)-1] <= '9') {
		name = name[:len(name)-1]
	}
	return name
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
	if owner := strings.TrimSuffix(word[:strings.LastIndexByte(word, '/')+1], "/"); owner != "" {
		if id := packageOf(owner[strings.LastIndexByte(owner, '/')+1:] + "/" + image); id != "" {
			return id
		}
	}
	if id := packageOf(image); id != "" {
		return id
	}
	return packageOf(tag)
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

// inPath reports whether a word is a program as which prints it, or lies where programs do.
func inPath(word string) bool {
	dir, base := path.Split(word)
	if strings.HasSuffix(dir, "bin/") && strings.HasSuffix(base, "js") {
		return true
	}
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
