package analysis

import (
	"io/fs"
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// Limits of the folders in which links are looked for, for one call.
const (
	maxTreeFolders = 64
	maxTreeEntries = 4096
	maxTreeLinks   = 32
)

// throughPattern adds the effects on what the links lead to that a pattern matches, or that find finds
// below a folder. Without a word that lets find follow or find links, it gives files only.
func (a *Call) throughPattern(e effect.Effect) {
	cut := strings.IndexAny(e.Target, "*?[\x00")
	if cut <= 0 {
		return
	}
	end := strings.LastIndexByte(e.Target[:cut], '/')
	dir, rest := e.Target[:max(end, 1)], e.Target[end+1:]
	if to, ok := a.leadsTo(dir); ok && to != dir {
		a.addLinked(e, strings.TrimSuffix(to, "/")+"/"+rest)
	}
	below, found := strings.CutPrefix(rest, effect.Unknown)
	switch {
	case e.Kind == effect.Read && found && (below == "" || below[0] == '/') && findsLinks(a.Text):
		a.throughTree(e, dir, strings.TrimPrefix(below, "/"))
	case !strings.Contains(rest, effect.Unknown):
		a.throughMatches(e, dir, strings.Split(rest, "/"))
	}
}

// throughFound adds the effects of a program that reads what find printed on what the links among it
// lead to.
func (a *Call) throughFound(read effect.Effect) {
	if read.Kind != effect.Read || !strings.HasPrefix(read.Target, effect.Unknown) || read.Bits&effect.Splits == 0 ||
		!findsLinks(a.Text) {
		return
	}
	for i := range a.Effects {
		if root := a.Effects[i]; wordset.Has("find gfind bfs fd fdfind", root.By) && root.Kind == effect.Read &&
			strings.HasPrefix(root.Target, "/") && effect.IsPlain(root.Target) {
			a.throughTree(read, path.Clean(root.Target), "")
		}
	}
}

// findsLinks reports whether a text has a find whose results may be links, or be reached through some.
func findsLinks(text string) bool {
	return wordset.ContainsAny(text, "find", "fd ") &&
		(!strings.Contains(text, "-type f") || wordset.ContainsAny(text, " -L", " -follow", " -H"))
}

// throughMatches adds the effects on what the links lead to whose names match a pattern.
func (a *Call) throughMatches(e effect.Effect, dir string, names []string) {
	if !strings.ContainsAny(names[0], "*?[") {
		if len(names) > 1 {
			a.throughMatches(e, dir+"/"+names[0], names[1:])
		} else if to, ok := a.leadsTo(dir + "/" + names[0]); ok && to != dir+"/"+names[0] {
			a.addLinked(e, to)
		}
		return
	}
	for _, entry := range a.listed(dir) {
		name := entry.Name()
		if ok, err := path.Match(names[0], name); !ok || err != nil || name[0] == '.' && names[0][0] != '.' {
			continue
		}
		switch p := strings.TrimSuffix(dir, "/") + "/" + name; {
		case len(names) > 1 && entry.Type()&(fs.ModeDir|fs.ModeSymlink) != 0:
			a.throughMatches(e, p, names[1:])
		case len(names) == 1 && entry.Type()&fs.ModeSymlink != 0:
			a.addOutside(e, p)
		}
	}
}

// throughTree adds the effects on what the links below a folder lead to, those with a name if it says
// one.
func (a *Call) throughTree(e effect.Effect, root, pattern string) {
	for folders := []string{root}; len(folders) > 0; folders = folders[1:] {
		for _, entry := range a.listed(folders[0]) {
			p := folders[0] + "/" + entry.Name()
			switch t := entry.Type(); {
			case t&fs.ModeDir != 0:
				folders = append(folders, p)
			case t&fs.ModeSymlink == 0:
			case pattern == "":
				a.addOutside(e, p)
			default:
				if ok, err := path.Match(pattern, entry.Name()); ok && err == nil {
					a.addOutside(e, p)
				}
			}
		}
	}
}

// addOutside adds the effect on what a link leads to if that is not in the project.
func (a *Call) addOutside(e effect.Effect, link string) {
	to, ok := a.leadsTo(link)
	if !ok || a.treeLinks >= maxTreeLinks || a.Around.Dir != "" && strings.HasPrefix(to, a.Around.Dir+"/") {
		return
	}
	a.treeLinks++
	e.Bits &^= effect.Glob
	a.addLinked(e, to)
}

// listed returns the entries of a folder while there is budget left.
func (a *Call) listed(dir string) []fs.DirEntry {
	if a.treeFolders++; a.treeFolders > maxTreeFolders || a.treeEntries >= maxTreeEntries {
		return nil
	}
	list, err := a.Analyzer.Files.Entries(dir, maxTreeEntries)
	if err != nil {
		return nil
	}
	a.treeEntries += len(list)
	return list
}
