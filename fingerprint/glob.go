package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file finds what patterns match on the disk, and what lies in a folder.

// isPattern reports whether a shell may expand a word on the disk.
func isPattern(word string) bool {
	return strings.ContainsAny(word, "*?[") || closes(word, strings.IndexByte(word, '(')) > 0
}

// closes returns where the group ends that begins at open, or 0: then "(" is a letter
// as any other, as in the name of a folder.
func closes(word string, open int) (end int) {
	for i, depth := max(open, 0), 0; open >= 0 && i < len(word); i++ {
		switch word[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
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
			if len(next) > maxLooks {
				s.fail(errLooks)
			}
			if s.err != nil {
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
		names, _ := s.list(dir) // for a shell to which it is *
		for _, name := range names {
			if slices.Contains(passedOver, name) {
				found = append(found, filepath.Join(dir, name))
			}
		}
		if !s.tree(dir, false, func(path string, d fs.DirEntry) bool {
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
	for from := 0; ; {
		open := strings.IndexByte(pattern[from:], '(')
		if open < 0 {
			return pattern
		}
		open += from
		end := closes(pattern, open)
		if end == 0 {
			from = open + 1
			continue
		}
		start := open
		if start > 0 && strings.IndexByte("?*+@!", pattern[start-1]) >= 0 {
			start--
		}
		pattern = pattern[:start] + "*" + pattern[end:]
		from = start
	}
}

func listHash(list []string) string {
	sum := sha256.Sum256([]byte(strings.Join(list, "\x00")))
	return hex.EncodeToString(sum[:])
}

// passedOver are folders that a tool of the table does not read as its own.
var passedOver = []string{".git", "node_modules", ".terraform"}

// environments are folders in which pytest looks for no tests.
var environments = strings.Fields(".venv venv .tox .nox build dist __pycache__ .mypy_cache .pytest_cache .eggs")

// tree goes through all below a folder, in order, until visit says that it is enough,
// and reports whether it came to the end. Links to folders below are not followed.
func (s *scan) tree(dir string, every bool, visit func(path string, d fs.DirEntry) bool) (all bool) {
	all = true
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		s.leads(dir)
		dir = real
	}
	begun := time.Now()
	defer func() { s.walkedFor += time.Since(begun) }()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if s.walked++; s.walked > maxWalked || s.walked%256 == 0 && s.walkedFor+time.Since(begun) > walkTime || !s.look() {
			all = false
			return filepath.SkipAll
		}
		s.looks-- // it has a bound of its own
		if err != nil {
			if !nothing(err) && s.out[path+"/"] == "" {
				s.out[path+"/"] = unreadable
				s.name("%s/", path)
			}
			return nil
		}
		if d.IsDir() && path != dir && s.ignored != nil && s.ignored(path, true) {
			return filepath.SkipDir
		}
		if !every && d.IsDir() && path != dir && (slices.Contains(passedOver, d.Name()) ||
			slices.Contains(s.skipped, d.Name())) {
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

// folder binds the files below a folder whose name is like one of the patterns: of many
// not the content, but what the kernel says of them; or it says that the folder is too large.
// It leaves out what grows and what is others'.
func (s *scan) folder(dir string, patterns ...string) []string { return s.below(dir, false, patterns) }

func folderKey(dir string, patterns []string) string {
	return "folder " + dir + " " + strings.Join(patterns, " ")
}

// below is folder; every says that nothing is left out.
func (s *scan) below(dir string, every bool, patterns []string) []string {
	key := folderKey(dir, patterns)
	if s.ignored != nil {
		key += " but " + s.ignores
	}
	again := key + strconv.FormatBool(every)
	if files, ok := s.trees[again]; ok || s.err != nil {
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
		s.out[key] = sum
	default:
		s.treed += len(files)
		s.out[key] = listHash(files)
		for _, path := range files {
			s.inFolder(path)
		}
	}
	s.trees[again] = files
	return files
}

// tooLarge names a folder of which neither the content is bound nor what the kernel says of it.
func (s *scan) tooLarge(key, dir string, stamps *stamping) {
	s.out[key] = "too large"
	if stamps != nil && stamps.late {
		s.name("%s/, which is large, and the disk is slow", dir)
		return
	}
	s.name("%s/, which is too large", dir)
}

// filesBelow are the files below a folder and, of a large one, what the kernel says of them. It is
// not ok if not all were seen.
func (s *scan) filesBelow(dir string, every bool, patterns []string) (files []string, stamps *stamping, ok bool) {
	bytes := int64(0)
	kinds := kindsOf(patterns)
	if strings.Join(patterns, " ") == pytestKinds {
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
			if d.IsDir() || !kinds.like(d.Name()) || !every && strings.HasSuffix(d.Name(), ".log") ||
				s.ignored != nil && s.ignored(path, false) {
				return true
			}
			info, err := d.Info()
			if err == nil && info.Mode().IsRegular() {
				bytes += info.Size()
			}
			files = append(files, path)
			if stamps != nil {
				stamps.add(path, info, err)
			} else if len(files) > maxTree || bytes > treeBytes || s.treed+len(files) > 2*maxTree {
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
func (s *scan) elsewhere(link string, roots []string) string {
	info, err := s.stat(link)
	if err != nil || !info.IsDir() {
		return ""
	}
	s.leads(link)
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

// inFolder binds a file of a folder. It does not count as one that the command names.
func (s *scan) inFolder(path string) {
	if s.out[path] != "" || s.err != nil {
		return
	}
	info, err := s.stat(path) // follows a link
	if err == nil && !info.Mode().IsRegular() {
		if !info.IsDir() && info.Mode()&fs.ModeSocket == 0 {
			s.name("%s, which is no file", path)
		}
		return
	}
	if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		s.leads(path)
	}
	s.seen[path] = code
	s.keep(path, code)
}

// kinds are patterns of names, of which most are an ending.
type kinds struct {
	endings map[string]bool
	others  []string
}

func kindsOf(patterns []string) kinds {
	k := kinds{endings: map[string]bool{}}
	for _, p := range patterns {
		if end, ok := strings.CutPrefix(p, "*"); ok && strings.LastIndexByte(end, '.') == 0 && !strings.ContainsAny(end,
			"*?[\\") {
			k.endings[strings.ToLower(end)] = true
		} else {
			k.others = append(k.others, p)
		}
	}
	return k
}

// like is the function of that name, for patterns that are asked often.
func (k kinds) like(name string) bool {
	return len(k.endings)+len(k.others) == 0 || k.endings[strings.ToLower(filepath.Ext(name))] ||
		len(k.others) > 0 && like(name, k.others)
}

func like(name string, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		// What is no pattern here may be one for the program.
		ok, err := filepath.Match(strings.ToLower(p), strings.ToLower(name))
		return ok || err != nil
	})
}
