package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// This file finds the files that build files load, if these are programs. If a build file
// loads something that is no literal name, it is reported.

// A loadForm describes how files of one kind load others.
type loadForm struct {
	Files string         // patterns of names
	Calls *regexp.Regexp // with what follows, up to the end of the line, as its first group
	// Endings may be missing in what is named, and Places are folders where it may lie.
	Endings, Places string
	Own             *strings.Replacer // how such a file writes its own folder, or that of the project
	Fetches         *regexp.Regexp    // takes something from elsewhere
	Requires        *regexp.Regexp    // loads by a plain name, which may be a library's
	Paths           *regexp.Regexp    // changes the search path for plain names
}

var loadForms = tableOf[loadForm]("loads.txt")

// formOf is the form of the files of a name.
func formOf(name string) *loadForm {
	all := loadForms()
	return &all[slices.IndexFunc(all, func(f loadForm) bool { return disk.Like(name, strings.Fields(f.Files)) })]
}

var (
	rubyJoin   = regexp.MustCompile(`File\.join\(\s*__dir__\s*,\s*(["'][^"'\n]*["'])\s*\)`)
	rubyExpand = regexp.MustCompile(`File\.expand_path\(\s*(["'][^"'\n]*["'])` +
		`\s*,\s*(?:__dir__|File\.dirname\(__FILE__\))\s*\)`)
	rubyBeside = regexp.MustCompile(`File\.expand_path\(\s*(["'])\.\./([^"'\n]*["'])\s*,\s*__FILE__\s*\)`)
)

// loadsOf binds the files that a build file loads, and reports it if a name is no literal.
func (r settingsReader) loadsOf(file, text string, places []string, depth int) {
	base := filepath.Base(file)
	for _, f := range loadForms() {
		if !disk.Like(base, strings.Fields(f.Files)) {
			continue
		}
		for _, m := range r.FindAll(f.Calls, file, text) {
			r.loadsOne(&f, file, m[1], places, depth)
		}
		if f.Requires != nil {
			for _, m := range r.FindAll(f.Requires, file, text) {
				r.loadsName(&f, m[1], append(places, filepath.Join(places[0], "lib")), depth)
			}
		}
		if f.Fetches != nil && f.Fetches.MatchString(text) {
			r.unreadStrict(file, "fetches")
		}
		for _, place := range places {
			if strings.HasSuffix(base, ".py") {
				r.importsBeside(text, place, true)
			}
		}
		if f.Paths != nil {
			r.searchPaths(&f, file, text)
		}
	}
}

// searchPaths reports a file that adds a folder to the search path without a literal name.
// Folders with literal names are searched.
func (r settingsReader) searchPaths(f *loadForm, file, text string) {
	for _, m := range r.FindAll(f.Paths, file, text) {
		argument := f.Own.Replace(m[1])
		if !strings.ContainsAny(argument, `"'`) && !strings.Contains(argument, "__file__") &&
			!strings.Contains(argument, "__dir__") && !strings.Contains(argument, "__FILE__") {
			r.unreadStrict(file, "loads")
		}
	}
}

// loadsOne binds the file that one call in a build file loads.
func (r settingsReader) loadsOne(f *loadForm, file, argument string, places []string, depth int) {
	argument = strings.TrimSpace(f.Own.Replace(argument))
	var name string
	if m := quoted.FindStringSubmatch(argument); m != nil {
		name = m[1]
	} else if disk.Like(filepath.Base(file), []string{"CMakeLists.txt", "*.cmake", "*.ninja"}) {
		name = strings.TrimRight(splitAny(argument+" ", " )\t")[0], ")")
	}
	if name == "" || strings.ContainsAny(name, "$#{*") || !effect.IsKnown(name) {
		r.unreadStrict(file, "loads")
		return
	}
	if strings.Contains(name, "://") {
		r.reportUnbound("what lies at %s", name)
		return
	}
	r.loadsName(f, name, places, depth)
}

// loadsName binds the files that a name may mean, in each of some places.
func (r settingsReader) loadsName(f *loadForm, name string, places []string, depth int) {
	for _, dir := range places {
		for _, place := range append([]string{""}, strings.Fields(f.Places)...) {
			for _, ending := range append([]string{""}, strings.Fields(f.Endings)...) {
				at := filepath.Clean(abs(filepath.Join(dir, place), name) + ending)
				if r.Visit(at, disk.Code) {
					for _, pattern := range strings.Fields(r.tool.Files) {
						for _, found := range r.BindMatching(at, pattern) {
							r.bind(found, at, depth+1)
						}
					}
				} else if r.Bound[at] != "" {
					r.bind(at, filepath.Dir(at), depth+1)
				}
			}
		}
	}
}

// isRuby reports whether a file is a build file of Ruby.
func isRuby(file string) bool {
	return disk.Like(filepath.Base(file), strings.Fields(formOf("Rakefile").Files))
}

// A settingsReader reads a tool's settings files, in any language, for the files that they name.
type settingsReader struct {
	reading
	tool *tool
}
