package code

import (
	"slices"
	"strings"
)

// A shell or interpreter that is started with nothing to run does what its input says.
// Code has more ways to give a program its input than can be followed: pipes, files,
// other processes, dup2. So where nothing says what such a program reads, it runs
// something that nobody knows.

// bareWraps are words before a program that starts with the same input.
var bareWraps = []string{"env", "sudo", "doas", "nohup", "exec", "nice", "setsid", "stdbuf", "time", "command",
	"busybox", "timeout"}

// isBare reports whether a command line starts a shell or interpreter with nothing to run
// among its words.
func isBare(line string) bool {
	if strings.ContainsAny(line, "|;&<>\n$`") { // which the shell's own reading judges
		return false
	}
	fields := strings.Fields(line)
	for i, f := range fields {
		name := f[strings.LastIndexByte(f, '/')+1:]
		lang := Language(name)
		switch {
		case isShellLine(name) && name != "busybox":
			return !hasScript(strings.Join(fields[i:], " ")) && isShellLine(strings.Join(fields[i:], " ")) &&
				!onlyTells(fields[i+1:], "-vx")
		case lang == "python":
			return !givenCode(fields[i+1:]) && !onlyTells(fields[i+1:], "-v")
		case lang != "" && lang != "sed" && lang != "awk" && lang != "cmd" && lang != "powershell":
			return !givenCode(fields[i+1:]) && !onlyTells(fields[i+1:], "")
		case f == "-v" || f == "-V": // command -v bash
			return false
		case i == 0 && !slices.Contains(bareWraps, name) && !strings.Contains(name, "="):
			return false
		}
	}
	return false
}

// RunsItsInput reports whether a command line starts a shell or interpreter that runs what
// it reads, with nothing to run among its words.
func RunsItsInput(line string) bool { return isBare(line) }

// onlyTells reports whether an option makes an interpreter say something, or run what is
// not its input. Those in reads do so in other programs only.
func onlyTells(words []string, reads string) bool {
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

// isShellLine reports whether a command starts a shell that reads its commands
// from what it is connected to.
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
	for _, f := range fields[1:] {
		if f == "-c" || f == "/c" || f == "/C" {
			return false
		}
	}
	return true
}

// hasScript reports whether a shell is given a file to run, and so does not run its input.
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

// runsWhatItReads reports whether a command line has a program that runs what it reads: a
// shell or an interpreter without a script, by itself or behind a program that starts
// another.
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
			case lang != "" && lang != "sed" && lang != "awk" && !givenCode(fields[i+1:]):
				return true
			}
			if i == 0 && !slices.Contains(pipeWraps, name) && !strings.Contains(name, "=") {
				break
			}
		}
	}
	return false
}

// givenCode reports whether an interpreter has its code among its words.
func givenCode(words []string) bool {
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

// isInput reports whether a word stands for the standard input.
func isInput(w string) bool {
	return w == "-" || w == "/dev/stdin" || w == "/dev/fd/0" || w == "/proc/self/fd/0"
}

// pipeWraps are words before a program, with those that take a word of their own.
var pipeWraps = []string{
	"env", "sudo", "doas", "nohup", "exec", "nice", "setsid", "stdbuf", "time", "command", "busybox",
	"ionice", "chroot", "ssh", "docker", "podman", "kubectl", "timeout", "unshare", "xargs", "cat", "tee",
}
