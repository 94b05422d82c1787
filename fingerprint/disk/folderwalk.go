package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// This file binds what lies in folders.

// BindFolder binds the files below a folder whose name is like one of the patterns: of many
// not the content, but what the kernel says of them; or it says that the folder is too large.
// It leaves out what grows and what is others'.
func (s *Scan) BindFolder(dir string, patterns ...string) []string {
	return s.BindTree(dir, false, patterns)
}

// VisitFolder binds a folder and the files below it whose name is like one of the patterns, if it is one.
func (s *Scan) VisitFolder(dir string, patterns ...string) []string {
	if !s.Visit(dir, Code) {
		return nil
	}
	return s.BindFolder(dir, patterns...)
}

// FolderKey is the name under which the files of a folder are bound that are like some patterns.
func FolderKey(dir string, patterns []string) string {
	return "folder " + dir + " " + strings.Join(patterns, " ")
}

// BindTree is folder; every says that nothing is left out.
func (s *Scan) BindTree(dir string, every bool, patterns []string) []string {
	key := FolderKey(dir, patterns)
	if s.Ignored != nil {
		key += " but " + s.Ignores
	}
	again := key + strconv.FormatBool(every)
	if files, ok := s.trees[again]; ok || s.Err != nil {
		return files
	}
	if s.trees == nil {
		s.trees = map[string][]string{}
	}
	s.trees[again] = nil // links may lead back here
	files, stamps, ok := s.filesBelow(dir, every, patterns)
	switch {
	case !ok:
		s.tooLarge(key, dir, nil)
		return nil
	case stamps != nil:
		sum, ok := s.stamped(stamps)
		if !ok {
			s.tooLarge(key, dir, stamps)
			return nil
		}
		s.Bound[key] = sum
	default:
		s.treed += len(files)
		s.Bound[key] = ListHash(files)
		for _, path := range files {
			s.BindListed(path)
		}
	}
	s.trees[again] = files
	return files
}

// tooLarge names a folder of which neither the content is bound nor what the kernel says of it.
func (s *Scan) tooLarge(key, dir string, stamps *stamping) {
	s.Bound[key] = "too large"
	if stamps != nil && stamps.late {
		s.Name("%s/, which is large, and the disk is slow", dir)
		return
	}
	s.Name("%s/, which is too large", dir)
}

// filesBelow are the files below a folder and, of a large one, what the kernel says of them. It is
// not ok if not all were seen.
func (s *Scan) filesBelow(dir string, every bool, patterns []string) (files []string, stamps *stamping, ok bool) {
	bytes := int64(0)
	kinds := kindsOf(patterns)
	if strings.Join(patterns, " ") == PytestKinds {
		s.skipped = environments
		defer func() { s.skipped = nil }()
	}
	roots := []string{dir}
	for n := 0; n < len(roots); n++ { // grows
		if !s.tree(roots[n], every, func(path string, d fs.DirEntry) bool {
			if d.Type()&fs.ModeSymlink != 0 {
				if to := s.elsewhere(path, roots); to != "" {
					roots = append(roots, to)
					return true
				}
			}
			if d.IsDir() || !kinds.Like(d.Name()) || !every && strings.HasSuffix(d.Name(), ".log") ||
				s.Ignored != nil && s.Ignored(path, false) {
				return true
			}
			info, err := d.Info()
			if err == nil && info.Mode().IsRegular() {
				bytes += info.Size()
			}
			files = append(files, path)
			if stamps != nil {
				stamps.add(path, info, err)
			} else if len(files) > MaxTree || bytes > treeBytes || s.treed+len(files) > 2*MaxTree {
				stamps = newStamping(s, files)
			}
			return true
		}) {
			return nil, nil, false
		}
	}
	return files, stamps, true
}

// elsewhere is the folder to which a link leads that lies in none of those that are
// gone through: what is there can be read through the link.
func (s *Scan) elsewhere(link string, roots []string) string {
	info, err := s.Stat(link)
	if err != nil || !info.IsDir() {
		return ""
	}
	s.BindLink(link)
	real, err := filepath.EvalSymlinks(link)
	if err != nil {
		return ""
	}
	for _, root := range roots {
		if r, err := filepath.EvalSymlinks(root); err == nil && (real == r || strings.HasPrefix(real, r+"/")) {
			return ""
		}
	}
	return real
}

// BindListed binds a file of a folder. It does not count as one that the command names.
func (s *Scan) BindListed(path string) {
	if s.Bound[path] != "" || s.Err != nil {
		return
	}
	info, err := s.Stat(path) // follows a link
	if err == nil && !info.Mode().IsRegular() {
		if !info.IsDir() && info.Mode()&fs.ModeSocket == 0 {
			s.Name("%s, which is no file", path)
		}
		return
	}
	if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		s.BindLink(path)
	}
	s.seen[path] = Code
	s.bindHash(path, Code)
}

// BindPlaces binds what patterns match in a folder, unless it is one in which nobody but root
// can write. What is not there counts when it appears.
func (s *Scan) BindPlaces(dir string, patterns []string) {
	if !s.Once("reads in", dir, strings.Join(patterns, " ")) || len(dir) > MaxPath || strings.ContainsRune(dir, 0) {
		return
	}
	info, err := s.Stat(dir)
	if !s.Look() || err != nil && IsAbsent(err) {
		return // once it is there, its files change the fingerprint
	}
	if err != nil {
		s.Visit(dir, Code) // which names it
		return
	}
	if !info.IsDir() {
		s.Visit(dir, Code)
		return
	}
	if id, known := Identify(info); known && SystemFolder(dir, info, id) {
		return
	}
	s.BindLink(dir)
	var below []string
	for _, pattern := range patterns {
		if rest, deep := strings.CutPrefix(pattern, "**"); deep {
			below = append(below, strings.TrimPrefix(rest, "/"))
		} else if at, deep := strings.CutSuffix(pattern, "/**"); deep {
			s.stampTree(filepath.Join(dir, at), nil)
		} else if strings.ContainsAny(pattern, "*?[") {
			for _, file := range s.BindMatches(filepath.Join(dir, pattern)) {
				s.Stamp(file)
			}
		} else {
			s.Stamp(filepath.Join(dir, pattern))
		}
	}
	if slices.Contains(below, "") {
		below = []string{}
	} else if len(below) == 0 {
		return
	}
	s.stampTree(dir, below)
}

// stampTree binds the files below a folder, of which patterns match the name; small ones
// by their content, others, and all where there are many, by what the kernel says of them.
func (s *Scan) stampTree(dir string, patterns []string) {
	if !s.IsDir(dir) {
		return
	}
	key := "tree " + dir + " " + strings.Join(patterns, " ")
	var files []string
	var stamps *stamping
	wanted := kindsOf(patterns)
	if !s.tree(dir, true, func(path string, d fs.DirEntry) bool {
		if !d.IsDir() && wanted.Like(d.Name()) {
			files = append(files, path)
			if stamps != nil {
				info, err := d.Info()
				stamps.add(path, info, err)
			} else if len(files) > MaxTree {
				stamps = newStamping(s, files)
			}
		}
		return true
	}) {
		s.tooLarge(key, dir, nil)
		return
	}
	if stamps == nil {
		for _, file := range files {
			s.Stamp(file)
		}
		return
	}
	sum, ok := s.stamped(stamps)
	if !ok {
		s.tooLarge(key, dir, stamps)
		return
	}
	s.Bound[key] = sum
}

// SystemFolders are below what only an administrator puts something.
var SystemFolders = []string{"/usr/", "/lib/", "/lib64/", "/opt/", "/snap/", "/nix/store/", "/Library/", "/System/"}

// SystemFolder reports whether a folder is root's alone, and where this service is root's,
// so that the agent may be root as well, whether it is one of the system too.
func SystemFolder(dir string, info fs.FileInfo, id FileID) bool {
	if id.owner != 0 || info.Mode()&0o022 != 0 {
		return false
	}
	return !agentMayWrite(info, id) ||
		slices.ContainsFunc(SystemFolders, func(at string) bool { return strings.HasPrefix(dir+"/", at) })
}

// BindMatching binds the files that a pattern matches in a folder.
func (s *Scan) BindMatching(at, pattern string) []string {
	file := filepath.Join(at, pattern)
	if !strings.ContainsAny(pattern, "*?[") {
		if s.Visit(file, Code); s.Bound[file] == "" {
			return nil
		}
		return []string{file}
	}
	return s.like(at, file, pattern)
}

// BindMatchingAny binds the files in a folder that one of several patterns matches.
func (s *Scan) BindMatchingAny(at string, patterns []string) []string {
	return s.like(at, at+"/"+strings.Join(patterns, " "), patterns...)
}

// like binds the files in a folder whose name is like one of the patterns, and the list of them.
func (s *Scan) like(at, pattern string, patterns ...string) (files []string) {
	names, _ := s.ListDir(at)
	for _, name := range names {
		if Like(name, patterns) {
			path := filepath.Join(at, name)
			if s.BindListed(path); s.Bound[path] != "" {
				files = append(files, path)
			}
		}
	}
	s.Bound["match "+pattern] = ListHash(files)
	return files
}

// HasEntry reports whether a folder may have a file of a name, in any case of letters.
func (s *Scan) HasEntry(dir, name string) bool {
	if s.folded[dir] == nil {
		names, ok := s.ListDir(dir)
		if !ok {
			return true // a look will tell
		}
		s.folded[dir] = make(map[string]bool, len(names))
		for _, n := range names {
			s.folded[dir][strings.ToLower(n)] = true
		}
	}
	return s.folded[dir][strings.ToLower(name)]
}
