package fingerprint

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
	"approver.example/reflexcore"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file goes through a walk and binds what its commands execute.

// A scope says what is looked for in a text.
type scope struct {
	strict bool   // what stays unknown is named
	words  bool   // data that its words name is bound too
	depth  int    // of texts that a text runs
	of     string // the file that holds the text; "" is the call
	sure   bool   // the text is one for a shell
	unit   string // its name, where it counts what it writes; see wrote

	made *makefile // whose recipe the text is
}

// A pass is one walk while it is bound.
type pass struct {
	*scan
	reflexcore.Walk
	scope
	call approver.ToolCall
	path string // PATH, where the text does not change it
	at   string // PATH of the step that is looked at
	now  int    // the step of which files are read
	on   int    // the step for which texts are read

	later     []later // files that are executed
	unordered bool    // a step may run before one that stands before it

	flows    bool // what is read may go somewhere else than to the agent
	captured bool // the text itself says so
	fed      []bool
	wrapped  []bool            // steps that lead to others
	written  []map[string]bool // by step: what it writes and does not read
	programs []string          // by step: the file of its program, if one is found
	coded    []bool            // by step: a file of what it runs or reads as code is bound
}

// walk binds what a call runs.
func (s *scan) walk(call approver.ToolCall, in scope) {
	if call.Command == "" && in.depth > 0 || s.err != nil {
		return
	}
	if s.walks++; s.walks > maxWalks {
		s.name("further recipes and scripts")
		return
	}
	w, err := s.binder.walker.Walk(call)
	if err != nil {
		s.fail(err)
		return
	}
	p := &pass{scan: s, Walk: w, scope: in, call: call, path: effect.Unknown}
	if v, ok := call.Env["PATH"]; ok {
		p.path = v
	}
	p.prepare()
	for i := range p.Steps {
		if s.err != nil {
			return
		}
		p.step(i)
	}
	for i := range p.Effects {
		if s.err != nil {
			return
		}
		p.effect(&p.Effects[i])
	}
	for i := range p.Steps {
		if p.err != nil {
			return
		}
		p.codeless(i)
	}
	p.notesWrites()
	for _, l := range p.later {
		p.writtenBefore(l)
	}
}

// prepare finds out where data goes.
func (p *pass) prepare() {
	p.fed, p.wrapped = make([]bool, len(p.Steps)), make([]bool, len(p.Steps))
	p.written = make([]map[string]bool, len(p.Steps))
	p.coded, p.programs = make([]bool, len(p.Steps)), make([]string, len(p.Steps))
	p.structure()
	for name := range p.call.Env {
		p.flows = p.flows || strings.HasPrefix(name, "BASH_FUNC_") // any program may be a function
	}
	for i := range p.Steps {
		st := &p.Steps[i]
		if st.Parent >= 0 && st.Parent < i {
			p.wrapped[st.Parent] = true
		}
		p.givesVariables(i)
		switch first(st) {
		case "hash", "enable", "bind": // names may mean something else after it
			p.flows = true
		}
	}
	for i := range p.Effects {
		e := &p.Effects[i]
		if e.Kind != effect.Read && e.Taint&effect.File != 0 || e.Kind == effect.Opaque {
			p.flows = true
		}
		if e.Step < 0 || e.Step >= len(p.Steps) {
			continue
		}
		switch {
		case unknownCode(e):
			p.fed[e.Step] = true
		case e.Kind == effect.Write && effect.IsKnown(e.Target) && e.Bits&effect.Recursive == 0: // else it is mounted somewhere
			if p.written[e.Step] == nil {
				p.written[e.Step] = map[string]bool{}
			}
			p.written[e.Step][e.Target] = true
		}
	}
	for i := range p.Effects { // what is read as well is bound
		if e := &p.Effects[i]; e.Step >= 0 && e.Step < len(p.Steps) && (e.Kind == effect.Read || e.Kind == effect.Exec) {
			delete(p.written[e.Step], e.Target)
		}
	}
}

// first is the name of a step's program without its folder.
func first(st *shell.Step) string {
	if len(st.Argv) == 0 {
		return ""
	}
	return path.Base(st.Argv[0])
}

// unknownCode reports whether an effect is code that runs, is no file, and is not known.
func unknownCode(e *effect.Effect) bool {
	if e.Bits&(effect.Remote|effect.Later) != 0 {
		return false
	}
	known := e.Bits&effect.Partial == 0 && e.Taint&effect.Network == 0
	return e.Kind == effect.Opaque || e.Kind == effect.Exec && !known && !strings.ContainsAny(e.Target, "/\x00")
}

// unknown names a command that runs something that is not known.
func (p *pass) unknown(st *shell.Step) {
	in := ""
	if !effect.IsKnown(st.Dir) && st.May == "" {
		in = ", in a folder that is not known"
	}
	p.named("%s%s", strings.Join(strings.Fields(st.Command), " "), in)
}

// step binds one command.
func (p *pass) step(i int) {
	st := &p.Steps[i]
	p.on = i
	if len(st.Argv) == 0 {
		return
	}
	if st.Remote {
		p.remote(i)
		return
	}
	p.at = st.Path
	name := st.Argv[0]
	programs := []string{path.Base(name)}
	bases := p.bases(st)
	switch {
	case st.Shell:
	case !effect.IsKnown(name):
		if !p.foundByFind(i, name) {
			p.unknown(st)
		}
	default:
		for _, file := range p.program(st, name, bases) {
			p.programs[i] = file
			programs = append(programs, path.Base(file))
		}
	}
	if p.shows(i) {
		for _, base := range bases {
			for _, word := range st.Argv[1:] {
				if word != "" && word[0] != '-' {
					p.leads(abs(base, word))
				}
			}
		}
		return
	}
	if !st.Shell {
		p.helpers(st)
	}
	slices.Sort(programs)
	bases = p.args(i, bases)
	p.tools(i, slices.Compact(programs), bases)
}

// remote names what runs elsewhere.
func (p *pass) remote(i int) {
	st := &p.Steps[i]
	if !p.strict || st.Parent >= 0 && p.Steps[st.Parent].Remote {
		return
	}
	via := st.Via
	if st.Parent >= 0 {
		via = first(&p.Steps[st.Parent])
	}
	if oneOf("docker docker-compose podman podman-compose nerdctl", via) && p.onlyLooks(i) {
		return
	}
	p.name("what %s runs elsewhere: %s", effect.Show(via), strings.Join(strings.Fields(st.Command), " "))
}

// onlyLooks reports whether a command in a container on this machine only shows the agent
// something, also where it is the text for a shell.
func (p *pass) onlyLooks(i int) bool {
	if p.setsVariables(i) {
		return false // BASH_ENV, LD_PRELOAD and PATH name code in the container
	}
	name := p.Steps[i].Argv[0]
	if slices.Contains(viewers, name) {
		return true
	}
	if !slices.Contains(shells, name) || !p.wrapped[i] || len(p.Steps[i].Argv) != 3 || p.Steps[i].Argv[1] != "-c" {
		return false
	}
	within := map[int]bool{i: true}
	for n := i + 1; n < len(p.Steps); n++ {
		st := &p.Steps[n]
		if !within[st.Parent] {
			continue
		}
		within[n] = true
		shown := len(st.Argv) > 0 && (slices.Contains(viewers, st.Argv[0]) ||
			st.Shell && slices.Contains(filters, st.Argv[0]))
		if !shown {
			return false
		}
	}
	return true
}

// setsVariables reports whether the command that starts another one in a container gives it
// variables or a working folder, or nobody can tell.
func (p *pass) setsVariables(i int) bool {
	parent := p.Steps[i].Parent
	if parent < 0 || parent >= i {
		return true
	}
	words := p.Steps[parent].Argv
	words = words[:max(len(words)-len(p.Steps[i].Argv), 0)]
	at := slices.Index(words, "exec")
	if at < 0 {
		return true
	}
	return slices.ContainsFunc(words[at+1:], func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		if !strings.HasPrefix(w, "-") || strings.HasPrefix(w, "--") {
			return !effect.IsKnown(w) || oneOf("--env --env-file --workdir", name)
		}
		flags, _, _ := strings.Cut(w[1:], "u") // the rest is the name of a user
		return !effect.IsKnown(w) || strings.ContainsAny(flags, "ew")
	})
}

// bases are the folders in which a command may run; none if that is not known.
func (p *pass) bases(st *shell.Step) []string {
	switch {
	case filepath.IsAbs(st.Dir) && effect.IsKnown(st.Dir):
		dir := filepath.Clean(st.Dir)
		if dir != filepath.Clean(p.call.Dir) { // cd link
			p.leads(dir)
		}
		return []string{dir}
	case filepath.IsAbs(st.May) && effect.IsKnown(st.May):
		return p.match(st.May)
	}
	return nil
}

func abs(base, word string) string {
	if filepath.IsAbs(word) {
		return word
	}
	return base + "/" + word
}

// systemPath is where a shell looks if nothing says where.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// program binds the program of a command, and returns its files.
func (p *pass) program(st *shell.Step, name string, bases []string) []string {
	if !strings.Contains(name, "/") {
		if isPattern(name) {
			return p.here(name, bases)
		}
		if file := p.lookup(st, name); file != "" {
			p.script(file, st.Dir)
			return []string{file}
		}
		return p.here(name, bases) // a wrapper may look for it there: uv run x.py
	}
	return p.here(name, bases)
}

// here binds a program, or what a pattern of it matches, by its path.
func (p *pass) here(name string, bases []string) (files []string) {
	if filepath.IsAbs(name) {
		bases = []string{"/"}
	}
	for _, base := range bases {
		file := abs(base, name)
		if isPattern(name) {
			files = append(files, p.match(file)...)
		}
		files = append(files, file)
	}
	for _, file := range files {
		if !p.visit(file, code) {
			dir := ""
			if len(bases) > 0 && bases[0] != "/" {
				dir = bases[0]
			}
			p.script(file, dir)
		}
	}
	return files
}

// lookup binds what PATH leads to, and returns the program's file.
func (p *pass) lookup(st *shell.Step, name string) string {
	list := st.Path
	switch {
	case list == effect.Unknown && p.path == effect.Unknown:
		list = systemPath
	case !effect.IsKnown(list):
		if p.strict {
			p.name("%s, where PATH is not known", name)
		}
		list = strings.ReplaceAll(list, effect.Unknown, "")
	}
	dirs := filepath.SplitList(list)
	if list == "" { // which means the folder itself
		dirs = []string{""}
	}
	for _, dir := range dirs {
		if dir == "" {
			dir = "."
		}
		if !filepath.IsAbs(dir) {
			if !filepath.IsAbs(st.Dir) || !effect.IsKnown(st.Dir) {
				p.named("%s, where PATH is not known", name)
				continue
			}
			dir = filepath.Join(st.Dir, dir)
		}
		file := filepath.Join(dir, name)
		if p.visit(file, code); p.out[file] == "" {
			continue
		}
		if info, err := p.stat(file); err == nil && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// viewers are programs that run nothing of a file that they are given and put it
// nowhere but on their output, whatever their options.
var viewers = []string{"basename", "cat", "cmp", "cut", "dirname", "du", "egrep", "fgrep", "grep", "head", "ls",
	"md5sum", "nl", "od", "sha1sum", "sha256sum", "stat", "tac", "tail", "wc"}

// filters pass on their input.
var filters = []string{"sort", "uniq", "tr", "column", "fold", "rev", "true", "echo", "printf", "sleep"}

// shows reports whether a command only shows the agent what it reads. Then what is in
// its files is not bound: a log grows while a person thinks. Where the names lead is.
func (p *pass) shows(i int) bool { return !p.flows && p.isA(i, viewers) }

// isA reports whether a step is one of some programs of the system, and not another
// one of that name.
func (p *pass) isA(i int, names []string) bool {
	st := &p.Steps[i]
	if len(st.Argv) == 0 || st.Shell || st.Path != p.path || !slices.Contains(names, first(st)) {
		return false
	}
	file := st.Argv[0]
	if !strings.Contains(file, "/") {
		if file = p.lookup(st, file); file == "" {
			return true
		}
	}
	return slices.ContainsFunc([]string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/",
		"/run/current-system/sw/bin/"}, func(dir string) bool {
		rest, ok := strings.CutPrefix(file, dir)
		return ok && !strings.Contains(rest, "/")
	})
}
