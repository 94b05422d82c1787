package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// cd changes the folder. Which one a pattern enters is not known; what it may be is
// kept beside.
func (bc builtinCall) cd() {
	args := bc.in.exp.fields[bc.mark+1:]
	for len(args) > 0 && (args[0].text == "" || len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "LPe@-") == "") {
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
	case len(args) > 1: // an error, or words that zsh replaces in its path
		if bc.in.cwd.may = ""; strings.HasPrefix(bc.in.cwd.dir, "/") {
			bc.in.cwd.dir, bc.in.cwd.may = effect.Unknown, bc.in.cwd.dir
		}
	case args[0].text == "-" || strings.HasPrefix(args[0].text, "+") || bc.in.par.lookup("CDPATH") != nil && strings.IndexByte("./", args[0].text[0]) < 0:
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

// longest is how long a folder may be of which only a pattern is known.
const longest = 256

func (bc builtinCall) popd() {
	bc.in.cwd.dir, bc.in.cwd.may = effect.Unknown, ""
	if bc.in.vars.find("DIRSTACK") != nil {
		bc.in.assigner.set("DIRSTACK", unknown)
	}
}

func (bc builtinCall) pwd() { bc.sink.add(data{text: bc.in.cwd.dir + "\n"}) }

const (
	topFolder askedFolder = iota + 1 // of the working tree of git
	ownFolder                        // of the script itself
)

// asked says which folder a substitution asks for, if it is one of those that scripts
// enter first.
func (df *definitions) asked(stmts []*syntax.Stmt) askedFolder {
	if len(stmts) != 1 {
		return 0
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) < 2 || len(c.Args) > 3 {
		return 0
	}
	name := c.Args[0].Lit()
	if slices.ContainsFunc(df.funcs, func(f function) bool { return f.name == name }) || slices.ContainsFunc(df.aliases, func(a alias) bool { return a.name == name }) {
		return 0
	}
	last := c.Args[len(c.Args)-1]
	switch {
	case name == "git" && len(c.Args) == 3 && c.Args[1].Lit() == "rev-parse" && (last.Lit() == "--show-toplevel" || last.Lit() == "--show-cdup"):
		return topFolder
	case name == "dirname" && len(c.Args) == 2 && namesScript(last):
		return ownFolder
	}
	return 0
}

// namesScript reports whether a word is "$0" or "${BASH_SOURCE[0]}".
func namesScript(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Excl || p.Length || p.Exp != nil || p.Slice != nil || p.Repl != nil {
		return false
	}
	index, _ := p.Index.(*syntax.Word)
	return p.Param.Value == "0" && p.Index == nil || p.Param.Value == "BASH_SOURCE" && (p.Index == nil || index != nil && index.Lit() == "0")
}

// enters changes to such a folder, if it is known: a text that is no file's is where
// it runs. Settings may say that the working tree is another one.
func (ds *directories) enters(folder askedFolder) bool {
	if !strings.HasPrefix(ds.in.cwd.dir, "/") || !effect.IsKnown(ds.in.cwd.dir) || ds.in.cwd.may != "" {
		return false
	}
	if folder == ownFolder {
		return ds.in.par.zero.text == "bash" && ds.in.rep.depth == 1 && !ds.in.ctx.Written && ds.in.cwd.dir == ds.in.ctx.Dir && ds.in.vars.find("BASH_SOURCE") == nil
	}
	for _, name := range [...]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_GLOBAL", "PATH"} {
		if _, set := ds.in.ctx.Env[name]; ds.in.vars.find(name) != nil || set && name != "PATH" {
			return false
		}
	}
	if ds.in.Top == nil || ds.configured || ds.in.fs.created("git") != nil || slices.ContainsFunc(ds.in.rep.res.Effects, changesGit) {
		return false
	}
	top := ds.in.Top(ds.in.cwd.dir)
	if top != "" {
		ds.in.cwd.dir = top
	}
	return top != ""
}

// changesGit reports whether an effect may change which folder git takes for the top.
func changesGit(e effect.Effect) bool {
	return (e.Kind == effect.Write || e.Kind == effect.Delete) && (!effect.IsKnown(e.Target) || strings.Contains(e.Target, ".git"))
}
