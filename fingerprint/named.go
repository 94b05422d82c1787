package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
)

// This file reads references that are particular to the settings of some tools.

// namedModules binds the files that Terraform's functions read, and the modules of build tools,
// whose names are no paths.
func (r settingsReader) namedModules(file, text, dir string) string {
	name := filepath.Base(file)
	switch {
	case disk.Like(name, []string{"*.tf", "*.tofu", "*.hcl", "*.tf.json", "*.tofu.json", "*.pkr.json"}):
		terraformReader{r.reading}.bind(file, text, dir)
		text = ownFolder.Replace(text)
	case name == "CMakeLists.txt" || strings.HasSuffix(name, ".cmake"):
		text = formOf(name).Own.Replace(text)
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
			r.Visit(filepath.Join(filepath.Dir(dir), "pom.xml"), disk.Code)
		}
	case name == "Cargo.toml":
		for _, m := range cargoPath.FindAllStringSubmatch(text, -1) {
			r.VisitFolder(filepath.Clean(abs(dir, m[1])), "*.rs", "*.toml")
		}
		r.members(text, dir)
	}
	return text
}

// members binds the packages of a cargo workspace, and the sources of a named one.
func (r settingsReader) members(text, dir string) {
	if slices.ContainsFunc(r.c.Argv[1:],
		func(w string) bool { return idleCargo[w] }) {
		return
	}
	if !slices.Contains(r.workDirs(r.c.Step), dir) { // there the table says what counts
		for _, name := range []string{"src", "examples", "benches", "tests"} {
			r.BindFolder(filepath.Join(dir, name), "*.rs", "*.toml")
		}
		r.Visit(filepath.Join(dir, "build.rs"), disk.Code)
	}
	for _, list := range cargoMembers.FindAllStringSubmatch(text, -1) {
		for _, m := range r.FindAll(cargoMember, filepath.Join(dir, "Cargo.toml"), list[1]) {
			for _, at := range r.matchesAndSelf(filepath.Join(dir, m[1])) {
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

// subproject binds the settings of a subproject, and the files that they name.
func (r settingsReader) subproject(dir, name string) {
	if file := filepath.Join(dir, name); r.BindCode(file) {
		r.bind(file, dir, 1)
	}
}

// A pathSetting describes a setting, in files of one kind, whose value is a folder or a file.
type pathSetting struct {
	Files  string         // patterns of names
	Values *regexp.Regexp // with the value as its last group
	Lists  *regexp.Regexp // separates several values
	Kinds  string         // patterns of the files that count in a folder; none: all; "-": no file
	Must   bool           // a value that is no literal is reported
}

var pathSettings = tableOf[pathSetting]("pathsettings.txt")

// ownBuild are variables of CMake for folders that the build itself makes, and for previous values.
var ownBuild = []string{"CMAKE_MODULE_PATH", "CMAKE_PREFIX_PATH", "CMAKE_FIND_ROOT_PATH", "CMAKE_BINARY_DIR",
	"CMAKE_CURRENT_BINARY_DIR", "PROJECT_BINARY_DIR", "CMAKE_INSTALL_PREFIX", "CMAKE_FILES_DIRECTORY"}

// bindPathSettings binds the files and folders in the path settings of a file.
func (r settingsReader) bindPathSettings(file, text string, places []string) {
	for _, f := range pathSettings() {
		if !disk.Like(filepath.Base(file), strings.Fields(f.Files)) {
			continue
		}
		for _, m := range r.FindAll(f.Values, file, text) {
			values := m[len(m)-1:]
			if f.Lists != nil {
				values = f.Lists.Split(values[0], -1)
			}
			for _, value := range values {
				r.bindPathValue(&f, file, strings.Trim(strings.TrimSpace(value), `"'`), places)
			}
		}
	}
}

// bindPathValue binds one value.
func (r settingsReader) bindPathValue(f *pathSetting, file, value string, places []string) {
	if value == "" {
		return
	}
	if strings.Contains(value, "$") {
		if f.Must && !slices.ContainsFunc(ownBuild, func(own string) bool { return strings.HasPrefix(value, "${"+own+"}") }) {
			r.unreadStrict(file, "loads")
		}
		return
	}
	value = fromHome(value, r.call.Env["HOME"])
	for _, dir := range places {
		at := filepath.Clean(abs(dir, value))
		if info, err := r.Stat(at); !r.Look() || err != nil || !info.IsDir() {
			r.Visit(at, disk.Code)
			continue
		} else if id, known := disk.Identify(info); known && disk.SystemFolder(at, info, id) {
			continue
		}
		if f.Kinds != "-" {
			r.VisitFolder(at, strings.Fields(f.Kinds)...)
		}
	}
}
