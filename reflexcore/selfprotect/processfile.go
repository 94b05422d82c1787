package selfprotect

import (
	"path"
	"strings"

	"approver.example"
	"approver.example/reflexcore/effect"
)

// The program of a running process has a name in /proc, whatever it is called: the parent of
// a command is the agent itself, and /proc/$PPID/exe another one of which nothing is known.

// startsProcess judges that a call starts a program by that name, or by an open file's.
func (c *Check) startsProcess() (approver.Decision, string) {
	for i := range c.Effects {
		ef := &c.Effects[i]
		if ef.Kind != effect.Exec || ef.Bits&(effect.Remote|effect.Later) != 0 {
			continue
		}
		// What is read as a script comes from an open file every day: bash <(curl ...).
		itself := path.Base(ef.By) == path.Base(ef.Target)
		if isProcessProgram(ef.Target) || itself && isOpenFile(ef.Target) {
			return approver.Ask, "it starts the program of a process, which may be an agent, under a name by which nobody knows it (" + effect.Short(effect.Show(ef.Target)) + ")"
		}
	}
	return approver.Pass, ""
}

// inProcess are the steps of a path below the folder of a process; a pattern or what is not
// known may be any process.
func inProcess(p string) []string {
	rest, ok := strings.CutPrefix(path.Clean("/"+p), "/proc/")
	if !ok {
		return nil
	}
	steps := strings.Split(rest, "/")
	if len(steps) > 3 && mayBe(steps[1], "task") {
		steps = steps[2:]
	}
	return steps[1:]
}

// isProcessProgram reports whether a path is, or may be, the program of a process.
func isProcessProgram(p string) bool {
	in := inProcess(p)
	return len(in) == 1 && mayBe(in[0], "exe") || len(in) == 2 && in[0] == "map_files"
}

// isOpenFile reports whether a path is that of a file that a process has opened.
func isOpenFile(p string) bool {
	in := inProcess(p)
	return len(in) == 2 && mayBe(in[0], "fd") || path.Dir(path.Clean(p)) == "/dev/fd"
}

// wholes print all of a file if they are told to.
var wholes = map[string]bool{"head": true, "tail": true, "pv": true}

// copiesProcess reports whether an effect reads a process's program, and the call makes a
// file of it: a copy or a link has a name of its own.
func (c *Check) copiesProcess(read *effect.Effect) bool {
	as := *read
	switch {
	case wholes[read.By]:
		as.By = "cat"
	case !copiers[read.By] && !effect.Links(read):
		return false
	}
	program := isProcessProgram(read.Target)
	if !effect.IsKnown(read.Target) && !program { // cp "$(readlink /proc/$PPID/exe)" x
		for _, m := range located.FindAllString(c.Text, 8) {
			program = program || strings.Contains(m, "/proc") && strings.Contains(m, "exe")
		}
	}
	return program && givesName(c.Effects, &as, "")
}
