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

// output is what comes out of the command, before its payloads run.
func (a *applied) output() data {
	text := a.text
	if a.reads == 0 {
		text = a.std.text
		if a.taint |= a.std.taint; !a.std.present {
			text = effect.Unknown // what is typed, or what the caller connects
		}
	}
	if d, ok := a.passedOn(text); ok {
		return d
	}
	if d, ok := a.tells(); ok {
		return d
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

// passedOn is what the tables say that the command makes of a text. It is false if they say nothing.
func (a *applied) passedOn(text string) (data, bool) {
	for i := range a.line.p.Stdout {
		switch u := &a.line.p.Stdout[i]; u.Role {
		case grammar.Pass:
			return data{text, a.taint}, true
		case grammar.Decode:
			if a.in.Decode != nil && effect.IsKnown(text) {
				if plain, ok := a.in.Decode(u.Arg, text); ok && a.in.rep.made(len(plain)) {
					return data{plain, a.taint | effect.Decoded}, true
				}
			}
			return data{effect.Unknown, a.taint | effect.Decoded}, true
		case grammar.Fetched:
			return data{effect.Unknown, a.taint | effect.Network}, true
		default: // nothing for the others
		}
	}
	return data{}, false
}

// tells is what a program prints by its words and by what is around it, whatever it reads. It is false for others.
func (a *applied) tells() (data, bool) {
	if d, ok := a.line.resolved(a.words()); ok {
		return d, true
	}
	if d, ok := a.canonical(); ok {
		return d, true
	}
	switch a.line.p.Program.Name {
	case "mktemp":
		return data{a.mktemp(), a.taint}, true
	case "find":
		if d, ok := a.lists.listed(); ok {
			return d, true
		}
		return a.lists.listedAll()
	case "script":
		a.watchTyping()
	case "ls":
		return a.namesOf()
	case "printenv":
		return a.printed()
	}
	switch a.line.by {
	case "go env", "pip cache", "pip":
		return a.cacheFolder()
	case "nproc":
		return data{"1" + effect.Unknown, a.taint}, true // a number
	case "dpkg-buildflags": // flags of Debian's own for compilers, with which they load nothing
		return data{"-O2", a.taint}, !a.in.def.steered("deb")
	case "git ls-files":
		return data{strings.TrimSuffix(a.in.cwd.dir, "/") + "/" + effect.Unknown + "\n", effect.File}, a.line.listsAll()
	case "fzf", "sk", "fzy", "peco": // what somebody picks from a list of files, which no file says
		list, ok := strings.CutSuffix(a.std.text, "/"+effect.Unknown+"\n")
		return data{effect.Unknown, (a.taint | a.std.taint) &^ effect.File}, ok && !strings.Contains(list, "\n")
	case "basename":
		return a.line.baseOf(a.words(), a.taint)
	}
	return data{}, false
}

// caches are the folders of a home that are printed as those of caches, if nobody has set others. Settings of a
// project cannot change these.
var caches = map[string]string{
	"go env GOCACHE": ".cache/go-build", "go env GOMODCACHE": "go/pkg/mod",
	"pip cache dir": ".cache/pip", "pip3 cache dir": ".cache/pip",
}

// cacheFolder is what a program prints as the folder of its cache. It is false for other words, and if the text may
// have changed it.
func (a *applied) cacheFolder() (data, bool) {
	if len(a.line.argv) != 3 {
		return data{}, false
	}
	folder, home := caches[strings.Join(a.line.argv, " ")], a.in.par.valueOf("HOME")
	if folder == "" || !home.known() || a.in.def.steered(a.line.argv[0]) || a.in.def.steered("xdg") ||
		a.in.def.steered("pip") {
		return data{}, false
	}
	return data{home.text + "/" + folder + "\n", a.taint | home.taint}, true
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

// followers are programs that print where links lead.
const followers = "readlink realpath greadlink grealpath"

// canonical is what readlink -f and realpath print for one path: where its links lead. What the call
// has changed before is not on the disk yet.
func (a *applied) canonical() (data, bool) {
	argv := a.line.argv
	name := agentcli.ProgramName(argv[0])
	if a.in.Real == nil || !wordset.Has(followers, name) {
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
	if !wordset.Has(followers, agentcli.ProgramName(l.argv[0])) {
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
