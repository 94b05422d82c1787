package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file binds the folder that the build of an image is given: all of it may be copied.

// buildContext binds all files of a folder that is given to the build of an image, beside the folders
// of tools that are left out by their very name. The build runs in another folder, from.
func (r imageReader) buildContext(base, from string) []string {
	recipes := []string{filepath.Join(base, "Dockerfile"), filepath.Join(base, "Containerfile")}
	lists := []string{filepath.Join(base, ".dockerignore"), filepath.Join(base, ".containerignore")}
	for _, value := range flagValues(r.c.Step, "-f --file") {
		recipes = append(recipes, filepath.Clean(abs(from, value)))
	}
	sure := !slices.ContainsFunc(r.c.Argv, func(w string) bool { return !effect.IsKnown(w) })
	logs := false // those at the top count only if they are copied by name
	for _, recipe := range recipes {
		lists = append(lists, recipe+".dockerignore")
		if r.visit(recipe, code); r.out[recipe] != "" {
			text, all := r.contents(recipe)
			logs = logs || !all || strings.Contains(text, ".log")
		}
	}
	at, below := r.leftOut(lists)
	if !sure {
		at, below = nil, nil
	}
	root := base
	if real, err := filepath.EvalSymlinks(base); err == nil {
		root = real
	}
	r.ignores = strings.Join(at, " ") + ":" + strings.Join(below, " ")
	r.ignored = func(path string, folder bool) bool {
		name, top := filepath.Base(path), filepath.Dir(path) == root
		if folder {
			return slices.Contains(below, name) || top && slices.Contains(at, name)
		}
		return top && !logs && strings.HasSuffix(name, ".log")
	}
	defer func() { r.ignored, r.ignores = nil, "" }()
	return r.below(base, true, []string{"*"})
}

// leftOut are the folders of tools that all lists that are there leave out by their name: at the
// top, and anywhere.
func (r imageReader) leftOut(lists []string) (at, below []string) {
	any := false
	at, below = slices.Clone(passedOver), slices.Clone(passedOver)
	for _, list := range lists {
		if r.visit(list, code); r.out[list] == "" {
			continue
		}
		any = true
		text, ok := r.textOf(list, "names")
		if !ok {
			return nil, nil
		}
		at = slices.DeleteFunc(at, func(name string) bool {
			return !leavesOut(text, name, false)
		})
		below = slices.DeleteFunc(below, func(name string) bool { return !leavesOut(text, name, true) })
	}
	if !any {
		return nil, nil
	}
	return at, below
}

// leavesOut reports whether a line of a .dockerignore is exactly the name of a folder, and none
// may take a part of it in again.
func leavesOut(text, name string, anywhere bool) (out bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if back, is := strings.CutPrefix(line, "!"); is && (strings.ContainsAny(back, `*?[\`) ||
			strings.Contains(back, name) || filepath.Clean("/"+back) == "/") {
			return false
		}
		line = strings.TrimSuffix(strings.TrimPrefix(line, "/"), "/")
		out = out || line == "**/"+name || !anywhere && line == name
	}
	return out
}
