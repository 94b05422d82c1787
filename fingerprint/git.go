package fingerprint

import (
	"path/filepath"
	"strings"
)

// This file finds the settings and hooks of a linked working tree or a submodule, where
// .git is a file that says where they are.

// linkedTree binds what lies where the file .git of a folder leads.
func (p *pass) linkedTree(at string, t *tool) {
	link := filepath.Join(at, ".git")
	if p.visit(link, code) || p.out[link] == "" {
		return
	}
	text, ok := p.text(link, "names")
	if !ok {
		return
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:")
	if dir = strings.TrimSpace(dir); !ok || dir == "" || strings.Contains(dir, "\n") {
		p.unread(link, "names")
		return
	}
	dir = filepath.Clean(abs(at, dir))
	common := dir
	if file := filepath.Join(dir, "commondir"); !p.visit(file, code) && p.out[file] != "" {
		text, ok := p.text(file, "names")
		if text = strings.TrimSpace(text); !ok || text == "" || strings.Contains(text, "\n") {
			p.unread(file, "names")
			return
		}
		common = filepath.Clean(abs(dir, text))
	}
	for _, config := range []string{filepath.Join(common, "config"), filepath.Join(dir, "config.worktree")} {
		if p.visit(config, code); t.trees != "" {
			p.hooks(config, at)
		}
	}
	if hooks := filepath.Join(common, "hooks"); t.trees != "" && p.visit(hooks, code) {
		p.folder(hooks)
	}
}
