package fingerprint

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// This file binds what a program reads in a folder by patterns.

// readsIn binds what patterns match in a folder, unless it is one in which nobody but root
// can write. What is not there counts when it appears.
func (s *scan) readsIn(dir string, patterns []string) {
	if !s.once("reads in", dir, strings.Join(patterns, " ")) || len(dir) > maxPath || strings.ContainsRune(dir, 0) {
		return
	}
	info, err := s.stat(dir)
	if !s.look() || err != nil && nothing(err) {
		return // once it is there, its files change the fingerprint
	}
	if err != nil {
		s.visit(dir, code) // which names it
		return
	}
	if !info.IsDir() {
		s.visit(dir, code)
		return
	}
	if id, known := identify(info); known && systemFolder(dir, info, id) {
		return
	}
	s.leads(dir)
	var below []string
	for _, pattern := range patterns {
		if rest, deep := strings.CutPrefix(pattern, "**"); deep {
			below = append(below, strings.TrimPrefix(rest, "/"))
		} else if at, deep := strings.CutSuffix(pattern, "/**"); deep {
			s.stampTree(filepath.Join(dir, at), nil)
		} else if strings.ContainsAny(pattern, "*?[") {
			for _, file := range s.match(filepath.Join(dir, pattern)) {
				s.stamp(file)
			}
		} else {
			s.stamp(filepath.Join(dir, pattern))
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
func (s *scan) stampTree(dir string, patterns []string) {
	if !s.isDir(dir) {
		return
	}
	key := "tree " + dir + " " + strings.Join(patterns, " ")
	var files []string
	var stamps *stamping
	wanted := kindsOf(patterns)
	if !s.tree(dir, true, func(path string, d fs.DirEntry) bool {
		if !d.IsDir() && wanted.like(d.Name()) {
			files = append(files, path)
			if stamps != nil {
				info, err := d.Info()
				stamps.add(path, info, err)
			} else if len(files) > maxTree {
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
			s.stamp(file)
		}
		return
	}
	sum, ok := s.stamped(stamps)
	if !ok {
		s.tooLarge(key, dir, stamps)
		return
	}
	s.out[key] = sum
}

// systemFolders are below what only an administrator puts something.
var systemFolders = []string{"/usr/", "/lib/", "/lib64/", "/opt/", "/snap/", "/nix/store/", "/Library/", "/System/"}

// systemFolder reports whether a folder is root's alone, and where this service is root's,
// so that the agent may be root as well, whether it is one of the system too.
func systemFolder(dir string, info fs.FileInfo, id fileID) bool {
	if id.owner != 0 || info.Mode()&0o022 != 0 {
		return false
	}
	return !agentMayWrite(info, id) ||
		slices.ContainsFunc(systemFolders, func(at string) bool { return strings.HasPrefix(dir+"/", at) })
}

// matching binds the files that a pattern matches in a folder.
func (s *scan) matching(at, pattern string) []string {
	file := filepath.Join(at, pattern)
	if !strings.ContainsAny(pattern, "*?[") {
		if s.visit(file, code); s.out[file] == "" {
			return nil
		}
		return []string{file}
	}
	var files []string
	names, _ := s.listDir(at)
	for _, name := range names {
		if like(name, []string{pattern}) {
			path := filepath.Join(at, name)
			if s.inFolder(path); s.out[path] != "" {
				files = append(files, path)
			}
		}
	}
	s.out["match "+file] = listHash(files)
	return files
}

// matchingAny binds the files in a folder that one of several patterns matches.
func (s *scan) matchingAny(at string, patterns []string) (files []string) {
	names, _ := s.listDir(at)
	for _, name := range names {
		if like(name, patterns) {
			path := filepath.Join(at, name)
			if s.inFolder(path); s.out[path] != "" {
				files = append(files, path)
			}
		}
	}
	s.out["match "+at+"/"+strings.Join(patterns, " ")] = listHash(files)
	return files
}

// lies reports whether a folder may have a file of a name, in any case of letters.
func (s *scan) lies(dir, name string) bool {
	if s.folded[dir] == nil {
		names, ok := s.listDir(dir)
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
