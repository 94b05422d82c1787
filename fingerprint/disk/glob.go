package disk

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

// BindMatches binds what an absolute pattern matches, and returns it: the list itself, so
// that a further match changes it. It matches too much rather than too little: in
// any case of letters, names with a leading dot too, ** any folders, and for an
// extended pattern such as @(a|b) anything.
func (s *Scan) BindMatches(pattern string) []string {
	found := []string{"/"}
	for strings.Contains(pattern, "/./") {
		pattern = strings.ReplaceAll(pattern, "/./", "/")
	}
	segments := strings.FieldsFunc(Loose(pattern), func(r rune) bool { return r == '/' })
	for _, seg := range segments {
		var next []string
		for _, dir := range found {
			next = append(next, s.segment(dir, seg)...)
			if len(next) > maxLooks {
				s.Fail(errLooks)
			}
			if s.Err != nil {
				return nil
			}
		}
		found = next
	}
	slices.Sort(found)
	found = slices.Compact(found)
	s.Bound["match "+pattern] = ListHash(found)
	return found
}

// segment is what one segment of a pattern matches in a folder.
func (s *Scan) segment(dir, seg string) (found []string) {
	switch {
	case seg == "." || seg == ".." || !strings.ContainsAny(seg, "*?[\\"):
		path := filepath.Join(dir, seg)
		if _, err := os.Lstat(path); err == nil && s.Look() {
			found = append(found, path)
		}
		return found
	case seg == "**":
		names, _ := s.ListDir(dir) // for a shell to which it is *
		for _, name := range names {
			if slices.Contains(ToolFolders, name) {
				found = append(found, filepath.Join(dir, name))
			}
		}
		if !s.tree(dir, false, func(path string, d fs.DirEntry) bool {
			if d.IsDir() {
				found = append(found, path)
			}
			return len(found) < MaxTree
		}) {
			s.Name("all folders below %s", dir)
		}
		return found
	}
	names, _ := s.ListDir(dir)
	for _, name := range names {
		if ok, err := filepath.Match(strings.ToLower(seg), strings.ToLower(name)); ok || err != nil {
			found = append(found, filepath.Join(dir, name))
		}
	}
	return found
}

// ListHash is the hash of a list of paths.
func ListHash(list []string) string {
	sum := sha256.Sum256([]byte(strings.Join(list, "\x00")))
	return hex.EncodeToString(sum[:])
}
