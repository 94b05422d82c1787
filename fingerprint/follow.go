package fingerprint

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file reads files that decide what runs for the files that they name.

// script binds what a shell script runs by a name that is plain to see. What is not
// plain there is not named: a script may do anything. That it was not read is.
func (p *pass) script(file, dir string) {
	if p.out[filepath.Clean(file)] == "" || strings.HasPrefix(file, "/usr/") || strings.HasPrefix(file,
		"/bin/") || !p.once("script", file, dir) {
		return
	}
	text, all := p.contents(file)
	p.interpreter(file, text, dir)
	shell, sure := shellScript(file, text)
	if !shell {
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
	p.walk(call, scope{depth: p.depth + 1, of: file, sure: sure})
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
			for _, m := range required.FindAllStringSubmatch(text, maxWords) {
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

// endings are the ends of names of files that decide what happens. Data and what is
// built is left out: it changes all the time.
var endings = strings.Fields(".sh .bash .zsh .fish .py .rb .pl .php .js .cjs .mjs .ts .mts .lua .go .rs .java " +
	".kts .groovy .gradle .sql .yml .yaml .toml .json .ini .cfg .conf .env .mk .mak .cmake .tf .tfvars .hcl .tpl " +
	".tmpl .j2 .xml .properties .ps1 .bat .awk .sed .jq .nix .bzl .just")

// refers binds the files that a file of settings names, whatever its language: each
// word of it that is the name of a file that decides what happens, and for a folder
// (./modules/x) the files of the tool in it.
func (p *pass) refers(file, dir string, t *tool, depth int) {
	if !p.once("refers", file, dir) {
		return
	}
	text, ok := p.text(file, "names")
	if !ok || text == "" {
		return
	}
	if depth >= maxFollowed {
		p.unread(file, "names")
		return
	}
	text = p.modules(file, text, dir, t)
	places := p.places(file, text, dir, t)
	p.loadsOf(file, text, places, t, depth)
	p.wholes(file, text, places)
	looked := 0
	for n := 0; n < len(places); n++ { // grows
		for _, word := range p.references(text, places[n], t) {
			if n > 0 && !p.liesThere(places[n], word) {
				continue // in a folder that the file names, of what is not there nothing is known
			}
			if looked++; looked > maxWords {
				p.unread(file, "names")
				return
			}
			if p.err != nil {
				return
			}
			at := p.reference(file, word, places[n], t, depth)
			if at == "" || n > 0 || !t.plainly() || slices.Contains(passedOver, filepath.Base(at)) ||
				slices.Contains(places, at) {
				continue
			}
			if len(places) >= maxBases {
				p.unread(file, "names")
				return
			}
			places = append(places, at)
		}
	}
	if isPython(file) {
		p.pythonNames(text, places)
	}
}

// places are the folders from which a file of settings may name others, before those that it
// names itself: its own, and of what lies in .cargo or .mvn the one above.
func (p *pass) places(file, text, dir string, t *tool) []string {
	places := []string{dir}
	if strings.HasPrefix(filepath.Base(dir), ".") && dir == filepath.Dir(file) {
		places = append(places, filepath.Dir(dir))
	}
	if isRuby(file) && p.now < len(p.Steps) {
		for _, value := range p.flagValues(&p.Steps[p.now], "-I --libdir") {
			places = append(places, filepath.Clean(abs(dir, value)))
		}
		for _, value := range p.flagValues(&p.Steps[p.now], "-r --require") {
			for _, ending := range []string{"", ".rb"} {
				p.visit(filepath.Clean(abs(dir, value))+ending, code)
			}
		}
	}
	if t.plainly() && (isRuby(file) || strings.HasSuffix(file, ".py")) { // what these load by a plain name
		for _, word := range p.references(text, dir, t) {
			at := filepath.Clean(abs(dir, word))
			if len(places) < maxBases && !slices.Contains(places, at) && p.isDir(at) {
				places = append(places, at)
			}
		}
	}
	return places
}

// flagValues are the values of flags of a step.
func (p *pass) flagValues(st *shell.Step, flags string) (values []string) {
	for n := 1; n < len(st.Argv); n++ {
		value, is := flagValue(st.Argv[n], flags)
		if is && value == "" && n+1 < len(st.Argv) {
			value = st.Argv[n+1]
		}
		if is && value != "" && effect.IsKnown(value) {
			values = append(values, value)
		}
	}
	return values
}

// liesThere reports whether a folder has what a word names.
func (p *pass) liesThere(dir, word string) bool {
	if strings.HasPrefix(word, "/") {
		return false
	}
	word = strings.TrimPrefix(word, "./")
	first, _, deep := strings.Cut(word, "/")
	if first == ".." || !p.lies(dir, first) {
		return false
	}
	if !deep {
		return true
	}
	_, err := p.stat(filepath.Join(dir, word))
	return p.look() && (err == nil || !nothing(err))
}

// plainly reports whether the files of a tool may name others by words without a dot.
// Recipes and packages have readers of their own.
func (t *tool) plainly() bool { return t.recipes == "" }

// reference binds a file that a word of a file of settings names; if the word names a
// folder, that is returned.
func (p *pass) reference(file, word, dir string, t *tool, depth int) (folder string) {
	at := abs(dir, word)
	info, err := p.stat(at)
	if !p.look() {
		return ""
	}
	if err != nil {
		if !nothing(err) && byName(word) {
			p.visit(at, code) // which names it
		}
		return ""
	}
	clean := filepath.Clean(at)
	switch {
	case info.IsDir():
		if clean == filepath.Clean(dir) || !t.plainly() && !strings.HasPrefix(word, "./") && !strings.HasPrefix(word, "../") {
			return ""
		}
		for _, pattern := range append(strings.Fields(t.files), strings.Fields(kustomization)...) {
			for _, found := range p.settings(clean, pattern) {
				p.refers(found, clean, t, depth+1)
			}
		}
		return clean
	case info.Mode().IsRegular() && (p.decides(word, clean, info) || t.plainly() && p.isPlainText(clean, info) ||
		like(filepath.Base(file), startersOf)):
		p.inFolder(clean)
		p.script(clean, dir)
		if slices.Contains(furthers, filepath.Ext(word)) || strings.Contains(t.programs, "cmake") && filepath.Ext(word) == ".json" || t.plainly() && filepath.Ext(word) == "" {
			p.refers(clean, filepath.Dir(clean), t, depth+1)
		}
	}
	return ""
}

// startersOf are files of settings in which each word that names a file counts, whatever its
// ending: they name programs, and what is loaded into them.
var startersOf = strings.Fields("jvm.config maven.config config.toml .bazelrc .yarnrc .yarnrc.yml .npmrc ansible.cfg")

// furthers are the ends of names of files of settings that may name further ones.
var furthers = strings.Fields(".yml .yaml .mk .tf .toml .hcl .just .gradle .kts .cmake .ninja .rb .rake .bzl .nix .xml")

// notes are texts that no tool executes.
var notes = strings.Fields("README LICENSE LICENCE COPYING CHANGELOG CHANGES NEWS AUTHORS CONTRIBUTORS NOTICE " +
	"VERSION TODO")

// isPlainText reports whether a file without an ending is a text, as a script may be.
func (p *pass) isPlainText(file string, info fs.FileInfo) bool {
	base := filepath.Base(file)
	if filepath.Ext(base) != "" || info.Size() > maxText || slices.Contains(notes, base) {
		return false
	}
	f, _, err := open(file)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head) // of an empty file nothing
	return !bytes.ContainsRune(head[:n], 0)
}

// references are the words of a text that may be names of files, once each. One without
// a folder must be in the list of dir, so that words such as aws_vpc.main cost no look.
func (p *pass) references(text, dir string, t *tool) (words []string) {
	seen := map[string]bool{}
	add := func(word string) {
		word = strings.TrimRight(strings.TrimPrefix(word, "@"), ".")
		if at := strings.LastIndex(word, "%/"); at >= 0 { // %workspace%/x
			word = word[at+2:]
		}
		if word == "" || len(word) > maxPath || word == "./" || seen[word] ||
			!strings.ContainsAny(word, "./") && !t.plainly() || len(word) < 2 && !t.plainly() {
			return
		}
		seen[word] = true
		if strings.Contains(word, "/") || p.lies(dir, word) {
			words = append(words, word)
		}
	}
	cuts := func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`()[]{}<>|&;,=:$#*?!^\\", r) }
	beyond := func(r rune) bool { return r > '~' }
	for word := range strings.FieldsFuncSeq(text, cuts) {
		add(word)
		if strings.HasPrefix(word, "/") { // behind a variable for the folder itself
			add(strings.TrimLeft(word, "/"))
		}
		if strings.IndexFunc(word, beyond) >= 0 { // a name in another script, or quoted so
			for part := range strings.FieldsFuncSeq(word, beyond) {
				add(part)
			}
		}
	}
	return words
}

// lies reports whether a folder may have a file of a name, in any case of letters.
func (p *pass) lies(dir, name string) bool {
	if p.folded[dir] == nil {
		names, ok := p.list(dir)
		if !ok {
			return true // a look will tell
		}
		p.folded[dir] = make(map[string]bool, len(names))
		for _, n := range names {
			p.folded[dir][strings.ToLower(n)] = true
		}
	}
	return p.folded[dir][strings.ToLower(name)]
}

// decides reports whether a file is of a kind that decides what happens.
func (p *pass) decides(word, file string, info fs.FileInfo) bool {
	return byName(word) || info.Mode()&0o111 != 0 && p.isScript(file)
}

func byName(word string) bool {
	return slices.Contains(endings, filepath.Ext(word)) || strings.HasPrefix(filepath.Base(word), ".env")
}

// isScript reports whether a file is one of an interpreter, or cannot be read for that.
func (p *pass) isScript(file string) bool {
	f, _, err := open(file)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, 2)
	n, err := f.Read(head)
	return err != nil && !errors.Is(err, io.EOF) || string(head[:n]) == "#!"
}

// scripts binds what the scripts of a package.json run, of those that the words of the
// command name, and of those that run by themselves.
func (p *pass) scripts(i int, file string) {
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
		if open || asksFor(words, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, call.Command = range scripts[name] {
			p.walk(call, scope{strict: p.strict, words: true, depth: p.depth + 1, of: file, sure: true})
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
