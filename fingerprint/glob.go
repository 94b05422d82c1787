package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file finds what patterns match on the disk, and what lies in a folder.

// isPattern reports whether a shell may expand a word on the disk.
func isPattern(word string) bool {
	return strings.ContainsAny(word, "*?[") || strings.Contains(word, "(")
}

// match binds what an absolute pattern matches, and returns it: the list itself, so
// that a further match changes it. It matches too much rather than too little: in
// any case of letters, names with a leading dot too, ** any folders, and for an
// extended pattern such as @(a|b) anything.
func (s *scan) match(pattern string) []string {
	found := []string{"/"}
	for strings.Contains(pattern, "/./") {
		pattern = strings.ReplaceAll(pattern, "/./", "/")
	}
	segments := strings.FieldsFunc(loose(pattern), func(r rune) bool { return r == '/' })
	for _, seg := range segments {
		var next []string
		for _, dir := range found {
			next = append(next, s.segment(dir, seg)...)
			if s.err != nil || len(next) > maxLooks {
				return nil
			}
		}
		found = next
	}
	slices.Sort(found)
	found = slices.Compact(found)
	s.out["match "+pattern] = listHash(found)
	return found
}

// segment is what one segment of a pattern matches in a folder.
func (s *scan) segment(dir, seg string) (found []string) {
	switch {
	case seg == "." || seg == ".." || !strings.ContainsAny(seg, "*?[\\"):
		path := filepath.Join(dir, seg)
		if _, err := os.Lstat(path); err == nil && s.look() {
			found = append(found, path)
		}
		return found
	case seg == "**":
		if !s.tree(dir, func(path string, d fs.DirEntry) bool {
			if d.IsDir() {
				found = append(found, path)
			}
			return len(found) < maxTree
		}) {
			s.name("all folders below %s", dir)
		}
		return found
	}
	names, _ := s.list(dir)
	for _, name := range names {
		if ok, err := filepath.Match(strings.ToLower(seg), strings.ToLower(name)); ok || err != nil {
			found = append(found, filepath.Join(dir, name))
		}
	}
	return found
}

// loose makes a shell's pattern one of package filepath: [!x] is [^x], and an extended
// pattern anything.
func loose(pattern string) string {
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	for {
		open := strings.IndexByte(pattern, '(')
		if open < 0 {
			return pattern
		}
		end, depth := len(pattern), 0
		for i := open; i < len(pattern); i++ {
			if pattern[i] == '(' {
				depth++
			} else if pattern[i] == ')' {
				if depth--; depth == 0 {
					end = i + 1
					break
				}
			}
		}
		start := open
		if start > 0 && strings.IndexByte("?*+@!", pattern[start-1]) >= 0 {
			start--
		}
		pattern = pattern[:start] + "*" + pattern[end:]
	}
}

func listHash(list []string) string {
	sum := sha256.Sum256([]byte(strings.Join(list, "\x00")))
	return hex.EncodeToString(sum[:])
}

// tree goes through all below a folder, in order, until visit says that it is enough,
// and reports whether it came to the end. Links to folders are not followed.
func (s *scan) tree(dir string, visit func(path string, d fs.DirEntry) bool) (all bool) {
	all = true
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if s.walked++; s.walked > maxWalked || !s.look() {
			all = false
			return filepath.SkipAll
		}
		s.looks-- // it has a bound of its own
		if err != nil {
			if !os.IsNotExist(err) && s.out[path+"/"] == "" {
				s.out[path+"/"] = unreadable
				s.name("%s/", path)
			}
			return nil
		}
		if d.IsDir() && path != dir && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == ".terraform") {
			return filepath.SkipDir
		}
		if !visit(path, d) {
			all = false
			return filepath.SkipAll
		}
		return nil
	})
	return all
}

// folder binds the files below a folder whose name is like one of the patterns, or
// says that it is too large.
func (s *scan) folder(dir string, patterns ...string) {
	key := "folder " + dir + " " + strings.Join(patterns, " ")
	if s.out[key] != "" || s.err != nil {
		return
	}
	var files []string
	var bytes int64
	all := s.tree(dir, func(path string, d fs.DirEntry) bool {
		if d.IsDir() || !like(d.Name(), patterns) || strings.HasSuffix(d.Name(), ".log") { // which grows
			return true
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		files = append(files, path)
		return len(files) <= maxTree && bytes <= treeBytes
	})
	if !all || s.treed+len(files) > 2*maxTree {
		s.out[key] = "too large"
		s.name("%s/, which is too large", dir)
		return
	}
	s.treed += len(files)
	s.out[key] = listHash(files)
	for _, path := range files {
		s.inFolder(path)
	}
}

// inFolder binds a file of a folder. It does not count as one that the command names.
func (s *scan) inFolder(path string) {
	if s.out[path] != "" || s.err != nil {
		return
	}
	info, err := s.stat(path) // follows a link
	if err == nil && !info.Mode().IsRegular() {
		return
	}
	if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		s.leads(path)
	}
	s.seen[path] = code
	s.keep(path, code)
}

func like(name string, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { ok, err := filepath.Match(p, name); return ok && err == nil })
}
