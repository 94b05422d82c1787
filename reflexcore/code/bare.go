package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/wordset"
)

// A shell or interpreter that is started without a script runs its input. Code has more ways of
// providing an input than can be followed: pipes, files, other processes, dup2. So if nothing shows
// the input of such a program, it runs something unknown.

// transparentWraps are words before a program that keep its input.
var transparentWraps = []string{"env", "sudo", "doas", "nohup", "exec", "nice", "setsid", "stdbuf", "time", "command",
	"busybox", "timeout"}

// RunsItsInput reports whether a command line starts a shell or interpreter that runs its input,
// because it has no script among its words.
func RunsItsInput(line string) bool {
	if strings.ContainsAny(line, "|;&<>\n$`") { // package shell judges these
		return false
	}
	fields := strings.Fields(line)
	for i, f := range fields {
		name := f[strings.LastIndexByte(f, '/')+1:]
		lang := Language(name)
		switch {
		case isShellLine(name) && name != "busybox":
			return !hasScript(strings.Join(fields[i:], " ")) && isShellLine(strings.Join(fields[i:], " ")) &&
				!ignoresInput(fields[i+1:], "-vx")
		case lang == "python":
			return !hasCode(fields[i+1:]) && !ignoresInput(fields[i+1:], "-v")
		case lang != "" && lang != "sed" && lang != "awk" && lang != "cmd" && lang != "powershell":
			return !hasCode(fields[i+1:]) && !ignoresInput(fields[i+1:], "")
		case f == "-v" || f == "-V": // command -v bash
			return false
		case i == 0 && !slices.Contains(transparentWraps, name) && !strings.Contains(name, "="):
			return false
		}
	}
	return false
}

// ignoresInput reports whether an option makes an interpreter print something, or run something
// other than its input. For the options in reads that is not so in this program.
func ignoresInput(words []string, reads string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		switch w {
		case "-v":
			return !strings.Contains(reads, "v")
		case "-V", "-h", "--help", "--version", "--test", "--v8-options", "--ini", "-m", "--completion-bash":
			return true
		}
		return false
	})
}

// isShellLine reports whether a command starts a shell that reads commands from its input.
func isShellLine(line string) bool {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return false
	}
	name := strings.ToLower(fields[0][strings.LastIndexAny(fields[0], `/\`)+1:])
	switch strings.TrimSuffix(name, ".exe") {
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "csh", "tcsh", "fish", "busybox", "cmd", "powershell", "pwsh":
	default:
		return false
	}
	return !slices.ContainsFunc(fields[1:], func(f string) bool { return f == "-c" || f == "/c" || f == "/C" })
}

// hasScript reports whether a shell has a script among its words, so that it does not run its input.
func hasScript(line string) bool {
	fields := strings.Fields(line)
	for i := 1; i < len(fields); i++ {
		switch f := fields[i]; {
		case f == "-s" || isInput(f):
			return false
		case f == "-o" || f == "-O" || f == "+o" || f == "--rcfile" || f == "--init-file":
			i++
		case strings.ContainsAny(f[:1], "-+<>|&;") || fields[0] == "busybox" && i == 1:
		default:
			return true
		}
	}
	return false
}

// runsWhatItReads reports whether a command line has a program that runs its input: a shell or
// interpreter without a script, directly or after a program that starts another.
func runsWhatItReads(line string) bool {
	ends := func(r rune) bool { return r == '|' || r == ';' || r == '&' || r == '\n' }
	for part := range strings.FieldsFuncSeq(line, ends) {
		fields := strings.Fields(part)
		for i, f := range fields {
			name := f[strings.LastIndexByte(f, '/')+1:]
			rest := strings.Join(fields[i:], " ")
			switch lang := Language(name); {
			case isShellLine(rest):
				if !hasScript(rest) {
					return true
				}
			case lang != "" && lang != "sed" && lang != "awk" && !hasCode(fields[i+1:]):
				return true
			}
			if i == 0 && !slices.Contains(pipeWraps, name) && !strings.Contains(name, "=") {
				break
			}
		}
	}
	return false
}

// hasCode reports whether an interpreter has its code among its words.
func hasCode(words []string) bool {
	for _, w := range words {
		switch {
		case isInput(w):
			return false
		case w[0] != '-', w == "-c", w == "-m", w == "--version", w == "-V", w == "-n":
			return true
		case strings.HasPrefix(w, "-e"), strings.HasPrefix(w, "-p"):
			return true
		case strings.HasSuffix(w, "e") && !strings.HasPrefix(w, "--"):
			return true
		}
	}
	return false
}

// isInput reports whether a word means the standard input.
func isInput(w string) bool { return w == "-" || stdinPaths[w] }

// pipeWraps are words before a program, with their options that take a value.
var pipeWraps = []string{
	"env", "sudo", "doas", "nohup", "exec", "nice", "setsid", "stdbuf", "time", "command", "busybox",
	"ionice", "chroot", "ssh", "docker", "podman", "kubectl", "timeout", "unshare", "xargs", "cat", "tee",
}

// stdinPaths are the paths of the standard input.
var stdinPaths = wordset.Of("/dev/stdin /dev/fd/0 /proc/self/fd/0")
