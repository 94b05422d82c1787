package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// This file finds out whether a text runs the official installer of a well-known toolchain, in the way
// that its makers document: curl -sSf https://sh.rustup.rs | sh. That is as much trust as a package of
// theirs needs. Anything else about such a command makes it a download that runs: another host or
// scheme, an option that is not known to be harmless, an address for the installer, a variable that
// it may read, or a program that the text may have replaced.

// Installer is the What of an effect that runs an official installer.
const Installer = "installer"

// installers are the addresses of installers, without the scheme; * is a version.
var installers = strings.Fields(section("installers"))

// Words of curl and wget that change nothing about where the text comes from, and those whose next
// word is a number or the scheme.
var (
	plainFetch  = wordset.Of(section("plain fetch options"))
	valuedFetch = wordset.Of("--retry --retry-delay --max-time --connect-timeout -m")
)

// installs reports whether a pipe runs an official installer.
func (df *definitions) installs(c *syntax.BinaryCmd) bool {
	if c.Op != syntax.Pipe || !df.fetchesInstaller(c.X) || len(c.Y.Redirs) > 0 || c.Y.Background || c.Y.Negated {
		return false
	}
	runs, ok := c.Y.Cmd.(*syntax.CallExpr)
	if !ok || len(runs.Args) == 0 {
		return false
	}
	for _, a := range runs.Assigns {
		if !saysVersion(a.Name.Value) {
			return false
		}
	}
	return df.runsInput(runs.Args)
}

// installsText is installs for sh -c "$(curl …)" and sh <(curl …).
func (df *definitions) installsText(c *syntax.CallExpr) bool {
	if len(c.Args) < 2 || len(c.Assigns) > 0 || df.interpreter(c.Args[0]) == "" {
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
	return len(stmts) == 1 && df.fetchesInstaller(stmts[0]) &&
		!slices.ContainsFunc(words, func(w *syntax.Word) bool { return !df.tellsLittle(w) })
}

// fetchesInstaller reports whether a statement prints an official installer, and nothing else.
func (df *definitions) fetchesInstaller(s *syntax.Stmt) bool {
	c := onlyCall([]*syntax.Stmt{s})
	if c == nil || len(s.Redirs) > 0 || s.Background || s.Negated || !wordset.Has("curl wget", c.Args[0].Lit()) ||
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
// commit is not: a host of repositories has those of anybody's copy under the same address.
func isVersion(text string) bool {
	if wordset.Has("HEAD main master lts current", text) {
		return true
	}
	digits := strings.TrimPrefix(text, "v")
	return strings.Trim(digits, "0123456789.") == "" && !strings.Contains(digits, "..") && len(digits) < 16
}

// runsInput reports whether words run their standard input, and tell it nothing but versions, names
// and folders.
func (df *definitions) runsInput(words []*syntax.Word) bool {
	if words[0].Lit() == "sudo" && !df.defines("sudo") {
		if words = words[1:]; len(words) > 0 && words[0].Lit() == "-E" {
			words = words[1:]
		}
		for len(words) > 0 && isSetting(words[0]) {
			words = words[1:]
		}
	}
	if len(words) == 0 || df.interpreter(words[0]) == "" {
		return false
	}
	if len(words) > 1 && !wordset.Has("- -s -e -es -x -xs", words[1].Lit()) { // not -c, and no script
		return false
	}
	return !slices.ContainsFunc(words[1:], func(w *syntax.Word) bool { return !df.tellsLittle(w) })
}

// isSetting reports whether a word of sudo sets a variable for a version.
func isSetting(w *syntax.Word) bool {
	text, ok := literalText(w)
	name, _, set := strings.Cut(text, "=")
	return ok && set && saysVersion(name)
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

// tellsLittle reports whether a word for an installer says nothing about where it gets things from.
func (df *definitions) tellsLittle(w *syntax.Word) bool {
	text, known := literalText(w)
	if known {
		return !strings.ContainsAny(text, ":@") && !strings.Contains(text, "//")
	}
	if c, ok := w.Parts[0].(*syntax.CmdSubst); ok { // $(go env GOPATH)/bin
		return df.asksPlace(c.Stmts)
	}
	q, ok := w.Parts[0].(*syntax.DblQuoted)
	if !ok || len(w.Parts) != 1 || len(q.Parts) == 0 {
		return false
	}
	lit, ok := q.Parts[0].(*syntax.Lit)
	return ok && lit.Value[0] != '-' && !strings.ContainsAny(lit.Value, ":@")
}

// setsForInstaller reports whether the text sets a variable that an installer may read.
func (df *definitions) setsForInstaller() bool {
	vars := &df.in.vars
	return vars.clobbered || slices.ContainsFunc(vars.list, func(v variable) bool {
		return v.name != "" && !saysVersion(v.name)
	})
}

// saysVersion reports whether a variable says which version, or how much is asked.
func saysVersion(name string) bool {
	return wordset.Has("CI NONINTERACTIVE DEBIAN_FRONTEND ARCH", name) || strings.HasSuffix(name, "VERSION") ||
		strings.HasSuffix(name, "_PREVIEW") || strings.HasSuffix(name, "_UNINSTALL")
}

// literalText is the text of a word without expansions.
func literalText(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\*?[{~") {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok || strings.Contains(lit.Value, "\\") {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// markInstaller marks what runs from the network among the effects from an index on as the official
// installer of a toolchain.
func (r *report) markInstaller(from int) {
	for i := from; i < len(r.res.Effects); i++ {
		if e := &r.res.Effects[i]; e.Kind == effect.Exec && e.Taint&effect.Network != 0 && e.Taint&effect.Secret == 0 &&
			(strings.HasSuffix(e.Target, " code") || strings.HasPrefix(e.Target, "/dev/fd/")) {
			e.What, e.Target, e.By, e.Taint = Installer, "installer", "installer", e.Taint&^effect.Network
		}
	}
}
