package shell

import (
	"path"
	"slices"
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
	a.upAfterDown()
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
		a.add(effect.Discard, u, text, taint)
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

// output is what comes out of the command, before its payloads run.
func (a *applied) output() data {
	in := a.in
	text := a.text
	if a.reads == 0 {
		text = a.std.text
		a.taint |= a.std.taint
	}
	for i := range a.line.p.Stdout {
		switch u := &a.line.p.Stdout[i]; u.Role {
		case grammar.Pass:
			return data{text, a.taint}
		case grammar.Decode:
			if in.Decode != nil && effect.IsKnown(text) {
				if plain, ok := in.Decode(u.Arg, text); ok && in.rep.made(len(plain)) {
					return data{plain, a.taint | effect.Decoded}
				}
			}
			return data{effect.Unknown, a.taint | effect.Decoded}
		case grammar.Fetched:
			return data{effect.Unknown, a.taint | effect.Network}
		default: // nothing for the others
		}
	}
	if d, ok := a.line.resolved(a.words()); ok {
		return d
	}
	if d, ok := a.canonical(); ok {
		return d
	}
	switch a.line.p.Program.Name {
	case "mktemp":
		return data{a.mktemp(), a.taint}
	case "find":
		if d, ok := a.lists.listed(); ok {
			return d
		}
	case "script":
		a.watchTyping()
	case "ls":
		if d, ok := a.namesOf(); ok {
			return d
		}
	case "printenv":
		if d, ok := a.printed(); ok {
			return d
		}
	}
	if a.line.by == "basename" {
		if d, ok := a.line.baseOf(a.words(), a.taint); ok {
			return d
		}
	}
	if text != "" && effect.IsKnown(text) {
		if d, ok := a.asItWas(text); ok {
			return d
		}
		if wordset.Has("tr sed awk gawk cut grep egrep fold fmt paste column jq dd iconv nl expand perl", a.line.by) {
			return data{effect.Unknown, a.taint | effect.Decoded} // a constant that was turned into another one
		}
	}
	return data{effect.Unknown, a.taint}
}

// watchTyping notes an attack if script records what is typed in its shell in a covert or hidden
// file.
func (a *applied) watchTyping() {
	file := ""
	for i := range a.line.p.Uses {
		switch u := &a.line.p.Uses[i]; u.Role {
		case grammar.Shell, grammar.Argv:
			return // one command, with nothing typed
		case grammar.Write, grammar.Append:
			file = a.pathOf(u)
		default: // nothing for the others
		}
	}
	if covert(file) || strings.HasPrefix(path.Base(file), ".") && file != "" {
		a.in.add(effect.Effect{Kind: effect.Attack, Target: "keys", By: a.line.by})
	}
}

// namesOf is what ls -d prints: the words that it is given.
func (a *applied) namesOf() (data, bool) {
	d := data{taint: a.taint}
	for _, w := range a.line.argv[1:] {
		if !strings.HasPrefix(w, "-") {
			d.text += a.in.fs.expandHome(w) + "\n"
		}
	}
	return d, d.text != "" && slices.Contains(a.line.argv, "-d") && len(d.text) < 4096
}

// keepsLine reports whether a flag of head, tail, sort or uniq leaves a text of one line
// unchanged: it gives a number of lines, or an order.
func keepsLine(flag string) bool {
	if len(flag) < 2 || flag[0] != '-' {
		return false
	}
	number := strings.TrimPrefix(flag[1:], "n")
	if number != "" && number[0] != '0' && strings.Trim(number, "0123456789") == "" {
		return true
	}
	return strings.Trim(flag[1:], "urfbhnV") == ""
}

// asItWas is the output of a program that may print a text unchanged: one line that is sorted, or
// a document without placeholders. Where the text or the order of its lines may change, the
// command is walked both with the unchanged text and with an unknown one. It is false for other
// programs.
func (a *applied) asItWas(text string) (data, bool) {
	same := data{text, a.taint}
	switch a.line.by {
	case "head", "tail", "sort", "gsort", "tac", "uniq", "shuf":
		if strings.IndexByte(strings.TrimSuffix(text, "\n"), '\n') < 0 && a.line.keepsLines() {
			return same, true // one line is what it was
		}
		if a.line.by == "head" || a.line.by == "tail" {
			return data{effect.Unknown, a.taint | effect.Decoded}, true
		}
	case "envsubst", "m4", "dos2unix", "unix2dos", "shfmt", "prettier", "gofmt", "expand", "unexpand", "fold", "fmt":
	default:
		return data{}, false
	}
	if a.in.alt.choose && a.in.alt.pick("as it was", 2) == 0 {
		return same, true
	}
	return data{effect.Unknown, a.taint | effect.Decoded}, true
}

// keepsLines reports whether all flags of a command leave a text of one line unchanged.
func (l *commandLine) keepsLines() bool {
	return !slices.ContainsFunc(l.argv[1:], func(w string) bool { return len(w) > 1 && w[0] == '-' && !keepsLine(w) })
}

// printed is what printenv prints for one variable that the text or the environment sets.
func (a *applied) printed() (data, bool) {
	if len(a.line.argv) != 2 || !a.in.vars.isGiven(a.line.argv[1]) {
		return data{}, false
	}
	d := a.in.par.valueOf(a.line.argv[1])
	return data{d.text + "\n", d.taint | a.taint}, true
}

// baseOf is what basename prints for known words.
func (l *commandLine) baseOf(words []field, taint effect.Taint) (data, bool) {
	args := l.argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		return data{}, false
	}
	if len(args) == 0 || len(args) > 2 || !effect.IsKnown(args[0]) || args[0] == "" {
		return data{}, false
	}
	text := strings.TrimRight(args[0], "/")
	if text = text[strings.LastIndexByte(text, '/')+1:]; text == "" {
		text = "/"
	}
	if len(args) == 2 {
		if !effect.IsKnown(args[1]) {
			return data{}, false
		}
		if text != args[1] {
			text = strings.TrimSuffix(text, args[1])
		}
	}
	for _, f := range words {
		taint |= f.taint
	}
	return data{text + "\n", taint}, true
}

// canonical is what readlink -f and realpath print for one path: where its links lead. What the call
// has changed before is not on the disk yet.
func (a *applied) canonical() (data, bool) {
	argv := a.line.argv
	name := agentcli.ProgramName(argv[0])
	if a.in.Real == nil || !wordset.Has("readlink realpath greadlink grealpath", name) {
		return data{}, false
	}
	operand, follows := -1, strings.HasSuffix(name, "realpath")
	for i, w := range argv[1:] {
		switch {
		case w == "--":
		case wordset.Has("-f -e -m -fn -nf --canonicalize --canonicalize-existing --canonicalize-missing", w):
			follows = true
		case w == "-n" || w == "-q" || w == "-P" || w == "--no-newline" || w == "--quiet":
		case w == "" || w[0] == '-' || operand >= 0 || !effect.IsPlain(w):
			return data{}, false
		default:
			operand = 1 + i
		}
	}
	if operand < 0 || !follows && strings.Contains(argv[operand], "/") { // it is relative to its own folder
		return data{}, false
	}
	p := a.in.fs.abs(argv[operand])
	if !strings.HasPrefix(p, "/") || !effect.IsKnown(p) {
		return data{}, false
	}
	to, ok := a.in.Real(path.Clean(p))
	switch dir, seen := a.in.Real(a.in.ctx.Dir); {
	case !ok || a.in.fs.fileAt(p) != nil: // or a link of this text
		to = p
	case seen && within(to, dir): // the project itself may be behind a link
		to = a.in.ctx.Dir + to[len(dir):]
	}
	return data{to + "\n", a.taint | a.words()[operand].taint}, true
}

// resolved is the name of an agent, or of approver, whose program was looked up and whose links
// are followed: readlink -f "$(which codex)". The targets of other paths are not known.
func (l *commandLine) resolved(words []field) (data, bool) {
	if !wordset.Has("readlink realpath greadlink grealpath", agentcli.ProgramName(l.argv[0])) {
		return data{}, false
	}
	for i, w := range l.argv[1:] {
		if w == "" || w[0] == '-' || !effect.IsKnown(w) {
			continue
		}
		if (len(agentcli.Named(agentcli.PackageName(w))) > 0 || w == ownName) && agentcli.InPath(w) {
			return data{w + "\n", words[1+i].taint}, true
		}
	}
	return data{}, false
}
