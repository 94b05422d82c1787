package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// This file finds out whether a text begins with the official installer of a well-known toolchain, in the
// way that its makers document: curl -sSf https://sh.rustup.rs | sh. That is as much trust as a package of
// theirs needs. All of the command must be known to be harmless: the address, the options of curl, what the
// installer is told, and that nothing of the text runs before it, which could set a variable that it reads,
// write settings of curl or git, or replace a program. Anything else makes it a download that runs.

// Installer is the What of an effect that runs an official installer.
const Installer = "installer"

// installers are the addresses of installers, without the scheme; * is a version.
var installers = strings.Fields(section("installers"))

var (
	// Words of curl and wget that change nothing about where the text comes from, and those whose next
	// word is a number or the scheme.
	plainFetch  = wordset.Of(section("plain fetch options"))
	valuedFetch = wordset.Of("--retry --retry-delay --max-time --connect-timeout -m")
	// Words that tell an installer nothing about where it gets things from, and variables for versions and
	// for how much is asked.
	plainTold = wordset.Of(section("plain installer options"))
	plainVars = wordset.Of(section("plain installer variables"))
)

// installs reports whether a pipe runs an official installer.
func (df *definitions) installs(c *syntax.BinaryCmd) bool {
	if c.Op != syntax.Pipe || !df.fetchesInstaller(c.X) || !isAlone(c.Y) ||
		!df.isFirst(c) {
		return false
	}
	runs, ok := c.Y.Cmd.(*syntax.CallExpr)
	if !ok || len(runs.Args) == 0 {
		return false
	}
	return df.runsInput(runs.Args) && !slices.ContainsFunc(runs.Assigns, func(a *syntax.Assign) bool {
		if a.Value == nil || a.Append || a.Index != nil || a.Array != nil {
			return true
		}
		value, ok := literalText(a.Value)
		if a.Name.Value == "POETRY_HOME" {
			return !ok || !isPoetryHome(value)
		}
		return !ok || !plainVars[a.Name.Value] || !isPlainWord(value)
	})
}

// isPoetryHome reports whether a folder is one of Poetry's own.
func isPoetryHome(folder string) bool {
	name := folder[strings.LastIndexByte(folder, '/')+1:]
	return wordset.Has("poetry .poetry pypoetry", name) && !strings.Contains(folder, "..") &&
		wordset.HasAnyPrefix(folder, "/opt/", "/usr/local/", "/etc/poetry")
}

// installsText is installs for sh -c "$(curl …)" and sh <(curl …).
func (df *definitions) installsText(c *syntax.CallExpr) bool {
	if len(c.Args) < 2 || len(c.Assigns) > 0 || df.interpreter(c.Args[0]) == "" || !df.isFirst(c) {
		return false
	}
	from, words := c.Args[1], c.Args[2:]
	if w := from.Lit(); len(words) > 0 && (w == "-c" || w == "-e") {
		from, words = words[0], words[1:]
	}
	var stmts []*syntax.Stmt
	switch p := onlyPart(from).(type) {
	case *syntax.CmdSubst:
		if from == c.Args[1] || len(words) > 0 {
			return false
		}
		stmts = p.Stmts
	case *syntax.ProcSubst:
		if from != c.Args[1] || p.Op != syntax.CmdIn {
			return false
		}
		stmts = p.Stmts
	}
	return len(stmts) == 1 && df.fetchesInstaller(stmts[0]) && df.areTold(words)
}

// installsByPowerShell is installs for powershell -c "irm … | iex".
func (df *definitions) installsByPowerShell(c *syntax.CallExpr) bool {
	if len(c.Args) < 3 || len(c.Assigns) > 0 || !wordset.Has("powershell powershell.exe pwsh", c.Args[0].Lit()) ||
		df.replaced(c.Args[0].Lit()) || df.setsForInstaller() || !df.isFirst(c) {
		return false
	}
	last := len(c.Args) - 1
	for i, w := range c.Args[1:last] {
		text, _ := literalText(w)
		if low := strings.ToLower(text); i+2 == last && !wordset.Has("-c -command", low) ||
			i+2 < last && !wordset.Has("-executionpolicy -ep bypass remotesigned -noprofile", low) {
			return false
		}
	}
	text, ok := literalText(c.Args[last])
	words := strings.Fields(text)
	return ok && len(words) == 4 && wordset.Has("irm invoke-restmethod", strings.ToLower(words[0])) &&
		words[2] == "|" && wordset.Has("iex invoke-expression", strings.ToLower(words[3])) &&
		strings.HasSuffix(words[1], ".ps1") && isInstaller(words[1])
}

// isFirst reports whether a command is what the text of the call begins with, so that nothing of the call
// has changed anything before it. It must be in no loop, and in no other command that could set variables.
func (df *definitions) isFirst(c syntax.Command) bool {
	file := df.in.src.outermost.file
	if df.in.rep.depth != 1 || file == nil || len(file.Stmts) == 0 {
		return false
	}
	for s := file.Stmts[0]; len(s.Redirs) == 0; {
		if s.Cmd == c {
			return true
		}
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op == syntax.Pipe || b.Op == syntax.PipeAll {
			return false
		}
		if b.Op == syntax.AndStmt && b.Y.Cmd == c && df.addsPackages(b.X) {
			return true
		}
		s = b.X
	}
	return false
}

// addsPackages reports whether a statement does nothing but install packages of the system by name: curl and
// what it needs are often there first.
func (df *definitions) addsPackages(s *syntax.Stmt) bool {
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.AndStmt && len(s.Redirs) == 0 {
		return df.addsPackages(b.X) && df.addsPackages(b.Y)
	}
	c := onlyCall([]*syntax.Stmt{s})
	if c == nil || !isAlone(s) || len(c.Args) < 2 ||
		!wordset.Has("apt-get apt apk dnf yum microdnf", c.Args[0].Lit()) || df.replaced(c.Args[0].Lit()) {
		return false
	}
	return !slices.ContainsFunc(c.Args[1:], func(w *syntax.Word) bool {
		text := w.Lit()
		if rest, ok := strings.CutPrefix(text, "-"); ok {
			return !wordset.Has("y yes qq q -yes -quiet -no-cache -no-install-recommends -update -fix-missing", rest)
		}
		return !isPlainWord(text)
	})
}

// fetchesInstaller reports whether a statement prints an official installer, and nothing else.
func (df *definitions) fetchesInstaller(s *syntax.Stmt) bool {
	c := onlyCall([]*syntax.Stmt{s})
	if c == nil || !isAlone(s) || !wordset.Has("curl wget", c.Args[0].Lit()) ||
		df.replaced(c.Args[0].Lit()) || df.setsForInstaller() {
		return false
	}
	address := ""
	for i := 1; i < len(c.Args); i++ {
		switch w, ok := literalText(c.Args[i]); {
		case !ok || w == "":
			return false
		case valuedFetch[w]:
			i++
		case w == "--proto" && i+1 < len(c.Args):
			if v, _ := literalText(c.Args[i+1]); v != "=https" {
				return false
			}
			i++
		case w[0] == '-' && !plainFetch[w] && !isQuietCluster(w):
			return false
		case w[0] == '-':
		case address != "":
			return false
		default:
			address = w
		}
	}
	return isInstaller(address)
}

// isQuietCluster reports whether a word is short flags of curl or wget that only say how much is told, that
// redirects are followed, and that the text goes to the standard output.
func isQuietCluster(w string) bool {
	letters := strings.TrimSuffix(strings.TrimPrefix(w, "-"), "O-") // wget -qO-
	if letters == w[1:] {
		letters = strings.TrimSuffix(letters, "o-") // curl -o-
	}
	return w != "-" && strings.Trim(letters, "fsSLq") == ""
}

// isInstaller reports whether an address is that of an official installer.
func isInstaller(address string) bool {
	rest, ok := strings.CutPrefix(address, "https://")
	if !ok {
		return false
	}
	rest = strings.TrimSuffix(rest, "/")
	return slices.ContainsFunc(installers, func(known string) bool {
		start, end, open := strings.Cut(known, "*")
		if !open {
			return rest == known
		}
		return len(rest) > len(start)+len(end) && strings.HasPrefix(rest, start) && strings.HasSuffix(rest, end) &&
			isVersion(rest[len(start):len(rest)-len(end)])
	})
}

// isVersion reports whether a text is a version or one of the names of the main branch. The hash of a
// commit is not: a host of repositories has those of anybody's copy under the same address. That is why
// there must be a dot, or no more than two digits.
func isVersion(text string) bool {
	if wordset.Has("HEAD main master lts current", text) ||
		text != "" && len(text) < 3 && strings.Trim(text, "0123456789") == "" {
		return true
	}
	digits := strings.TrimPrefix(text, "v")
	return strings.Trim(digits, "0123456789.") == "" && strings.Contains(strings.Trim(digits, "."), ".") &&
		!strings.Contains(digits, "..") && len(digits) < 16
}

// runsInput reports whether words run their standard input, and tell it nothing but versions, names
// and folders for programs.
func (df *definitions) runsInput(words []*syntax.Word) bool {
	name := df.interpreter(words[0])
	words = words[1:]
	switch {
	case name == "" || len(words) == 0:
		return name != ""
	case strings.HasPrefix(name, "python"):
		return words[0].Lit() == "-" && df.areTold(words[1:])
	case !wordset.Has("- -s -e -es -x -xs", words[0].Lit()): // not -c, and no script
		return false
	case len(words) > 1 && words[0].Lit() == "-s" && words[1].Lit() == "--":
		return df.areTold(words[2:])
	}
	if len(words) == 1 {
		return true
	}
	first, ok := literalText(words[1]) // an option would be one of the shell
	return ok && words[0].Lit() == "-s" && !strings.HasPrefix(first, "-") && df.areTold(words[1:])
}

// interpreter is the name of a shell or another interpreter that a word names.
func (df *definitions) interpreter(w *syntax.Word) string {
	name := strings.TrimPrefix(strings.TrimPrefix(w.Lit(), "/usr"), "/bin/")
	if name == "" || !wordset.Has("sh bash zsh dash ruby", name) && strings.TrimRight(name, "0123456789.") != "python" ||
		df.replaced(name) {
		return ""
	}
	return name
}

// areTold reports whether words for an installer say nothing about where it gets things from: options
// that are known, versions, names, and behind -b a folder for programs.
func (df *definitions) areTold(words []*syntax.Word) bool {
	for i, w := range words {
		text, ok := literalText(w)
		switch {
		case i > 0 && words[i-1].Lit() == "-b" && (df.isGoFolder(w) || ok && isFolderForPrograms(text)):
		case ok && (plainTold[text] || isPlainWord(text)), !ok && isOpenVersion(w):
		default:
			return false
		}
	}
	return true
}

// isPlainWord reports whether a text is one or more versions or names, and no path, address or option.
func isPlainWord(text string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._,-"
	return text != "" && strings.Trim(text, letters) == "" && text[0] != '-' && text[0] != '.' &&
		!strings.Contains(text, "..")
}

// isFolderForPrograms reports whether a path is one of the system's own folders for local programs, or a
// folder with that name below the working directory.
func isFolderForPrograms(text string) bool {
	text = strings.TrimSuffix(text, "/")
	if wordset.Has("/usr/local/bin /go/bin /root/go/bin", text) {
		return true
	}
	folder := strings.TrimPrefix(text, "./")
	return (folder == "bin" || strings.HasSuffix(folder, "/bin")) && isPlainWord(strings.ReplaceAll(folder, "/", "-"))
}

// isGoFolder reports whether a word is $(go env GOPATH)/bin.
func (df *definitions) isGoFolder(w *syntax.Word) bool {
	if len(w.Parts) != 2 {
		return false
	}
	s, ok := w.Parts[0].(*syntax.CmdSubst)
	lit, last := w.Parts[1].(*syntax.Lit)
	return ok && last && lit.Value == "/bin" && alwaysPrints(s.Stmts) && df.asksPlace(s.Stmts)
}

// isOpenVersion reports whether a word is a version that the environment gives: "bun-v${BUN_VERSION}".
func isOpenVersion(w *syntax.Word) bool {
	q, ok := w.Parts[0].(*syntax.DblQuoted)
	if !ok || len(w.Parts) != 1 || len(q.Parts) != 2 {
		return false
	}
	lit, ok := q.Parts[0].(*syntax.Lit)
	return ok && isPlainWord(lit.Value) && isPlainVariable(q.Parts[1], "VERSION")
}

// isPlainVariable reports whether a part of a word is the value of a variable, as it is, whose name has an
// ending.
func isPlainVariable(part syntax.WordPart, ending string) bool {
	p, ok := part.(*syntax.ParamExp)
	return ok && isWhole(p) && syntax.ValidName(p.Param.Value) && strings.HasSuffix(p.Param.Value, ending)
}

// setsForInstaller reports whether the text sets a variable that an installer may read.
func (df *definitions) setsForInstaller() bool {
	vars := &df.in.vars
	return vars.clobbered || slices.ContainsFunc(vars.list, func(v variable) bool {
		return v.name != "" && !plainVars[v.name]
	})
}

// markInstaller marks what runs from the network among the effects from an index on as the official
// installer of a toolchain.
func (r *report) markInstaller(from int) {
	for i := from; i < len(r.res.Effects); i++ {
		if e := &r.res.Effects[i]; e.Kind == effect.Exec && e.Taint&effect.Network != 0 && e.Taint&effect.Secret == 0 &&
			(strings.HasSuffix(e.Target, " code") || strings.HasPrefix(e.Target, "/dev/fd/") ||
				e.Target == effect.Unknown && wordset.Has("iex invoke-expression", e.By)) {
			e.What, e.Target, e.By, e.Taint = Installer, "installer", "installer", e.Taint&^effect.Network
		}
	}
}
