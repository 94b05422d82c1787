package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// This file binds folders that settings give to a tool as a whole: roles, modules, charts,
// sources that are packed, and where plain names are looked for.

// A wholeForm says by which words files of one kind give a tool a folder or a file.
type wholeForm struct {
	files  string         // patterns of names
	values *regexp.Regexp // with what is given as its last group
	lists  string         // letters between several values
	kinds  string         // patterns of what counts in a folder; none: all
	must   bool           // what is no plain value is named
}

var wholeForms = []wholeForm{
	{
		files: "ansible.cfg", lists: ":,", values: regexp.MustCompile(
			`(?m)^[ \t]*(?:\w+_(?:path|paths|plugins)|library|module_utils|inventory)[ \t]*=[ \t]*([^\n;#]*)`),
	},
	{
		files: "Vagrantfile", values: regexp.MustCompile(
			`\b(?:\w+_path|playbook|inventory_path)[ \t]*=[ \t]*\[?[ \t]*["']([^"'\n]+)["']`),
	},
	{
		files:  "helmfile.yaml helmfile.yml helmfile.yaml.gotmpl",
		values: regexp.MustCompile(`(?m)^[ \t-]*chart:[ \t]*["']?(\.[^"'\s#]*)`),
	},
	{files: "Chart.yaml", values: regexp.MustCompile(`(?m)^[ \t-]*repository:[ \t]*["']?file://([^"'\s#]*)`)},
	{
		files: "Gemfile *.gemspec", kinds: "*.rb *.gemspec",
		values: regexp.MustCompile(`(?m)^[^#\n]*?\bpath\b[ \t]*(?::|=>)?[ \t(]*["']([^"'\n]+)["']`),
	},
	{
		files: "settings.gradle settings.gradle.kts", kinds: "*.gradle *.kts *.java *.kt *.groovy *.toml *.properties",
		values: regexp.MustCompile(`\bincludeBuild\b[ \t(]*["']([^"'\n]+)["']`),
	},
	{
		files: "CMakeLists.txt *.cmake", lists: " \t\n;\"", kinds: "*.cmake", must: true,
		values: regexp.MustCompile(`(?is)\b(?:set|list)\s*\(\s*(?:(?:APPEND|PREPEND|INSERT)\s+)?` +
			`(?:CMAKE_(?:MODULE|PREFIX|FIND_ROOT)_PATH|\w+_(?:DIR|ROOT))\s+([^()]*)\)`),
	},
	{
		files: "CMakeLists.txt *.cmake", lists: " \t\n;\"", kinds: "*.cmake", must: true,
		values: regexp.MustCompile(`(?is)\bfind_package\s*\([^()]*?\b(?:PATHS|HINTS)\s+([^()]*)\)`),
	},
	{
		files: "CMakeLists.txt *.cmake", lists: " \t\n;\"", must: true,
		values: regexp.MustCompile(`(?is)\btry_(?:run|compile)\s*\(\s*\w+\s*([^()]*)\)`),
	},
	{
		files: "CMakeLists.txt *.cmake", lists: " \t\n;\"", kinds: "-", must: true,
		values: regexp.MustCompile(`(?is)\bWORKING_DIRECTORY\s+("[^"]*"|[^\s()]+)`),
	},
	{
		files: "CMakeLists.txt *.cmake", lists: " \t\n;\"",
		values: regexp.MustCompile(`(?is)\bfind_(?:program|file)\s*\([^()]*?\b(?:PATHS|HINTS)\s+([^()]*)\)`),
	},
}

// ownBuild are the ways in which a file of CMake writes folders that the build itself makes, or
// what was there before.
var ownBuild = []string{"CMAKE_MODULE_PATH", "CMAKE_PREFIX_PATH", "CMAKE_FIND_ROOT_PATH", "CMAKE_BINARY_DIR",
	"CMAKE_CURRENT_BINARY_DIR", "PROJECT_BINARY_DIR", "CMAKE_INSTALL_PREFIX", "CMAKE_FILES_DIRECTORY"}

// wholes binds what a file of settings gives a tool as a whole.
func (r settingsReader) wholes(file, text string, places []string) {
	for n := range wholeForms {
		f := &wholeForms[n]
		if !like(filepath.Base(file), strings.Fields(f.files)) {
			continue
		}
		for _, m := range r.found(f.values, file, text) {
			ends := func(r rune) bool { return strings.ContainsRune(f.lists, r) }
			for value := range strings.FieldsFuncSeq(m[len(m)-1], ends) {
				r.whole(f, file, strings.Trim(strings.TrimSpace(value), `"'`), places)
			}
		}
	}
}

// whole binds one value.
func (r settingsReader) whole(f *wholeForm, file, value string, places []string) {
	if value == "" {
		return
	}
	if strings.Contains(value, "$") {
		if f.must && !slices.ContainsFunc(ownBuild, func(own string) bool { return strings.HasPrefix(value, "${"+own+"}") }) {
			r.namedFile(file, "loads")
		}
		return
	}
	if rest, is := strings.CutPrefix(value, "~/"); is {
		value = filepath.Join(r.call.Env["HOME"], rest)
	}
	for _, dir := range places {
		at := filepath.Clean(abs(dir, value))
		if info, err := r.stat(at); !r.look() || err != nil || !info.IsDir() {
			r.visit(at, code)
			continue
		} else if id, known := identify(info); known && systemFolder(at, info, id) {
			continue
		}
		if f.kinds != "-" && r.visit(at, code) {
			r.folder(at, strings.Fields(f.kinds)...)
		}
	}
}
