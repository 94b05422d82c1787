// Package buildnames knows by the names of files and folders what builds and tools
// make, and can make again.
package buildnames

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/wordset"
)

// A Certainty is how sure the name of a folder is that a build or a tool made what is
// in it, and can make it again.
type Certainty uint8

// How sure a name is.
const (
	ByHand Certainty = iota
	Maybe            // source in one project, output in the next
	usual            // output, unless the disk shows something else
	Always           // nobody keeps anything else under that name
)

// tableText has what builds and tools make, and rows "always", "usual" and "maybe" with the
// folders of which a name is as sure.
//
//go:embed buildnames.txt
var tableText string

var (
	table = maps.Collect(wordset.Table(tableText))
	// makingFiles end the names of files that are made again, or kept by nobody.
	makingFiles = strings.Fields(table["files"])
	// homeCaches are the folders of a home that tools fill by themselves.
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

// Beginnings and endings of the names of folders that are as sure.
var (
	alwaysEnds  = []string{".egg-info", ".dSYM", ".dist-info", ".xcarchive"}
	usualEnds   = []string{"-tmp", "_tmp", ".tmp", "-cache", "_cache"}
	usualStarts = []string{"cmake-build-", "bazel-", "_minted-", "pip-build-", "build-", "build_", "dist-",
		"coverage-", "tmp-", "tmp_", "temp-", "temp_", "tmp."}
)

func ends(name string, endings []string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// Of is how sure a name is.
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

// IsFile reports whether the name of a file, or a pattern of names, is one of
// those. A pattern with a wildcard behind the dot is none.
func IsFile(name string) bool { return ends(name, makingFiles) }

// First finds the first folder of a path that a build makes by its name. At is how
// many bytes of the path it is; rest is a path below a project.
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

// IsCache reports whether a path is a cache below a home: a folder in one of the
// two that systems have for them, or one that a tool is known for.
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
