package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
)

// This file finds further settings and hooks of git: in submodules, in a local repository
// that receives a push, in templates and homes, and in the list of a running rebase.

// submodules binds the settings of the submodules of a working tree, and the code that a
// command runs in them.
func (g *gitCall) submodules(at string, depth int) {
	list := filepath.Join(at, ".gitmodules")
	text, ok := g.TextOf(list, "names")
	if !ok || text == "" || !g.Once("submodules", at, g.sub) {
		return
	}
	options, err := content.GitSettings(text)
	if err != nil || depth >= disk.MaxFollowed {
		g.Unread(list, "names")
		return
	}
	root, found := g.root, 0
	for _, o := range options {
		if !strings.HasPrefix(o.Key, "submodule.") || !strings.HasSuffix(o.Key, ".path") {
			continue
		}
		if found++; found > disk.MaxNested {
			g.Unread(list, "names")
			break
		}
		g.root = filepath.Join(at, o.Value)
		g.tree(g.root, depth+1)
		for _, name := range slices.Compact([]string{o.Value, o.Quoted}) {
			if dir := filepath.Join(at, ".git/modules", name); g.NothingBound(dir) {
				g.directory(dir)
			}
		}
		if g.sub == "submodule" && len(g.args) > 0 {
			g.foreach(g.root)
		}
	}
	g.root = root
}

// foreach binds the command of git submodule foreach in a submodule.
func (g *gitCall) foreach(dir string) {
	n := slices.Index(g.args, "foreach")
	if n < 0 {
		return
	}
	words := g.args[n+1:]
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	g.starts(shellText(words), dir, "git submodule foreach")
}

// shellText makes a shell command of words. A single word is the command itself.
func shellText(words []string) string {
	if len(words) == 1 {
		return strings.ReplaceAll(words[0], effect.Unknown, "${__git__}")
	}
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil || !effect.IsKnown(w) {
			q = "${__git__}"
		}
		quoted = append(quoted, q)
	}
	return strings.Join(quoted, " ")
}

// receiver binds the hooks and settings of a local repository that receives a push: they
// run on this machine.
func (g *gitCall) receiver(address string) {
	if g.sub != "push" || address == "" || !effect.IsKnown(address) {
		return
	}
	at := strings.TrimPrefix(strings.TrimPrefix(address, "file://"), "localhost")
	if home := g.call.Env["HOME"]; strings.HasPrefix(at, "~/") {
		at = home + at[1:]
	}
	if !filepath.IsAbs(at) && !filepath.IsAbs(g.root) {
		return
	}
	at = filepath.Clean(abs(g.root, at))
	for _, dir := range []string{at, at + ".git", filepath.Join(at, ".git"), filepath.Join(at+".git", ".git")} {
		if _, err := g.Stat(dir); g.Look() && err != nil && disk.IsAbsent(err) {
			continue // a folder that is not there has nothing to bind
		}
		if g.NothingBound(filepath.Join(dir, "objects")) && g.Once("receiver", dir) {
			there := &gitCall{reading: g.reading, sub: "receive-pack", root: dir}
			there.directory(dir)
		}
	}
}

// remotes binds the addresses that a .git keeps in files of their own.
func (g *gitCall) remotes(common string) {
	for _, name := range []string{"remotes", "branches"} {
		dir := filepath.Join(common, name)
		if !g.Visit(dir, disk.Code) {
			continue
		}
		for _, file := range g.BindFolder(dir) {
			text, _ := g.TextOf(file, "names")
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				if url, ok := strings.CutPrefix(line, "URL:"); ok || name == "branches" {
					if !ok {
						url, _, _ = strings.Cut(line, "#")
					}
					g.transport(content.GitSetting{Key: "remote.file.url", Value: strings.TrimSpace(url)}, file)
				}
			}
		}
	}
}

// todo binds the commands that a running rebase will execute. The other lines of its list
// only name commits, and change with each step.
func (g *gitCall) todo(dir string) {
	file := filepath.Join(dir, "rebase-merge/git-rebase-todo")
	if g.sub != "rebase" || g.Bound[file] != "" || !g.BindCode(file) {
		return
	}
	text, ok := g.TextOf(file, "runs")
	if !ok {
		return
	}
	delete(g.Bound, file)
	g.NamedFiles--
	sum := sha256.New()
	for line := range strings.Lines(text) {
		verb, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verb == "exec" || verb == "x" {
			sum.Write([]byte(line))
			g.starts(command, g.root, file)
		}
	}
	g.Bound["exec "+file] = hex.EncodeToString(sum.Sum(nil))
}

// pushes binds the user's settings of git, which may lead a push elsewhere. Only what they say of pushes
// counts: the programs in them are the user's own.
func (g *gitCall) pushes() {
	if g.sub == "push" || g.sub == "send-pack" {
		g.users()
	}
}

// users binds the user's settings.
func (g *gitCall) users() {
	for _, file := range gitrepo.UserSettings(g.call.Env["HOME"], g.call.Env["XDG_CONFIG_HOME"]) {
		g.BindCode(file)
	}
}

// homes returns the user's settings, if the call itself sets the home.
func (g *gitCall) homes() (files []string) {
	for _, home := range g.Given["HOME"] {
		files = append(files, home+"/.gitconfig", home+"/.config/git/config")
	}
	for _, dir := range g.Values("XDG_CONFIG_HOME") {
		files = append(files, dir+"/git/config")
	}
	return files
}

// commandFlags are flags of subcommands whose value is a command, and templates those
// whose value is a folder from which hooks are copied.
const (
	commandFlags = "--exec --extcmd --upload-pack --receive-pack --tree-filter --index-filter --msg-filter --env-filter " +
		"--commit-filter --parent-filter --tag-name-filter --open-files-in-pager"
	templates = "--template"
)

// words binds the commands and templates in the words after the subcommand.
func (g *gitCall) words() {
	flags := commandFlags
	if g.sub == "rebase" || g.sub == "difftool" {
		flags += " -x"
	}
	for n, w := range g.args {
		next := ""
		if n+1 < len(g.args) {
			next = g.args[n+1]
		}
		if value, is := flagAt(g.args, n, flags); is {
			g.starts(strings.ReplaceAll(value, effect.Unknown, "${__git__}"), g.root, "git")
		}
		if value, is := flagAt(g.args, n, templates); is {
			g.template(value)
		}
		if (g.sub == "clone" || g.sub == "init") && (w == "-c" || w == "--config") {
			key, value, _ := strings.Cut(next, "=")
			g.option(option(key, value), g.root, "the options of git", 0)
		}
		if operand(w) {
			g.receiver(w)
		}
	}
	if g.sub == "bisect" && len(g.args) > 1 && g.args[0] == "run" {
		g.starts(shellText(append([]string{"command"}, g.args[1:]...)), g.root, "git bisect run")
	}
	for _, dir := range g.Values("GIT_TEMPLATE_DIR") {
		g.template(dir)
	}
}

// attributes binds the .gitattributes below a tree, which select the files for filters, if
// the agent may have written a filter.
func (g *gitCall) attributes(at string) {
	if g.filters && filtering[g.sub] && g.Once("attributes", at) {
		g.BindFolder(at, ".gitattributes")
	}
}

// tree binds the files that git reads in a folder that may be the root of a working tree.
func (g *gitCall) tree(at string, depth int) {
	dir := filepath.Join(at, ".git")
	if g.Visit(dir, disk.Code) {
		g.directory(dir)
	} else if g.Bound[dir] != "" {
		if to := g.gitFile(dir); to != "" {
			g.directory(to)
		}
	} else if info, err := g.Stat(filepath.Join(at, "HEAD")); g.Look() && err == nil && info.Mode().IsRegular() {
		g.directory(at) // a bare repository
	}
	for _, name := range []string{".gitmodules", ".gitattributes"} {
		g.Visit(filepath.Join(at, name), disk.Code)
	}
	for _, name := range []string{".husky", ".githooks"} {
		g.hooks(filepath.Join(at, name))
	}
	g.submodules(at, depth)
}

// gitFile is where a .git that is a file leads: of a linked tree or a submodule.
func (g *gitCall) gitFile(link string) string {
	text, ok := g.TextOf(link, "names")
	if !ok {
		return ""
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:")
	if dir = strings.TrimSpace(dir); !ok || dir == "" || strings.Contains(dir, "\n") {
		g.Unread(link, "names")
		return ""
	}
	return filepath.Clean(abs(filepath.Dir(link), dir))
}

// commonOf returns the folder that a .git shares with those of other trees; "" if that is not known.
func (g *gitCall) commonOf(dir string) string {
	file := filepath.Join(dir, "commondir")
	if !g.BindCode(file) {
		return dir
	}
	text, ok := g.TextOf(file, "names")
	if text = strings.TrimSpace(text); !ok || text == "" || strings.Contains(text, "\n") {
		g.Unread(file, "names")
		return ""
	}
	return filepath.Clean(abs(dir, text))
}

// names binds what a .git says of repositories and branches.
func (g *gitCall) names(dir string) {
	if common := g.commonOf(dir); common != "" {
		g.BindCode(filepath.Join(dir, "HEAD"))
		g.config(filepath.Join(common, "config"), 0)
		g.config(filepath.Join(dir, "config.worktree"), 0)
	}
}

// directory binds the settings and hooks in a .git.
func (g *gitCall) directory(dir string) {
	common := g.commonOf(dir)
	if common == "" {
		return
	}
	if gitrepo.ReadsHead(g.sub, g.args) {
		g.BindCode(filepath.Join(dir, "HEAD")) // the branch that it works on, which people read
	}
	g.config(filepath.Join(common, "config"), 0)
	g.config(filepath.Join(dir, "config.worktree"), 0)
	g.Visit(filepath.Join(common, "info/attributes"), disk.Code)
	g.hooks(filepath.Join(common, "hooks"))
	g.remotes(common)
	g.todo(dir)
}
