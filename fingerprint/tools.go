package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// bindTools binds the files that the table of tools has for a command, in each folder in
// which it may work.
func (p *pass) bindTools(i int, programs, bases []string) {
	c := &p.commands[i]
	if c.Shell && !slices.Contains([]string{"exec", "command"}, first(c.Step)) {
		return
	}
	var rows []int
	for _, name := range programs {
		rows = append(rows, toolsOf()[name]...)
	}
	slices.Sort(rows)
	r := toolReader{reading: reading{p.reader, c, first(c.Step), bases}}
	for _, n := range slices.Compact(rows) {
		r.tool = &tools()[n]
		if r.tool.Words != "" && !slices.ContainsFunc(c.Argv[1:], func(w string) bool {
			return wordset.Has(r.tool.Words, w) || !effect.IsKnown(w)
		}) {
			continue
		}
		if len(bases) == 0 && r.tool.Elsewhere == "" {
			p.unboundCommand(c.Step)
			continue
		}
		r.bind()
	}
}

// A toolReader binds the files of one row of the table for a command.
type toolReader struct {
	reading
	tool *tool
}

// bind binds the files of the row: those of no folder, and those of each.
func (r toolReader) bind() {
	t := r.tool
	if t.Elsewhere != "" && (!t.Operands || r.takesFromRegistry()) && !startsAgain(r.c.Argv[1:]) {
		r.reportUnbound(t.Elsewhere, r.name)
	}
	r.bindOwn()
	for _, name := range strings.Fields(t.Home) {
		if home := r.call.Env["HOME"]; filepath.IsAbs(home) && r.Visit(filepath.Join(home, name), disk.Code) {
			r.BindFolder(filepath.Join(home, name))
		}
	}
	for n, base := range r.bases {
		if n > 0 && t.Given != "" { // a word names it
			var files []string
			if t.Recipes == "image" {
				files = imageReader{r.reading}.buildContext(base, r.bases[0])
			} else {
				files = r.BindFolder(base, strings.Fields(t.Given)...)
			}
			r.c.hasCode = len(files) > 0 || r.c.hasCode
			kustomizeReader{r.reading}.bind(base, 0)
			kustomizeReader{r.reading}.chart(base, 0)
		}
		r.bindFolder(base)
	}
}

// bindOwn runs the readers that some tools have.
func (r toolReader) bindOwn() {
	switch r.tool.Recipes {
	case "go":
		(&goReader{reading: r.reading}).bind()
	case "git":
		(&gitCall{reading: r.reading}).bind()
	case "forge":
		(&gitCall{reading: r.reading}).remotesOnly()
	case "compose":
		for _, value := range r.Values("COMPOSE_FILE") {
			for _, base := range r.bases {
				composeReader{r.reading}.composeFiles(value, base)
			}
		}
	case "package":
		packageReader{r.reading}.runsByName()
	}
}

// bindFolder binds the files of the row in one folder.
func (r toolReader) bindFolder(base string) {
	t := r.tool
	places := []string{base}
	if t.Above {
		places = r.upwards(base)
	}
	var found []string
	for _, at := range places {
		for _, pattern := range strings.Fields(t.Files) {
			found = append(found, r.BindMatching(at, pattern)...)
		}
		for _, name := range strings.Fields(t.Trees) {
			r.c.hasCode = len(r.VisitFolder(filepath.Join(at, name), strings.Fields(t.Kinds)...)) > 0 || r.c.hasCode
		}
	}
	if t.Kinds == disk.PytestKinds {
		r.pythonNames(strings.Join(flagValues(r.c.Step, "-p"), "\n"), []string{base})
	}
	flagged := r.flagged(base)
	for _, file := range flagged { // roles lie beside a playbook
		for _, name := range strings.Fields(t.Trees) {
			if t.Refers && name != "." {
				r.VisitFolder(filepath.Join(filepath.Dir(file), name), strings.Fields(t.Kinds)...)
			}
		}
	}
	for _, file := range append(found, flagged...) {
		r.c.hasCode = r.c.hasCode || t.Recipes != "go" // whose packages must be there
		r.bindFile(file)
	}
}

// bindFile reads a file of the tool for the code that it runs.
func (r toolReader) bindFile(file string) {
	dir := filepath.Dir(file)
	if r.tool.Refers {
		settingsReader(r).bind(file, dir, 0)
	}
	switch r.tool.Recipes {
	case "make":
		makeReader{reading: r.reading, file: file}.bind()
	case "compose":
		composeReader{r.reading}.bind(file)
	case "image":
		if slices.ContainsFunc(r.c.Argv[1:], builtImage) {
			imageReader{r.reading}.images(file)
		}
	case "package":
		if name := filepath.Base(file); slices.Contains([]string{".npmrc", ".yarnrc", ".yarnrc.yml"}, name) {
			settingsReader(r).bind(file, dir, disk.MaxFollowed-1)
		}
		packageReader{r.reading}.bindFile(file)
	}
}

// startsAgain reports whether a command of compose starts existing containers.
func startsAgain(words []string) bool {
	return slices.Contains(words, "compose") && slices.Contains(words, "start") &&
		!slices.ContainsFunc(words, func(w string) bool { return slices.Contains([]string{"run", "create", "push"}, w) })
}

// flagged are the settings files in the words of a command: the values of its flags and, for a
// tool whose files name others, every word with the ending of a settings file.
func (r toolReader) flagged(base string) (files []string) {
	st, t := r.c.Step, r.tool
	for n, w := range st.Argv[1:] {
		value, is := flagAt(st.Argv, n+1, t.Flags)
		if onlyWritten(st, n+1) {
			continue
		}
		if !is && t.Refers && (t.Recipes == "" || t.Recipes == "compose") {
			value = w
			if _, v, ok := strings.Cut(w, "="); ok {
				value = v
			}
			is = byName(value)
		}
		if file := filepath.Clean(abs(base, value)); is && value != "" && effect.IsKnown(value) && !r.Visit(file,
			disk.Code) && r.Bound[file] != "" {
			files = append(files, file)
		}
	}
	return files
}

// takesFromRegistry reports whether a word after the subcommand names something in a registry,
// because it is no local file.
func (r toolReader) takesFromRegistry() bool {
	st := r.c.Step
	behind := false
	for n, w := range st.Argv[1:] {
		if slices.Contains(strings.Fields(r.tool.Words), w) && !behind {
			behind = true
			continue
		}
		if !behind || !operand(w) || n > 0 && strings.HasPrefix(st.Argv[n],
			"-") && len(st.Argv[n]) <= 2 && st.Argv[n] != "-g" && st.Argv[n] != "-D" {
			continue
		}
		here := slices.ContainsFunc(r.bases, func(base string) bool { _, err := r.Stat(abs(base, w)); return err == nil })
		if !effect.IsKnown(w) || !here {
			return true
		}
	}
	return false
}
