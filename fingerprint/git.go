package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// bind binds the hooks of git, and the programs in its settings, in each folder where it may work.
func (g *gitCall) bind() {
	g.splitWords(g.c.Argv[1:])
	g.variables()
	if g.unclear {
		g.unboundCommand(g.c.Step)
	}
	g.dirs = append(g.dirs, g.Values("GIT_DIR")...)
	g.dirs = append(g.dirs, g.Values("GIT_COMMON_DIR")...)
	for _, base := range g.bases {
		g.root = base
		for _, dir := range g.dirs {
			if !effect.IsKnown(dir) {
				g.reportUnbound("the settings of git in %s", effect.Show(dir))
				continue
			}
			g.directory(filepath.Clean(abs(base, dir)))
		}
		roots := g.upwards(base)
		for _, at := range roots {
			g.root = at
			g.tree(at, 0)
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
	g.pushes()
	if g.sub != "" && !gitKnown[g.sub] && effect.IsKnown(g.sub) && !strings.Contains(g.sub, "/") {
		g.lookup(g.c.Step, "git-"+g.sub)
	}
}

// editors binds the editor where a subcommand starts one.
func (g *gitCall) editors() {
	if !edits[g.sub] {
		return
	}
	for _, name := range []string{"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL", "EDITOR"} {
		for _, value := range g.Values(name) {
			g.starts(value, g.c.Dir, name)
		}
	}
}

// remotesOnly binds what says which repository and branch another program is about, as gh: the settings of git
// and what is checked out.
func (g *gitCall) remotesOnly() {
	dirs := slices.Concat(g.Values("GIT_DIR"), g.Values("GIT_COMMON_DIR"))
	for _, base := range g.bases {
		for _, dir := range dirs {
			if !effect.IsKnown(dir) {
				g.reportUnbound("the settings of git in %s", effect.Show(dir))
				continue
			}
			g.names(filepath.Clean(abs(base, dir)))
		}
		for _, g.root = range g.upwards(base) {
			if dir := filepath.Join(g.root, ".git"); g.Visit(dir, disk.Code) {
				g.names(dir)
			} else if g.Bound[dir] != "" {
				if to := g.gitFile(dir); to != "" {
					g.names(to)
				}
			}
		}
	}
	g.users()
}
