package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// This file reads settings of some tools for what they name in ways of their own.

// modules binds what Terraform's functions read, and the modules of build tools, which
// are named by no path.
func (r settingsReader) modules(file, text, dir string) string {
	name := filepath.Base(file)
	switch {
	case like(name, []string{"*.tf", "*.tofu", "*.hcl", "*.tf.json", "*.tofu.json", "*.pkr.json"}):
		terraformReader{r.reading}.terraform(file, text, dir)
		text = ownFolder.Replace(text)
	case name == "CMakeLists.txt" || strings.HasSuffix(name, ".cmake"):
		text = cmakeOwn.Replace(text)
	case isRuby(file):
		text = rubyBeside.ReplaceAllString(rubyExpand.ReplaceAllString(rubyJoin.ReplaceAllString(text, "$1"), "$1"), "$1$2")
	case strings.HasPrefix(name, "settings.gradle"):
		for _, m := range gradleProject.FindAllStringSubmatch(text, -1) {
			at := filepath.Join(dir, strings.ReplaceAll(m[1], ":", "/"))
			for _, build := range []string{"build.gradle", "build.gradle.kts"} {
				r.subproject(at, build)
			}
		}
	case name == "pom.xml":
		for _, m := range mavenModule.FindAllStringSubmatch(text, -1) {
			r.subproject(filepath.Join(dir, strings.TrimSpace(m[1])), "pom.xml")
		}
		if strings.Contains(text, "<parent>") {
			r.visit(filepath.Join(filepath.Dir(dir), "pom.xml"), code)
		}
	case name == "Cargo.toml":
		for _, m := range cargoPath.FindAllStringSubmatch(text, -1) {
			if at := filepath.Clean(abs(dir, m[1])); r.visit(at, code) {
				r.folder(at, "*.rs", "*.toml")
			}
		}
		r.members(text, dir)
	}
	return text
}

// idleCargo are subcommands of cargo that compile nothing.
var idleCargo = strings.Fields("fmt add remove update login logout search metadata tree clean new init vendor fetch")

// members binds the packages of a workspace of cargo, and the sources of one that is named.
func (r settingsReader) members(text, dir string) {
	if slices.ContainsFunc(r.c.Argv[1:],
		func(w string) bool { return slices.Contains(idleCargo, w) }) {
		return
	}
	if !slices.Contains(r.workDirs(r.c.Step), dir) { // there the table says what counts
		for _, name := range []string{"src", "examples", "benches", "tests"} {
			r.folder(filepath.Join(dir, name), "*.rs", "*.toml")
		}
		r.visit(filepath.Join(dir, "build.rs"), code)
	}
	for _, list := range cargoMembers.FindAllStringSubmatch(text, -1) {
		for _, m := range r.found(cargoMember, filepath.Join(dir, "Cargo.toml"), list[1]) {
			for _, at := range r.both(filepath.Join(dir, m[1])) {
				r.subproject(at, "Cargo.toml")
			}
		}
	}
}

var (
	cargoMembers = regexp.MustCompile(`(?s)\b(?:members|default-members)\s*=\s*\[([^\]]*)\]`)
	cargoMember  = regexp.MustCompile(`["']([^"'\n]+)["']`)
)

var (
	gradleProject = regexp.MustCompile(`["'](:?[\w-]+(?::[\w-]+)*)["']`)
	mavenModule   = regexp.MustCompile(`<module>([^<]+)</module>`)
	cargoPath     = regexp.MustCompile(`\bpath\s*=\s*["']([^"']+)["']`)
)

// subproject binds the settings of a part of a build, and what they name.
func (r settingsReader) subproject(dir, name string) {
	if file := filepath.Join(dir, name); !r.visit(file, code) && r.out[file] != "" {
		r.refers(file, dir, 1)
	}
}

var (
	objects = []string{".o", ".lo", ".obj", ".d"}
	sources = []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".s", ".S", ".m"}
)

// needsOnly reports whether each line of a text is "object: sources", with no rule of
// its own for a source.
func (m *makefile) needsOnly(text string) bool {
	for line := range strings.Lines(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		targets, needs, ok := strings.Cut(line, ":")
		if !ok || line[0] == '\t' || strings.ContainsAny(line, "$;=%#|&*?[") || strings.ContainsAny(needs, ":") {
			return false
		}
		for _, name := range strings.Fields(targets) {
			phony := slices.Contains(sources, filepath.Ext(name)) && strings.TrimSpace(needs) == "" // of -MP
			if !phony && !slices.Contains(objects, filepath.Ext(name)) || phony && m.makes(name) {
				return false
			}
		}
		for _, name := range strings.Fields(needs) {
			if !slices.Contains(sources, filepath.Ext(name)) || m.makes(name) {
				return false
			}
		}
	}
	return true
}

// makes reports whether a makefile has a rule by which a file could be made.
func (m *makefile) makes(name string) bool {
	if r := m.rules[name]; r != nil && len(r.lines)+len(r.needs) > 0 {
		return true
	}
	return slices.ContainsFunc(m.patterns, func(pattern string) bool {
		before, after, _ := strings.Cut(pattern, "%")
		return strings.ContainsRune(pattern, 0) || pattern[0] == '.' && strings.HasSuffix(name, filepath.Ext(pattern)) ||
			strings.Contains(pattern, "%") && strings.HasPrefix(filepath.Base(name), before[strings.LastIndexByte(before, '/')+1:]) && strings.HasSuffix(name, after)
	})
}
