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
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 { // a comment alone is a mark that somebody was here
		return false
	}
	return !slices.ContainsFunc(file.Stmts, func(s *syntax.Stmt) bool {
		if len(s.Redirs) > 0 || s.Background || s.Negated {
			return true
		}
		switch c := s.Cmd.(type) {
		case *syntax.DeclClause:
			return c.Variant.Value != "export" || !own.assigned(c.Args)
		case *syntax.CallExpr:
			if len(c.Args) == 0 {
				return !own.assigned(c.Assigns)
			}
			return len(c.Assigns) > 0 || !runsSetup(c)
		default:
			return true
		}
	})
}

// A toolFolders has the folders by which those of installed tools are known.
type toolFolders struct{ home, project string }

// toolHomes are the variables that hold the folder of a tool.
const toolHomes = "GOPATH GOBIN GOROOT GEM_HOME JAVA_HOME CARGO_HOME RUSTUP_HOME ANDROID_HOME ANDROID_SDK_ROOT " +
	"PYENV_ROOT RBENV_ROOT NVM_DIR PNPM_HOME BUN_INSTALL DENO_INSTALL VOLTA_HOME SDKMAN_DIR FLUTTER_HOME"

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
		return !ok || !wordset.Has(toolHomes, a.Name.Value) || !t.has(value)
	})
}

// added reports whether a value of PATH is the former one with folders of tools.
func (t toolFolders) added(value string) bool {
	former := 0
	for part := range strings.SplitSeq(value, ":") {
		switch {
		case part == "$PATH":
			former++
		case !t.has(part):
			return false
		}
	}
	return former == 1
}

// has reports whether a path is a folder below those where programs are installed, or below the home, as
// ~/.cargo/bin and ~/go are.
func (t toolFolders) has(p string) bool {
	if path.Clean(p) != p || strings.ContainsAny(p, "*?[$:") || disk.Below(p, t.project) || disk.Below(t.project, p) {
		return false
	}
	for _, top := range [...]string{"/usr", "/opt"} {
		if p != top && disk.Below(p, top) {
			return true
		}
	}
	return len(t.home) > 1 && p != t.home && disk.Below(p, t.home) && !wordset.Has("/.ssh /.config /tmp", p[len(t.home):])
}

// homeText is the text of a word in which nothing is open but the home and the former PATH, which
// stays $PATH.
func homeText(w *syntax.Word, home string) (string, bool) {
	var b strings.Builder
	var add func(parts []syntax.WordPart) bool
	add = func(parts []syntax.WordPart) bool {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				if strings.ContainsAny(p.Value, "\\$") {
					return false
				}
				b.WriteString(p.Value)
			case *syntax.SglQuoted:
				if p.Dollar || strings.Contains(p.Value, "$") {
					return false
				}
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				if !add(p.Parts) {
					return false
				}
			case *syntax.ParamExp:
				switch {
				case p.Excl || p.Length || p.Index != nil || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.Param == nil:
					return false
				case p.Param.Value == "HOME":
					b.WriteString(home)
				case p.Param.Value == "PATH":
					b.WriteString("$PATH")
				default:
					return false
				}
			default:
				return false
			}
		}
		return true
	}
	if !add(w.Parts) {
		return "", false
	}
	text := b.String()
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		text = home + "/" + rest
	}
	return strings.ReplaceAll(text, ":~/", ":"+home+"/"), true
}

// runsSetup reports whether a command is eval "$(TOOL …)" or source <(TOOL …) of one of [setups].
func runsSetup(c *syntax.CallExpr) bool {
	if len(c.Args) != 2 {
		return false
	}
	switch name := c.Args[0].Lit(); p := onlyPart(c.Args[1]).(type) {
	case *syntax.CmdSubst:
		return name == "eval" && isSetup(onlyCall(p.Stmts))
	case *syntax.ProcSubst:
		return (name == "source" || name == ".") && p.Op == syntax.CmdIn && isSetup(onlyCall(p.Stmts))
	}
	return false
}
