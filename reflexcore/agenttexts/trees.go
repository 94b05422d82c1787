package agenttexts

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/gitrepo"
)

// In a further working tree of git Claude Code loads the texts of the main one, too: of each
// kind (skills, commands, subagents) of which the working tree's own root has no folder.

// A tree is a further working tree of git in which an agent is.
type tree struct {
	root string
	main []string // folders that may be the main checkout
	sure bool     // git itself takes the first of them for it
}

// trees are the further working trees in which the agent is, and was started.
func (l *loader) trees() (out []tree) {
	for _, dir := range [...]string{l.dir, l.project} {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		root := l.r.Call.Analyzer.Git.Top(l.follow(path.Clean(dir)))
		if root == "" || slices.ContainsFunc(out, func(t tree) bool { return t.root == root }) {
			continue
		}
		if t, ok := l.tree(root); ok {
			out = append(out, t)
		}
	}
	return out
}

// tree follows the file .git of a further working tree.
func (l *loader) tree(root string) (tree, bool) {
	b, err := l.r.Call.Analyzer.Files.ReadFile(root+"/.git", gitrepo.MaxPath)
	if err != nil {
		return tree{}, false // most have a folder
	}
	git := disk.Absolute(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(b)), "gitdir:")), root)
	if b, err = l.r.Call.Analyzer.Files.ReadFile(l.follow(git)+"/commondir", gitrepo.MaxPath); err != nil {
		return tree{}, false // a submodule
	}
	common := disk.Absolute(strings.TrimSpace(string(b)), l.follow(git))
	r := gitrepo.Repository{Root: root}
	l.r.Call.Analyzer.Git.Worktree(&r)
	t := tree{root: root, main: []string{path.Dir(common)}, sure: r.Common == common && path.Base(common) == ".git"}
	if path.Base(common) != ".git" {
		t.main = append(t.main, common) // it has no checkout of its own
	}
	return t, true
}

// mains are the folders of settings of main checkouts.
func (l *loader) mains() (out []string) {
	for _, t := range l.trees() {
		for _, main := range t.main {
			out = append(out, main+"/.claude")
		}
	}
	return out
}

// mainOwns are the folders of settings of main checkouts of which Claude Code loads the texts
// of a kind for certain.
func (l *loader) mainOwns(kind string) (out []string) {
	for _, t := range l.trees() {
		if _, err := l.r.Call.Analyzer.Files.Lstat(t.root + "/.claude/" + kind); t.sure && disk.IsMissing(err) {
			out = append(out, t.main[0]+"/.claude")
		}
	}
	return out
}
