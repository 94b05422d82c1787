package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// BindFolder binds the files below a folder whose name matches one of the patterns. If there are
// many, it binds their metadata, or reports the folder as too large. It leaves out logs and
// tool folders.
func (s *Scan) BindFolder(dir string, patterns ...string) []string {
	return s.BindTree(dir, false, patterns)
}

// VisitFolder binds a path and, if it is a folder, the files below whose name matches one of the patterns.
func (s *Scan) VisitFolder(dir string, patterns ...string) []string {
	if !s.Visit(dir, Code) {
		return nil
	}
	return s.BindFolder(dir, patterns...)
}

// FolderKey is the key in Bound for the files of a folder that match some patterns.
func FolderKey(dir string, patterns []string) string {
	return "folder " + dir + " " + strings.Join(patterns, " ")
}

// BindTree is BindFolder; with every, nothing is left out.
func (s *Scan) BindTree(dir string, every bool, patterns []string) []string {
	key := FolderKey(dir, patterns)
	if s.Ignored != nil {
		key += " but " + s.Ignores
	}
	again := key + strconv.FormatBool(every)
	if files, ok := s.trees[again]; ok || s.Err != nil {
		return files
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
		s.treeFiles += len(files)
		s.Bound[key] = ListHash(files)
		for _, path := range files {
			s.BindListed(path)
		}
	}
	s.trees[again] = files
	return files
}

// tooLarge reports a folder whose files cannot be bound, neither by content nor by metadata.
func (s *Scan) tooLarge(key, dir string, stamps *stamping) {
	s.Bound[key] = "too large"
	if stamps != nil && stamps.slowSync {
		s.Name("%s/, which is large, and the disk is slow", dir)
		return
	}
	s.Name("%s/, which is too large", dir)
}

// filesBelow are the files below a folder and, for a large one, their metadata. It is not ok if
// some were not reached.
func (s *Scan) filesBelow(dir string, every bool, patterns []string) (files []string, stamps *stamping, ok bool) {
	bytes := int64(0)
	kinds := kindsOf(patterns)
	if strings.Join(patterns, " ") == PytestKinds {
		s.skipped = skippedByPytest
		defer func() { s.skipped = nil }()
	}
	roots := []string{dir}
	for n := 0; n < len(roots); n++ { // grows
		if !s.tree(roots[n], every, func(path string, d fs.DirEntry) bool {
			if d.Type()&fs.ModeSymlink != 0 {
				if to := s.linkTarget(path, roots); to != "" {
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
			} else if len(files) > MaxTree || bytes > treeBytes || s.treeFiles+len(files) > 2*MaxTree {
				stamps = newStamping(s, files)
			}
			return true
		}) {
			return nil, nil, false
		}
	}
	return files, stamps, true
}

// linkTarget is the folder that a link points to, if it is outside of roots: its files can
// be read through the link. Otherwise it is empty.
func (s *Scan) linkTarget(link string, roots []string) string {
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

// BindListed binds a file of a folder. It does not count for MaxFiles.
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

// BindPlaces binds the files that patterns match in a folder, unless only root can write to
// it. A file that appears later changes the fingerprint.
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

// stampTree binds the files below a folder whose names match patterns: small ones by content,
// large ones, and all if there are many, by metadata.
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

// SystemFolders are folders to which only an administrator adds files.
var SystemFolders = []string{"/usr/", "/lib/", "/lib64/", "/opt/", "/snap/", "/nix/store/", "/Library/", "/System/"}

// SystemFolder reports whether only root can write to a folder. If this service runs as
// root, the agent may be root too; then it must also be below one of SystemFolders.
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

// like binds the files in a folder whose name matches one of the patterns, and their list.
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

// HasEntry reports whether a folder may have a file of a name, without regard to case.
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
