package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// executes walks what a use executes where the command runs: on this host or on another one.
func (a *applied) executes(u *grammar.Use, out *data) {
	if u.Arg == "helper" {
		a.helper(u, out)
		return
	}
	if a.namesToOpen(u) {
		return
	}
	switch u.Role {
	case grammar.Argv:
		if u.Word < 0 || u.Word >= len(a.line.argv) {
			return
		}
		var more data
		if u.Arg != "module" || !a.runModule(u, &more) {
			a.lists.vector(u, &more)
		}
		*out = more
	case grammar.Shell:
		a.runsShell(u, out)
	case grammar.Code:
		a.runsCode(u, out)
	case grammar.Exec:
		a.runsFile(u, out)
	case grammar.Args:
		if !hasRole(a.line.p.Uses, grammar.Shell, grammar.Argv) { // parallel ::: COMMANDS
			a.in.separately(false, func() { a.in.payloads.sub(a.field(u).data, a.line.by, &input{}, out) })
		}
	case grammar.Sql:
		if u.Word >= 0 {
			a.sql(u.Arg, a.joined(u))
		}
	default: // nothing for the others
	}
}

// namesToOpen reports whether a word that is not known is most likely a file or an address to look at: an operand of
// vi, less or an opener, which a variable of people's or another program gives. That program could run by itself what
// it makes these run. What a file, the network or a decoder says may be anything.
func (a *applied) namesToOpen(u *grammar.Use) bool {
	const counts = effect.File | effect.Secret | effect.Network | effect.Decoded
	if u.Word < 0 || u.Role != grammar.Exec && u.Role != grammar.Code && u.Role != grammar.Shell {
		return false
	}
	f := a.field(u)
	if !strings.HasPrefix(f.text, effect.Unknown) || f.taint&counts != 0 {
		return false
	}
	switch a.line.p.Program.Name {
	case "vi", "less": // of +COMMAND, and not of -c
		return u.Role != grammar.Exec && slices.ContainsFunc(a.line.p.Uses, func(w grammar.Use) bool {
			return (w.Role == grammar.Write || w.Role == grammar.Read) && w.Word == u.Word
		})
	case "xdg-open": // start and explorer run programs as well
		return wordset.Has("xdg-open open gnome-open wslview sensible-browser firefox google-chrome chromium", a.line.by)
	}
	return false
}

// runsShell walks a text that a shell runs, or a command of the same program.
func (a *applied) runsShell(u *grammar.Use, out *data) {
	if u.Word < 0 {
		return
	}
	in := a.in
	d := a.joined(u)
	in.noteClobbered(in.exp.fields[a.mark+u.Word:a.mark+max(u.End, u.Word+1)], a.line.by)
	if a.line.p.Program.Name == "fish" {
		d.text = fishText(d.text)
	}
	var more data
	switch u.Arg {
	case "commas", "toml": // gcc -wrapper rm,-rf,x; cargo --config 'k=["rm", "-rf"]'
		d.text = unlisted.Replace(d.text)
		in.payloads.runScript("", d, nil, a.std, &more, a.line.by)
	case "alias":
		d.text = a.line.argv[0] + " " + d.text + a.line.behindAlias(u)
		in.payloads.runScript("", d, nil, a.std, &more, a.line.by)
	default:
		if a.line.p.Program.Name == "parallel" {
			a.lists.inEach(u, d, &more)
			break
		}
		if args := a.lists.added(); len(args) > 0 {
			a.lists.each(d, args, &more)
			break
		}
		in.par.named = u.End <= u.Word+1 // sh -c TEXT NAME ARGUMENTS
		in.payloads.runScript(u.Arg, d, a.wordsAfter(u), a.std, &more, a.line.by)
		in.par.named = false
	}
	*out = more
	if a.line.traces(&in.vars) {
		out.add(unknown)
	}
}

// unlisted turns a list of quoted words into plain words: it removes quotes and brackets, and
// replaces commas with spaces.
var unlisted = strings.NewReplacer(`"`, "", "'", "", "[", "", "]", "", ",", " ")

// runsCode walks code of another language.
func (a *applied) runsCode(u *grammar.Use, out *data) {
	in := a.in
	var more data
	std := a.std
	if u.Arg == "awk" { // the files that it is given are its input
		std = &input{data{std.text, std.taint | a.taint}, std.present}
		given := in.payloads.given
		in.payloads.given = in.assigned(a.line.argv)
		defer func() { in.payloads.given = given }()
	}
	if u.Word < 0 { // no word holds the code: it is unknown
		in.payloads.runCode(u.Arg, unknown, nil, std, &more, a.line.by)
	} else {
		in.noteClobbered(in.exp.fields[a.mark+u.Word:][:1], a.line.by)
		args := a.wordsAfter(u)
		if u.Arg == "sftp" {
			args = a.hosts(u)
		}
		in.payloads.runCode(u.Arg, a.field(u).data, args, std, &more, a.line.by)
	}
	more.taint |= a.taint // the output of sed and awk keeps the taint of their input
	*out = more
}

// runsFile walks a script, or notes that a program runs.
func (a *applied) runsFile(u *grammar.Use, out *data) {
	if u.Word < 0 {
		a.add(effect.Exec, u, u.Arg, a.taint)
		return
	}
	f := a.field(u)
	switch {
	case u.Arg == "package" || u.Arg == "url" || u.Arg == "options":
		a.add(effect.Exec, u, f.text, f.taint)
	case strings.HasPrefix(u.Arg, "search"): // whatever lies in that folder
		a.searches(u, f.data)
	case isStdin(f.text):
		a.in.payloads.runScript(u.Arg, a.std.data, a.wordsAfter(u), &input{}, out, a.line.by+" -")
	default:
		a.in.payloads.execute(data{a.in.fs.expandHome(f.text), f.taint}, u.Arg, a.wordsAfter(u), a.std, out, a.line.by)
	}
}

// searches notes that programs or libraries are looked for in a folder which the project does not own.
func (a *applied) searches(u *grammar.Use, d data) {
	const counts = effect.File | effect.Secret | effect.Network | effect.Decoded
	if strings.HasPrefix(d.text, effect.Unknown) && d.taint&counts == 0 && !strings.Contains(d.text, "/..") {
		return // a folder that people set: $GEM_HOME/bin
	}
	fsys := &a.in.fs
	dir := fsys.abs(cmp.Or(d.text, "."))
	to, own := path.Dir(fsys.resolve(dir+"/x")), strings.HasPrefix(d.text, "/")
	switch {
	case u.Arg != "search-linked":
		if !own || to != dir || !fsys.isWorkInTemporary(dir) {
			a.add(effect.Exec, u, dir+"/*", d.taint)
		}
	case to != dir && !within(to, a.in.ctx.Dir):
		a.add(effect.Exec, u, to+"/*", d.taint)
	}
}

// payload walks what a use executes.
func (a *applied) payload(u *grammar.Use, out *data) {
	in := a.in
	if a.line.p.Dry && !strings.HasPrefix(a.line.p.Program.Name, "git") { // git --help runs a pager, push --dry-run an ssh
		return
	}
	held, unpassed, inside := in.rep.bits, in.payloads.unpassed, in.payloads.inside
	own := in.rep.ownDatabase
	if u.Bits&effect.Remote != 0 {
		in.rep.ownDatabase = a.entersOwnDatabase()
	}
	in.rep.bits |= u.Bits & effect.Remote
	if u.Bits&effect.Remote != 0 {
		in.rep.bits = in.rep.bits&^effect.Contained | a.contained(u)
	}
	in.payloads.unpassed = in.rep.bits&effect.Remote != 0 || a.line.clears()
	in.payloads.inside = in.rep.bits&effect.Remote == 0 && (inside || a.line.hides(u))
	from := len(in.rep.res.Effects)
	a.executes(u, out)
	if u.Role == grammar.Shell && u.Word >= 0 && a.field(u).inherits {
		in.rep.markFrom(from, effect.Inherited)
	}
	in.rep.bits, in.payloads.unpassed, in.payloads.inside = held, unpassed, inside
	in.rep.ownDatabase = own
}

// hides reports whether a program whose work is another one starts what a use says: an archiver, an
// editor, a pager. Nobody looks for a shell there. What only starts programs, such as nice, and what
// gives a shell or a terminal on purpose hides nothing.
func (l *commandLine) hides(u *grammar.Use) bool {
	switch u.Role {
	case grammar.Shell, grammar.Code, grammar.Sql:
		name, _, _ := strings.Cut(l.p.Program.Name, " ")
		return !shellGivers[name] && !l.namesShell(u)
	case grammar.Exec:
		return settingsLanguages[u.Arg]
	case grammar.Argv:
		return u.Arg == "found" || strings.HasPrefix(l.by, "codex")
	default:
		return false
	}
}

// namesShell reports whether a word says which shell is to be used, as in make SHELL=/bin/bash.
func (l *commandLine) namesShell(u *grammar.Use) bool {
	if u.Word < 1 || u.Word >= len(l.argv) {
		return false
	}
	name, _, valued := strings.Cut(l.argv[u.Word], "=")
	if !valued {
		name = l.argv[u.Word-1]
	}
	name = strings.ToLower(name)
	return strings.Contains(name, "shell") && !strings.Contains(name, "escape") // not --shell-escape of TeX
}

// settingsLanguages are the languages of files that say what a program starts besides its work.
var settingsLanguages = wordset.Of("ansible apt-conf cmake logrotate")

// shellGivers are the programs that give a shell, or run a command line, because it is their work.
var shellGivers = wordset.Of(section("shell givers"))

// runModule walks a Python module that the table does not know by name: it is code from the module
// search path, not a program. It is false for the modules of the table.
func (a *applied) runModule(u *grammar.Use, out *data) bool {
	in, f := a.in, a.in.exp.fields[a.mark+u.Word]
	f.text = u.Text
	if f.text == "" {
		f.text = a.line.argv[u.Word]
	}
	if in.Table.Module(f.text) {
		return false
	}
	if target := in.fs.abs(strings.ReplaceAll(f.text, ".", "/") + ".py"); in.fs.fileAt(target) != nil {
		in.payloads.execute(data{target, f.taint}, "python", a.wordsAfter(&grammar.Use{Word: u.Word}), a.std, out, a.line.by)
		return true
	}
	in.add(effect.Effect{Kind: effect.Exec, Target: f.text, What: "module", Taint: f.taint | a.std.taint,
		Bits: partialIf(!f.known()), By: a.line.by})
	in.payloads.saysDelete(a.wordsAfter(&grammar.Use{Word: u.Word}), f.text)
	out.add(data{effect.Unknown, f.taint | a.std.taint})
	return true
}

// stdinPayload walks what a command executes from its standard input.
func (a *applied) stdinPayload(u *grammar.Use, out *data) {
	in := a.in
	if a.line.p.Dry {
		return
	}
	if !a.std.present {
		if u.Role == grammar.Shell {
			// Nothing shows what an interactive shell will be told.
			what := "interactive"
			if in.payloads.inside && u.Bits&effect.Remote == 0 { // not ssh as the transport of git or rsync
				what = "inside"
			}
			in.add(effect.Effect{Kind: effect.Exec, Target: "a shell", What: what, By: a.line.by})
		}
		return
	}
	held := in.rep.bits
	in.rep.bits |= u.Bits & effect.Remote
	switch u.Role {
	case grammar.Shell:
		var more data
		d := a.std.data
		if a.line.p.Program.Name == "fish" {
			d.text = fishText(d.text)
		}
		in.payloads.runScript(u.Arg, d, a.stdinArgs(), &input{}, &more, a.line.by+" (stdin)")
		if *out = more; a.line.traces(&in.vars) {
			out.add(unknown)
		}
	case grammar.Code:
		in.payloads.runCode(u.Arg, a.std.data, a.hosts(u), &input{}, out, a.line.by+" (stdin)")
	case grammar.Exec: // not code, but it says what runs
		in.add(effect.Effect{Kind: effect.Exec, Target: u.Arg, Taint: a.std.taint, By: a.line.by})
	case grammar.Sql:
		if p := a.fedFile(); p != "" { // psql < x.sql does what psql -f x.sql does
			in.add(effect.Effect{Kind: effect.Exec, Target: p, Taint: a.std.taint, By: a.line.by})
			break
		}
		a.sql(u.Arg, a.std.data)
	case grammar.Persist:
		in.add(effect.Effect{Kind: effect.Persist, Target: u.Arg, Taint: a.std.taint, Bits: partialIf(!a.std.known()),
			By: a.line.by})
	default: // nothing for the others
	}
	in.rep.bits = held
}

// hosts are the parameters of a batch of commands for a file server: where its files go.
func (a *applied) hosts(u *grammar.Use) (out []field) {
	if u.Arg == "sftp" {
		for h := range a.line.uses(grammar.Host) {
			out = append(out, a.field(h))
		}
	}
	return out
}

// sql walks the statements that a database client is given.
func (a *applied) sql(dialect string, d data) {
	in := a.in
	if !d.known() {
		in.add(effect.Effect{Kind: effect.Exec, Target: "sql", Taint: d.taint, Bits: effect.Partial, By: a.line.by})
	}
	if in.SQL == nil || !in.rep.reads(len(d.text)) {
		return
	}
	in.SQL(dialect, d.text, func(f Found) bool {
		if f.Shell != "" {
			in.separately(false, func() { in.payloads.sub(data{f.Shell, f.Taint | d.taint}, a.line.by, &input{}, nil) })
			return !in.rep.stopped()
		}
		e := f.Effect
		e.By, e.Taint = a.line.by, e.Taint|d.taint
		if e.Kind == effect.Write && strings.HasPrefix(a.line.p.Program.Name, "sqlite") {
			in.fs.write(in.fs.expandHome(e.Target), data{effect.Unknown, e.Taint}, true)
		}
		if e.Kind == effect.RemoteDelete {
			if a.inMemory() && d.known() {
				return true
			}
			if e.What = cmp.Or(a.scratch(e.Target, d.text), e.What); e.What == effect.Named {
				e.Dir = a.databaseFile()
			}
		}
		if e.What == "" && a.isOwnStatement(&e) {
			e.What = effect.OwnServer
		}
		in.add(e)
		return !in.rep.stopped()
	})
}

// stdinArgs are the parameters of a script that a shell reads from its standard input: the words
// after -s.
func (a *applied) stdinArgs() []field {
	words := a.in.exp.fields[a.mark+1 : min(a.mark+len(a.line.argv), len(a.in.exp.fields))]
	reads := false
	for len(words) > 0 {
		text := words[0].text
		if text == "-" { // it ends the options, as -- does
			words = words[1:]
			break
		}
		if len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		words = words[1:]
		if text == "--" {
			break
		}
		reads = reads || text[0] == '-' && text[1] != '-' && strings.Contains(text, "s")
		if last := text[len(text)-1]; text[1] != '-' && (last == 'o' || last == 'O') && len(words) > 0 {
			words = words[1:]
		}
	}
	if !reads {
		return nil
	}
	return words
}

// traces reports whether a command starts a shell that writes each command that it runs to a
// descriptor that the text chose. Its output may then also have what PS4 expands to.
func (l *commandLine) traces(vars *variables) bool {
	if vars.find("BASH_XTRACEFD") == nil {
		return false
	}
	for _, w := range l.argv[1:] {
		if len(w) < 2 || w[0] != '-' {
			return false
		}
		if w[1] != '-' && strings.Contains(w, "x") || w == "xtrace" {
			return true
		}
	}
	return false
}
