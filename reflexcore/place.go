package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/summary"
	"approver.example/reflexcore/wordset"
)

// This file finds out in which project a call works, from the folders of its commands, and not only from the folder
// of the call. Where that is not certain no place is named.

// A place is where a call works.
type place struct {
	root   string // of the project in which all commands work; empty if there is none, or several
	branch string // that is checked out there, if the binding of the call has it
	push   gitrepo.Push
	named  string // the remote that the push names
	pushes int    // commands of git that push
	shown  string // the project of commands that only show something; / if there are several
	works  bool   // all commands work on the branch that is checked out
	still  bool   // nothing in the call checks out another branch, or changes a setting of git
	led    bool   // options, variables or changed settings may send a push to another branch than it names
}

// Limits of the commands, and of the words of each, that are looked through for a place.
const (
	maxPlaced      = 64
	maxPlacedWords = 2048
)

var (
	// stays are the parts of the shell itself after which it works as before, and programs that only show.
	stays = wordset.Of("cd pushd popd echo printf true false : test [ [[ exit wait sleep pwd set ls cat head tail grep wc")
	// keeps are commands of git that leave its settings, and the branch that is checked out.
	keeps = wordset.Of("add stage commit status diff log fetch pull show rev-parse push send-pack reset tag")
	// redirects are beginnings of variables that lead git, and programs of a folder, elsewhere.
	redirects = strings.Fields("GIT_DIR GIT_WORK GIT_COMMON GIT_INDEX GIT_OBJECT GIT_NAME GIT_CONFIG GIT_SSH GIT_PROXY " +
		"GIT_EXEC TF_ TERRAGRUNT_ PULUMI_ COMPOSE_ DOCKER_ NPM_CONFIG_ npm_config_ YARN_ CARGO_ TWINE_ UV_ POETRY_")
	// placed are programs whose folder says what they work on.
	placed = wordset.Of("terraform tofu terragrunt pulumi cdk serverless sst vagrant npm yarn pnpm bun lerna cargo gem " +
		"twine poetry uv flit hatch vercel netlify wrangler fly flyctl")
)

// placeOf finds out where a call works.
func (e *Engine) placeOf(j *judgment, pieces []shell.Piece) (p place) {
	call := &j.call.ToolCall
	if call.Command == "" {
		p.root = e.rootOf(call.Dir)
		return p
	}
	steps := j.call.Steps
	if len(steps) == 0 {
		w, err := e.Walk(*call)
		if err != nil {
			return p
		}
		steps = w.Steps
	}
	if len(pieces) == 0 || len(steps) == 0 || len(steps) > maxPlaced {
		return place{led: len(steps) > maxPlaced}
	}
	if slices.ContainsFunc(pieces, func(p shell.Piece) bool { return p.Sets }) {
		return place{led: true}
	}
	elsewhere, led := false, setsRemotes().MatchString(call.Command)
	for name, value := range call.Env {
		if value != "" && wordset.HasAnyPrefix(name, redirects...) {
			elsewhere, led = true, led || strings.HasPrefix(name, "GIT_")
		}
	}
	if elsewhere {
		return place{led: led}
	}
	p.still, p.works = !slices.ContainsFunc(j.call.Effects, changesGit), true
	p.led = !p.still || led
	for i := range steps {
		p.led = p.led || leads(&steps[i])
	}
	for i := range steps {
		if !e.works(j, &p, &steps[i]) {
			return place{led: p.led}
		}
	}
	if p.root == "" {
		p.root, p.works = p.shown, false
	}
	switch {
	case !p.still:
		p.push = gitrepo.Push{Remote: p.named, Rewritten: true}
	case p.works && p.root != "" && p.root == e.rootOf(call.Dir):
		p.branch = e.analyzer.Git.CheckedOut(p.root)
	}
	return p
}

// leads reports whether a command gives git settings of its own, or runs it with variables of its own.
func leads(s *shell.Step) bool {
	if len(s.Argv) == 0 {
		return false
	}
	words := s.Argv[1:]
	if path.Base(s.Argv[0]) != "git" {
		return slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(w, "GIT_") && wordset.HasAnyPrefix(w, redirects...)
		})
	}
	for len(words) > 1 && words[0] == "-C" {
		words = words[2:]
	}
	return len(words) > 0 && strings.HasPrefix(words[0], "-")
}

// works adds a command to a place, and reports whether it is certain that it works in the same one.
func (e *Engine) works(j *judgment, p *place, s *shell.Step) bool {
	if len(s.Argv) == 0 || s.Remote || s.Parent >= 0 {
		return false
	}
	name, dir, words := path.Base(s.Argv[0]), s.Dir, s.Argv[1:]
	if stays[name] && (s.Shell || name == s.Argv[0]) {
		if root := e.rootOf(dir); !s.Shell && p.shown == "" {
			p.shown = root
		} else if !s.Shell && p.shown != root {
			p.shown = "/"
		}
		return true
	}
	git := name == "git"
	for git && len(words) > 1 && words[0] == "-C" {
		dir, words = disk.Absolute(words[1], dir), words[2:]
	}
	root := e.rootOf(dir)
	if s.Shell || root == "" || p.root != "" && p.root != root || e.leaves(words, dir, root) ||
		git && (len(words) == 0 || strings.HasPrefix(words[0], "-")) {
		return false
	}
	p.root = root
	if !git {
		p.still, p.works = false, false
		return true
	}
	p.still, p.works = p.still && keeps[words[0]], p.works && gitrepo.ReadsHead(words[0], words[1:])
	if words[0] == "push" || words[0] == "send-pack" {
		p.pushes++
		p.push = e.pushOf(j, dir, words[1:])
		p.led = p.led || p.push.Mapped
		p.named, _ = gitrepo.Remote(words[1:])
	}
	return true
}

// changesGit reports whether an effect may change a setting of git, or the branch that is checked out.
func changesGit(ef effect.Effect) bool {
	switch ef.Kind {
	case effect.Opaque:
		return true
	case effect.Write, effect.Delete, effect.Persist:
		return !effect.IsKnown(ef.Target) || strings.Contains(ef.Target, ".git")
	default: // the others change no files
	}
	return strings.HasPrefix(ef.By, "git config")
}

// reroutes reports whether what a call sends or fetches may go elsewhere than to the host of its address: words of it
// say so, its environment does, or it changes settings that may.
func reroutes(j *judgment) bool {
	for name, value := range j.call.ToolCall.Env {
		if value != "" && wordset.HasAnyPrefix(name, routes...) {
			return true
		}
	}
	return j.call.Rerouted || slices.ContainsFunc(j.call.Effects, func(ef effect.Effect) bool {
		switch ef.Kind {
		case effect.Write, effect.Persist, effect.Permission:
			return strings.HasPrefix(ef.By, "git config") || routing[path.Base(ef.Target)] && path.IsAbs(ef.Target)
		default: // the others change no settings
			return false
		}
	})
}

var (
	// routes are beginnings of variables of the environment that lead a connection elsewhere.
	routes = strings.Fields("GIT_SSH GIT_PROXY GIT_CONFIG GIT_DIR RSYNC_RSH RSYNC_PROXY GH_HOST")
	// routing are names of files with settings that do.
	routing = wordset.Of("config .gitconfig .curlrc _curlrc curlrc .wgetrc wgetrc .ssh ssh_config hosts resolv.conf " +
		".npmrc .pypirc .cargo config.toml")
)

// pushOf returns where a push goes.
func (e *Engine) pushOf(j *judgment, dir string, words []string) gitrepo.Push {
	to, ok := gitrepo.Remote(words)
	if !ok {
		return gitrepo.Push{}
	}
	return e.analyzer.Git.Pushes(dir, to, gitrepo.UserSettings(j.call.Around.Home, j.call.ToolCall.Env["XDG_CONFIG_HOME"]))
}

// rootOf returns the root of the working tree that holds a folder, or the folder itself, where links lead;
// empty if that is not known.
func (e *Engine) rootOf(dir string) string {
	if !path.IsAbs(dir) || !effect.IsKnown(dir) {
		return ""
	}
	real, ok := disk.Real(e.analyzer.Files, dir)
	if !ok {
		return ""
	}
	return e.analyzer.Git.Top(real)
}

// leaves reports whether a word of a command may name a place outside of a project.
func (e *Engine) leaves(words []string, dir, root string) bool {
	if len(words) > maxPlacedWords {
		return true
	}
	return slices.ContainsFunc(words, func(w string) bool {
		if !effect.IsKnown(w) {
			return true
		}
		if strings.HasPrefix(w, "-") {
			at := strings.IndexAny(w, "=/")
			if at < 0 {
				return false
			}
			w = strings.TrimPrefix(w[at:], "=")
		}
		switch {
		case w == "":
			return false
		case w[0] == '~', w == "..", strings.HasPrefix(w, "../"), strings.Contains(w, "/../"), strings.HasSuffix(w, "/.."):
			return true
		case w[0] == '/':
			return !disk.Below(path.Clean(w), root)
		}
		at := path.Join(dir, w)
		return disk.Exists(e.analyzer.Files, at) && !e.staysIn(at, root)
	})
}

// staysIn reports whether a file or folder belongs to a project, and not to one within it.
func (e *Engine) staysIn(at, root string) bool {
	real, ok := disk.Real(e.analyzer.Files, at)
	return ok && disk.Below(real, root) && e.analyzer.Git.Top(real) == root
}

// projectOf returns the name of the project that what people read of a call belongs to: of a push the
// repository that it goes to, of anything else the folder. It is empty if not all of it belongs there.
func (e *Engine) projectOf(p *place, c *summary.Call) string {
	said := c.Said()
	if p.root == "" || p.root == "/" || p.root == "/tmp" || p.root == c.Home || len(said) == 0 && c.Command == "" {
		return ""
	}
	pushes := 0
	for _, i := range said {
		switch ef := &c.Effects[i]; {
		case ef.By == "git push" || ef.By == "git send-pack":
			pushes++
		case !e.isPlaced(ef, p.root):
			return ""
		}
	}
	switch {
	case pushes == 0:
		return path.Base(p.root)
	case pushes < len(said) || p.pushes != 1:
		return ""
	}
	return p.push.Repo
}

// isPlaced reports whether an effect is on the project of a folder.
func (e *Engine) isPlaced(ef *effect.Effect, root string) bool {
	switch {
	case ef.Bits&effect.Remote != 0:
		return false
	case placed[ef.Program()]:
		return true
	case ef.Kind == effect.Discard:
		return ef.Dir != "" && e.rootOf(ef.Dir) == root
	}
	switch ef.Kind {
	case effect.Delete, effect.Write, effect.Read, effect.Permission, effect.Persist, effect.Exec:
		at, ok := disk.Real(e.analyzer.Files, strings.TrimRight(ef.Target, "/*"))
		return ok && path.IsAbs(ef.Target) && effect.IsKnown(ef.Target) && disk.Below(at, root)
	default: // the others act elsewhere
		return false
	}
}
