// Package buildnames knows, by the names of files and folders, what builds and tools make and can
// make again.
package buildnames

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/wordset"
)

// A Certainty says how sure it is, by a folder's name, that a build or a tool made the content and
// can make it again.
type Certainty uint8

// The certainties.
const (
	ByHand Certainty = iota
	Maybe            // source in one project, output in the next
	usual            // output, unless the disk shows something else
	Always           // nobody keeps anything else under that name
)

// tableText has the names. The rows "always", "usual" and "maybe" are folders with that certainty.
//
//go:embed buildnames.txt
var tableText string

var (
	table = maps.Collect(wordset.Table(tableText))
	// makingFiles are endings of files that are made again, or that nobody keeps.
	makingFiles = strings.Fields(table["files"])
	// homeCaches are folders of a home that tools fill by themselves.
	homeCaches = strings.Fields(table["home"])
	makes      = func() map[string]Certainty {
		m := map[string]Certainty{}
		for level, name := range []string{Maybe: "maybe", usual: "usual", Always: "always"} {
			for folder := range strings.FieldsSeq(table[name]) {
				m[folder] = Certainty(level)
			}
		}
		return m
	}()
)

// Beginnings and endings of folder names, by certainty.
var (
	alwaysEnds  = []string{".egg-info", ".dSYM", ".dist-info", ".xcarchive"}
	usualEnds   = []string{"-tmp", "_tmp", ".tmp", "-cache", "_cache"}
	usualStarts = []string{"cmake-build-", "bazel-", "_minted-", "pip-build-", "build-", "build_", "dist-",
		"coverage-", "tmp-", "tmp_", "temp-", "temp_", "tmp."}
)

func ends(name string, endings []string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// Of returns the certainty of a folder name.
func Of(name string) Certainty {
	if m, ok := makes[name]; ok {
		return m
	}
	switch {
	case ends(name, alwaysEnds):
		return Always
	case slices.ContainsFunc(usualStarts, func(start string) bool { return strings.HasPrefix(name, start) }),
		ends(name, usualEnds):
		return usual
	}
	return ByHand
}

// IsFile reports whether the name of a file, or a pattern of names, has such an ending. A pattern
// with a wildcard after the dot does not.
func IsFile(name string) bool { return ends(name, makingFiles) }

// First finds the first folder of a path that a build makes. rest is a path relative to a project,
// and at is the length of the path up to the end of that folder.
func First(rest string) (m Certainty, at int) {
	rest = strings.TrimRight(rest, "/*")
	for start := 0; start < len(rest); {
		end := strings.IndexByte(rest[start:], '/')
		if end < 0 {
			end = len(rest) - start
		}
		if m := Of(rest[start : start+end]); m != ByHand {
			return m, start + end
		}
		start += end + 1
	}
	return ByHand, 0
}

// IsCache reports whether a path is a cache in a home: a folder in one of the two standard places
// for caches, or one that belongs to a known tool.
func IsCache(home, p string) bool {
	rest, ok := strings.CutPrefix(p, home+"/")
	if !ok || home == "" {
		return false
	}
	for _, folder := range []string{".cache/", "Library/Caches/"} {
		if inside, ok := strings.CutPrefix(rest, folder); ok && strings.Trim(inside, "/*?") != "" {
			return true
		}
	}
	return slices.ContainsFunc(homeCaches, func(c string) bool { return disk.Below(rest, c) })
}
