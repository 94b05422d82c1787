package shell

import (
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// showing are programs that only show what another one prints.
var showing = wordset.Of("tail head grep cat wc less jq true echo cd")

// apply turns what the grammar says about a command into effects.
func (pr *programRunner) apply(a *applied, sink *data) {
	p, argv, by := a.line.p, a.line.argv, a.line.by
	held, locals := pr.in.rep.bits, len(pr.in.vars.locals)
	from, acted := len(pr.in.rep.res.Effects), pr.in.rep.acts
	pr.in.rep.acts = false
	a.sink = sink
	if p.Dry = (p.Dry || a.line.asksHelp(a.std.present)) && !a.line.runsText(); p.Dry {
		pr.in.rep.res.Trials++
	} else if showing[p.Program.Name] {
		pr.in.rep.res.Shows++
	}
	if p.Odd {
		a.bits |= effect.Partial
	}
	if p.Rerouted || p.Odd && hasRole(p.Uses, grammar.Fetch, grammar.Host, grammar.Send, grammar.SendFile) {
		pr.in.rep.res.Rerouted = true // an unknown flag may be one that does
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
		a.readsFile(u)
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

// readsFile takes in a file that a use reads.
func (a *applied) readsFile(u *grammar.Use) {
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
	} else {
		a.text += d.text
		a.in.rep.made(len(d.text))
	}
}

// target makes the effects of what a use writes, deletes, sends or changes.
func (a *applied) target(u *grammar.Use, out data) {
	text, taint := u.Arg, effect.Taint(0)
	if u.Word >= 0 && u.Role != grammar.Argv && u.Role != grammar.Shell {
		f := a.field(u)
		text, taint = f.text, f.taint
	}
	switch u.Role {
	case grammar.Delete, grammar.Discard, grammar.RemoteDelete:
		a.destroys(u, text, taint)
	case grammar.Write, grammar.Append:
		a.writes(u, out, taint)
	case grammar.Read:
		a.notes.encrypted(u)
	case grammar.Text:
		if u.Arg == "remote" && u.Word > 0 {
			a.setsRemote(u, text)
		}
	case grammar.Host, grammar.Fetch, grammar.Publish:
		a.sends(u, text, taint)
	case grammar.Permission:
		if u.Arg == "trusted-repository" && text == "*" {
			text = "/" // git takes it for all of them
		}
		if u.Word >= 0 && u.Arg != "name" {
			text = a.in.fs.expandHome(text)
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
		a.sets(text, taint)
	default: // nothing for the others
	}
}

// destroys makes the effects of what a use deletes, here or elsewhere, or throws away.
func (a *applied) destroys(u *grammar.Use, text string, taint effect.Taint) {
	switch u.Role {
	case grammar.Delete:
		if a.line.isFind() && a.lists.deletesFound(u, taint) {
			return
		}
		a.add(effect.Delete, u, a.pathOf(u), taint)
		a.notes.deleteBefore(u, taint)
	case grammar.RemoteDelete:
		if u.Arg == "refspec" && u.Word >= 0 && a.namesBranch(u, text) {
			return // git refuses an empty refspec
		}
		a.remoteDelete(u, text, taint)
	default:
		if u.Arg == "remote-history-plus" && u.Word >= 0 && a.namesBranch(u, text) {
			return
		}
		from := len(a.in.rep.res.Effects)
		a.add(effect.Discard, u, text, taint)
		if u.Word >= 0 && text == effect.Unknown && a.field(u).inherits {
			a.in.rep.markFrom(from, effect.Inherited)
		}
	}
}

// sends makes the effects of what a use gives to others.
func (a *applied) sends(u *grammar.Use, text string, taint effect.Taint) {
	switch u.Role {
	case grammar.Host:
		from := len(a.in.rep.res.Effects)
		a.add(effect.NetOut, u, text, a.taint|taint|a.secrets())
		if u.Word >= 0 && !effect.IsKnown(text) && a.field(u).inherits &&
			taint&(effect.Secret|effect.File|effect.Network|effect.Decoded) == 0 {
			a.in.rep.markFrom(from, effect.Inherited)
		}
	case grammar.Fetch:
		if !a.line.pulls() {
			taint |= a.secrets()
		}
		if taint&(effect.Secret|effect.File) != 0 {
			a.add(effect.NetOut, u, text, taint)
		}
	default:
		if u.Arg == effect.Folder {
			a.servesFolder(u)
			return
		}
		a.add(effect.Publish, u, text, a.taint|taint)
		a.pushes(u, text)
	}
}

// sets takes in a variable for the program that the command runs, as in A=b program.
func (a *applied) sets(text string, taint effect.Taint) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return
	}
	in, d := a.in, data{value, taint}
	if effect.IsKnown(name) {
		in.vars.locals = append(in.vars.locals, in.vars.hold(name))
		in.assigner.setVariable(name, d)
		in.vars.slot(name).passed = true
		in.env.handsOver(name)
	}
	in.env.affects(name, d)
	in.programs.saysCommand(name, d)
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
