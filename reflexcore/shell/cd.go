package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// cd changes the folder. Which one a pattern enters is not known; what it may be is
// kept beside.
func (in *interp) cd(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	for len(args) > 0 && (args[0].text == "" || len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "LPe@-") == "") {
		args = args[1:]
	}
	from := in.dir
	in.moves++
	defer func() {
		if in.before = from; !in.surely(in.dir, from) {
			in.goesFrom(from)
		}
	}()
	defer in.stacked(in.dir, in.fields[mark].text == "pushd")
	switch {
	case len(args) == 1 && args[0].folder != 0 && args[0].text == effect.Unknown && in.enters(args[0].folder):
	case len(args) == 0:
		in.dir, in.may = in.value("HOME").text, ""
	case in.refuses(args): // the folder stays
	case len(args) > 1: // an error, or words that zsh replaces in its path
		if in.may = ""; strings.HasPrefix(in.dir, "/") {
			in.dir, in.may = effect.Unknown, in.dir
		}
	case args[0].text == "-" || strings.HasPrefix(args[0].text, "+") || in.lookup("CDPATH") != nil && strings.IndexByte("./", args[0].text[0]) < 0:
		in.dir, in.may = effect.Unknown, ""
	case args[0].glob, in.may != "" && strings.HasPrefix(args[0].text, ".."):
		in.may = in.maybe(args[0].text)
		in.dir = effect.Unknown
	default:
		if c := args[0].text[0]; c == '/' || c == 0 {
			in.may = ""
		}
		in.dir = in.abs(args[0].text)
	}
	if in.dir == "" {
		in.dir = effect.Unknown
	}
}

// refuses reports whether cd with two words is an error in every shell.
func (in *interp) refuses(args []field) bool {
	return len(args) == 2 && args[0].known() && args[1].known() && effect.IsKnown(in.dir) && !strings.Contains(in.dir, args[0].text)
}

// longest is how long a folder may be of which only a pattern is known.
const longest = 256

// maybe is the path that one may be in the folder that may be the present one; empty
// if nothing is known of it.
func (in *interp) maybe(p string) string {
	if p == "" || p[0] != '/' {
		dir := in.dir
		if rest, ok := strings.CutPrefix(dir, effect.Unknown); ok {
			dir = in.may + rest
		}
		if dir == "" || dir[0] != '/' {
			return ""
		}
		p = dir + "/" + p
	}
	if p = path.Clean(p); len(p) > longest {
		return ""
	}
	return p
}

// mayBe is what a path below a folder that is not known may be: empty if there is
// no folder that it may be.
func (in *interp) mayBe(p string) string {
	if in.may == "" {
		return ""
	}
	if p == "." || p == ".." || strings.HasPrefix(p, "../") { // the folder took one of the dots
		if in.dir != effect.Unknown || in.may[0] != '/' {
			return ""
		}
		return path.Clean(path.Dir(in.may) + "/" + p)
	}
	rest, ok := strings.CutPrefix(p, effect.Unknown+"/")
	if !ok {
		return ""
	}
	return in.may + "/" + rest
}

func (in *interp) popd(mark int, std *input, sink *data) {
	in.dir, in.may = effect.Unknown, ""
	if in.find("DIRSTACK") != nil {
		in.set("DIRSTACK", unknown)
	}
}

func (in *interp) pwd(mark int, std *input, sink *data) { sink.append(data{text: in.dir + "\n"}) }

// An askedFolder is one that a script enters without knowing its name.
type askedFolder uint8

const (
	topFolder askedFolder = iota + 1 // of the working tree of git
	ownFolder                        // of the script itself
)

// asked says which folder a substitution asks for, if it is one of those that scripts
// enter first.
func (in *interp) asked(stmts []*syntax.Stmt) askedFolder {
	if len(stmts) != 1 {
		return 0
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) < 2 || len(c.Args) > 3 {
		return 0
	}
	name := c.Args[0].Lit()
	if slices.ContainsFunc(in.funcs, func(f function) bool { return f.name == name }) || slices.ContainsFunc(in.aliases, func(a alias) bool { return a.name == name }) {
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
func (in *interp) enters(folder askedFolder) bool {
	if !strings.HasPrefix(in.dir, "/") || !effect.IsKnown(in.dir) || in.may != "" {
		return false
	}
	if folder == ownFolder {
		return in.zero.text == "bash" && in.depth == 1 && !in.ctx.Written && in.dir == in.ctx.Dir && in.find("BASH_SOURCE") == nil
	}
	for _, name := range [...]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_GLOBAL", "PATH"} {
		if _, set := in.ctx.Env[name]; in.find(name) != nil || set && name != "PATH" {
			return false
		}
	}
	if in.Top == nil || in.configured || in.created("git") != nil || slices.ContainsFunc(in.res.Effects, changesGit) {
		return false
	}
	top := in.Top(in.dir)
	if top != "" {
		in.dir = top
	}
	return top != ""
}

// changesGit reports whether an effect may change which folder git takes for the top.
func changesGit(e effect.Effect) bool {
	return (e.Kind == effect.Write || e.Kind == effect.Delete) && (!effect.IsKnown(e.Target) || strings.Contains(e.Target, ".git"))
}
