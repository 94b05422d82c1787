package shell

import (
	"maps"
	"slices"
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// launchers are the programs that start others by the name of a package, an image or a file.
var launchers = wordset.Of(`node nodejs cargo bun deno tsx ts-node python python3 pypy3 go nix docker podman nerdctl uv
	mise nix-shell electron java sh bash zsh dash ksh`)

// runLaunchers are the launchers that do so only after the word run.
var runLaunchers = wordset.Of("cargo go uv")

// starters are the names of all programs that [agentReader.startsAgent] looks at.
var starters = func() map[string]bool {
	m := maps.Clone(launchers)
	for name := range agentcli.Names() {
		m[name] = true
	}
	maps.Copy(m, packageManagers)
	return m
}()

// startsAgent notes that a command starts an agent, and whether it is a second copy of
// one: from a package or an image, or under another name than its program's. Base is the
// [agentcli.ProgramName] of the command.
func (ag *agentReader) startsAgent(mark int, base string, std *input) {
	args := ag.in.exp.fields[mark:]
	name := args[0].text
	if len(name) > 256 {
		return
	}
	if u := agentcli.Unnumbered(base); name == base && !args[0].glob && !starters[u] &&
		(u == base || !starters[base]) { // most
		ag.installs(base, args)
		return
	}
	from := len(ag.argv)
	for i := range args {
		ag.argv = append(ag.argv, args[i].text)
	}
	ag.looksAt(ag.argv[from:], base, args, std.present)
	ag.argv = ag.argv[:from]
}

// looksAt notes the agents that a command starts. Its program may be an agent or may start one.
// The words are the texts of args; fed says whether the command has a standard input.
func (ag *agentReader) looksAt(words []string, base string, args []field, fed bool) {
	name := words[0]
	for i, key := range [...]string{agentcli.PackageName(name), base} {
		if i == 1 && key == name {
			break // already looked up
		}
		for _, a := range agentcli.Named(key) {
			unhooked := agentcli.Unhooked(a.ID, words[1:])
			if unhooked || a.Begins(words[1:], fed) {
				copied := unhooked || fetchers[ag.in.via] != nil ||
					base != name && (name[0] == '@' || strings.Contains(name, "node_modules") || strings.ContainsAny(name[1:], "@:"))
				ag.agentStarts(a.ID, copied, name)
			}
			if unhooked {
				ag.executesFlag(slices.Clone(args[1:]))
			}
			if key != base {
				return
			}
		}
	}
	if args[0].glob {
		ag.patternStarts(base, words[1:], fed)
		ag.patternTells(base, args[1:])
	}
	if packageManagers[base] {
		ag.renames(words)
		ag.runsInstalled(words)
	}
	ag.installs(base, args)
	if strings.IndexByte(name, '/') >= 0 && ag.in.Table.Find(base) != nil {
		ag.mayBeLink(name, words[1:])
	} else if strings.IndexByte(name, '/') >= 0 {
		if f := ag.in.fs.created(name); f != nil && f.alias != "" {
			name = f.alias
		}
		ag.mayBeAgent(name, words[1:])
		if id := agentcli.VersionOf(name); agentcli.Unhooked(id, words[1:]) {
			ag.agentStarts(id, true, name)
		}
	}
	if base == "go" {
		ag.runsOwn(args)
	}
	if launchers[agentcli.Unnumbered(base)] || base == "python3" {
		ag.launches(base, words)
	}
}

// fetchers run a program from a package that they fetch, whatever the program is called.
var fetchers = table("fetchers")

// packageFolders are parts of the paths of installed packages.
var packageFolders = []string{"node_modules/", "site-packages/", "/dist-packages/", "/@"}

// launches looks for an agent among the words of a program that starts others.
func (ag *agentReader) launches(base string, args []string) {
	runs := runLaunchers[agentcli.Unnumbered(base)]
	container := base == "docker" || base == "podman" || base == "nerdctl"
	if runs && (len(args) < 2 || args[1] != "run") {
		return
	}
	starts := func(w string) bool { return w == "run" || w == "create" || w == "sandbox" }
	if container && !slices.ContainsFunc(args[1:min(len(args), 4)], starts) {
		return
	}
	first := true // no operand was seen yet
	for i := 1; i < len(args) && i < 64; i++ {
		w := args[i]
		if len(w) > 512 || w == "" || w[0] == '-' || runs && (w[0] == '.' || w[0] == '/') {
			continue
		}
		id := ""
		script := first
		first = false
		if script && runsScripts[agentcli.Unnumbered(base)] && args[i-1] != "-n" &&
			!isCode(agentcli.Unnumbered(base), args[i-1]) {
			ag.mayBeAgent(w, args[i+1:])
		}
		switch {
		case base == "cargo" && args[i-1] != "--bin" && args[i-1] != "-p" && args[i-1] != "--package":
		case !runs && w[0] == '@' && wordset.Has("-r --require --import", args[i-1]):
			id = agentcli.InstalledOf("node_modules/" + w)
		case args[i-1] == "-m":
			id = agentcli.ModuleOf(w, args[i+1:])
		case script && runsScripts[agentcli.Unnumbered(base)] && agentcli.InPath(w): // a shell searches PATH as well
			id = agentcli.PackageOf(w)
		case container && !wordset.Has("-v --name -w --volume --network", args[i-1]):
			id = agentcli.ImageOf(w)
		case container:
		case wordset.HasAnyPrefix(w, "npm:", "jsr:"), runs, base == "nix", base == "nix-shell", base == "mise":
			id = agentcli.PackageOf(strings.TrimPrefix(strings.TrimPrefix(w[strings.LastIndexByte(w, '#')+1:], "npm:"), "jsr:"))
		case agentcli.ClaudeInstalled(w):
			id = "claude"
		case wordset.ContainsAny(w, packageFolders...), strings.HasPrefix(w, effect.Unknown+"/"):
			id = agentcli.InstalledOf(w)
		}
		if id == "" {
			continue
		}
		rest := args[i+1:]
		if args[i-1] != "-m" && !agentcli.InstalledStarts(id, rest) {
			return
		}
		ag.agentStarts(id, true, base)
		return
	}
}

// renames notes that a package manager installs an agent's package under another name, which hides
// the agent: npm i tool@npm:@openai/codex.
func (ag *agentReader) renames(args []string) {
	for _, word := range args[1:] {
		for _, sign := range [...]string{"@npm:", "=npm:"} {
			name, pkg, ok := strings.Cut(word, sign)
			if !ok || name == "" || len(word) > 512 {
				continue
			}
			if id := agentcli.PackageOf(pkg); id != "" && agentcli.PackageOf(name[strings.LastIndexByte(name, '.')+1:]) != id {
				ag.agentStarts(id, true, args[0])
			}
		}
	}
}

// runsInstalled notes an agent that a package manager starts by the name of its program:
// yarn codex, pnpm run gemini.
func (ag *agentReader) runsInstalled(args []string) {
	if base := agentcli.ProgramName(args[0]); base != "yarn" && base != "pnpm" && base != "bun" || len(args) < 2 {
		return
	}
	rest := args[1:]
	if len(rest) > 1 && rest[0] == "run" {
		rest = rest[1:]
	}
	for _, a := range agentcli.Named(rest[0]) {
		if a.AnyWords() && a.Begins(rest[1:], false) {
			ag.agentStarts(a.ID, true, args[0])
			return
		}
	}
}

// packageManagers are those that install a package under another name.
var packageManagers = wordset.Of("npm pnpm yarn bun cnpm")

// runsScripts are the launchers whose first operand is a file to run.
var runsScripts = wordset.Of("node nodejs bun deno tsx python pypy sh bash zsh dash ksh")

// isCode reports whether the word after a flag of one of the runsScripts is code, not a file.
func isCode(base, flag string) bool {
	switch base {
	case "node", "nodejs", "bun", "tsx":
		return wordset.Has("-e -p -pe --eval --print", flag)
	case "python", "pypy":
		return flag == "-c"
	case "sh", "bash", "zsh", "dash", "ksh":
		return hasLetter(flag, "c")
	}
	return false
}

// executesFlag walks the command that a hidden flag of Claude Code has a shell run: --bg --exec COMMAND.
func (ag *agentReader) executesFlag(args []field) {
	for i, f := range args {
		command, joined := strings.CutPrefix(f.text, "--exec=")
		switch {
		case joined:
			f.text = command
		case f.text == "--exec" && i+1 < len(args):
			f = args[i+1]
		default:
			continue
		}
		if f.known() {
			ag.in.payloads.payload(f.data, "claude --exec", &input{}, nil)
		}
	}
}
