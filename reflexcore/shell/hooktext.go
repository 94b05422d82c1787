package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
	"mvdan.cc/sh/v3/syntax"
)

// This file finds out whether the text of a hook, which git runs by itself, does nothing but run the tools with
// which a project checks and formats its files. Everything else stays what it is, because nobody looks at a hook
// again.

// hookTools are the tools that check and format, and those that run the scripts of the project's own settings
// with the words that may follow; a star is any word.
var (
	hookTools   = wordset.Of(section("hook tools"))
	hookRunners = table("hook runners")
	hookHelpers = wordset.Of(section("hook helpers"))
)

// MaxHookText is how long the text of a hook may be that is read.
const MaxHookText = 8 << 10

// RunsOwnTools reports whether a text for a hook runs nothing but tools of the project.
func RunsOwnTools(text string) bool {
	if len(text) > MaxHookText || strings.ContainsAny(text, "\x00\r") {
		return false
	}
	if strings.HasPrefix(text, "#!") && Shebang(text) != "sh" {
		return false
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	plain := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
		case *syntax.Stmt:
			plain = plain && !n.Background && !n.Coprocess && !slices.ContainsFunc(n.Redirs, isOddRedirect)
		case *syntax.CallExpr:
			plain = plain && areOwnAssigns(n.Assigns, len(n.Args) > 0) && (len(n.Args) == 0 || isOwnCall(n.Args))
		case *syntax.ParamExp:
			plain = plain && !n.Excl && (n.Exp == nil || n.Exp.Op != syntax.OtherParamOps)
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.CoprocClause, *syntax.LetClause, *syntax.ArithmCmd,
			*syntax.ArithmExp, *syntax.ProcSubst, *syntax.TimeClause, *syntax.ExtGlob, *syntax.TestDecl:
			plain = false
		}
		return plain
	})
	return plain
}

// isOddRedirect reports whether a redirection does more than hide output or read the terminal.
func isOddRedirect(r *syntax.Redirect) bool {
	to := r.Word.Lit()
	switch r.Op {
	case syntax.DplOut, syntax.DplIn:
		return to != "1" && to != "2" && to != "-"
	case syntax.RdrOut, syntax.RdrAll, syntax.AppOut:
		return to != "/dev/null"
	case syntax.RdrIn:
		return to != "/dev/null" && to != "/dev/tty"
	default:
		return true
	}
}

// areOwnAssigns reports whether assignments set only variables of the hook itself, or those by which tools are
// told to be quiet. For a command of their own, they do not reach what is run later.
func areOwnAssigns(list []*syntax.Assign, forCommand bool) bool {
	return !slices.ContainsFunc(list, func(a *syntax.Assign) bool {
		if a.Name == nil || a.Index != nil || a.Array != nil {
			return true
		}
		name := a.Name.Value
		own := strings.ToLower(name) == name || wordset.ContainsAny(name, "FILES", "STAGED", "STATUS", "BRANCH", "COLOR",
			"CHANGED", "EXIT_CODE", "FAILED", "RESULT") && !strings.HasPrefix(name, "GIT_")
		if forCommand {
			own = wordset.Has("CI FORCE_COLOR NO_COLOR RUST_BACKTRACE PYTHONDONTWRITEBYTECODE HUSKY SKIP", name)
		}
		return !own && !wordset.Has("RED GREEN YELLOW BLUE NC RESET BOLD", name)
	})
}

// isOwnCall reports whether a command runs a tool of the project.
func isOwnCall(args []*syntax.Word) bool {
	words := make([]string, 0, len(args))
	for _, w := range args {
		words = append(words, hookWord(w))
	}
	if wordset.Has("source .", words[0]) {
		return len(words) == 2 && wordset.Has("?/_/husky.sh ?/husky.sh .husky/_/husky.sh .venv/bin/activate "+
			"venv/bin/activate", words[1])
	}
	return runsOwnTool(words)
}

// hookWord is the text of a word, with ? for each part that is only known when the hook runs.
func hookWord(w *syntax.Word) string {
	var b strings.Builder
	var add func(parts []syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(p.Value)
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts)
			default:
				b.WriteByte('?')
			}
		}
	}
	add(w.Parts)
	return b.String()
}

// runsOwnTool reports whether words run a tool of the project. A word that is not known is the name of a file,
// and none of them leads out of the project.
func runsOwnTool(words []string) bool {
	if len(words) == 0 {
		return false
	}
	name, rest := words[0], words[1:]
	if hookHelpers[name] {
		return true // they only look, and say
	}
	if wordset.Has("set sort uniq", name) {
		return !slices.ContainsFunc(rest, func(w string) bool {
			return w != "pipefail" && (len(w) > 4 || w == "" || w[0] != '-' || strings.Trim(w, "-euoxrnz") != "") ||
				name != "set" && strings.Contains(w, "o")
		})
	}
	if slices.ContainsFunc(rest, leadsOut) {
		return false
	}
	switch name {
	case "cd":
		return len(rest) == 1 && (rest[0] == "?" || !strings.Contains(rest[0], "?"))
	case "exec":
		return len(rest) == 0 || runsOwnTool(rest)
	case "xargs":
		for len(rest) > 0 && wordset.Has("-r -0 -0r -r0 --no-run-if-empty --null -n1", rest[0]) {
			rest = rest[1:]
		}
		return len(rest) > 0 && rest[0][0] != '-' && runsOwnTool(rest)
	case "git":
		return readsGit(rest)
	case "git-format-staged":
		return formatsStaged(rest)
	}
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "./"), "node_modules/.bin/"), "vendor/bin/")
	return hookTools[name] || slices.ContainsFunc(hookRunners[name], func(form string) bool {
		return fitsRunner(strings.Fields(form), rest)
	})
}

// leadsOut reports whether a word of a hook names something outside of the project, or settings that are code.
func leadsOut(w string) bool {
	_, value, joined := strings.Cut(w, "=")
	return wordset.HasAnyPrefix(w, "/", "~") && w != "/dev/null" || joined && wordset.HasAnyPrefix(value, "/", "~") ||
		wordset.ContainsAny(w, "..", "://", "--require", "--import", "--loader", "--rulesdir", "--plugin", "--eval", "$(",
			"`") && w != "./..."
}

// fitsRunner reports whether words are a form of a runner: words that have to be there, * for any one word, TOOL
// for a tool with all that follows, and ... for anything.
func fitsRunner(form, words []string) bool {
	for i, f := range form {
		switch {
		case f == "...":
			return true
		case i >= len(words):
			return false
		case f == "TOOL":
			return runsOwnTool(words[i:])
		case f == "*":
			if words[i] == "" || words[i][0] == '-' || strings.ContainsAny(words[i], "=?") {
				return false
			}
		case f != words[i]:
			return false
		}
	}
	return len(words) == len(form)
}

// readsGit reports whether a command of git only looks, or stages the files that it is given.
func readsGit(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "add":
		return len(words) > 1 && !slices.ContainsFunc(words[1:], func(w string) bool {
			return wordset.Has("-A --all . -f --force :/ * -N", w)
		})
	case "branch":
		return len(words) == 2 && words[1] == "--show-current"
	case "stash":
		return false
	}
	return wordset.Has("diff diff-index diff-files rev-parse ls-files status symbolic-ref show log merge-base rev-list "+
		"check-ignore describe", words[0]) && !slices.ContainsFunc(words[1:], func(w string) bool {
		return wordset.HasAnyPrefix(w, "--output", "--ext-diff", "-o")
	})
}

// formatsStaged reports whether git-format-staged is given a formatter of the project.
func formatsStaged(words []string) bool {
	if len(words) < 2 || words[0] != "-f" && words[0] != "--formatter" {
		return false
	}
	return RunsOwnTools(strings.ReplaceAll(words[1], "{}", "file")) && !slices.ContainsFunc(words[2:], leadsOut)
}
