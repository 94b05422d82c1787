// Package otherlang finds dangerous calls in languages that have no lexer here: seldom used
// languages, AppleScript, and configuration files that name programs to run.
//
// Read otherlang.go, then writes.go, editors.go, applescript.go and configlang.go.
package otherlang

import (
	"iter"
	"slices"
	"strings"

	"approver.example/reflexcore/code"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// shellCalls are the functions that run a shell, by language. The command line is the text in quotes
// after it, or the rest of the line.
var shellCalls = map[string][]string{
	"vim": {"!", "system(", "systemlist(", "term_start(", "termopen(", "jobstart(", "job_start(", "os.execute(",
		"io.popen(", "chansend(", "ch_sendraw(", "job_send("},
	"gdb": {"shell ", "!", "python ", "system(", "popen(", "execve(", "dlopen("},
	"elisp": {"(shell-command", "(call-process", "(async-shell-command", "(shell-command-to-string",
		"(process-lines", "(compile ", "(eshell-command"},
	"tcl":         {"exec ", "open \"|", "open {|", "spawn ", "system "},
	"lldb":        {"shell ", "system(", "popen(", "run("},
	"gnuplot":     {"!", "system(", "system ", "popen("},
	"ed":          {"!"},
	"applescript": {"do shell script ", "doShellScript("},
	"erlang":      {"os:cmd(", ":os.cmd(", "System.shell(", "System.cmd(", "open_port(", "Port.open("},
	"less":        {"!"},
	"dc":          {"!"},
	"m4":          {"syscmd(", "esyscmd("},
	"scheme":      {"(system"},
	"": {"system(", "system ", "popen(", "exec(", "shell_exec(", "os.execute(", "sh -c",
		"Runtime.getRuntime().exec(", "ProcessBuilder(", "`", "sh(", "run(", "run-program ", "callCommand ", "callProcess ",
		"Sys.command ", "(shell ", "os:cmd(", "shell script ", "qx/", "qx{", "execCmd(", "shellExec("},
}

// argvCalls are functions that start a program with each argument as a text of its own.
var argvCalls = []string{"(start-process", "(make-process", "(start-file-process", "(process-file", "(make-term",
	"(ansi-term", "(term ", "(system*", "System.cmd(", "(call-process", "(process-lines", "ProcessBuilder("}

// valueNames are names of functions that start programs and are used as values. Their arguments are
// not known.
var valueNames = map[string][]string{
	"vim": {`"system"`, "'system'", `"systemlist"`, "'systemlist'", `"job_start"`, "'job_start'", `"jobstart"`,
		"'jobstart'"},
	"elisp": {"'shell-command", `"shell-command`, "'call-process", `"call-process`, "'start-process", `"start-process`,
		"'make-process", `"make-process`},
	"erlang": {":shell,", ":cmd,", "&System.", "&:os.", "fun os:cmd"},
}

// deleteCalls are functions that delete files, by language.
var deleteCalls = map[string][]string{
	"vim":     {"delete("},
	"elisp":   {"(delete-directory", "(delete-file"},
	"tcl":     {"file delete"},
	"r":       {"unlink(", "file.remove("},
	"julia":   {"rm("},
	"erlang":  {"File.rm", "file:del"},
	"haskell": {"removeDirectoryRecursive", "removePathForcibly", "removeFile"},
	"cmake":   {"file(REMOVE"},
	"other": {"removeItem(", ".deleteDir(", "deleteRecursively(", "delete-directory", "(delete-file", "delete-tree",
		"Files.delete", "FileUtils.delete", "removeDir(", "removeFile(", "Directory.Delete(", "File.Delete("},
}

// A finder yields what a text does, until the caller wants no more.
type finder struct {
	lang, src string
	yield     func(shell.Found) bool
	stopped   bool
}

func (f *finder) found(found shell.Found) { f.stopped = f.stopped || !f.yield(found) }

// shell finds a command line.
func (f *finder) shell(line string) { f.found(shell.Found{Shell: line}) }

// opaque finds what code in a language without a lexer may do, together with a part of it that is
// known.
func (f *finder) opaque(found shell.Found) {
	found.Effect = effect.Effect{Kind: effect.Opaque, Target: f.lang + " code", Bits: effect.Partial}
	f.found(found)
}

// lines yields the trimmed lines of the text.
func (f *finder) lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(f.src) {
			if f.stopped || !yield(strings.TrimSpace(line)) {
				return
			}
		}
	}
}

// deletes finds calls that delete files. The file is the first text in quotes; without one it is not
// known.
func (f *finder) deletes() {
	for _, call := range deleteCalls[f.lang] {
		for after := range afterEach(f.src, call) {
			line := firstLine(after)
			e := effect.Effect{Kind: effect.Delete, Target: effect.Unknown, Bits: effect.Partial, By: strings.Trim(call, "(. ")}
			if texts := quoted(line); len(texts) > 0 {
				e.Target, e.Bits = texts[0], 0
			} else if f.lang == "tcl" {
				if words := strings.Fields(strings.TrimRight(line, "};]")); len(words) > 0 &&
					!strings.Contains(words[len(words)-1], "$") {
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
			f.found(shell.Found{Effect: e})
		}
	}
}

// afterEach yields the text after each occurrence of a call.
func afterEach(src, call string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			var found bool
			if _, src, found = strings.Cut(src, call); !found || !yield(src) {
				return
			}
		}
	}
}

// quoted returns the quoted texts of a call, up to its closing bracket.
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
			text, known := untilQuote(s[i+1:], c)
			if !known {
				return out
			}
			out = append(out, text)
			i += len(text) + strings.Count(text, string(c)) + 1 // as much as was written
		}
	}
	return out
}

// Calls finds calls of a shell in code of a language without a lexer. The code itself runs in any
// case, and the caller has recorded that.
func Calls(lang, src string, yield func(shell.Found) bool) {
	f := &finder{lang: lang, src: src, yield: yield}
	switch lang {
	case "npm-script", "enter:execute":
		return
	case "tmux": // each line is what stands behind tmux on a command line
		for line := range f.lines() {
			if line != "" && line[0] != '#' {
				f.shell("tmux " + line)
			}
		}
		return
	case "elixir":
		f.lang = "erlang"
	}
	f.deletes()
	f.writes()
	if lang == "vim" || lang == "ed" {
		f.editor()
	}
	if lang == "applescript" {
		f.appleScript()
	}
	f.argvTexts()
	if lang == "gdb" {
		f.gdbPipes()
	}
	if lang == "vim" || lang == "gdb" || lang == "lldb" {
		f.vimCode()
	}
	if wordset.ContainsAny(src, valueNames[f.lang]...) {
		f.shell(effect.Unknown)
	}
	calls, ok := shellCalls[f.lang]
	if !ok {
		calls = shellCalls[""]
		f.unknownCalls()
	}
	for _, call := range calls {
		for after := range afterEach(src, call) {
			if f.stopped {
				return
			}
			f.shellCall(call, src[:len(src)-len(after)-len(call)], after)
		}
	}
}

// shellCall judges a call of a shell by the text before and after it.
func (f *finder) shellCall(call, before, after string) {
	if call == "!" && f.lang == "vim" && isForced(before) {
		return
	}
	whole := !isLongerName(before, call)
	text, known := literal(after)
	if whole && strings.HasSuffix(call, "(") && isComputed(after) {
		text = effect.Unknown
	}
	switch {
	case !known:
		text = ""
	case text == "":
		return
	}
	f.opaque(shell.Found{Shell: text})
	if code.RunsItsInput(text) || whole && slices.ContainsFunc(quoted(firstLine(after)), code.RunsItsInput) {
		f.shell(effect.Unknown)
	}
}

// argvTexts finds calls whose texts are the words of a command. Other names may come before the
// program.
func (f *finder) argvTexts() {
	for _, call := range argvCalls {
		_, after, found := strings.Cut(f.src, call)
		if !found {
			continue
		}
		words := quoted(callArguments(after))
		if len(words) == 0 {
			f.shell(effect.Unknown)
		}
		for n := range min(len(words), 3) {
			f.found(shell.Found{Argv: words[n:]})
			if code.RunsItsInput(strings.Join(words[n:], " ")) {
				f.shell(effect.Unknown)
			}
		}
	}
}

// callArguments returns the text before the closing bracket of a call.
func callArguments(after string) string {
	depth := 0
	for i := 0; i < len(after); i++ {
		switch c := after[i]; c {
		case '"':
			text, known := untilQuote(after[i+1:], c)
			if !known {
				return after
			}
			i += len(text) + strings.Count(text, `"`) + 1
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return after[:i]
			}
		}
	}
	return after
}

// gdbPipes finds the programs to which gdb pipes the output of its commands: pipe COMMAND | SHELL.
func (f *finder) gdbPipes() {
	for line := range f.lines() {
		rest, ok := strings.CutPrefix(line, "pipe ")
		if !ok {
			rest, ok = strings.CutPrefix(line, "|")
		}
		if !ok {
			continue
		}
		_, command, found := strings.Cut(rest, "|")
		if !found || strings.HasPrefix(strings.TrimSpace(rest), "-") { // -d names another delimiter
			command = effect.Unknown
		}
		f.shell(command)
	}
}

// vimLanguages are the commands of vim and of debuggers that run a line in another language.
var vimLanguages = map[string]string{
	"lua": "lua", "luado": "lua", "py": "python", "py3": "python", "python": "python", "python3": "python",
	"pyx": "python", "pydo": "python", "py3do": "python", "script": "python", "pi": "python",
	"python-interactive": "python",
	"perl":               "perl", "perldo": "perl", "ruby": "ruby", "rubydo": "ruby",
}

// vimCode finds code in other languages in commands of vim.
func (f *finder) vimCode() {
	for line := range strings.Lines(f.src) {
		word, rest, _ := strings.Cut(strings.TrimLeft(line, ": +\t"), " ")
		lang, ok := vimLanguages[word]
		if !ok {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(rest), "<<") { // up to a line with its name
			_, rest, _ = strings.Cut(f.src, line)
		}
		f.found(shell.Found{Lang: lang, Code: rest})
	}
}

// isLongerName reports whether the text before a call makes it the end of a longer name.
func isLongerName(before, call string) bool {
	if before == "" || !isWord(call[0]) {
		return false
	}
	return isWord(before[len(before)-1])
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// runWords are parts of the names of functions that start programs.
var runWords = []string{"system", "exec", "spawn", "shell", "process", "run-program", "runprogram", "run(", "run \"",
	"run '", "command", "popen", "(sh ", "!", "`"}

// unknownCalls is for code that may start programs in unknown ways. It finds the code's texts as
// commands: each by itself, and those of one line together.
func (f *finder) unknownCalls() {
	if !wordset.ContainsAny(strings.ToLower(f.src), runWords...) {
		return
	}
	for line := range f.lines() {
		for _, start := range [...]string{"!", "platform shell ", "shell ", "process launch --shell -- "} {
			if command, ok := strings.CutPrefix(line, start); ok {
				f.opaque(shell.Found{Shell: command})
			}
		}
		all := quoted(strings.NewReplacer("(", " ", ")", " ").Replace(line))
		for _, text := range all {
			if strings.Contains(text, " ") {
				f.opaque(shell.Found{Shell: text})
			}
			if code.RunsItsInput(text) {
				f.shell(effect.Unknown)
			}
		}
		if len(all) > 1 && all[0] != "" && !strings.Contains(all[0], " ") {
			f.opaque(shell.Found{Argv: all})
		}
	}
}

// literal returns the quoted text after a call, or the rest of the line after an operator that needs
// no quotes.
func literal(s string) (text string, known bool) {
	s = strings.TrimLeft(s, " \t([,")
	if len(s) > 2 && s[0] == '~' { // a sigil of Elixir
		s = s[2:]
	}
	if s == "" {
		return "", true
	}
	if q := s[0]; q == '"' || q == '\'' || q == '`' || q == '{' {
		if q == '{' {
			q = '}'
		}
		return untilQuote(s[1:], q)
	}
	return firstLine(s), true
}

// isComputed reports whether the argument of a call is no literal, so that its value is not known.
func isComputed(after string) bool {
	first := strings.TrimLeft(after, " \t([{,~:cCsS")
	if first == "" || first[0] == ')' || strings.IndexByte("\"'`", first[0]) >= 0 {
		return false
	}
	return len(quoted(firstLine(after))) == 0
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// IsPowerShell reports whether a command line is written for PowerShell: its first word is a cmdlet,
// Verb-Noun, or one of those that run text. Bash would read its backslashes differently, and the
// agent's shell is not known.
func IsPowerShell(command string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(command, " \t\n&$("), " ")
	verb, noun, ok := strings.Cut(word, "-")
	if strings.EqualFold(word, "iex") {
		return true
	}
	return ok && len(verb) > 2 && len(noun) > 2 && verb[0] >= 'A' && verb[0] <= 'Z' && noun[0] >= 'A' && noun[0] <= 'Z' &&
		strings.Trim(verb[1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// untilQuote returns the text before the closing quote; a backslash escapes a quote.
func untilQuote(s string, q byte) (text string, known bool) {
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
