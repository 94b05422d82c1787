package fingerprint

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file binds the programs that others start through PATH: ssh for git push, sh for
// npm run, cc for go build, kubectl-foo for kubectl foo. They cannot all be listed. But an
// agent can replace one only by a program of the same name in an earlier folder of PATH
// that it can write to, and those can be listed.

// helpers binds the programs that a step's program may start through PATH, if they are in
// folders that an agent can write to.
func (r *reader) helpers(st *shell.Step) {
	name := first(st)
	if helperless[name] || filters[name] || !effect.IsKnown(name) || name == "" {
		return
	}
	list, key := r.searchFolders(st)
	if !r.Once("helpers", key, name) {
		return
	}
	at, ok := r.searches[key]
	if !ok {
		at = r.Shared.AgentWritable(r.Scan, list)
		r.searches[key] = at
	}
	if r.Once("helpers", key) {
		for _, file := range at.Before {
			r.Stamp(file)
		}
	}
	if len(at.Dirs) == 0 {
		return
	}
	wanted := r.wantedNames(name)
	for _, dir := range at.Dirs {
		for _, has := range dir.Names {
			if strings.HasPrefix(has, name+"-") || slices.Contains(wanted, has) {
				r.Stamp(path.Join(dir.Path, has))
			}
		}
	}
}

// wantedNames are the names of a program's helpers: from the table, and from variables.
func (r *reader) wantedNames(name string) []string {
	names := strings.Fields(helperNames[name])
	for v := range programVars {
		if _, here := r.ToolCall.Env[v]; !here && len(r.Given[v]) == 0 && !r.Compares {
			continue
		}
		for _, value := range r.Values(v) {
			for _, w := range splitAny(value, " \t\n|;&'\"") {
				if !strings.ContainsAny(w, "/\x00") && operand(w) {
					names = append(names, w)
				}
			}
		}
	}
	return names
}

// searchFolders are the known folders of a step's PATH, and a key that identifies them.
func (r *reader) searchFolders(st *shell.Step) (dirs []string, key string) {
	list := st.Path
	if list == effect.Unknown {
		list = r.path
	}
	if list == effect.Unknown {
		list = systemPath
	}
	list = strings.ReplaceAll(list, effect.Unknown, "")
	key = list
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			if !filepath.IsAbs(st.Dir) || !effect.IsKnown(st.Dir) {
				continue // lookup names it
			}
			dir, key = filepath.Join(st.Dir, dir), key+"\x00"+st.Dir
		}
		dirs = append(dirs, dir)
	}
	return dirs, key
}
