package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
)

// config binds a file of settings, those that it includes, and the programs that they name.
func (g *gitCall) config(file string, depth int) {
	file = filepath.Clean(file)
	if !g.BindCode(file) || !g.Once("git", file, g.root, g.sub) {
		return
	}
	text, ok := g.TextOf(file, "names")
	if !ok {
		return
	}
	options, err := content.GitSettings(text)
	if err != nil || depth >= disk.MaxFollowed {
		g.Unread(file, "names")
	}
	for _, o := range options {
		g.option(o, filepath.Dir(file), file, depth)
	}
}

// option binds the files of one setting. in is the folder of its file.
func (g *gitCall) option(o content.GitSetting, in, of string, depth int) {
	first, last := o.Key, o.Key
	if n := strings.IndexByte(o.Key, '.'); n >= 0 {
		first, last = o.Key[:n], o.Key[strings.LastIndexByte(o.Key, '.')+1:]
	}
	value := o.Value
	if !effect.IsKnown(value) {
		g.reportUnbound("the setting %s of git", effect.Show(o.Key))
		return
	}
	switch {
	case (first == "include" || first == "includeif") && last == "path":
		if file, ok := g.expanded(value, in, of); ok && depth < disk.MaxFollowed {
			g.config(file, depth+1)
		}
	case o.Key == "core.hookspath":
		if dir, ok := g.expanded(value, g.root, of); ok && value != "" {
			g.hooks(filepath.Clean(dir))
		}
	case o.Key == "core.attributesfile":
		if file, ok := g.expanded(value, g.root, of); ok {
			g.Visit(file, disk.Code)
		}
	case first == "alias":
		if strings.EqualFold(strings.TrimPrefix(o.Key, "alias."), g.sub) ||
			strings.EqualFold(o.Key, "alias."+g.sub+".command") {
			g.alias(value, of)
		}
	case first == "url" || last == "url" || last == "pushurl" || last == "vcs":
		g.transport(o, of)
	case o.Key == "init.templatedir":
		g.template(value)
	case first == "pager" || gitPrograms[last]:
		if first == "credential" && value != "" && !strings.ContainsAny(value[:1], "!/~") {
			value = "git-credential-" + value
		}
		g.filters = g.filters || first == "filter" && ownFilter(value)
		if first == "submodule" && !strings.HasPrefix(value, "!") {
			return
		}
		g.starts(strings.TrimPrefix(value, "!"), g.root, of)
	case last == "path" && first != "submodule": // difftool.x.path
		g.starts(value, g.root, of)
	}
}

// expanded is the absolute path in a setting.
func (g *gitCall) expanded(value, in, of string) (file string, ok bool) {
	home := g.call.Env["HOME"]
	switch rest, tilde := strings.CutPrefix(value, "~/"); {
	case tilde && filepath.IsAbs(home):
		value = filepath.Join(home, rest)
	case strings.HasPrefix(value, "~") || strings.HasPrefix(value, "%("):
		g.Unread(of, "names")
		return "", false
	}
	if !filepath.IsAbs(value) && !filepath.IsAbs(in) {
		return "", false
	}
	return abs(in, value), true
}

// ownFilter reports whether the command of a filter may run code that the agent wrote, and not
// only an installed program.
func ownFilter(command string) bool {
	words := strings.Fields(command)
	return len(words) > 0 && (strings.Contains(command, "/") || shells[words[0]] ||
		languageOf(words[0]) != nil)
}

// alias walks an alias, which is a shell command or a command of git.
func (g *gitCall) alias(value, of string) {
	command, shell := strings.CutPrefix(strings.TrimSpace(value), "!")
	if !shell {
		command = "git " + command
	}
	g.starts(command, g.root, of)
}

// transport binds the program in an address: ext::sh -c x, or foo::address.
func (g *gitCall) transport(o content.GitSetting, of string) {
	for _, text := range []string{o.Value, strings.TrimPrefix(o.Key, "url.")} {
		name, rest, ok := strings.Cut(text, "::")
		switch {
		case !ok || name == "" || strings.ContainsAny(name, " /:@\""):
		case name == "ext":
			g.starts(rest, g.root, of)
		default:
			g.starts("git-remote-"+name, g.root, of)
		}
	}
	g.receiver(o.Value)
	if strings.HasPrefix(o.Key, "url.") {
		g.receiver(o.Quoted)
	}
	if strings.HasSuffix(o.Key, ".vcs") {
		g.starts("git-remote-"+o.Value, g.root, of)
	}
}

// starts binds the files of a command that git starts by itself.
func (g *gitCall) starts(command, dir, of string) {
	switch strings.ToLower(strings.TrimSpace(command)) {
	case "", "true", "false", "yes", "no", "on", "off", "0", "1", "cat", ":": // no command, or one that does nothing
		return
	}
	if !g.Once("git runs", command, dir) {
		return
	}
	if g.depth >= disk.MaxFollowed {
		g.Unread(of, "runs")
		return
	}
	g.runs(command, dir, nil, scope{strict: g.strict, words: true, of: of})
}

// hooks binds a folder of hooks, and the files run by those that the subcommand may start.
func (g *gitCall) hooks(dir string) {
	if !g.Visit(dir, disk.Code) {
		return
	}
	files := g.BindFolder(dir)
	if files == nil { // bound before
		files = g.inHooks[dir]
	}
	g.inHooks[dir] = files
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, ".sample") || received[name] != (g.sub == "receive-pack") ||
			(name == "pre-push") != (g.sub == "push") && gitKnown[g.sub] &&
				name != "reference-transaction" {
			continue
		}
		g.bindScript(file, g.root)
	}
}

// template binds a folder from which a new repository takes its hooks and settings.
func (g *gitCall) template(dir string) {
	if !slices.Contains([]string{"clone", "init", "submodule", "worktree"}, g.sub) || dir == "" {
		return
	}
	if !effect.IsKnown(dir) {
		g.reportUnbound("the template of git in %s", effect.Show(dir))
		return
	}
	if at, ok := g.expanded(dir, g.root, "git"); ok && g.Visit(at, disk.Code) {
		g.Bound["there "+filepath.Clean(at)] = "folder"
		g.BindFolder(filepath.Clean(at))
	}
}
