package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A shell or interpreter that is started with nothing to run does what its input says.
// Code has more ways to give a program its input than can be followed: pipes, files,
// other processes, dup2. So where nothing says what such a program reads, it runs
// something that nobody knows.

// bareness is what a machine knows of the programs that run their input.
type bareness struct {
	bare []bareProgram
	fedN []string // the programs of which the input was seen, or that have none
}

type bareProgram struct{ line, by string }

const maxBare = 32

// startsProgram notes a program that runs its input, if a command line is one.
func (m *machine) startsProgram(line, by string) {
	if len(m.bare) < maxBare && m.lang != "powershell" && isBare(line) {
		m.bare = append(m.bare, bareProgram{line, by})
	}
}

// hasInput notes that the input of a program was judged, or that it has none.
func (m *machine) hasInput(program string) {
	if len(m.bare) > 0 {
		m.fedN = append(m.fedN, program)
	}
}

// flushBare judges the programs of which nobody saw the input.
func (m *machine) flushBare() {
	for _, b := range m.bare {
		if at := slices.Index(m.fedN, b.line); at >= 0 {
			m.fedN = slices.Delete(m.fedN, at, at+1)
			continue
		}
		if !m.connected { // what the host sends is what it does, which was found
			m.found(Found{Op: Shell, Text: effect.Unknown, By: b.by})
			break
		}
	}
	m.bare, m.fedN = nil, nil
}

// bareWraps are words before a program that starts with the same input.
var bareWraps = []string{"env", "sudo", "doas", "nohup", "exec", "nice", "setsid", "stdbuf", "time", "command", "busybox", "timeout"}

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
			return !hasScript(strings.Join(fields[i:], " ")) && isShellLine(strings.Join(fields[i:], " ")) && !onlyTells(fields[i+1:], "-vx")
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
