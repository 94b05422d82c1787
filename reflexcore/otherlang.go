package reflexcore

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// shellCalls are the ways into a shell of languages that have no lexer here. What
// follows one, in quotes or to the end of the line, is a command line.
var shellCalls = map[string][]string{
	"vim":         {"!", "system(", "systemlist(", "term_start(", "jobstart(", "os.execute(", "io.popen("},
	"gdb":         {"shell ", "!", "python ", "system(", "popen(", "execve(", "dlopen("},
	"tmux":        {"run-shell ", "run ", "if-shell ", "pipe-pane "},
	"elisp":       {"(shell-command", "(call-process", "(start-process", "(async-shell-command", "(shell-command-to-string", "(process-lines"},
	"tcl":         {"exec ", "open \"|", "open {|", "spawn ", "system "},
	"lldb":        {"shell ", "system(", "popen(", "run("},
	"gnuplot":     {"!", "system(", "system ", "popen("},
	"ed":          {"!"},
	"applescript": {"do shell script ", "doShellScript("},
	"erlang":      {"os:cmd(", "System.shell("},
	"less":        {"!"},
	"dc":          {"!"},
	"m4":          {"syscmd(", "esyscmd("},
	"scheme":      {"(system"},
	"":            {"system(", "system ", "popen(", "exec(", "shell_exec(", "os.execute(", "sh -c", "Runtime.getRuntime().exec(", "ProcessBuilder(", "`", "sh(", "run(", "run-program ", "callCommand ", "callProcess ", "Sys.command ", "(shell ", "os:cmd(", "shell script "},
}

// argvCalls are the ways to a program whose words are texts of their own.
var argvCalls = []string{"(system*", "System.cmd(", "(call-process", "(process-lines", "ProcessBuilder("}

// deleteCalls are the functions that delete files, in languages that have no lexer here.
var deleteCalls = map[string][]string{
	"vim":     {"delete("},
	"elisp":   {"(delete-directory", "(delete-file"},
	"tcl":     {"file delete"},
	"r":       {"unlink(", "file.remove("},
	"julia":   {"rm("},
	"erlang":  {"File.rm", "file:del"},
	"haskell": {"removeDirectoryRecursive", "removePathForcibly", "removeFile"},
	"cmake":   {"file(REMOVE"},
	"other":   {"removeItem(", ".deleteDir(", "deleteRecursively(", "delete-directory", "(delete-file", "delete-tree", "Files.delete", "FileUtils.delete", "removeDir(", "removeFile(", "Directory.Delete(", "File.Delete("},
}

// deletes looks for calls that delete files. What they delete is the first text
// in quotes; without one it is not known.
func deletes(lang, src string, yield func(shell.Found) bool) bool {
	for _, call := range deleteCalls[lang] {
		for rest := src; ; {
			_, after, found := strings.Cut(rest, call)
			if !found {
				break
			}
			rest = after
			line, _, _ := strings.Cut(after, "\n")
			e := effect.Effect{Kind: effect.Delete, Target: effect.Unknown, Bits: effect.Partial, By: strings.Trim(call, "(. ")}
			if texts := quoted(line); len(texts) > 0 {
				e.Target, e.Bits = texts[0], 0
			} else if lang == "tcl" {
				if words := strings.Fields(strings.TrimRight(line, "};]")); len(words) > 0 && !strings.Contains(words[len(words)-1], "$") {
					e.Target, e.Bits = words[len(words)-1], 0
				}
			}
			if strings.ContainsAny(e.Target, "*?") {
				e.Bits |= effect.Glob
			}
			for _, sign := range [...]string{"rec", "dir", "tree", "rm_rf", "forc", `"rf"`, "'rf'", "removeitem", "-directory"} {
				if strings.Contains(strings.ToLower(call+line), sign) {
					e.Bits |= effect.Recursive
				}
			}
			if !yield(shell.Found{Effect: e}) {
				return false
			}
		}
	}
	return true
}

// quoted are the texts in quotes of a call, up to the bracket that ends it.
func quoted(s string) []string {
	var out []string
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth < -1 {
				return out
			}
		case '"', '\'':
			text, known := upTo(s[i+1:], c)
			if !known {
				return out
			}
			out = append(out, text)
			i += len(text) + strings.Count(text, string(c)) + 1 // as much as was written
		}
	}
	return out
}

// otherCode looks in code of a language without a lexer for the ways into a
// shell. The code itself runs in any case, which its caller has noted.
func otherCode(lang, src string, yield func(shell.Found) bool) {
	if lang == "npm-script" || lang == "enter:execute" {
		return
	}
	if !deletes(lang, src, yield) || lang == "applescript" && !appleScript(src, yield) {
		return
	}
	for _, call := range argvCalls {
		_, after, found := strings.Cut(src, call)
		if words := quoted(after); found && len(words) > 0 && !yield(shell.Found{Argv: words}) {
			return
		}
	}
	calls, ok := shellCalls[lang]
	if !ok {
		calls = shellCalls[""]
		if !texts(lang, src, yield) {
			return
		}
	}
	for _, call := range calls {
		for rest := src; ; {
			_, after, found := strings.Cut(rest, call)
			if !found {
				break
			}
			rest = after
			text, known := literal(after)
			if text == "" && known {
				continue
			}
			f := shell.Found{Effect: effect.Effect{Kind: effect.Opaque, Target: lang + " code", Bits: effect.Partial}}
			if known {
				f.Shell = text
			}
			if !yield(f) {
				return
			}
		}
	}
}

// runWords are parts of the names by which languages without a lexer here start programs.
var runWords = []string{"system", "exec", "spawn", "shell", "process", "command", "popen", "(sh ", "!", "`"}

// texts judges the texts of code that may start programs in ways that no table has, as
// commands: each by itself, and those of one line together. Text that is none is a
// program that nobody knows.
func texts(lang, src string, yield func(shell.Found) bool) bool {
	lower := strings.ToLower(src)
	if !slices.ContainsFunc(runWords, func(w string) bool { return strings.Contains(lower, w) }) {
		return true
	}
	for line := range strings.Lines(src) {
		bare := strings.TrimSpace(line)
		for _, start := range [...]string{"!", "platform shell ", "shell ", "process launch --shell -- "} {
			if command, ok := strings.CutPrefix(bare, start); ok && !yield(shell.Found{Shell: command, Effect: opaqueCode(lang)}) {
				return false
			}
		}
		all := quoted(strings.NewReplacer("(", " ", ")", " ").Replace(line))
		for _, text := range all {
			if strings.Contains(text, " ") && !yield(shell.Found{Shell: text, Effect: opaqueCode(lang)}) {
				return false
			}
		}
		if len(all) > 1 && all[0] != "" && !strings.Contains(all[0], " ") && !yield(shell.Found{Argv: all, Effect: opaqueCode(lang)}) {
			return false
		}
	}
	return true
}

func opaqueCode(lang string) effect.Effect {
	return effect.Effect{Kind: effect.Opaque, Target: lang + " code", Bits: effect.Partial}
}

// literal is the quoted text that follows a call, or the rest of the line after a
// sign that needs no quotes.
func literal(s string) (text string, known bool) {
	s = strings.TrimLeft(s, " \t([,")
	if s == "" {
		return "", true
	}
	if q := s[0]; q == '"' || q == '\'' || q == '`' || q == '{' {
		if q == '{' {
			q = '}'
		}
		return upTo(s[1:], q)
	}
	line, _, _ := strings.Cut(s, "\n")
	return line, true
}

// isPowerShell reports whether a command line is written for PowerShell: its first
// word is a cmdlet, Verb-Noun, or one of those that run text. Bash would read its
// backslashes otherwise, and which shell the agent has is not known.
func isPowerShell(command string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(command, " \t\n&$("), " ")
	verb, noun, ok := strings.Cut(word, "-")
	if strings.EqualFold(word, "iex") {
		return true
	}
	return ok && len(verb) > 2 && len(noun) > 2 && verb[0] >= 'A' && verb[0] <= 'Z' && noun[0] >= 'A' && noun[0] <= 'Z' &&
		strings.Trim(verb[1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// upTo is the text before the quote that ends it; a backslash keeps a quote in it.
func upTo(s string, q byte) (text string, known bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == q:
			return b.String(), true
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == q:
			i++
		}
		b.WriteByte(s[i])
	}
	return "", false
}
