package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// saysCode walks the command lines in code that an unknown program gets, such as -e 'system("rm x")':
// the text in quotes right behind the name of a function that starts programs.
func (pr *programRunner) saysCode(args []field) {
	for _, f := range args {
		if len(f.text) > 4096 || !f.known() || !strings.ContainsAny(f.text, `"'`) {
			continue
		}
		for i := 1; i < len(f.text); i++ {
			quote := f.text[i]
			if quote != '"' && quote != '\'' || !startsPrograms(f.text[:i]) {
				continue
			}
			line, _, closed := strings.Cut(f.text[i+1:], string(quote))
			if !closed {
				break
			}
			if isShellPath(line) {
				pr.shellInside(args[0].text)
			}
			pr.maybeShell(data{line, f.taint})
			i += len(line) + 1
		}
	}
}

// startsPrograms reports whether a text ends with the name of a function that starts programs, and an
// opening bracket or a space.
func startsPrograms(before string) bool {
	name := strings.TrimRight(before, " ([{")
	if name == before {
		return false
	}
	at := strings.LastIndexFunc(name, func(r rune) bool { return !strings.ContainsRune(flagLetters, r) })
	name = strings.ToLower(name[at+1:])
	return wordset.ContainsAny(name, startingNames...) && len(name) < 32
}

// startingNames are parts of the names of functions that start programs.
var startingNames = strings.Fields("system exec spawn shell popen unix command cmd process")

// isShellPath reports whether a text is the path of a shell, perhaps told to be interactive.
func isShellPath(text string) bool {
	text = strings.TrimSuffix(text, " -i")
	return strings.HasPrefix(text, "/") && shellNames[path.Base(text)]
}

var shellNames = wordset.Of("sh bash dash ash zsh ksh")

// handsProgram notes that an unknown program is told, by an option that does not speak of a shell, to
// start one: --script /bin/sh. A program that only starts others has the shell behind all of its
// options, and one that gives a terminal has it behind -e or -it.
func (pr *programRunner) handsProgram(args []field) {
	for i, f := range args[1:] {
		flag, value, attached := strings.Cut(f.text, "=")
		if !attached {
			flag, value = args[i].text, f.text
		}
		if wordset.ContainsAny(f.text, "; /bin/sh", "| /bin/sh", "$(/bin/sh", "`/bin/sh") {
			flag, value = "", "/bin/sh -i" // a command line within a word
		}
		if isShellPath(value) && (strings.HasSuffix(value, " -i") ||
			strings.HasPrefix(flag, "-") && (attached || i > 0) && !givesTerminal(flag)) {
			pr.shellInside(args[0].text)
			return
		}
	}
}

// givesTerminal reports whether a flag says that a shell or a terminal is what people want to have.
func givesTerminal(flag string) bool {
	name := strings.ToLower(strings.TrimLeft(flag, "-"))
	return wordset.ContainsAny(name, terminalFlags...) || flag == "-S" ||
		len(name) <= 3 && strings.Trim(name, "itecd") == ""
}

// terminalFlags are parts of the names of flags behind which people expect a shell.
var terminalFlags = strings.Fields("shell pty tty term interactive entrypoint login interpreter")

// shellInside notes that a program starts a shell, see [applied.stdinPayload].
func (pr *programRunner) shellInside(by string) {
	pr.in.add(effect.Effect{Kind: effect.Exec, Target: "a shell", What: "inside", Bits: effect.Partial, By: by})
}

// saysCommand walks the value of a variable for one program whose name says that it is a command line:
// X_PASSWORD_COMMAND, X_HOOK. Those that are known to mean something else, or nothing, are in the tables.
func (pr *programRunner) saysCommand(name string, value data) {
	if !strings.ContainsAny(value.text, " ;|&\n") || pr.in.Table.Variable(name) {
		return
	}
	last := strings.ToUpper(name[strings.LastIndexByte(name, '_')+1:])
	if slices.Contains(commandNames, last) {
		pr.maybeShell(value)
	}
}

// commandNames are the last words of names of variables with command lines.
var commandNames = strings.Fields("COMMAND CMD HOOK EXEC PROGRAM PROG PASSCOMMAND OPENER RUNNER HANDLER HELPER " +
	"ASKPASS FILTER")
