package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// PlainStartup reports whether lines for a start-up file of a shell only say where an installed tool
// lies: a folder of programs for PATH, the home of a tool, and what a known tool prints to
// set up a shell. A folder of the project is none of a tool.
func PlainStartup(home, project, text string) bool {
	own := toolFolders{home, project}
	if len(text) > 4096 || strings.ContainsAny(text, "\x00\r") || strings.HasSuffix(strings.TrimRight(text, "\n"), `\`) {
		return false
	}
	file := parsePlainly(text)
	if file == nil || len(file.Stmts) == 0 { // a comment alone says nothing to a shell
		return file != nil && strings.Contains(text, "#")
	}
	return !slices.ContainsFunc(file.Stmts, func(s *syntax.Stmt) bool {
		if !isAlone(s) {
			return true
		}
		switch c := s.Cmd.(type) {
		case *syntax.DeclClause:
			return c.Variant.Value != "export" || !own.assigned(c.Args)
		case *syntax.CallExpr:
			if len(c.Args) == 0 {
				return !own.assigned(c.Assigns)
			}
			return len(c.Assigns) > 0 || !own.runsSetup(c)
		default:
			return true
		}
	})
}

// A toolFolders has the folders by which those of installed tools are known.
type toolFolders struct{ home, project string }

var (
	// toolPaths are patterns of the folders into which known tools put programs, for PATH.
	toolPaths = strings.Fields(section("program folders"))
	// toolHomes are the variables that hold the folder of a tool, with patterns of what that is.
	toolHomes = table("tool homes")
	// startups are those of [setups] that are for a start-up file, with the word that asks for it.
	startups = table("startups")
)

// assigned reports whether assignments only name the folders of tools.
func (t toolFolders) assigned(list []*syntax.Assign) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(a *syntax.Assign) bool {
		if a.Name == nil || a.Value == nil || a.Append || a.Index != nil || a.Array != nil {
			return true
		}
		value, ok := homeText(a.Value, t.home)
		if a.Name.Value == "PATH" {
			return !ok || !t.added(value)
		}
		return !ok || !t.has(value, toolHomes[a.Name.Value])
	})
}

// added reports whether a value of PATH is the former one with folders of tools.
func (t toolFolders) added(value string) bool {
	former := 0
	for part := range strings.SplitSeq(value, ":") {
		switch {
		case part == "$PATH":
			former++
		case !t.has(part, toolPaths):
			return false
		}
	}
	return former == 1
}

// has reports whether a path is one of the folders of known tools, and none in which the project is or
// that is in the project.
func (t toolFolders) has(p string, known []string) bool {
	if path.Clean(p) != p || strings.ContainsAny(p, "*?[$:\\") || disk.Below(p, t.project) || disk.Below(t.project, p) {
		return false
	}
	if rest, ok := strings.CutPrefix(p, t.home+"/"); ok && len(t.home) > 1 {
		p = "~/" + rest
	}
	return slices.ContainsFunc(known, func(pattern string) bool {
		fits, err := path.Match(pattern, p)
		return fits && err == nil
	})
}

// runsSetup reports whether a command is eval "$(TOOL …)" or source <(TOOL …) of one of [startups].
func (t toolFolders) runsSetup(c *syntax.CallExpr) bool {
	if len(c.Args) != 2 {
		return false
	}
	switch name := c.Args[0].Lit(); p := onlyPart(c.Args[1]).(type) {
	case *syntax.CmdSubst:
		return name == "eval" && t.isStartup(p.Stmts)
	case *syntax.ProcSubst:
		return (name == "source" || name == ".") && p.Op == syntax.CmdIn && t.isStartup(p.Stmts)
	}
	return false
}

// isStartup reports whether statements are one command of [startups], by its name alone or in a folder
// into which known tools put programs, with words that are written out.
func (t toolFolders) isStartup(stmts []*syntax.Stmt) bool {
	c := onlyCall(stmts)
	if !isSetup(c) || len(stmts[0].Redirs) > 0 || !areLiterals(c.Args[1:], "") {
		return false
	}
	folder, name := path.Split(c.Args[0].Lit())
	if rest, ok := strings.CutPrefix(folder, "~/"); ok {
		folder = t.home + "/" + rest
	}
	return (folder == "" || t.has(strings.TrimSuffix(folder, "/"), toolPaths)) &&
		slices.ContainsFunc(startups[name], func(word string) bool {
			return word == "*" || len(c.Args) > 1 && c.Args[1].Lit() == word
		})
}

// OnlyWritesCompletions reports whether a text does nothing but write into files of completions what known tools
// print for them, or a line that lets such a tool print it, and make the folders.
func OnlyWritesCompletions(home, project, text string) bool {
	own := toolFolders{home, project}
	file := parsePlainly(text)
	return file != nil && len(file.Stmts) > 0 && !slices.ContainsFunc(file.Stmts, func(s *syntax.Stmt) bool {
		return !own.writesCompletion(s)
	})
}

// writesCompletion reports whether a statement writes completions, or makes a folder for them.
func (t toolFolders) writesCompletion(s *syntax.Stmt) bool {
	if s.Background || s.Negated || s.Coprocess {
		return false
	}
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok {
		return b.Op == syntax.AndStmt && len(s.Redirs) == 0 && t.writesCompletion(b.X) && t.writesCompletion(b.Y)
	}
	c := onlyCall([]*syntax.Stmt{s})
	if c == nil {
		return false
	}
	name := c.Args[0].Lit()
	if name == "mkdir" {
		_, known := homeText(c.Args[len(c.Args)-1], t.home)
		return len(s.Redirs) == 0 && len(c.Args) == 3 && c.Args[1].Lit() == "-p" && known
	}
	if len(s.Redirs) != 1 || s.Redirs[0].N != nil {
		return false
	}
	to, known := homeText(s.Redirs[0].Word, t.home)
	appends := s.Redirs[0].Op == syntax.AppOut
	if !known || !appends && s.Redirs[0].Op != syntax.RdrOut {
		return false
	}
	if name == "echo" && len(c.Args) == 2 {
		line, isKnown := homeText(c.Args[1], t.home)
		if c = t.sourced(line); !isKnown || c == nil {
			return false
		}
		return t.isCompletionFile(to, path.Base(c.Args[0].Lit()), appends) && path.Ext(to) == ".fish"
	}
	return t.isStartup([]*syntax.Stmt{{Cmd: c}}) && t.isCompletionFile(to, path.Base(name), appends)
}

// sourced is the command of a known tool whose output a line lets the shell read: TOOL … | source. It is nil if
// the line does anything else.
func (t toolFolders) sourced(line string) *syntax.CallExpr {
	file := parsePlainly(line)
	if file == nil || len(file.Stmts) != 1 || !isAlone(file.Stmts[0]) {
		return nil
	}
	b, ok := file.Stmts[0].Cmd.(*syntax.BinaryCmd)
	if !ok || b.Op != syntax.Pipe || len(b.Y.Redirs) > 0 || !t.isStartup([]*syntax.Stmt{b.X}) {
		return nil
	}
	if to := onlyCall([]*syntax.Stmt{b.Y}); to == nil || len(to.Args) != 1 || to.Args[0].Lit() != "source" {
		return nil
	}
	return onlyCall([]*syntax.Stmt{b.X})
}

// isCompletionFile reports whether a file is one of completions: that of the tool itself, or one to which is
// added.
func (t toolFolders) isCompletionFile(file, tool string, appends bool) bool {
	name, ok := strings.CutPrefix(file, t.home+"/")
	if !ok || len(t.home) < 2 || path.Clean(file) != file {
		return false
	}
	return appends && name == ".bash_completion" || wordset.Has(".config/fish/completions .bash_completion.d "+
		".local/share/bash-completion/completions .zfunc", path.Dir(name)) &&
		strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "_"), path.Ext(name)) == tool
}

// OnlyAddsLines reports whether a text does nothing but write lines and look at files: what else it runs
// could put a program into a folder of tools.
func OnlyAddsLines(text string) bool {
	return runsOnly(text, "echo printf cat tee grep source . mkdir test [ true")
}

// OnlyWrites reports whether a text does nothing but write files and make them programs.
func OnlyWrites(text string) bool {
	return runsOnly(text, "echo printf cat tee mkdir cd chmod ls test [ true")
}

// runsOnly reports whether a text has no commands but some, and nothing that sets variables.
func runsOnly(text, harmless string) bool {
	file := parsePlainly(text)
	if file == nil {
		return false
	}
	only := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			only = only && len(n.Assigns) == 0 && len(n.Args) > 0 && wordset.Has(harmless, n.Args[0].Lit())
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.CoprocClause, *syntax.LetClause, *syntax.ArithmCmd:
			only = false
		}
		return only
	})
	return only
}
