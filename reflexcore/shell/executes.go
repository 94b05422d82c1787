package shell

import (
	"cmp"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// executes walks it at its place.
func (a *applied) executes(u *grammar.Use, out *data) {
	if u.Arg == "helper" {
		a.helper(u, out)
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
		if !slices.ContainsFunc(a.line.p.Uses, func(u grammar.Use) bool { return u.Role == grammar.Shell || u.Role == grammar.Argv }) {
			a.in.separately(false, func() { a.in.payloads.sub(a.field(u).data, a.line.by, &input{}, out) }) // parallel ::: COMMANDS
		}
	case grammar.Sql:
		if u.Word >= 0 {
			a.sql(u.Arg, a.joined(u))
		}
	default: // nothing for the others
	}
}

// runsShell walks a text that a shell runs, or a command of the same program.
func (a *applied) runsShell(u *grammar.Use, out *data) {
	if u.Word < 0 {
		return
	}
	in := a.in
	d := a.joined(u)
	in.shakes(in.exp.fields[a.mark+u.Word:a.mark+max(u.End, u.Word+1)], a.line.by)
	if a.line.p.Program.Name == "fish" {
		d.text = fishText(d.text)
	}
	var more data
	switch u.Arg {
	case "commas", "toml": // gcc -wrapper rm,-rf,x; cargo --config 'k=["rm", "-rf"]'
		d.text = unlisted.Replace(d.text)
		in.payloads.script("", d, nil, a.std, &more, a.line.by)
	case "alias":
		d.text = a.line.argv[0] + " " + d.text + a.line.aliased(u)
		in.payloads.script("", d, nil, a.std, &more, a.line.by)
	default:
		if isParallel(a.line.p.Program.Name) {
			a.lists.inEach(u, d, &more)
			break
		}
		if args := a.lists.added(); len(args) > 0 {
			a.lists.each(d, args, &more)
			break
		}
		in.par.named = u.End <= u.Word+1 // sh -c TEXT NAME ARGUMENTS
		in.payloads.script(u.Arg, d, a.wordsAfter(u), a.std, &more, a.line.by)
		in.par.named = false
	}
	*out = more
	if a.line.traces(&in.vars) {
		out.add(unknown)
	}
}

// unlisted takes what makes a list of words off.
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
	if u.Word < 0 { // no word has it: nothing is known of it
		in.payloads.code(u.Arg, unknown, nil, std, &more, a.line.by)
	} else {
		in.shakes(in.exp.fields[a.mark+u.Word:][:1], a.line.by)
		in.payloads.code(u.Arg, a.field(u).data, a.wordsAfter(u), std, &more, a.line.by)
	}
	more.taint |= a.taint // what sed and awk change is still what they read
	*out = more
}

// runsFile walks a script, or says that a program runs.
func (a *applied) runsFile(u *grammar.Use, out *data) {
	if u.Word < 0 {
		a.add(effect.Exec, u, u.Arg, a.taint)
		return
	}
	f := a.field(u)
	switch {
	case u.Arg == "package" || u.Arg == "url" || u.Arg == "options":
		a.add(effect.Exec, u, f.text, f.taint)
	case u.Arg == "search": // whatever lies in that folder
		a.add(effect.Exec, u, a.in.fs.abs(cmp.Or(f.text, "."))+"/*", f.taint)
	case isStdin(f.text):
		a.in.payloads.script(u.Arg, a.std.data, a.wordsAfter(u), &input{}, out, a.line.by+" -")
	default:
		a.in.payloads.execute(data{a.in.fs.expandHome(f.text), f.taint}, u.Arg, a.wordsAfter(u), a.std, out, a.line.by)
	}
}
