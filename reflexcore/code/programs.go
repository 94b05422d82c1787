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

// process evaluates subprocess.run and the like: a list of words, or a line for the shell.
func (ps *programs) process(v value, args []arg, by string) {
	shell, _ := named(args, "shell")
	if program, ok := named(args, "executable"); ok && (program.kind != nameValue || program.s != "None") {
		ps.executable(program, v, shell.truthy(), by)
	}
	switch {
	case v.kind != listValue:
		ps.shell(v, by)
	case shell.truthy() && len(v.list) > 0:
		ps.shell(v.list[0], by)
	default:
		ps.argv(v.words(), v.taint, by)
	}
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

// spawn evaluates a program and a list of its arguments, as in spawn("rm", ["-rf"]).
func (ps *programs) spawn(r row, args []arg, by string) (line []string) {
	vs := values(args)
	if r.arg < 0 || r.arg >= len(vs) {
		ps.argv([]string{effect.Unknown}, argTaint(args), by)
		return []string{effect.Unknown}
	}
	vs = vs[r.arg:]
	words := vs[0].words()
	for _, v := range vs[1:] {
		switch {
		case v.keys != nil:
			if more, ok := v.key("args"); ok { // Deno.Command
				words = append(words, more.words()...)
			}
		case v.fn != nil:
		case v.kind == listValue:
			words = append(words, v.words()...)
		default:
			words = append(words, v.str())
		}
	}
	ps.ownShell(text(strings.Join(words, " "), taints(vs)), args, by)
	if shell, ok := named(args, "shell"); ok && (shell.truthy() || shell.kind == textValue) {
		ps.shell(text(strings.Join(words, " "), taints(vs)), by)
		return words
	}
	ps.argv(words, taints(vs), by)
	return words
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

// execv evaluates the exec family: a path, then argv, which begins with the program's name.
func (ps *programs) execv(r row, args []arg, by string) {
	vs := values(args)
	if r.arg < 0 || r.arg >= len(vs) {
		ps.argv([]string{effect.Unknown}, argTaint(args), by)
		return
	}
	vs = vs[r.arg:]
	words := []string{vs[0].str()}
	switch {
	case r.action == "execl":
		for i, v := range vs[1:] {
			if i > 0 && v.keys == nil {
				words = append(words, v.str())
			}
		}
	case len(vs) > 1 && vs[1].kind == listValue:
		if w := vs[1].words(); len(w) > 1 {
			words = append(words, w[1:]...)
		}
	case len(vs) > 1:
		words = append(words, effect.Unknown)
	}
	ps.argv(words, taints(vs), by)
}

// ownShell judges Node's option for the shell, which can be any program.
func (ps *programs) ownShell(line value, args []arg, by string) {
	shell, ok := named(args, "shell")
	if !ok || !ps.d.library.shellOption || shell.kind != textValue || isShellLine(shell.str()) {
		return
	}
	ps.argv([]string{shell.str(), "-c", line.str()}, shell.taint|line.taint, by)
}

// pipeline evaluates Open3.pipeline. Each argument is a command line or the words of a command, and
// the output of one is the input of the next.
func (ps *programs) pipeline(args []arg, by string) {
	var parts []string
	for _, v := range values(args) {
		switch {
		case v.keys != nil: // the environment, the options
		case v.kind == listValue:
			var words []string
			for _, w := range v.list {
				if w.keys == nil {
					words = append(words, singleQuoted(w.str()))
				}
			}
			parts = append(parts, strings.Join(words, " "))
		default:
			parts = append(parts, v.str())
		}
	}
	if len(parts) == 0 {
		return
	}
	ps.noteProgram(parts[0], by) // its input is not known
	ps.shell(text(strings.Join(parts, " | "), argTaint(args)), by)
}

// forked evaluates child_process.fork(script, args): another node runs the script, unless an option
// names another program.
func (ps *programs) forked(args []arg, by string) {
	words := []string{"node"}
	if program, ok := named(args, "execPath"); ok {
		words[0] = program.str()
	}
	if given, ok := named(args, "execArgv"); ok {
		words = append(words, given.words()...)
	}
	for _, v := range values(args) {
		if v.keys == nil && v.fn == nil {
			words = append(words, v.words()...)
		}
	}
	ps.argv(words, argTaint(args), by)
}

// cmdNested evaluates cmd with /c or /k.
func (ps *programs) cmdNested(args []arg, by string) {
	vs := values(args)
	for i, v := range vs {
		if s := strings.ToLower(v.str()); s == "/c" || s == "/k" || s == "/r" {
			line := text(concat(vs[i+1:], " "), taints(vs))
			ps.out.found(Found{Op: Code, Lang: "cmd", Text: line.s, Taint: line.taint, By: by})
			return
		}
	}
	ps.argv([]string{"cmd"}, 0, by)
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

func singleQuoted(word string) string {
	if !effect.IsKnown(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
