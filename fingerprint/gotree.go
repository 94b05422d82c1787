package fingerprint

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// This file reads what the files of Go say in folders that are too large to be bound by their
// content. What a version of a file says is kept between calls.

// maxGoKept is of how many versions of files of Go a Binder keeps what they say.
const maxGoKept = 100_000

// isGoTree reports whether the files of Go below a folder are bound without their content.
func (p *pass) isGoTree(dir string) bool {
	return strings.HasPrefix(p.out[folderKey(dir, goFiles)], stampedSum)
}

func within(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/")
}

// goTree binds what the files of Go below such a folder name, and returns the folders beyond
// it of which they import packages.
func (p *pass) goTree(root string, modules []goModule, generate bool) (dirs []string) {
	if slices.Contains(p.goTrees, root) {
		return nil
	}
	p.goTrees = append(p.goTrees, root)
	imports := map[string]bool{}
	for _, file := range p.folder(root, goFiles...) {
		if p.err != nil || p.givenUp() {
			return nil
		}
		if !strings.HasSuffix(file, ".go") || leftOut(strings.TrimPrefix(file, root)) {
			continue
		}
		says := p.stampedGo(file)
		p.directives(file, says, generate)
		for _, path := range says.imports {
			if !imports[path] {
				imports[path] = true
				dirs = append(dirs, p.importedFrom([]string{path}, modules)...)
			}
		}
	}
	return dirs
}

// leftOut reports whether a pattern with ... passes over a file: what lies in testdata, or in
// a folder whose name begins with a dot or a line.
func leftOut(rest string) bool {
	for part := range strings.SplitSeq(filepath.Dir(rest), "/") {
		if part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") && part != "." {
			return true
		}
	}
	return false
}

// stampedGo is what a file of Go says whose version is bound.
func (p *pass) stampedGo(file string) (says goFile) {
	info, err := p.stat(file)
	if err != nil {
		return says // its version says so
	}
	id, known := identify(info)
	p.binder.mu.Lock()
	says, ok := p.binder.goFiles[id.version]
	p.binder.mu.Unlock()
	if ok && known {
		return says
	}
	f, info, err := open(file)
	if err != nil {
		p.unread(file, "imports")
		return says
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	all := len(text) <= maxText
	says, parsed := parseGo(file, string(text[:min(len(text), maxText)]), all)
	if now, _ := identify(info); err != nil || !parsed || now.version != id.version {
		p.unread(file, "imports")
		return says
	}
	if time.Since(id.changed) < 2*time.Second {
		return says // it may change again with the same times
	}
	p.binder.mu.Lock()
	defer p.binder.mu.Unlock()
	if p.binder.goFiles == nil || len(p.binder.goFiles) >= maxGoKept {
		p.binder.goFiles = map[string]goFile{}
	}
	p.binder.goFiles[id.version] = says
	return says
}
