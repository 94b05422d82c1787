package fingerprint

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file reads files that decide what runs for the files that they name.

// script binds what a shell script runs by a name that is plain to see. What is not
// plain there is not named: a script may do anything. That it was not read is.
func (p *pass) script(file, dir string) {
	file = filepath.Clean(file)
	if p.out[file] == "" || strings.HasPrefix(file, "/usr/") || strings.HasPrefix(file, "/bin/") {
		return
	}
	p.runsText(file)
	if !p.once("script", file, dir) {
		return
	}
	text, all := p.contents(file)
	p.interpreter(file, text, dir)
	shell, sure := shellScript(file, text)
	if !shell {
		if text == "" && !all {
			p.unread(file, "runs")
		}
		return
	}
	if !all || p.depth >= maxFollowed {
		p.unread(file, "runs")
		return
	}
	call := p.call
	call.Command, call.Args, call.Raw = text, nil, nil
	if filepath.IsAbs(dir) && !strings.Contains(dir, "\x00") {
		call.Dir = dir
	}
	// A script finds what lies beside it by $0.
	call.Command = besideItself(call.Command, file)
	p.wroteBy(file).read = true
	p.walk(call, scope{depth: p.depth + 1, of: file, sure: sure, unit: file})
}

// itself is how a script of a shell writes its own path.
const itself = `(?:\$0|\$\{0\}|\$BASH_SOURCE|\$\{BASH_SOURCE(?:\[0\])?\}|\$\{BASH_SOURCE(?:\[0\])?:-\$0\})`

var (
	ownPath   = regexp.MustCompile(`\$\(\s*(?:readlink\s+-[efmn]+|realpath)(?:\s+--)?\s+"?` + itself + `"?\s*\)`)
	ownPlace  = regexp.MustCompile(`\$\(\s*dirname(?:\s+--)?\s+"?(?:` + itself + `|\x00)"?\s*\)|\$\{0%/\*\}|\$\{BASH_SOURCE(?:\[0\])?%/\*\}`)
	ownPlaces = regexp.MustCompile(`\$\(\s*(?:CDPATH=\S*\s+)?(?:cd(?:\s+-[PLe]+)?(?:\s+--)?\s+"?(\x01[^"$()\x00\s]*)"?(?:\s*[&12]*>\s*(?:/dev/null|&1))*\s*(?:&&|;)\s*pwd(?:\s+-[PL])?|(?:readlink\s+-[efmn]+|realpath)(?:\s+--)?\s+"?(\x01[^"$()\x00\s]*)"?)\s*\)`)
)

// besideItself puts the path of a script where the script asks for it: so it finds what
// lies beside it.
func besideItself(text, file string) string {
	if strings.ContainsAny(text, "\x00\x01") {
		return text
	}
	text = ownPath.ReplaceAllString(text, "\x00")
	text = ownPlace.ReplaceAllString(text, "\x01")
	text = ownPlaces.ReplaceAllString(text, "$1$2")
	return strings.NewReplacer("\x00", file, "\x01", filepath.Dir(file)).Replace(text)
}

// interpreter binds the program that the first line of a script names, where it is not
// one of the system's.
func (p *pass) interpreter(file, text, dir string) {
	line, ok := strings.CutPrefix(text, "#!")
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(path.Base(w), "python") }) {
		p.importsBeside("", path.Dir(file), false)
	}
	if path.Base(words[0]) == "env" {
		for n, w := range words[1:] {
			if name, value, given := strings.Cut(w, "="); given && operand(w) {
				p.gives(name, value)
			} else if operand(w) {
				if strings.Contains(w, "/") {
					words = words[n+1:]
					break
				}
				p.interpreterByName(w, dir)
				return
			}
		}
	}
	if name := words[0]; !system(name) && (filepath.IsAbs(name) || filepath.IsAbs(dir)) {
		if at := abs(dir, name); !p.visit(at, code) {
			p.script(at, dir)
		}
	}
	for _, w := range words[1:] { // #!/usr/bin/node --require=./x
		if filepath.IsAbs(dir) && strings.Contains(w, "/") {
			for _, part := range p.parts(w) {
				p.visit(abs(dir, part), code)
			}
		}
	}
}

// interpreterByName binds the program to which PATH leads for the first line of a script,
// up to the first that is one of the system's.
func (p *pass) interpreterByName(name, dir string) {
	list := p.at
	if list == "" || list == effect.Unknown {
		list = p.path
	}
	if list == effect.Unknown {
		return // the system's
	}
	if !effect.IsKnown(list) {
		p.named("%s, where PATH is not known", name)
		list = strings.ReplaceAll(list, effect.Unknown, "")
	}
	for _, at := range filepath.SplitList(list) {
		file := filepath.Join(abs(dir, at), name)
		if !filepath.IsAbs(file) || system(file) && p.isThere(file) {
			return
		}
		if p.isThere(file) {
			p.visit(file, code)
			p.script(file, dir)
			return
		}
	}
}

// isThere reports whether a program lies at a path, or nobody can tell.
func (p *pass) isThere(file string) bool {
	info, err := p.stat(file)
	return p.look() && (err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 || err != nil && !nothing(err))
}

// system reports whether a program is in a folder of the system.
func system(file string) bool {
	for _, at := range []string{"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"} {
		if strings.HasPrefix(file, at) && path.Clean(file) == file {
			return true
		}
	}
	return false
}

// shellScript reports whether a text is one for a shell, and whether that is sure: what
// says nothing of itself may be for another program.
func shellScript(file, text string) (is, sure bool) {
	if line, ok := strings.CutPrefix(text, "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		words := strings.Fields(line)
		for _, w := range words {
			if slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}, filepath.Base(w)) {
				return true, true
			}
		}
		return len(words) > 0 && strings.HasSuffix(words[0], "sh"), false // another shell
	}
	switch filepath.Ext(file) {
	case ".sh", ".bash", ".ksh", ".zsh":
		return true, true
	case "":
		return !strings.Contains(text[:min(len(text), 4096)], "\x00"), false
	}
	return false, false
}

// settled reads a file of a tool for what it runs.
func (p *pass) settled(i int, t *tool, file string) {
	dir := filepath.Dir(file)
	p.now = i
	if t.refers {
		p.refers(file, dir, t, 0)
	}
	switch t.recipes {
	case "make":
		p.recipes(i, file)
	case "compose":
		p.compose(i, file)
	case "image":
		if words := p.Steps[i].Argv[1:]; slices.ContainsFunc(words, builtImage) {
			p.images(file)
		}
	case "package":
		if name := filepath.Base(file); slices.Contains([]string{".npmrc", ".yarnrc", ".yarnrc.yml"}, name) {
			p.refers(file, dir, t, maxFollowed-1)
		}
		if filepath.Base(file) == ".pnpmfile.cjs" {
			text, _ := p.text(file, "loads")
			for _, m := range p.found(required, file, text) {
				for _, ending := range []string{"", ".js", ".cjs", ".json", "/index.js"} {
					p.visit(filepath.Clean(filepath.Join(dir, m[1]))+ending, code)
				}
			}
		}
		if filepath.Base(file) == "package.json" {
			p.scripts(i, file)
			p.workspaces(i, file)
		}
	}
}

// required finds what a file of Node.js loads that lies here.
var required = regexp.MustCompile(`\b(?:require|import)[ \t]*\(?[ \t]*["'](\.[^"'\n]*)["']`)

// builtImage reports a word by which an image is built.
func builtImage(w string) bool {
	return slices.Contains([]string{"build", "bake", "bud"}, w) || !effect.IsKnown(w)
}

// images reads a file by which images are built.
func (p *pass) images(file string) {
	switch base := filepath.Base(file); {
	case strings.HasPrefix(base, "docker-bake"):
		p.namedFile(file, "builds")
	case base != ".dockerignore":
		p.dockerfile(file)
	}
}

// scripts binds what the scripts of a package.json run, of those that the words of the
// command name, and of those that run by themselves.
func (p *pass) scripts(i int, file string) {
	p.runsScripts(i, file)
	if !p.once(append([]string{"package", file}, p.Steps[i].Argv...)...) {
		return
	}
	text, ok := p.text(file, "runs")
	if !ok {
		return
	}
	scripts, err := packageScripts(text)
	if err != nil || p.depth >= maxFollowed && len(scripts) > 0 {
		p.unread(file, "runs")
	}
	if p.depth >= maxFollowed {
		return
	}
	open := slices.ContainsFunc(p.Steps[i].Argv, func(w string) bool { return !effect.IsKnown(w) }) // it may be any
	words := append(slices.Clone(p.Steps[i].Argv[1:]), lifecycle...)
	dir := filepath.Dir(file)
	call := p.call
	call.Dir, call.Args, call.Raw = dir, nil, nil
	call.Env = withPath(call.Env, filepath.Join(dir, "node_modules/.bin"))
	var names []string
	for name := range scripts {
		p.inPackage(file, name)
		if open || asksFor(words, name) {
			names = append(names, name)
		}
	}
	p.runsScripts(i, file)
	slices.Sort(names)
	for _, name := range names {
		for _, call.Command = range scripts[name] {
			p.walk(call, scope{strict: p.strict, words: true, depth: p.depth + 1, of: file, sure: true,
				unit: file + "#" + name})
		}
	}
}

// inPackage notes the name of a script of a package.json.
func (s *scan) inPackage(file, name string) {
	if s.scriptsOf == nil {
		s.scriptsOf = map[string][]string{}
	}
	s.scriptsOf[file] = append(s.scriptsOf[file], name)
}

// runsScripts notes which scripts of a package.json a step asks for by their name.
func (p *pass) runsScripts(i int, file string) {
	words := p.Steps[i].Argv[1:]
	open := slices.ContainsFunc(words, func(w string) bool { return !effect.IsKnown(w) })
	for _, name := range p.scriptsOf[file] {
		if open || asksFor(words, name) {
			p.runsText(file + "#" + name)
		}
	}
}

// lifecycle are the scripts of a package that several commands run.
var lifecycle = []string{"install", "prepare", "prepublish", "prepublishOnly", "publish", "prepack", "pack",
	"postpack", "dependencies", "test", "start", "stop", "restart", "version"}

func withPath(env map[string]string, dir string) map[string]string {
	out := make(map[string]string, len(env)+1)
	for k, v := range env {
		out[k] = v
	}
	if path, ok := env["PATH"]; ok {
		out["PATH"] = dir + ":" + path
	} else {
		out["PATH"] = dir + ":" + systemPath
	}
	return out
}
