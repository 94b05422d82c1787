package fingerprint

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"approver.example/fingerprint/disk"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
)

// This file finds what git runs by itself: hooks, and the programs that its settings name.

// A gitCall is one command of git.
type gitCall struct {
	reading
	sub     string               // the subcommand, in small letters
	args    []string             // behind it
	root    string               // of the working tree
	options []content.GitSetting // of -c, --config-env and variables
	dirs    []string             // that the call names as .git
	files   []string             // of settings that variables name
	unclear bool                 // a word before the subcommand is not known
	filters bool                 // settings name a filter that may be a file of the agent
}

// gitTakes are the flags before the subcommand that take the next word.
var gitTakes = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path", "--attr-source"}

// bind binds what a command of git runs by itself, in each folder where it may work.
func (g *gitCall) bind() {
	g.splitWords(g.c.Argv[1:])
	g.variables()
	if g.unclear {
		g.unknown(g.c.Step)
	}
	g.dirs = append(g.dirs, g.Values("GIT_DIR")...)
	g.dirs = append(g.dirs, g.Values("GIT_COMMON_DIR")...)
	for _, base := range g.bases {
		g.root = base
		for _, dir := range g.dirs {
			if !effect.IsKnown(dir) {
				g.named("the settings of git in %s", effect.Show(dir))
				continue
			}
			g.directory(filepath.Clean(abs(base, dir)))
		}
		roots := g.upwards(base)
		for _, at := range roots {
			g.root = at
			g.tree(at)
		}
		for _, at := range slices.Compact(append(roots, base)) { // settings are relative to the top
			g.root = at
			for _, file := range g.files {
				g.config(abs(base, file), 0)
			}
			for _, o := range g.options {
				g.option(o, at, "the options of git", 0)
			}
			g.words()
		}
		for _, at := range roots {
			g.attributes(at)
		}
	}
	g.editors()
	if g.sub != "" && !slices.Contains(gitKnown, g.sub) && effect.IsKnown(g.sub) && !strings.Contains(g.sub, "/") {
		g.lookup(g.c.Step, "git-"+g.sub)
	}
}

// gitKnown are subcommands that git has itself: PATH is not asked for them.
var gitKnown = strings.Fields("add am branch checkout cherry-pick clean clone commit config diff fetch gc init log merge mv pull push rebase reset restore revert rm show stash status switch tag worktree")

// splitWords splits the words of a command.
func (g *gitCall) splitWords(words []string) {
	for n := 0; n < len(words); n++ {
		w := words[n]
		name, value, joined := strings.Cut(w, "=")
		if operand(w) {
			g.sub, g.args = strings.ToLower(w), words[n+1:]
			return
		}
		if !effect.IsKnown(w) {
			g.unclear = true
		}
		if slices.Contains(gitTakes, w) {
			if n++; n < len(words) {
				name, value, joined = w, words[n], true
			}
		}
		if !joined {
			continue
		}
		key, setting, _ := strings.Cut(value, "=")
		switch name {
		case "-c":
			g.options = append(g.options, option(key, setting))
		case "--config-env":
			for _, v := range g.Values(setting) {
				g.options = append(g.options, option(key, v))
			}
			g.named("the setting %s of git", effect.Show(key))
		case "--git-dir":
			g.dirs = append(g.dirs, value)
		case "--exec-path":
			g.executables(value)
		}
	}
}

// option is a setting that a word or a variable gives.
func option(key, value string) content.GitSetting {
	o := content.GitSetting{Key: strings.ToLower(key), Value: value}
	if first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.'); first < last {
		o.Quoted = key[first+1 : last]
	}
	return o
}

// variables reads the settings that the environment gives.
func (g *gitCall) variables() {
	for n := 0; n < disk.MaxNested && len(g.Values("GIT_CONFIG_COUNT")) > 0; n++ {
		at := strconv.Itoa(n)
		for _, key := range g.Values("GIT_CONFIG_KEY_" + at) {
			for _, value := range g.Values("GIT_CONFIG_VALUE_" + at) {
				g.options = append(g.options, option(key, value))
			}
		}
	}
	for _, count := range g.Values("GIT_CONFIG_COUNT") {
		if n, err := strconv.Atoi(count); err != nil || n > disk.MaxNested {
			g.named("the settings of GIT_CONFIG_COUNT=%s", effect.Show(count))
		}
	}
	if len(g.Values("GIT_CONFIG_PARAMETERS")) > 0 {
		g.named("the settings of GIT_CONFIG_PARAMETERS")
	}
	for _, dir := range g.Values("GIT_EXEC_PATH") {
		g.executables(dir)
	}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG"} {
		g.files = append(g.files, g.Values(name)...)
	}
	g.files = append(g.files, g.homes()...)
	for _, name := range []string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_ASKPASS"} {
		for _, value := range g.Values(name) {
			g.starts(value, g.call.Dir, name)
		}
	}
}

// executables binds the folder in which git looks for its own programs.
func (g *gitCall) executables(dir string) {
	if filepath.IsAbs(g.call.Dir) && effect.IsKnown(dir) && g.Visit(abs(g.call.Dir, dir), disk.Code) {
		g.BindFolder(filepath.Clean(abs(g.call.Dir, dir)))
	}
}

// edits are the subcommands that start an editor.
var edits = []string{"commit", "merge", "rebase", "revert", "tag", "cherry-pick", "notes", "am", "config", "branch"}

// editors binds the editor where a subcommand starts one.
func (g *gitCall) editors() {
	if !slices.Contains(edits, g.sub) {
		return
	}
	for _, name := range []string{"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL", "EDITOR"} {
		for _, value := range g.Values(name) {
			g.starts(value, g.c.Dir, name)
		}
	}
}

// tree binds what git reads in a folder that may be the root of a working tree.
func (g *gitCall) tree(at string) { g.treeIn(at, 0) }

func (g *gitCall) treeIn(at string, depth int) {
	dir := filepath.Join(at, ".git")
	if g.Visit(dir, disk.Code) {
		g.directory(dir)
	} else if g.Bound[dir] != "" {
		if to := g.gitFile(dir); to != "" {
			g.directory(to)
		}
	} else if info, err := g.Stat(filepath.Join(at, "HEAD")); g.Look() && err == nil && info.Mode().IsRegular() { // a bare one
		g.directory(at)
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

// directory binds the settings and hooks in a .git.
func (g *gitCall) directory(dir string) {
	common := dir
	if file := filepath.Join(dir, "commondir"); !g.Visit(file, disk.Code) && g.Bound[file] != "" {
		text, ok := g.TextOf(file, "names")
		if text = strings.TrimSpace(text); !ok || text == "" || strings.Contains(text, "\n") {
			g.Unread(file, "names")
			return
		}
		common = filepath.Clean(abs(dir, text))
	}
	g.config(filepath.Join(common, "config"), 0)
	g.config(filepath.Join(dir, "config.worktree"), 0)
	g.Visit(filepath.Join(common, "info/attributes"), disk.Code)
	g.hooks(filepath.Join(common, "hooks"))
	g.remotes(common)
	g.todo(dir)
}

// pushes are hooks that only a push runs here, and received those of the other side.
var (
	pushes   = []string{"pre-push"}
	received = []string{"pre-receive", "update", "post-receive", "post-update", "proc-receive", "push-to-checkout"}
)

// hooks binds a folder of hooks, and what those run that the subcommand may start.
func (g *gitCall) hooks(dir string) {
	if !g.Visit(dir, disk.Code) {
		return
	}
	files := g.BindFolder(dir)
	if files == nil { // they were found before
		files = g.inHooks[dir]
	}
	g.inHooks[dir] = files
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, ".sample") || slices.Contains(received, name) != (g.sub == "receive-pack") ||
			slices.Contains(pushes, name) != (g.sub == "push") && slices.Contains(gitKnown, g.sub) && name != "reference-transaction" {
			continue
		}
		g.bindScript(file, g.root)
	}
}
