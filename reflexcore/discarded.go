package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/wordset"
)

// discardPlace reports whether what a command of git discards can be recovered.
func (e *Engine) discardPlace(j *judgment, ef *effect.Effect) places.Place {
	if strings.HasPrefix(ef.What, "remote-history") || strings.HasPrefix(ef.Target, "remote-history") {
		return e.pushPlace(j, ef)
	}
	if ef.Target == "environment" && (ef.By == "poetry" || ef.By == "pipenv") || ef.Target == "gems" && ef.By == "bundle" {
		return places.Recoverable // from the lock file
	}
	by := strings.TrimPrefix(strings.TrimPrefix(ef.By, "git "), "git-")
	if by == ef.By || !strings.HasPrefix(ef.Dir, "/") || !effect.IsKnown(ef.Dir) ||
		ef.Bits&effect.Remote != 0 {
		return 0
	}
	if e.isOwnClone(j, ef) {
		return places.Recoverable
	}
	if ef.Bits&(effect.Partial|effect.Splits) != 0 || !effect.IsKnown(ef.Target) {
		return 0
	}
	verb, _, _ := strings.Cut(by, " ")
	switch verb {
	case "checkout", "restore", "reset", "switch":
	case "submodule":
		return e.submodulePlace(j, ef)
	default:
		return 0
	}
	dir, ok := j.call.Links.Real(e.analyzer.Files, ef.Dir)
	if !ok {
		return 0
	}
	look := e.look(j)
	r := look.Repository(dir)
	if r == nil || r.Index == nil || !disk.Below(dir, r.Root) {
		return 0
	}
	if ef.Target == "uncommitted" {
		if r.Index.Whole && e.analyzer.Git.Head(r) == r.Index.Tree && look.Clean(r, "") {
			return places.Recoverable
		}
		return 0
	}
	if ef.Target == "" || strings.ContainsAny(ef.Target, "*?[:\\") || verb == "reset" || verb == "switch" {
		return 0
	}
	target := path.Join(dir, ef.Target)
	if strings.HasPrefix(ef.Target, "/") {
		target = path.Clean(ef.Target)
	}
	if !disk.Below(target, r.Root) {
		return 0
	}
	if _, err := e.analyzer.Files.Lstat(target); disk.IsMissing(err) && !r.Index.Tracked(r.Name(target)) ||
		look.Clean(r, r.Name(target)) {
		return places.Recoverable
	}
	return 0
}

// submodulePlace reports whether a forced update of submodules finds none that is checked out: it can only
// lose what is in their folders.
func (e *Engine) submodulePlace(j *judgment, ef *effect.Effect) places.Place {
	dir, ok := j.call.Links.Real(e.analyzer.Files, ef.Dir)
	look := e.look(j)
	if !ok || !strings.HasSuffix(ef.By, " update") {
		return 0
	}
	r := look.Repository(dir)
	if r == nil || r.Common == "" {
		return 0
	}
	_, err := e.analyzer.Files.Lstat(r.Common + "/modules")
	_, list := e.analyzer.Files.Lstat(r.Root + "/.gitmodules")
	if disk.IsMissing(err) && disk.IsMissing(list) {
		return places.Recoverable
	}
	text, err := e.analyzer.Files.ReadFile(r.Root+"/.gitmodules", maxSetting)
	if err != nil || len(text) == maxSetting {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.TrimSpace(name) != "path" {
			continue
		}
		if !look.Budget.Spend() {
			return 0
		}
		if _, err := e.analyzer.Files.Lstat(path.Join(r.Root, strings.TrimSpace(value), ".git")); !disk.IsMissing(err) {
			return 0
		}
	}
	return places.Recoverable
}

// isOwnClone reports whether a folder is a clone that the call itself makes before, where nothing is yet: it
// has nothing but what the clone has. What is moved, linked or mounted there would be another matter.
func (e *Engine) isOwnClone(j *judgment, ef *effect.Effect) bool {
	if wordset.ContainsAny(strings.ToLower(j.call.Text), "git_", "git-dir", "work-tree", "worktree", "mount", "stash") ||
		!effect.IsPlain(ef.Dir) || entersLoosely(j.call.Text) || !staysBelow(ef) {
		return false
	}
	cloned := false
	for i := range j.call.Effects {
		w := &j.call.Effects[i]
		switch {
		case w == ef:
			_, err := e.analyzer.Files.Lstat(ef.Dir)
			return cloned && disk.IsMissing(err)
		case w.By == "git clone" && w.Bits&effect.Remote == 0 &&
			(w.Kind == effect.Write && disk.Below(ef.Dir, w.Target) || w.Kind == effect.NetIn && isCloneOf(ef.Dir, w.Target)):
			cloned = true
		case w.Kind == effect.Write && (effect.Moves(w) || effect.Links(w)) &&
			(disk.Below(ef.Dir, w.Target) || disk.Below(w.Target, ef.Dir) || !effect.IsKnown(w.Target)):
			return false
		}
	}
	return false
}

// entersLoosely reports whether a text goes on with git in the folder where it was if it cannot enter another, or
// if something before that failed: cd x; git clean. A shell that ends at the first error does not.
func entersLoosely(text string) bool {
	text = joinedLine().ReplaceAllString(text, "$1 ") // a line that goes on
	at := enters().FindStringIndex(text)
	if at == nil {
		return false
	}
	_, or, _ := strings.Cut(text, "||")
	cut := goesOn().FindStringIndex(text[at[1]:])
	return strings.Contains(or, "git") || cut != nil && strings.Contains(text[at[1]+cut[1]-1:], "git") &&
		(!endsAtErrors().MatchString(text) || strings.Contains(text, "set +"))
}

var (
	joinedLine   = lazyregexp.New(`(&&[ \t]*|\\)\n`)
	enters       = lazyregexp.New(`\b(?:cd|pushd)\s`)
	goesOn       = lazyregexp.New(`[;|\n]|[^&]&[^&]`)
	endsAtErrors = lazyregexp.New(`^\s*set -[a-z]*e`)
)

// staysBelow reports whether what git throws away is in the folder in which it runs: a path may lead out of it.
// What a reset is told are commits.
func staysBelow(ef *effect.Effect) bool {
	return strings.HasSuffix(ef.By, " reset") || ef.Target == "" ||
		!strings.HasPrefix(ef.Target, "/") && !strings.HasPrefix(ef.Target, "~") && !strings.Contains(ef.Target, "..")
}

// isCloneOf reports whether a folder has the name that a clone of an address gets by itself.
func isCloneOf(dir, url string) bool {
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
	name := url[strings.LastIndexAny(url, "/:")+1:]
	return effect.IsPlain(name) && name != "" && path.Base(dir) == name
}

// pushPlace reports whether a push replaces history only on a branch that is not shared. The tags of a remote are
// shared, and where settings may send a branch to another one, nothing is known.
func (e *Engine) pushPlace(j *judgment, ef *effect.Effect) places.Place {
	if ef.Bits&(effect.Bulk|effect.Splits|effect.Partial) != 0 || !effect.IsKnown(ef.Target) ||
		ef.Target == "remote-history-tags" {
		return 0
	}
	branch := ef.Target
	unnamed := strings.HasPrefix(branch, "remote-history")
	if unnamed || branch == "HEAD" || branch == "@" { // the one that is checked out
		if !strings.HasPrefix(ef.Dir, "/") {
			return 0
		}
		if branch = e.analyzer.Git.Branch(ef.Dir); branch == "" {
			return 0
		}
	}
	if isShared(branch) || !strings.Contains(j.call.ToolCall.Command, ":"+branch) && e.mapsPush(j, ef, unnamed) {
		return 0
	}
	return places.Feature
}

// setsRemotes is a command that changes where pushes go.
var setsRemotes = lazyregexp.New(`\bgit\s[^;&|\n]*\b(?:config|remote)\s`)

// mapsPush reports whether git's settings may send a branch to another one than a push names, or than is checked out.
func (e *Engine) mapsPush(j *judgment, ef *effect.Effect, unnamed bool) bool {
	call := &j.call.ToolCall
	if !strings.HasPrefix(ef.Dir, "/") || slices.ContainsFunc(j.call.Effects, changesGit) ||
		setsRemotes().MatchString(call.Command) {
		return true
	}
	for name, value := range call.Env {
		if value != "" && strings.HasPrefix(name, "GIT_CONFIG") {
			return true
		}
	}
	user := gitrepo.UserSettings(j.call.Around.Home, call.Env["XDG_CONFIG_HOME"])
	return e.analyzer.Git.MapsPushes(ef.Dir, user, unnamed)
}

// isShared reports whether the name of a branch is one that others build on.
func isShared(branch string) bool {
	branch = strings.ToLower(strings.TrimPrefix(branch, "refs/heads/"))
	if strings.HasPrefix(branch, "refs/") || strings.ContainsAny(branch, "*:+ ") || branch == "" {
		return true
	}
	switch branch {
	case "main", "master", "develop", "development", "dev", "trunk", "mainline", "default", "next", "stable", "staging",
		"production", "release", "gh-pages", "head", "@":
		return true
	}
	for _, prefix := range []string{"release/", "release-", "releases/", "rel/", "prod", "hotfix/", "stable/", "stable-",
		"support/", "maint", "v"} {
		if rest, ok := strings.CutPrefix(branch, prefix); ok &&
			(prefix != "v" || rest != "" && rest[0] >= '0' && rest[0] <= '9') {
			return true
		}
	}
	return false
}
