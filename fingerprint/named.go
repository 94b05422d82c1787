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
func (p *pass) modules(file, text, dir string, t *tool) string {
	name := filepath.Base(file)
	switch {
	case like(name, []string{"*.tf", "*.tofu", "*.hcl", "*.tf.json", "*.tofu.json", "*.pkr.json"}):
		p.terraform(p.now, file, text, dir)
		text = ownFolder.Replace(text)
	case name == "CMakeLists.txt" || strings.HasSuffix(name, ".cmake"):
		text = cmakeOwn.Replace(text)
	case isRuby(file):
		text = rubyBeside.ReplaceAllString(rubyExpand.ReplaceAllString(rubyJoin.ReplaceAllString(text, "$1"), "$1"), "$1$2")
	case strings.HasPrefix(name, "settings.gradle"):
		for _, m := range gradleProject.FindAllStringSubmatch(text, -1) {
			at := filepath.Join(dir, strings.ReplaceAll(m[1], ":", "/"))
			for _, build := range []string{"build.gradle", "build.gradle.kts"} {
				p.subproject(at, build, t)
			}
		}
	case name == "pom.xml":
		for _, m := range mavenModule.FindAllStringSubmatch(text, -1) {
			p.subproject(filepath.Join(dir, strings.TrimSpace(m[1])), "pom.xml", t)
		}
		if strings.Contains(text, "<parent>") {
			p.visit(filepath.Join(filepath.Dir(dir), "pom.xml"), code)
		}
	case name == "Cargo.toml":
		for _, m := range cargoPath.FindAllStringSubmatch(text, -1) {
			if at := filepath.Clean(abs(dir, m[1])); p.visit(at, code) {
				p.folder(at, "*.rs", "*.toml")
			}
		}
		p.members(text, dir, t)
	}
	return text
}

// idleCargo are subcommands of cargo that compile nothing.
var idleCargo = strings.Fields("fmt add remove update login logout search metadata tree clean new init vendor fetch")

// members binds the packages of a workspace of cargo, and the sources of one that is named.
func (p *pass) members(text, dir string, t *tool) {
	if p.now < len(p.Steps) && slices.ContainsFunc(p.Steps[p.now].Argv[1:],
		func(w string) bool { return slices.Contains(idleCargo, w) }) {
		return
	}
	if p.now < len(p.Steps) && !slices.Contains(p.bases(&p.Steps[p.now]), dir) { // there the table says what counts
		for _, name := range []string{"src", "examples", "benches", "tests"} {
			p.folder(filepath.Join(dir, name), "*.rs", "*.toml")
		}
		p.visit(filepath.Join(dir, "build.rs"), code)
	}
	for _, list := range cargoMembers.FindAllStringSubmatch(text, -1) {
		for _, m := range p.found(cargoMember, filepath.Join(dir, "Cargo.toml"), list[1]) {
			for _, at := range p.both(filepath.Join(dir, m[1])) {
				p.subproject(at, "Cargo.toml", t)
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
func (p *pass) subproject(dir, name string, t *tool) {
	if file := filepath.Join(dir, name); !p.visit(file, code) && p.out[file] != "" {
		p.refers(file, dir, t, 1)
	}
}

// namedFile is unread where the scan is to name what stays unknown.
func (p *pass) namedFile(file, verb string) {
	if p.strict {
		p.unread(file, verb)
	}
}

// onlyNeeds reports whether an included file of a makefile only says of compiled files
// on which sources they depend, as compilers write it. Such a file decides what is built
// again, and not what runs: no rule of the makefile may belong to what it names.
func (p *pass) onlyNeeds(m *makefile, file string) bool {
	if filepath.Ext(file) != ".d" {
		return false
	}
	clean := filepath.Clean(file)
	if _, bound := p.out[clean]; bound || p.visit(clean, code) || p.out[clean] == "" {
		return false
	}
	text, all := p.contents(clean)
	if !all || !m.needsOnly(text) {
		return false
	}
	delete(p.out, clean)
	p.scan.named--
	return true
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
