package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// cd changes the working directory. The folder that a pattern enters is not known; what it may be
// is kept in cwd.may.
func (bc builtinCall) cd() {
	args := bc.in.exp.fields[bc.mark+1:]
	for len(args) > 0 && (args[0].text == "" ||
		len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "LPe@-") == "") {
		args = args[1:]
	}
	from := bc.in.cwd.dir
	bc.in.dirs.moves++
	defer func() {
		if bc.in.cwd.before = from; !bc.in.dirs.surely(bc.in.cwd.dir, from) {
			bc.in.dirs.goesFrom(from)
		}
	}()
	defer bc.in.dirs.stacked(bc.in.cwd.dir, bc.in.exp.fields[bc.mark].text == "pushd")
	switch {
	case len(args) == 1 && args[0].folder != 0 && args[0].text == effect.Unknown && bc.in.dirs.enters(args[0].folder):
	case len(args) == 0:
		bc.in.cwd.dir, bc.in.cwd.may = bc.in.par.valueOf("HOME").text, ""
	case bc.in.cwd.refuses(args): // the folder stays
	case len(args) > 1: // an error, or words that zsh replaces in the current path
		if bc.in.cwd.may = ""; strings.HasPrefix(bc.in.cwd.dir, "/") {
			bc.in.cwd.dir, bc.in.cwd.may = effect.Unknown, bc.in.cwd.dir
		}
	case args[0].text == "-" || strings.HasPrefix(args[0].text, "+") ||
		bc.in.par.lookup("CDPATH") != nil && strings.IndexByte("./", args[0].text[0]) < 0:
		bc.in.cwd.dir, bc.in.cwd.may = effect.Unknown, ""
	case args[0].glob, bc.in.cwd.may != "" && strings.HasPrefix(args[0].text, ".."):
		bc.in.cwd.may = bc.in.cwd.possiblePath(args[0].text)
		bc.in.cwd.dir = effect.Unknown
	default:
		if c := args[0].text[0]; c == '/' || c == 0 {
			bc.in.cwd.may = ""
		}
		bc.in.cwd.dir = bc.in.fs.abs(args[0].text)
	}
	if bc.in.cwd.dir == "" {
		bc.in.cwd.dir = effect.Unknown
	}
}

// popd goes back to where the last pushd came from. If that failed, popd fails, too, and the shell has
// stayed there.
func (bc builtinCall) popd() {
	v := bc.in.vars.find("DIRSTACK")
	if len(bc.in.exp.fields) == bc.mark+1 && v != nil && v.array && len(v.list) > 1 &&
		strings.HasPrefix(v.list[1].text, "/") && v.list[1].known() {
		from, rest := bc.in.cwd.dir, slices.Clone(v.list[1:])
		bc.in.rep.steps += len(rest) / 16
		bc.in.dirs.moves++
		bc.in.cwd.dir, bc.in.cwd.may = rest[0].text, ""
		*bc.in.vars.slot("DIRSTACK") = variable{name: "DIRSTACK", array: true, list: rest}
		if bc.in.cwd.before = from; !bc.in.dirs.surely(bc.in.cwd.dir, from) {
			bc.in.dirs.goesFrom(from)
		}
		return
	}
	bc.in.cwd.dir, bc.in.cwd.may = effect.Unknown, ""
	if bc.in.vars.find("DIRSTACK") != nil {
		bc.in.assigner.setVariable("DIRSTACK", unknown)
	}
}

func (bc builtinCall) pwd() { bc.sink.add(data{text: bc.in.cwd.dir + "\n"}) }

// enters changes to the folder that a script asks for, and reports whether it is known. The own
// folder of a text that is not from a file is the working directory. Settings may name another
// working tree for git: then its top is not known.
func (ds *directories) enters(folder askedFolder) bool {
	if !strings.HasPrefix(ds.in.cwd.dir, "/") || !effect.IsKnown(ds.in.cwd.dir) || ds.in.cwd.may != "" {
		return false
	}
	if folder == ownFolder {
		return ds.in.par.zero.text == "bash" && ds.in.rep.depth == 1 && !ds.in.ctx.Written &&
			ds.in.cwd.dir == ds.in.ctx.Dir && ds.in.vars.find("BASH_SOURCE") == nil
	}
	if ds.in.Top == nil || ds.configured || ds.in.fs.created("git") != nil || ds.in.vars.find("PATH") != nil ||
		slices.ContainsFunc(topSettings, ds.in.vars.isGiven) || slices.ContainsFunc(ds.in.rep.res.Effects, changesGit) {
		return false
	}
	top := ds.in.Top(ds.in.cwd.dir)
	if top != "" {
		ds.in.cwd.dir = top
	}
	return top != ""
}

// topSettings are the variables that may make git take another folder for the top of the working
// tree.
var topSettings = strings.Fields("GIT_DIR GIT_WORK_TREE GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_CONFIG_GLOBAL")

// changesGit reports whether an effect may change which folder git takes for the top.
func changesGit(e effect.Effect) bool {
	return (e.Kind == effect.Write || e.Kind == effect.Delete) &&
		(!effect.IsKnown(e.Target) || strings.Contains(e.Target, ".git"))
}

// stacked puts the folder that pushd left on the directory stack, or changes its top.
func (ds *directories) stacked(before string, pushes bool) {
	v := ds.in.vars.find("DIRSTACK")
	if v == nil && !pushes {
		return
	}
	list := []data{{text: before}}
	if v != nil && v.array && len(v.list) > 0 {
		list = slices.Clone(v.list)
		ds.in.rep.steps += len(list) / 16
	}
	if pushes {
		list = slices.Insert(list, 0, data{text: ds.in.cwd.dir})
		list[1] = data{text: before}
	}
	list[0] = data{text: ds.in.cwd.dir}
	*ds.in.vars.slot("DIRSTACK") = variable{name: "DIRSTACK", array: true, list: list}
}

// stack is the element of the directory stack that ~1 or ~-0 names.
func (ds *directories) stack(number string) data {
	if number == "0" || number == "+0" {
		return data{text: ds.in.cwd.dir}
	}
	v := ds.in.par.lookup("DIRSTACK")
	if v == nil || !v.array || len(v.list) == 0 {
		return unknown
	}
	list, digits := v.list, strings.TrimLeft(number, "+-")
	n, ok := ds.in.math.toInteger(digits, 0)
	if number[0] == '-' {
		n = int64(len(list)) - 1 - n
	}
	if !ok || n < 0 || n >= int64(len(list)) {
		return unknown
	}
	return list[n]
}

// printDirs prints the directory stack.
func (bc builtinCall) printDirs() {
	args := bc.in.exp.fields[bc.mark+1:]
	list := []data{{text: bc.in.cwd.dir}}
	if v := bc.in.par.lookup("DIRSTACK"); v != nil {
		if list = v.list; !v.array {
			list = []data{unknown}
		}
	}
	long := len(args) > 0 && args[0].text == "-l"
	if long {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
	case len(args) == 1 && isStackNumber(args[0].text):
		list = []data{bc.in.dirs.stack(args[0].text)}
	case len(args) == 1 && args[0].text == "-c":
		return
	default:
		list = []data{unknown}
	}
	if home := bc.in.par.valueOf("HOME").text; !long && len(home) > 1 {
		list = slices.Clone(list)
		for i := range list {
			if rest, ok := strings.CutPrefix(list[i].text, home); ok && (rest == "" || rest[0] == '/') {
				list[i].text = "~" + rest
			}
		}
	}
	size := 0
	for _, d := range list {
		size += len(d.text) + 1
	}
	if !bc.in.rep.made(size) {
		return
	}
	d := join(list, " ")
	bc.sink.add(data{d.text + "\n", d.taint})
}

// surely reports whether cd from one folder to another cannot fail: the target contains the first
// one, or exists on every machine.
func (ds *directories) surely(to, from string) bool {
	return to == "/" || to == "/tmp" || to == ds.in.par.valueOf("HOME").text || to == from ||
		strings.HasPrefix(from, to+"/")
}

// atTop is a path below a working directory that is not all known, with the unknown part taken as
// empty: cd "/$X" && rm *. It is empty unless that directory is then the root, a system folder or
// the home: scripts enter others every day.
func (ds *directories) atTop(p string) string {
	if effect.IsKnown(ds.in.cwd.dir) || !strings.HasPrefix(p, ds.in.cwd.dir) {
		return ""
	}
	top := path.Clean(strings.ReplaceAll(ds.in.cwd.dir, effect.Unknown, ""))
	if !topFolders[top] && top != ds.in.par.valueOf("HOME").text {
		return ""
	}
	return path.Clean(ds.in.arena.concat(top, "/", p[len(ds.in.cwd.dir):]))
}
