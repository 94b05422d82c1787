package shell

import (
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// apply turns what the grammar says about a command into effects.
func (pr *programRunner) apply(a *applied, sink *data) {
	p, argv, by := a.line.p, a.line.argv, a.line.by
	held, locals := pr.in.rep.bits, len(pr.in.vars.locals)
	from, acted := len(pr.in.rep.res.Effects), pr.in.rep.acts
	pr.in.rep.acts = false
	a.sink = sink
	p.Dry = p.Dry || a.line.asksHelp(a.std.present)
	if p.Odd {
		a.bits |= effect.Partial
	}
	if p.Open && !agentcli.PrintsPrompt(argv) {
		pr.in.rep.res.Opaque++
		pr.in.add(effect.Effect{Kind: effect.Opaque, Target: argv[0] + " " + effect.Unknown, By: by, Bits: effect.Partial})
	}
	dir := pr.in.cwd.dir
	for i := range p.Uses {
		if u := &p.Uses[i]; u.Role == grammar.Dir {
			pr.in.cwd.dir = pr.in.fs.abs(u.Text)
		}
	}
	// First what is read, then what is written or sent, then what is executed.
	for i := range p.Uses {
		a.source(&p.Uses[i])
	}
	if hasRole(p.Stdin, grammar.Send, grammar.Read, grammar.SendFile) {
		a.taint |= a.std.taint
	}
	a.gathers()
	out := a.output()
	for i := range p.Uses {
		a.target(&p.Uses[i], out)
	}
	for i := range p.Uses {
		a.payload(&p.Uses[i], &out)
	}
	for i := range p.Stdin {
		a.stdinPayload(&p.Stdin[i], &out)
	}
	a.lists.runsList(&out)
	a.deletesInMounts(from)
	a.inserts()
	a.editsTodo()
	a.readsFetched()
	a.mountsAway()
	a.notes.changesClones()
	a.notes.mountsImage()
	a.pipesAway(from)
	a.upAfterDown()
	a.mayHaveOptions()
	if !pr.in.rep.acts && !pr.in.rep.stopped() && hasRole(p.Uses, grammar.Privilege) && hasRole(p.Uses, grammar.Argv) {
		pr.in.rep.idle(from, by)
	}
	if by == "sudo" || by == "doas" {
		a.marksOwn(from)
	}
	pr.in.rep.acts = pr.in.rep.acts || acted
	pr.in.cwd.dir = dir
	pr.in.rep.bits = held
	pr.in.vars.unhold(locals)
	sink.add(out)
}

// source takes in what a use reads.
func (a *applied) source(u *grammar.Use) {
	switch u.Role {
	case grammar.Read, grammar.SendFile:
		if u.Word >= 0 && isStdin(u.Text) {
			a.taint |= a.std.taint
			return
		}
		p := a.pathOf(u)
		d := a.in.fs.contentOf(p)
		if u.Word >= 0 {
			d.taint |= a.field(u).taint
		}
		if a.line.p.Dry {
			return
		}
		what := ""
		switch {
		case u.Arg == "link" && u.Word >= 0:
			what = u.Arg
		case u.Word >= 0 && a.line.takesInside(u.Text):
			what = "inside"
		case a.line.asksSetting(u, a.words()):
			what = "setting"
		case u.Arg == "cookies": // the cookie jar of the user's own requests
			what = u.Arg
			if d.taint&effect.Secret != 0 {
				d.taint &^= effect.Secret | effect.Labels
			}
		}
		if !strings.HasPrefix(p, "/dev/fd/") && p != "/dev/null" {
			a.in.add(effect.Effect{Kind: effect.Read, Target: p, What: what, Bits: a.bitsOf(u), Taint: d.taint, By: a.line.by})
		}
		a.taint |= d.taint
		a.readsTree(u, p, what)
		if u.Word >= 0 {
			a.notes.cameFrom(p)
		}
		if a.reads++; a.reads == 1 {
			a.text = d.text
		} else if a.text += d.text; !a.in.rep.made(len(d.text)) {
			return
		}
	case grammar.Fetch:
		a.taint |= effect.Network
		if u.Word < 0 {
			a.add(effect.NetIn, u, u.Arg, 0)
			return
		}
		f := a.field(u)
		a.add(effect.NetIn, u, f.text, f.taint)
		a.notes.saved(f.text)
		a.notes.cloned(f.text)
	case grammar.Send:
		if u.Word >= 0 {
			a.taint |= a.field(u).taint
		}
	case grammar.Code:
		if u.Word >= 0 && u.Arg == "sed" { // what it writes has it
			a.taint |= a.field(u).taint & (effect.Secret | effect.Labels)
		}
	default: // nothing for the others
	}
}

// linksNothing reports whether a link to the null device takes the place of a file.
func (a *applied) linksNothing() bool {
	if a.line.by != "ln" {
		return false
	}
	for u := range a.line.uses(grammar.Read) {
		if u.Word >= 0 && a.pathOf(u) == "/dev/null" {
			return true
		}
	}
	return false
}

// losesMoved adds the deletes of a move to where nothing stays: to the null device, or into memory,
// which is empty after the next start.
func (a *applied) losesMoved(to string) {
	if to != "/dev/null" && !within(to, "/dev/shm") || !wordset.Has("mv gmv", a.line.by) {
		return
	}
	for u := range a.line.uses(grammar.Read) {
		if p := a.pathOf(u); !within(p, "/dev/shm") {
			bits := a.bitsOf(u) | effect.Recursive
			a.in.add(effect.Effect{Kind: effect.Delete, Target: p, Bits: bits, Taint: a.field(u).taint, By: a.line.by})
		}
	}
}

// target makes the effects of what a use writes, deletes, sends or changes.
func (a *applied) target(u *grammar.Use, out data) {
	in := a.in
	text, taint := u.Arg, effect.Taint(0)
	if u.Word >= 0 && u.Role != grammar.Argv && u.Role != grammar.Shell {
		f := a.field(u)
		text, taint = f.text, f.taint
	}
	switch u.Role {
	case grammar.Delete:
		if a.line.isFind() && a.lists.deletesFound(u, taint) {
			return
		}
		a.add(effect.Delete, u, a.pathOf(u), taint)
		a.notes.deleteBefore(u, taint)
	case grammar.Write, grammar.Append:
		if a.line.p.Dry || u.Word >= 0 && (isStdin(u.Text) || u.Text == "") {
			return
		}
		p := a.pathOf(u)
		d := out
		if !a.line.p.Copies && a.line.p.Stdout == nil {
			d = data{effect.Unknown, a.taint}
		}
		if a.line.p.Copies && a.reads == 1 {
			d = data{a.text, a.taint}
		}
		d.taint |= taint
		a.losesMoved(p)
		if p == "/dev/null" {
			return
		}
		if n, ok := in.fs.descriptorOf(u.Text); ok && u.Word >= 0 {
			in.io.writeTo(n, d, a.sink, a.line.by)
			return
		}
		if !strings.HasPrefix(p, "/dev/fd/") {
			bits := a.bitsOf(u)
			if u.Role == grammar.Append {
				bits |= effect.Append
			}
			what := ""
			if u.Word >= 0 {
				what = u.Arg // a folder
			}
			if a.line.p.Copies && u.Role == grammar.Write && what == "" && d.text == "" && d.taint == 0 &&
				(a.reads > 0 || a.std.present) {
				what = effect.Emptied
			}
			if a.linksNothing() {
				what = effect.Emptied
			}
			in.add(effect.Effect{Kind: effect.Write, Target: p, What: what, Bits: bits, Taint: d.taint, By: a.line.by})
		}
		if a.notes.backs(u, p); a.notes.takesAway(u, p) {
			return
		}
		from, own, fresh := in.fs.madeBefore(p)
		in.fs.write(p, d, false)
		a.notes.noteBuilt(p, d)
		if own {
			a.notes.edited(p, from)
		}
		a.notes.filled(p, d)
		a.notes.fetchedInto(p)
		if a.line.p.Copies {
			a.notes.noteCopy(p, fresh)
		}
		a.notes.packed(p)
	case grammar.Read:
		a.notes.encrypted(u)
	case grammar.Text:
		if u.Arg == "remote" && u.Word > 0 {
			a.setsRemote(u, text)
		}
	case grammar.Host:
		from := len(in.rep.res.Effects)
		a.add(effect.NetOut, u, text, a.taint|taint|a.secrets())
		if u.Word >= 0 && !effect.IsKnown(text) && a.field(u).inherits &&
			taint&(effect.Secret|effect.File|effect.Network|effect.Decoded) == 0 {
			in.rep.markFrom(from, effect.Inherited)
		}
	case grammar.Fetch:
		t := taint
		if !a.line.pulls() {
			t |= a.secrets()
		}
		if t&(effect.Secret|effect.File) != 0 {
			a.add(effect.NetOut, u, text, t)
		}
	case grammar.Permission:
		if u.Arg == "trusted-repository" && text == "*" {
			text = "/" // git takes it for all of them
		}
		if u.Word >= 0 && u.Arg != "name" {
			text = in.fs.expandHome(text)
		}
		a.add(effect.Permission, u, text, taint)
	case grammar.Kill:
		if u.Arg == "approver-store" { // the word is a key of it
			text = u.Arg
		}
		if a.line.findsAll(u.Word, text) {
			a.bits |= effect.Bulk
		}
		a.add(effect.Kill, u, text, taint)
	case grammar.Discard:
		if u.Arg == "remote-history-plus" && u.Word >= 0 && a.namesBranch(u, text) {
			return
		}
		from := len(in.rep.res.Effects)
		a.add(effect.Discard, u, text, taint)
		if u.Word >= 0 && text == effect.Unknown && a.field(u).inherits {
			in.rep.markFrom(from, effect.Inherited)
		}
	case grammar.RemoteDelete:
		if u.Arg == "refspec" && u.Word >= 0 && a.namesBranch(u, text) {
			return // git refuses an empty refspec
		}
		a.remoteDelete(u, text, taint)
	case grammar.Publish:
		if u.Arg == effect.Folder {
			a.servesFolder(u)
			return
		}
		a.add(effect.Publish, u, text, a.taint|taint)
		a.pushes(u, text)
	case grammar.Persist:
		a.add(effect.Persist, u, text, a.taint|taint)
	case grammar.Privilege:
		if u.Arg == "account" {
			a.account(u, text, taint)
			return
		}
		a.add(effect.Privilege, u, text, taint)
	case grammar.Attack:
		a.add(effect.Attack, u, text, taint)
	case grammar.Env:
		if name, value, ok := strings.Cut(text, "="); ok {
			if effect.IsKnown(name) { // for the program that it runs, as in A=b program
				in.vars.locals = append(in.vars.locals, in.vars.hold(name))
				in.assigner.setVariable(name, data{value, taint})
				in.vars.slot(name).passed = true
				in.env.handsOver(name)
			}
			in.env.affects(name, data{value, taint})
			in.programs.saysCommand(name, data{value, taint})
		}
	default: // nothing for the others
	}
}

// pulls reports whether a command gets an image only by its name; the other words are for its container.
func (l *commandLine) pulls() bool {
	return l.p.Program.Name == "docker run" || l.p.Program.Name == "docker container run"
}

// namesBranch reports whether a word that is not known is the name of a branch: git printed it, or it
// is one variable of the environment. What a file or a program says may begin with a plus or a colon.
func (a *applied) namesBranch(u *grammar.Use, text string) bool {
	f := a.field(u)
	return text == effect.Unknown && (f.branch || f.inherits)
}

// inserts notes what a stream editor puts into the files that it edits in place.
func (a *applied) inserts() {
	in := a.in
	if in.payloads.inserted == "" {
		return
	}
	for u := range a.line.uses(grammar.Write) {
		in.rep.res.Texts = append(in.rep.res.Texts, Text{Path: a.pathOf(u), Text: in.payloads.inserted, Part: true})
	}
	in.payloads.inserted = ""
}
