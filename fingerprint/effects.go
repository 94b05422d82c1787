package fingerprint

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

func (p *pass) bindEffect(e *effect.Effect) {
	p.step = e.Step
	switch {
	case e.Bits&(effect.Remote|effect.Later) != 0: // a step says so, or it does not run now
	case unknownCode(e):
		p.bindUnknown(e)
	case e.Kind == effect.Exec:
		p.bindExecuted(e)
	case e.Kind == effect.Read && (p.words || p.isGiven(e) ||
		p.captured && p.command(e.Step) != nil && p.isA(e.Step, viewers)) && !p.shown(e):
		p.bindRead(e)
	case changesFiles(e):
		p.bindWay(e.Target)
	default: // the others run nothing here
	}
}

// sendsFiles reports whether files go over the network.
func (f *flow) sendsFiles() bool {
	return slices.ContainsFunc(f.Effects, func(e effect.Effect) bool {
		return e.Kind == effect.NetOut && e.Taint&(effect.File|effect.Secret) != 0
	})
}

// changesFiles reports whether an effect changes or deletes a file, or what everybody may do with it. The file is
// not bound if it is only written.
func changesFiles(e *effect.Effect) bool {
	return e.Kind == effect.Write || e.Kind == effect.Delete || e.Kind == effect.Permission || e.Kind == effect.Persist
}

// bindWay binds where the links on the way to a path lead: the same words change something else once one of them
// leads elsewhere.
func (p *pass) bindWay(path string) {
	if i := strings.IndexAny(path, effect.Unknown+"*?["); i >= 0 {
		path = path[:strings.LastIndexByte(path[:i], '/')+1]
	}
	if !filepath.IsAbs(path) || p.TooLong(path) {
		return
	}
	for at := filepath.Clean(path); at != "/" && p.Look(); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			p.BindLink(at)
		}
	}
}

// isGiven reports whether a file that a script reads goes to a shell, or to a tool that
// applies its content.
func (f *flow) isGiven(e *effect.Effect) bool {
	if c := f.command(e.Step); c != nil && (c.fed || f.applies(e.Step)) ||
		e.Step < 0 && slices.ContainsFunc(f.commands, isFed) {
		return true
	}
	return e.By == "redirection" && slices.ContainsFunc(f.Steps,
		func(st shell.Step) bool { return inputBuiltins[first(&st)] })
}

func (f *flow) applies(i int) bool {
	name := first(&f.Steps[i])
	return appliers[name] || shells[name]
}

// bindRead binds a file that is read.
func (p *pass) bindRead(e *effect.Effect) {
	if !filepath.IsAbs(e.Target) || !effect.IsKnown(e.Target) {
		return
	}
	as := disk.Data
	if slices.ContainsFunc(p.commands, isFed) { // it may be what is executed
		as = disk.Code
	}
	for _, file := range p.matchesAndSelf(e.Target) {
		if as == disk.Code && p.depth == 0 { // cat a.sh | sh
			step := e.Step
			if step < 0 {
				step = slices.IndexFunc(p.commands, isFed)
			}
			p.executed = append(p.executed, executedFile{step, file, ""})
		}
		switch {
		case p.changesItself(e.Step, file) || p.isPlanned(e.Step, file):
		case !p.Visit(file, as):
			p.noteCode(p.command(e.Step), file)
		case p.sendsFiles(): // all that is in the folder
			p.BindTree(filepath.Clean(file), true, nil)
		}
	}
}

// shown reports whether a file that is read is only shown to the agent.
func (f *flow) shown(e *effect.Effect) bool {
	if f.command(e.Step) != nil && e.By != "redirection" {
		return f.shows(e.Step)
	}
	for i := range f.Steps {
		if !f.Steps[i].Shell && !f.shows(i) {
			return false
		}
	}
	return !f.flows
}

// bindExecuted binds the code that an effect executes.
func (p *pass) bindExecuted(e *effect.Effect) {
	dir, c := p.call.Dir, p.command(e.Step)
	if c != nil {
		dir, p.stepPath = c.Dir, c.Path
	}
	if e.What == "interactive" || e.What == "options" {
		return
	}
	if c != nil && (e.What != "" || !effect.IsKnown(e.Target)) { // it is bound or named here
		c.hasCode = true
	}
	switch e.What {
	case "url":
		p.reportUnbound("what lies at %s", e.Target)
		return
	case "package":
		p.bindPackage(e.Target, dir)
		return
	case "module":
		p.bindModule(e.Target, dir)
		return
	}
	switch {
	case !effect.IsKnown(e.Target):
		if c == nil {
			p.reportUnbound("%s", effect.Show(e.Target))
		} else if !p.foundByFind(e.Step, e.Target) && !p.hasKnownFolder(e.Target) &&
			(len(c.Argv) == 0 || effect.IsKnown(c.Argv[0])) {
			p.unboundCommand(c.Step)
		}
	case filepath.IsAbs(e.Target):
		for _, file := range p.matchesAndSelf(e.Target) {
			p.bindSourcesOf(file)
			if !strings.HasPrefix(e.By, "file ") {
				p.executed = append(p.executed, executedFile{e.Step, file, dir})
			}
			if !p.Visit(file, disk.Code) {
				p.noteCode(c, file)
				p.bindScript(file, dir)
			} else if e.By != "" && len(p.folderRun(file)) > 0 && c != nil {
				c.hasCode = true
			}
		}
	default: // a program by its name: its step binds it
	}
}

// bindSourcesOf binds the prerequisites of a file that a recipe executes, if a rule of the
// makefile makes the file.
func (r *reader) bindSourcesOf(file string) {
	if r.made == nil || r.made.dir == "" {
		return
	}
	name, err := filepath.Rel(r.made.dir, filepath.Clean(file))
	if err != nil || r.made.rules[name] == nil || !r.Once("made of", file) {
		return
	}
	for _, need := range r.made.rules[name].needs {
		if at := abs(r.made.dir, need); effect.IsKnown(need) && filepath.IsAbs(at) {
			r.bindSourcesOf(at)
			r.executes(at, r.made.dir)
		}
	}
}

// folderRun binds a folder that a program runs as a program, as python does.
func (p *pass) folderRun(dir string) []string {
	return p.BindFolder(dir, "*.py", "*.js", "*.mjs", "*.cjs", "package.json")
}

// hasKnownFolder reports whether another effect has the same path with a known folder.
func (f *flow) hasKnownFolder(target string) bool {
	rest := strings.TrimPrefix(target, effect.Unknown+"/")
	return rest != target && effect.IsKnown(rest) && slices.ContainsFunc(f.Effects, func(e effect.Effect) bool {
		return e.Kind == effect.Exec && filepath.IsAbs(e.Target) && effect.IsKnown(e.Target) && strings.HasSuffix(e.Target,
			"/"+rest)
	})
}

// bindUnknown handles code that is not fully known. It reports the code, unless it comes
// from bound files through programs that only pass it on.
func (p *pass) bindUnknown(e *effect.Effect) {
	if e.Kind == effect.Opaque && (e.Target == "syntax error" || e.Target == "unknown "+
		"syntax" || strings.HasPrefix(e.Target, "too complex")) {
		if p.of != "" && (p.sure || p.strict || strings.HasPrefix(e.Target, "too complex")) {
			p.Unread(p.of, "runs")
		} else {
			p.reportUnbound("a part of the command that cannot be read")
		}
		return
	}
	if e.Taint&effect.Network == 0 && e.Taint&effect.File != 0 && p.onlyPassesOn() {
		return
	}
	by := strings.TrimSuffix(effect.Show(e.By), " (stdin)")
	if c := p.command(e.Step); c != nil && strings.HasPrefix(by, "file ") {
		by = first(c.Step)
	}
	switch {
	case e.Taint&effect.Network != 0:
		p.reportUnbound("what %s is given by the network", by)
	case by == p.call.Tool:
		p.reportUnbound("the programs that this text starts")
	case by != "":
		p.reportUnbound("what %s is given to run", by)
	default:
		p.reportUnbound("%s", effect.Show(e.Target))
	}
}

// onlyPassesOn reports whether all executed code was read from known files.
func (f *flow) onlyPassesOn() bool {
	fed := 0
	for i := range f.Steps {
		st := &f.Steps[i]
		wraps := f.commands[i].wrapped && plainWrappers[st.Program]
		if f.commands[i].fed {
			fed++
		} else if !st.Shell && !wraps && !f.isA(i, viewers) && !f.isA(i, filters) {
			return false
		}
	}
	if fed > 1 { // one may feed the other
		return false
	}
	reads := false
	for i := range f.Effects {
		if e := &f.Effects[i]; e.Kind == effect.Read {
			if reads = true; !effect.IsKnown(e.Target) || !filepath.IsAbs(e.Target) {
				return false
			}
		}
	}
	return reads && f.words
}

// foundByFind binds the files that find may find, if target has that form: a known root,
// unknown folders, and a known name.
func (p *pass) foundByFind(i int, target string) bool {
	root, name, ok := strings.Cut(target, "/"+effect.Unknown)
	if !ok || !filepath.IsAbs(root) || !p.byFind(i) {
		return false
	}
	name = strings.TrimPrefix(name, "/")
	if !effect.IsKnown(name) || strings.Contains(name, "/") {
		return false
	}
	var patterns []string
	if name != "" {
		patterns = []string{disk.Loose(name)}
	}
	p.BindTree(root, true, patterns)
	return true
}

// byFind reports whether the words of a step come from find.
func (f *flow) byFind(i int) bool {
	searches := slices.ContainsFunc(f.Steps, func(st shell.Step) bool { return st.Program == "find" })
	for n := f.Steps[i].Parent; n >= 0 && n < i; n = f.Steps[n].Parent {
		switch f.Steps[n].Program {
		case "find":
			return true
		case "xargs":
			return searches
		}
	}
	return false
}

// bindPackage binds a local package, and reports one of a registry.
func (p *pass) bindPackage(name, dir string) {
	file := abs(dir, name)
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		if p.Visit(file, disk.Code) {
			p.BindFolder(filepath.Clean(file))
		}
		return
	}
	for _, at := range above(dir) {
		local := filepath.Join(at, "node_modules/.bin", name)
		if info, err := p.Stat(local); p.Look() && err == nil && info.Mode().IsRegular() {
			p.BindLink(local)
			p.Visit(local, disk.Code)
			return
		}
	}
	p.reportUnbound("the package %s, from a registry", effect.Show(name))
}

// bindModule binds a local Python module, and reports any other.
func (p *pass) bindModule(name, dir string) {
	at := filepath.Join(dir, strings.ReplaceAll(name, ".", "/"))
	if effect.IsKnown(at) && filepath.IsAbs(at) {
		p.Visit(at+".py", disk.Code)
		for up := path.Dir(at); up != dir && strings.HasPrefix(up, dir+"/"); up = path.Dir(up) {
			p.Visit(up+"/__init__.py", disk.Code)
		}
		if p.Visit(at, disk.Code) {
			p.BindFolder(at, "*.py")
			return
		}
		if p.Bound[at+".py"] != "" {
			return
		}
	}
	p.reportUnbound("the module %s", effect.Show(name))
}
