package shell

import (
	"path"
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
	hookTools = wordset.Of(section("hook tools") + " " + section("hook tools of node") + " " +
		section("hook tools of python"))
	nodeTools   = wordset.Of(section("hook tools of node"))
	pythonTools = wordset.Of(section("hook tools of python"))
	hookRunners = table("hook runners")
	hookHelpers = wordset.Of(section("hook helpers"))
)

// MaxHookText is how long the text of a hook may be that is read.
const MaxHookText = 8 << 10

// RunsOwnTools reports whether a text for a hook runs nothing but tools of the project.
func RunsOwnTools(text string) bool {
	if len(text) > MaxHookText || strings.ContainsAny(text, "\x00\r") || !isForShell(text) {
		return false
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	plain, runs := true, false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
		case *syntax.Lit: // an index may run what stands in it
			plain = plain && !wordset.ContainsAny(n.Value, "$(", "`")
		case *syntax.SglQuoted:
			plain = plain && !n.Dollar && !wordset.ContainsAny(n.Value, "$(", "`")
		case *syntax.WordIter:
			plain = plain && isOwnName(n.Name.Value) && !slices.ContainsFunc(n.Items, isOddValue)
		case *syntax.Stmt:
			plain = plain && !n.Background && !n.Coprocess && !slices.ContainsFunc(n.Redirs, isOddRedirect)
		case *syntax.CallExpr:
			plain = plain && areOwnAssigns(n.Assigns, len(n.Args) > 0) && (len(n.Args) == 0 || isOwnCall(n.Args))
			runs = runs || len(n.Args) > 0 && !hookHelpers[n.Args[0].Lit()]
		case *syntax.ParamExp:
			plain = plain && !n.Excl && (n.Exp == nil || n.Exp.Op != syntax.OtherParamOps && !setsVariable(n.Exp.Op))
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.CoprocClause, *syntax.LetClause, *syntax.ArithmCmd,
			*syntax.ArithmExp, *syntax.ProcSubst, *syntax.TimeClause, *syntax.ExtGlob, *syntax.TestDecl:
			plain = false
		}
		return plain
	})
	return plain && runs // a hook that runs no tool may only be in the place of one that does
}

// isForShell reports whether the first line of a hook names no program but the machine's own shell.
func isForShell(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	if !strings.HasPrefix(first, "#!") || len(words) == 0 {
		return !strings.HasPrefix(strings.TrimSpace(text), "#!")
	}
	if words[0] == "/usr/bin/env" {
		return len(words) == 2 && wordset.Has("sh bash", words[1])
	}
	return wordset.Has("/bin/sh /bin/bash /usr/bin/sh /usr/bin/bash", words[0]) &&
		(len(words) == 1 || len(words) == 2 && wordset.Has("-e -eu -u -x -ex -eux", words[1]))
}

// setsVariable reports whether an operator of an expansion sets the variable: ${X:=x}.
func setsVariable(op syntax.ParExpOperator) bool {
	return op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull
}

// isOddValue reports whether a value of a variable, which may be a word of a command later, is an option or leads
// out of the project.
func isOddValue(w *syntax.Word) bool {
	text := hookWord(w)
	return strings.HasPrefix(text, "-") || leadsOut(text)
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
		if a.Value != nil && isOddValue(a.Value) {
			return true
		}
		own := isOwnName(name) || wordset.ContainsAny(name, "FILES", "STAGED", "STATUS", "BRANCH", "COLOR",
			"CHANGED", "EXIT_CODE", "FAILED", "RESULT") && !strings.HasPrefix(name, "GIT_")
		if forCommand {
			own = wordset.Has("CI FORCE_COLOR NO_COLOR RUST_BACKTRACE PYTHONDONTWRITEBYTECODE HUSKY SKIP", name)
		}
		return !own && !wordset.Has("RED GREEN YELLOW BLUE NC RESET BOLD", name)
	})
}

// isOwnName reports whether the name of a variable has no capitals, so that no program looks at it.
func isOwnName(name string) bool {
	return strings.ToLower(name) == name && !strings.HasPrefix(name, "npm_") && !strings.HasSuffix(name, "path") &&
		!strings.HasSuffix(name, "_proxy")
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
	if words[0] == "cd" {
		return len(args) == 2 && (isOwnFolder(args[1]) || !strings.ContainsAny(words[1], "?\\{") && words[1][:1] != "-" &&
			!leadsOut(words[1]) && !strings.Contains(words[1], "node_modules"))
	}
	return runsOwnTool(words)
}

// isOwnFolder reports whether a word is the folder of the project, or that of the hook.
func isOwnFolder(w *syntax.Word) bool {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, w); err != nil {
		return false
	}
	text := strings.NewReplacer(`"`, "", "--", "").Replace(b.String())
	return wordset.Has("$(git.rev-parse.show-toplevel) $(dirname.$0)/.. $(dirname.$0)/../..",
		strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == ' ' }), "."))
}

// hookWord is the text of a word, with ? for each part that is only known when the hook runs. What braces make of
// a word, and what a backslash does, is not known.
func hookWord(w *syntax.Word) string {
	var b strings.Builder
	var add func(parts []syntax.WordPart, quoted bool)
	add = func(parts []syntax.WordPart, quoted bool) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				if quoted {
					b.WriteString(p.Value)
				} else {
					b.WriteString(strings.ReplaceAll(p.Value, "{", `\`))
				}
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts, true)
			default:
				b.WriteByte('?')
			}
		}
	}
	add(w.Parts, false)
	return b.String()
}

// runsOwnTool reports whether words run a tool of the project. A word that is not known is the name of a file,
// and none of them leads out of the project.
func runsOwnTool(words []string) bool {
	if len(words) == 0 {
		return false
	}
	name, rest := words[0], words[1:]
	if hookHelpers[name] { // they only look, and say
		return name != "printf" && name != "read" || !slices.ContainsFunc(rest, isNameOfOthers)
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
	if own, ok := strings.CutPrefix(strings.TrimPrefix(name, "./"), "node_modules/.bin/"); ok {
		return nodeTools[own]
	}
	if own, ok := strings.CutPrefix(strings.TrimPrefix(name, "./"), "vendor/bin/"); ok {
		return hookTools[own]
	}
	if wordset.Has("./gradlew ./mvnw", name) {
		name = name[2:]
	}
	return hookTools[name] || slices.ContainsFunc(hookRunners[name], func(form string) bool {
		return fitsRunner(strings.Fields(form), rest)
	})
}

// isNameOfOthers reports whether a word after printf or read may name a variable that programs look at.
func isNameOfOthers(w string) bool {
	return w == "-v" || strings.Contains(w, "[") ||
		w != "" && !isOwnName(w) && strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// leadsOut reports whether a word of a hook names something outside of the project, or settings that are code.
func leadsOut(w string) bool {
	_, value, joined := strings.Cut(w, "=")
	short := len(w) > 2 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w[2:3], "/~")
	return wordset.HasAnyPrefix(w, "/", "~") && w != "/dev/null" || joined && wordset.HasAnyPrefix(value, "/", "~") ||
		short || strings.ContainsAny(w, `\;&<>"'`+"`\n") ||
		wordset.ContainsAny(w, "?/", "$(", "(") && !strings.Contains(w, "*") ||
		wordset.HasAnyPrefix(w, codeOptions...) || wordset.ContainsAny(w, "..", "://") && w != "./..."
}

// codeOptions are the beginnings of options of tools after which code, or a program, is named.
var codeOptions = strings.Fields("--req --imp --load --rulesd --plug --ev --init-h --script-s --pre --cal --exec " +
	"-exec -toolexec -vettool --bootstrap --autoload --textc --resolve-plugins --global-style --package")

// fitsRunner reports whether words are a form of a runner: words that have to be there, * for any one word, TOOL
// for a tool with all that follows, and ... for anything.
func fitsRunner(form, words []string) bool {
	for i, f := range form {
		switch {
		case f == "...":
			return true
		case i >= len(words):
			return false
		case f == "NODE":
			return nodeTools[words[i]]
		case f == "PYTHON":
			return pythonTools[words[i]]
		case f == "TOOL":
			return hookTools[words[i]]
		case f == "*":
			if words[i] == "" || words[i][0] == '-' || strings.ContainsAny(words[i], "=?/") || isOtherProgram(words[i]) {
				return false
			}
		case f != words[i]:
			return false
		}
	}
	return len(words) == len(form)
}

// isOtherProgram reports whether a word that should name a script of the project may be a program or a file.
func isOtherProgram(w string) bool {
	return wordset.Has("node sh bash zsh python python3 env exec deno bun tsx ts-node curl", w) ||
		wordset.Has(".js .mjs .cjs .ts .mts .cts .tsx .jsx .sh .py", path.Ext(w))
}

// readsGit reports whether a command of git only looks, or stages the files that it is given.
func readsGit(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "add":
		return len(words) > 1 && !slices.ContainsFunc(words[1:], func(w string) bool {
			return wordset.Has(". ./ :/ *", w) || strings.HasPrefix(w, "-") && w != "-u" && w != "--"
		})
	case "branch":
		return len(words) == 2 && words[1] == "--show-current"
	case "stash":
		return false
	}
	return wordset.Has("diff diff-index diff-files rev-parse ls-files status symbolic-ref show log merge-base rev-list "+
		"check-ignore describe", words[0]) && !slices.ContainsFunc(words[1:], func(w string) bool {
		return wordset.HasAnyPrefix(w, "--ou", "--ext", "--tex", "-o")
	})
}

// formatsStaged reports whether git-format-staged is given a formatter of the project.
func formatsStaged(words []string) bool {
	if len(words) < 2 || words[0] != "-f" && words[0] != "--formatter" {
		return false
	}
	return RunsOwnTools(strings.ReplaceAll(words[1], "{}", "file")) && !slices.ContainsFunc(words[2:], leadsOut)
}
