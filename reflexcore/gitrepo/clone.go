package gitrepo

import (
	"path"
	"strings"
)

// This file finds out whether a folder holds work that is nowhere else.

// HoldsWork reports whether a folder is, or has in it, a repository with work that is nowhere else. A
// clone to which nobody has added anything can be had again from where it came. What takes too many
// looks to find out counts as work.
func (l *Look) HoldsWork(dir string) bool {
	names, err := l.Reader.Disk.ReadDir(dir, MaxLooked)
	if err != nil {
		return false
	}
	for _, name := range names {
		if name == ".git" {
			return !l.isClone(dir)
		}
	}
	for _, name := range names {
		if !l.Budget.Spend() {
			return true
		}
		if _, err := l.Reader.Disk.Lstat(path.Join(dir, name, ".git")); err == nil && !l.isClone(path.Join(dir, name)) {
			return true
		}
	}
	return false
}

// MatchesWork reports whether one of the folders that a pattern names holds work. Only the last name
// may be a pattern; of others nothing is known.
func (l *Look) MatchesWork(pattern string) bool {
	dir, last := path.Split(pattern)
	names, err := l.Reader.Disk.ReadDir(path.Clean(dir), MaxLooked)
	if err != nil || strings.ContainsAny(dir, "*?[") {
		return false
	}
	for _, name := range names {
		if ok, err := path.Match(last, name); err != nil || ok && (!l.Budget.Spend() || l.HoldsWork(dir+name)) {
			return true
		}
	}
	return false
}

// isClone reports whether a working tree is as it was cloned. Commits, stashes and what was added to
// the index leave loose objects, until git packs them; then HEAD's log has told of the commits.
func (l *Look) isClone(root string) bool {
	r := l.Reader.Find(root)
	if r.Index == nil || r.git != root+"/.git" {
		return false
	}
	names, err := l.Reader.Disk.ReadDir(r.git, MaxLooked)
	if err != nil {
		return false
	}
	for _, name := range names {
		if name == "worktrees" || name == "modules" || name == "lfs" || name == "sequencer" {
			return false
		}
	}
	objects, err := l.Reader.Disk.ReadDir(r.git+"/objects", MaxLooked)
	if err != nil {
		return false
	}
	for _, name := range objects {
		if name != "pack" && name != "info" {
			return false
		}
	}
	if _, err := l.Reader.Disk.Lstat(r.git + "/logs/refs/stash"); err == nil || !l.wasOnlyCloned(r) {
		return false
	}
	return l.isRecoverableBelow(r, root)
}

// wasOnlyCloned reports whether HEAD's log tells of nothing but a clone and of branches that were
// checked out.
func (l *Look) wasOnlyCloned(r *Repository) bool {
	log, err := l.Reader.Disk.ReadFile(r.git+"/logs/HEAD", maxObject)
	if err != nil || len(log) == 0 {
		return false
	}
	for line := range strings.Lines(string(log)) {
		_, what, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(what, "clone: ") && !strings.HasPrefix(what, "checkout: ") {
			return false
		}
	}
	return true
}

// isRecoverableBelow is isRecoverable for all of a working tree but git's own folder.
func (l *Look) isRecoverableBelow(r *Repository, root string) bool {
	names, err := l.Reader.Disk.ReadDir(root, MaxLooked)
	if err != nil {
		return false
	}
	for _, name := range names {
		if name != ".git" && !l.isRecoverable(r, path.Join(root, name), true) {
			return false
		}
	}
	return true
}
