package disk

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ToolFolders are folders that belong to tools, not to the project.
var ToolFolders = []string{".git", "node_modules", ".terraform"}

// PytestKinds are the files in which pytest searches tests.
const PytestKinds = "conftest.py test_*.py *_test.py __init__.py"

// skippedByPytest are folders in which pytest searches no tests.
var skippedByPytest = strings.Fields(".venv venv .tox .nox build dist __pycache__ .mypy_cache .pytest_cache .eggs")

// tree walks all files below a folder, in order, until visit returns false, and reports
// whether it reached the end. It does not follow links to folders.
func (s *Scan) tree(dir string, every bool, visit func(path string, d fs.DirEntry) bool) (all bool) {
	all = true
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		s.BindLink(dir)
		dir = real
	}
	begun := time.Now()
	defer func() { s.walkedFor += time.Since(begun) }()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if s.walked++; s.walked > maxWalked || s.walked%256 == 0 && s.walkedFor+time.Since(begun) > walkTime || !s.Look() {
			all = false
			return filepath.SkipAll
		}
		s.looks-- // it has a bound of its own
		if err != nil {
			if !IsAbsent(err) && s.Bound[path+"/"] == "" {
				s.Bound[path+"/"] = Unreadable
				s.Name("%s/", path)
			}
			return nil
		}
		if d.IsDir() && path != dir && s.Ignored != nil && s.Ignored(path, true) {
			return filepath.SkipDir
		}
		if !every && d.IsDir() && path != dir && (slices.Contains(ToolFolders, d.Name()) ||
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
