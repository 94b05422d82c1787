package fingerprint

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"approver.example/fingerprint/disk"
)

// isGoTree reports whether the Go files below a folder are bound by metadata.
func (r *goReader) isGoTree(dir string) bool {
	return strings.HasPrefix(r.Bound[disk.FolderKey(dir, goFiles)], disk.StampedSum)
}

// goTree binds the files that the Go files below such a folder name, and returns the folders
// of packages that they import.
func (r *goReader) goTree(root string) (dirs []string) {
	if slices.Contains(r.goTrees, root) {
		return nil
	}
	r.goTrees = append(r.goTrees, root)
	imports := map[string]bool{}
	for _, file := range r.BindFolder(root, goFiles...) {
		if r.Err != nil || r.IsCanceled() {
			return nil
		}
		if !strings.HasSuffix(file, ".go") || leftOut(strings.TrimPrefix(file, root)) {
			continue
		}
		says := r.stampedGo(file)
		r.directives(file, says)
		for _, path := range says.imports {
			if !imports[path] {
				imports[path] = true
				dirs = append(dirs, r.importedFrom([]string{path})...)
			}
		}
	}
	return dirs
}

// leftOut reports whether a pattern with ... skips a file: in testdata, or in a folder whose
// name begins with a dot or an underscore.
func leftOut(rest string) bool {
	for part := range strings.SplitSeq(filepath.Dir(rest), "/") {
		if part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") && part != "." {
			return true
		}
	}
	return false
}

// stampedGo parses a Go file that is bound by its version, or takes it from the cache.
func (r *goReader) stampedGo(file string) (says goFile) {
	info, err := r.Stat(file)
	if err != nil {
		return says // its version says so
	}
	id, known := disk.Identify(info)
	if says, ok := r.goCache.Get(id.Version); ok && known {
		return says
	}
	f, info, err := disk.Open(file)
	if err != nil {
		r.Unread(file, "imports")
		return says
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, disk.MaxText+1))
	all := len(text) <= disk.MaxText
	says, parsed := parseGo(file, string(text[:min(len(text), disk.MaxText)]), all)
	if now, _ := disk.Identify(info); err != nil || !parsed || now.Version != id.Version {
		r.Unread(file, "imports")
		return says
	}
	if time.Since(id.Changed) < 2*time.Second {
		return says // it may change again with the same times
	}
	r.goCache.Put(id.Version, says, maxGoKept)
	return says
}
