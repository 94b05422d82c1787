package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// shell yields a command line.
func (ps *programs) shell(v value, by string) {
	line := v.str()
	if v.kind == nameValue && v.of != nil {
		v.taint |= v.of.taint
	}
	if strings.TrimSpace(line) == "" { // awk's system("") only flushes
		return
	}
	ps.settlePipes()
	ps.out.found(Found{Op: Shell, Text: line, Taint: v.taint, By: by})
	ps.noteProgram(line, by)
	ps.remoteShell(line, line, by)
}

// argv yields the words of a command.
func (ps *programs) argv(words []string, taint effect.Taint, by string) {
	if len(words) == 0 {
		return
	}
	ps.settlePipes()
	ps.out.found(Found{Op: Argv, Args: words, Taint: taint, By: by})
	ps.noteProgram(strings.Join(words, " "), by)
	ps.remoteShell(words[0], strings.Join(words, " "), by)
}

// executable handles an explicit program that runs instead of the first word. The words are also
// judged as they are, because the program may be the one that they name.
func (ps *programs) executable(program, v value, shell bool, by string) {
	words, taint := v.words(), v.taint|program.taint
	switch {
	case shell && isShellLine(program.str()):
	case shell:
		ps.argv(append([]string{program.str(), "-c"}, words...), taint, by)
	case len(words) > 0:
		ps.argv(append([]string{program.str()}, words[1:]...), taint, by)
	}
}

// systemList evaluates system and exec of Perl and Ruby: one argument is a line for the shell, more
// are words.
func (ps *programs) systemList(args []arg, from int, by string) string {
	vs := values(args)
	if len(args) > 1 && args[0].name == perlProgram { // runs the block, with the first word as its name
		words := append([]string{args[0].str()}, list(vs[min(1, len(vs)):], 0).words()...)
		ps.argv(words, argTaint(args), by)
		defer ps.started(processType, list(textValues(words, 0), 0), nil, by)
	}
	for len(vs) > 0 && vs[0].keys != nil { // Ruby's environment
		vs = vs[1:]
	}
	if n := len(vs); n > 0 && vs[n-1].keys != nil {
		vs = vs[:n-1]
	}
	vs = vs[min(max(0, from), len(vs)):]
	var words []string
	for _, v := range vs {
		words = append(words, v.words()...)
	}
	switch {
	case len(vs) == 0:
		ps.shell(unknown(argTaint(args)), by)
	case len(vs) == 1 && vs[0].kind != listValue:
		ps.shell(vs[0], by)
	default:
		ps.argv(words, taints(vs), by)
	}
	return strings.Join(words, " ")
}

// ownShell judges Node's option for the shell, which can be any program.
func (ps *programs) ownShell(line value, args []arg, by string) {
	shell, ok := named(args, "shell")
	if !ok || !ps.d.library.shellOption || shell.kind != textValue || isShellLine(shell.str()) {
		return
	}
	ps.argv([]string{shell.str(), "-c", line.str()}, shell.taint|line.taint, by)
}

func (ps *programs) opensOperand(v value) {
	line := strings.TrimSpace(v.str())
	if command := strings.Trim(line, "| "); len(command) < len(line) && (line[0] == '|' || line[len(line)-1] == '|') {
		ps.shell(text(command, v.taint), "<>")
	}
}

// remoteShell reports a shell together with a socket to another host, in any order: the host can
// control the shell.
func (ps *programs) remoteShell(program, line, by string) {
	switch {
	case !isShellLine(line):
	case ps.connected:
		ps.out.found(Found{Op: Exec, Text: program, Taint: effect.Network, By: by})
	default:
		ps.idleShell = program
	}
}
