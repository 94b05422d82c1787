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

// BindMatches returns the paths that an absolute pattern matches, and binds their list, so
// that a new match changes the fingerprint. It rather matches too much: it ignores case,
// includes names with a leading dot, and takes an extended pattern such as @(a|b) for *.
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

// segment returns the matches of one segment of a pattern in a folder.
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
