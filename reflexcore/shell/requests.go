package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// This file finds out whether a text sends requests only to the addresses that it names. A proxy, a tunnel and
// whatever else could lead them elsewhere is not on a list, but everything that could not is.

var (
	requesters     = wordset.Of("curl curlie http https xh xhs")
	onlookers      = wordset.Of("echo printf true sleep jq cat head tail grep cut tr sed test [ python3 python exit wc")
	requestOptions = wordset.Of(section("request options"))
)

// OnlyRequests reports whether a text does nothing but send plain requests, keep what they answer and show it.
// What deletes something has no body, and no loop repeats it.
func OnlyRequests(text string) bool {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	plain := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
		case *syntax.Stmt:
			plain = plain && !n.Background && !n.Coprocess
		case *syntax.CallExpr:
			plain = plain && !slices.ContainsFunc(n.Assigns, isOddSetting) && (len(n.Args) == 0 || isRequest(n.Args))
		case *syntax.ForClause, *syntax.WhileClause, *syntax.FuncDecl, *syntax.DeclClause, *syntax.CoprocClause,
			*syntax.LetClause, *syntax.ArithmCmd, *syntax.ProcSubst:
			plain = false
		}
		return plain
	})
	return plain
}

// isOddSetting reports whether an assignment may say more than a value that is sent, or may be an option.
func isOddSetting(a *syntax.Assign) bool {
	if a.Name == nil || a.Index != nil || a.Array != nil {
		return true
	}
	name := strings.ToLower(a.Name.Value)
	return wordset.ContainsAny(name, "proxy", "home", "path", "curl", "xdg", "ifs", "alias", "env", "ld_", "config") ||
		a.Value != nil && strings.HasPrefix(hookWord(a.Value), "-")
}

// isRequest reports whether a command sends a plain request, or looks at an answer.
func isRequest(args []*syntax.Word) bool {
	name, words := args[0].Lit(), make([]string, 0, len(args))
	for _, w := range args[1:] {
		words = append(words, hookWord(w))
	}
	if onlookers[name] {
		return !wordset.Has("python python3", name) || len(words) == 2 && words[0] == "-m" && words[1] == "json.tool"
	}
	if !requesters[name] {
		return false
	}
	deletes := slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "DELETE") })
	for i, w := range words {
		switch option, _, _ := strings.Cut(w, "="); {
		case args[i+1].Lit() == "" && !isQuoted(args[i+1]): // it may be any number of words
			return false
		case strings.HasPrefix(w, "?"):
			if !strings.Contains(w, "/") && i > 0 && !strings.HasPrefix(words[i-1], "-") {
				return false
			}
		case strings.HasPrefix(strings.ToLower(w), "host:"), name != "curl" && deletes && strings.Contains(w, "=") &&
			!strings.Contains(w, "://") && !strings.HasPrefix(w, "-"):
			return false
		case len(w) < 2 || w[0] != '-':
		case w[1] == '-' && (!requestOptions[option] || deletes && strings.HasPrefix(option, "--data")):
			return false
		case w[1] != '-' && !isShortOption(w, deletes):
			return false
		}
	}
	return true
}

// isShortOption reports whether short options of curl, with a value or without, change nothing about where a
// request goes.
func isShortOption(w string, deletes bool) bool {
	flags := strings.TrimLeft(w[1:], "sSifvkgj012346")
	switch {
	case flags == "":
		return true
	case flags[0] == 'd':
		return !deletes
	}
	return strings.ContainsRune("XHowmubcA", rune(flags[0]))
}

// isQuoted reports whether a word is in quotes, or has an expansion only behind something that is written.
func isQuoted(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p.(type) {
		case *syntax.DblQuoted, *syntax.SglQuoted, *syntax.Lit:
		default:
			return false
		}
	}
	return true
}
