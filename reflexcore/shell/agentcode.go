package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// Code also starts agents, through their libraries. So do programs that only the disk shows to be
// agents: behind a link, or matched by a glob pattern.

// agentModules lists the libraries through which code starts an agent. Each line has a module, its
// agent and the names that start it; without names, importing the module starts it.
var agentModules = section("agent modules")

// agentCode notes that code imports a library of an agent, and uses it.
func (ag *agentReader) agentCode(lang, src string) {
	loads := strings.Contains(src, "import") || strings.Contains(src, "require") || strings.Contains(src, "run_module")
	if ag.in.ctx.Written || len(src) > maxMentioned || !loads {
		return
	}
	for line := range strings.Lines(agentModules) {
		module, rest, _ := strings.Cut(strings.TrimSpace(line), " | ")
		id, ways, _ := strings.Cut(rest, " |")
		if !imports(src, module) {
			continue
		}
		used := ways == ""
		for use := range strings.FieldsSeq(ways) {
			used = used || strings.Contains(src, use)
		}
		if used {
			ag.agentStarts(id, false, lang)
		}
	}
}

// importers are the texts that come before the name of an imported module.
var importers = strings.Fields("require( import( from import run_module( import_module( __import__(")

// imports reports whether code imports a module, or a part of it.
func imports(src, module string) bool {
	for at := 0; ; {
		i := strings.Index(src[at:], module)
		if i < 0 {
			return false
		}
		start := at + i
		at = start + len(module)
		if at < len(src) && (isName(src[at]) && src[at] != '.' && src[at] != ')' && src[at] != ']' || src[at] == '-') {
			continue
		}
		before := src[:start]
		statement := strings.TrimLeft(before[strings.LastIndexAny(before, "\n;")+1:], " \t'\"")
		before = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(before, "\"'` "), "npm:"), "\"'` ")
		begins := strings.HasPrefix(statement, "import ") || strings.HasPrefix(statement, "from ")
		imports := slices.ContainsFunc(importers, func(call string) bool { return strings.HasSuffix(before, call) })
		if imports || begins && !strings.Contains(statement, " import ") {
			return true
		}
	}
}

// mayBeAgent notes a program that may turn out on disk to be an agent. Its base name must be
// known; its folder may not be, as where find visits folders.
func (ag *agentReader) mayBeAgent(name string, args []string) {
	if ag.in.ctx.Written || ag.in.rep.bits&effect.Remote != 0 ||
		!effect.IsKnown(name[strings.LastIndexByte(name, '/')+1:]) {
		return
	}
	ag.in.rep.handsOn(Program{Path: ag.in.fs.expandHome(name)}, args)
}

// mayBeLink notes a program outside the system folders that has the name of a listed program: it
// may be a link to another one.
func (ag *agentReader) mayBeLink(name string, args []string) {
	if ag.in.ctx.Written || ag.in.rep.bits&effect.Remote != 0 || !effect.IsKnown(name) {
		return
	}
	file := ag.in.fs.expandHome(name)
	if wordset.HasAnyPrefix(file, "/usr/", "/bin/", "/sbin/", "/opt/") && !strings.Contains(file, "/..") {
		return // a write to these folders needs approval itself
	}
	ag.in.rep.handsOn(Program{Path: file, Named: true}, args)
}

// patternStarts notes that a glob pattern may match the program of an agent: ~/bin/cod?x.
func (ag *agentReader) patternStarts(base string, args []string, fed bool) {
	literal := strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]^!-", r) {
			return -1
		}
		return r
	}, base)
	if len(literal) < 2 {
		return
	}
	for _, a := range agentcli.Matching(base) {
		if agentcli.Unhooked(a.ID, args) || a.Begins(args, fed) {
			ag.agentStarts(a.ID, true, base)
			return
		}
	}
}

// Approver can also start without its program being named: go runs and builds its package, and a
// glob pattern may match it. Its arguments are judged in the same way then.

// ownName is the name of approver's program and of the last folder of its package path.
const ownName = "approver"

// goValues are the flags of go run and go tool that take the next word as their value.
var goValues = wordset.Of(`-exec -C -mod -modfile -overlay -pgo -tags -ldflags -gcflags -asmflags -p -o -pkgdir
	-toolexec -buildmode -compiler -installsuffix -covermode -coverpkg`)

// runsOwn walks the arguments of approver where go runs its package.
func (ag *agentReader) runsOwn(args []field) {
	rest := args[1:]
	for len(rest) > 1 && rest[0].text == "-C" {
		rest = rest[2:]
	}
	if len(rest) == 0 || rest[0].text != "run" && rest[0].text != "tool" {
		return
	}
	tool := rest[0].text == "tool"
	rest = rest[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") {
		if rest = rest[1:]; goValues[args[len(args)-len(rest)-1].text] && len(rest) > 0 {
			rest = rest[1:]
		}
	}
	if len(rest) == 0 || !ag.in.fs.isOwnPackage(rest[0].text) && (!tool || path.Base(rest[0].text) != ownName) {
		return
	}
	for len(rest) > 0 && strings.HasSuffix(rest[0].text, ".go") && len(rest) > 1 &&
		strings.HasSuffix(rest[1].text, ".go") {
		rest = rest[1:]
	}
	ag.tellsOwn(rest[1:])
}

// isOwnPackage reports whether a word names approver's package to go, or a file in it.
func (fsys *filesystem) isOwnPackage(word string) bool {
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	if word == "" || !effect.IsKnown(word) {
		return false
	}
	if strings.HasSuffix(word, ".go") {
		word = path.Dir(word)
	}
	if word == "." || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") {
		word = fsys.abs(word)
	}
	return path.Base(word) == ownName
}

// tellsOwn walks words as the arguments of approver.
func (ag *agentReader) tellsOwn(words []field) {
	if ag.in.rep.level >= ag.in.rep.lim.Nesting {
		ag.in.rep.over(overDepth)
		return
	}
	ag.in.runAs(ownName, words, &input{}, &data{})
}

// patternTells walks the arguments of approver where a glob pattern matches its name.
func (ag *agentReader) patternTells(base string, args []field) {
	if ok, err := path.Match(base, ownName); ok && err == nil && strings.Trim(base, "*?[]") != "" {
		ag.tellsOwn(args)
	}
}

func (ag *agentReader) agentStarts(id string, copied bool, by string) {
	ag.inherits(by)
	if (copied || ag.homeless || ag.installed == id) && !strings.HasPrefix(id, "copy of ") {
		id = "copy of " + id
	}
	ag.in.add(effect.Effect{Kind: effect.Permission, Target: "agent-start", What: id, By: by})
}

// inherits notes the settings that an agent finds in variables, however these were set: read,
// printf -v, ${A:=b} and references set them without an assignment.
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

// setsAgent reports whether a word of a command that starts an agent, or code in that word, sets a
// variable that says where the agent's settings are: tmux new -e NAME=VALUE, os.environ.
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
		return at == 0 && (len(word) == len(name) || word[len(name)] == '=' || word[len(name)] == ' ') ||
			at > 0 && strings.ContainsAny(word, "=(:{") || at > 0 && strings.Contains(word, "env")
	})
}

// bringsCode reports whether a variable that was set may make the Claude Code that starts run or
// load other code.
func (ag *agentReader) bringsCode() bool {
	ag.in.rep.steps += len(ag.in.vars.list) / 16 // looking through many is work
	for i := range ag.in.vars.list {
		name := ag.in.vars.list[i].name
		if name == "" || ag.in.vars.list[i].unset || !agentcli.ClaudeVariable(name, ag.in.vars.list[i].text) {
			continue
		}
		if now := ag.in.par.valueOf(name); !now.known() ||
			now.text != ag.in.vars.environment(name).text && now.text != "" && agentcli.ClaudeVariable(name, now.text) {
			return true
		}
	}
	return false
}

// agentVariables say where an agent finds its settings, or what it does without asking.
var agentVariables = strings.Fields(section("agent variables"))

// installs notes the agent that a command installs in a version that it names. That may be an old
// version, which goes on when its hooks fail.
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
