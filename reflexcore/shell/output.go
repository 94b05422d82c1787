package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

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
	switch a.line.p.Program.Name {
	case "mktemp":
		return data{a.mktemp(), a.taint}
	case "find":
		if d, ok := a.listed(); ok {
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
			return data{effect.Unknown, a.taint | effect.Decoded} // a constant that was made into another one
		}
	}
	return data{effect.Unknown, a.taint}
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

// keepsLine reports whether a flag leaves a text of one line what it is, for head, tail,
// sort and uniq: a number of lines, or an order.
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

// asItWas is what comes out of a program that may print a text as it went in: one line that
// is sorted, a document in which nothing is to be filled in. Where it may be changed, or its
// lines come in another order, the command is walked with the text as it was, and with
// nothing known of it.
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

// keepsLines reports whether all flags of a command leave one line what it is.
func (l *commandLine) keepsLines() bool {
	return !slices.ContainsFunc(l.argv[1:], func(w string) bool { return len(w) > 1 && w[0] == '-' && !keepsLine(w) })
}

// printed is what printenv prints of one variable that the text or the environment sets.
func (a *applied) printed() (data, bool) {
	if len(a.line.argv) != 2 {
		return data{}, false
	}
	in, name := a.in, a.line.argv[1]
	if _, ok := in.ctx.Env[name]; !ok && in.vars.find(name) == nil {
		return data{}, false
	}
	d := in.par.valueOf(name)
	return data{d.text + "\n", d.taint | a.taint}, true
}

// baseOf is what basename prints of words that are known.
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

// resolved is the name of an agent whose program was looked up, and whose links are then
// followed: readlink -f "$(which codex)". What other paths lead to is not known.
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
