package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// This file reads settings of some tools for what they name in ways of their own.

// namedModules binds what Terraform's functions read, and the modules of build tools, which
// are named by no path.
func (r settingsReader) namedModules(file, text, dir string) string {
	name := filepath.Base(file)
	switch {
	case like(name, []string{"*.tf", "*.tofu", "*.hcl", "*.tf.json", "*.tofu.json", "*.pkr.json"}):
		terraformReader{r.reading}.bind(file, text, dir)
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
		r.bind(file, dir, 1)
	}
}
