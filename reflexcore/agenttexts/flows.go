package agenttexts

import (
	"path"
	"strings"
)

// workflow judges what a workflow brings: its script has no way out but subagents, whose
// calls have hooks. But these may have hooks of their own, and the script may start any.
func (l *loader) workflow(name, file string) {
	var scripts []string
	if file != "" {
		if !strings.HasPrefix(file, "/") {
			file = l.dir + "/" + file
		}
		scripts = append(scripts, file)
	}
	if name != "" {
		found := l.workflows(name)
		scripts = append(scripts, found...)
		if len(found) == 0 && !builtIn(name, false) {
			l.r.lost(name, false)
		}
	}
	for _, script := range scripts {
		to := l.follow(script)
		if _, err := l.r.Call.Analyzer.Files.Lstat(to); err != nil {
			l.r.Call.Unseen(script)
		}
		l.tried = append(l.tried, to)
	}
	l.agents()
}

// agents judges every subagent that is known and loads more than its words: any of them
// may be started.
func (l *loader) agents() {
	l.agent = true
	roots := append(l.roots(), l.mains()...)
	for _, root := range append(roots, l.plugins("", roots)...) {
		l.search(root+"/agents", "", 0)
		l.ownPaths(root, "", true)
	}
	if l.budget < 0 {
		l.r.Call.Unseen("agents")
	}
}

// workflows are the scripts that a name may mean: the name stands in the script.
func (l *loader) workflows(name string) (out []string) {
	plugin, inner, namespaced := strings.Cut(name, ":")
	if !namespaced {
		inner = name
	}
	dirs := l.roots()
	if namespaced {
		dirs = append(dirs, l.plugins(plugin, dirs)...)
	}
	for _, dir := range dirs {
		dir += "/workflows"
		names, _ := l.r.Call.Listed(l.follow(dir))
		for _, entry := range names {
			if path.Ext(entry) != ".js" {
				continue
			}
			b, err := l.r.Call.Analyzer.Files.ReadFile(l.follow(dir+"/"+entry), MaxPrompt)
			if err != nil || strings.Contains(string(b), inner) || strings.HasPrefix(entry, inner+".") {
				out = append(out, dir+"/"+entry)
			}
		}
	}
	return out
}
