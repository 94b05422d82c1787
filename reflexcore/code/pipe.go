package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// A program whose input is a pipe runs what is written to the pipe: popen("sh", "w").write(…) runs a
// command line like system(…). What is written is collected for each pipe, and judged at the end as
// the program's input. If the program runs its input, and something unknown is written to it, it
// runs an unknown command.

// A pipe is connected to the input of a program.
type pipe struct {
	program  string
	text     string
	taint    effect.Taint
	wrote    bool
	judged   int  // the length of the text that was judged before the end
	expected bool // the code asked for a pipe, so unseen input is unknown
	by       string
}

const (
	maxPipes    = 64
	processType = "process"
	// childType is the type of a result that may have a pipe and is not known otherwise.
	childType = "child"
)

// piped returns the object of a started program whose input may be a pipe. Programs over the limit
// share one pipe, which counts as that of a shell.
func (ps *programs) piped(kind string, program value, expected bool, by string) value {
	v := value{kind: objectValue, s: kind, taint: effect.File | program.taint}
	name := processName(program)
	if len(ps.pipes) >= maxPipes {
		p := &ps.pipes[maxPipes-1]
		p.program, p.expected = "sh", p.expected || expected && runsWhatItReads(name)
	} else {
		ps.pipes = append(ps.pipes, pipe{program: name, expected: expected, by: by})
	}
	v.n = int64(len(ps.pipes))
	return v
}

// noPipes are arguments that give a program no input from the code.
var noPipes = []string{"None", "subprocess.DEVNULL", "DEVNULL", "null", "undefined"}

// started returns the object of a started program. Its input may be a text, a pipe that the code
// writes to, or the output of another program or file.
func (ps *programs) started(kind string, program value, args []arg, by string) value {
	name := processName(program)
	expected := ps.hasPipe(args, by)
	in, ok := named(args, "input")
	if !ok && by == "vim.fn.system" {
		in, ok = argument(args, 1)
	}
	if ok {
		ps.judgeShellInput(name, in, by)
		ps.inputOf(name, in, by)
		expected = false
	}
	switch in, ok := named(args, "stdin"); {
	case ok && in.kind == nameValue && slices.Contains(noPipes, in.s):
		if strings.HasSuffix(in.s, "DEVNULL") {
			ps.noteInput(name)
		}
		expected = false
	case ok && in.kind == objectValue && in.s == "file" && isShellLine(name) && !hasScript(name):
		ps.out.found(Found{Op: Exec, Text: in.from, Taint: in.taint, By: by})
		ps.noteInput(name)
		expected = false
	case ok:
		expected = true
	}
	if waits(by) {
		return value{kind: objectValue, s: kind, taint: effect.File}
	}
	return ps.piped(kind, program, expected, by)
}

// hasPipe reports whether a call starts a program with a pipe as its input even if no argument says
// so.
func (ps *programs) hasPipe(args []arg, by string) bool {
	switch lastName(by) {
	case "popen": // os.popen("sh", "w")
		mode, ok := argument(args, 1)
		return ok && mode.keys == nil && (!mode.known() || strings.ContainsAny(mode.str(), "wa+"))
	case "popen2", "popen3", "popen2e", "proc_open", "open2", "open3", "capture2", "capture2e", "capture3", "writer":
		return true
	case "exec", "spawn", "execFile", "$", "execa", "command", "execaCommand": // Node starts them with a pipe
		stdio, _ := named(args, "stdio")
		if stdio.kind == listValue && stdio.keys == nil && len(stdio.list) > 0 {
			stdio = stdio.list[0]
		}
		quiet := stdio.kind == textValue && (stdio.s == "ignore" || stdio.s == "inherit")
		return !quiet && (ps.d.library.pipesChildren || strings.HasPrefix(by, "pexpect.") || strings.HasPrefix(by, "PTY."))
	}
	return false
}

// waits reports whether a function returns after the program has ended, so that nothing can be
// written to it.
func waits(by string) bool {
	last := lastName(by)
	return waitingFunctions[last] || strings.HasSuffix(last, "Sync")
}

var waitingFunctions = wordset.Of("run call check_call check_output getoutput getstatusoutput system shell_exec " +
	"passthru")

// pipeOf returns the pipe to a process, or to its input.
func (ps *programs) pipeOf(v *value) *pipe {
	for depth := 0; v != nil && depth < 8; v, depth = v.of, depth+1 {
		if v.kind == objectValue && (v.s == processType || v.s == childType) && v.n > 0 && int(v.n) <= len(ps.pipes) {
			return &ps.pipes[v.n-1]
		}
	}
	return nil
}

// put adds what is written to a pipe. If that is too long, the rest is not known.
func (ps *programs) put(p *pipe, v value) {
	for _, w := range v.words() {
		p.text = glue(p.text, w)
	}
	p.wrote = true
	p.taint |= v.taint
	if len(p.text) > maxText {
		ps.inputOf(p.program, value{kind: textValue, s: p.text, taint: p.taint}, p.by)
		p.text = effect.Unknown
	}
}

// pipePrints are functions that write to their first argument.
var pipePrints = []string{"print", "printf", "say", "syswrite", "fwrite", "fputs", "fprintf"}

// pipeQuiet are methods of a process and its pipes that write nothing.
var pipeQuiet = []string{
	"wait", "poll", "kill", "autoflush", "terminate", "send_signal", "close", "flush", "on", "once", "unref", "ref",
	"then", "catch", "setEncoding", "pipe", "read", "readline", "readlines", "decode", "strip", "toString", "split",
	"splitlines", "trim", "disconnect", "destroy", "removeListener", "__exit__", "cork", "uncork",
	"setDefaultEncoding", "rstrip", "isatty",
}

// pipeWords are methods that write their argument unchanged.
var pipeWords = []string{"write", "writelines", "communicate", "end", "print", "puts", "send"}

// pipeWrites records what a call writes to a pipe. It reports whether the call is a method of the
// process or its pipe.
func (ps *programs) pipeWrites(callee value, args []arg) bool {
	if len(ps.pipes) == 0 {
		return false
	}
	p := ps.pipeOf(callee.of)
	for i := range args {
		to := ps.pipeOf(&args[i].value)
		switch {
		case to == nil || to == p:
		case args[i].name == "file" && callee.kind == nameValue && callee.s == "print":
			ps.put(to, text(concat(values(args), " ")+"\n", taints(values(args))))
		case i == 0 && len(args) > 1 && !ps.d.library.printsAll && slices.Contains(pipePrints, callee.s):
			ps.put(to, printed(callee.s, values(args[1:])))
			if ps.d.library.printSeparator && len(args) > 2 { // $, may stand between them
				ps.inputOf(to.program, text(concat(values(args[1:]), " "), argTaint(args)), to.by)
			}
		case i == 0 && callee.s == "close", callee.s == "print" && args[i].name == "":
		case args[i].name == "stdout", args[i].name == "stderr":
		default:
			ps.put(to, unknown(0))
		}
	}
	if p == nil || callee.kind != nameValue {
		return false
	}
	name := lastName(callee.s)
	first, given := argument(args, 0)
	if in, ok := named(args, "input"); ok {
		first, given = in, true
	}
	switch {
	case !given || slices.Contains(pipeQuiet, name) || first.fn != nil:
	case slices.Contains(pipeWords, name):
		ps.put(p, first)
	case name == "sendline":
		ps.put(p, add(first, text("\n", 0), true))
	default:
		ps.put(p, unknown(first.taint))
	}
	return true
}

// printed returns what a function prints of its arguments.
func printed(name string, vs []value) value {
	if strings.HasSuffix(name, "printf") {
		return sprintf(vs[0], vs[1:])
	}
	return text(concat(vs, ""), taints(vs))
}

// settlePipes judges what was written to pipes before another program starts, which may run the
// files that they wrote.
func (ps *programs) settlePipes() {
	for i := range ps.pipes {
		if p := &ps.pipes[i]; p.wrote && p.judged != len(p.text) && !isShellLine(p.program) {
			p.judged = len(p.text)
			ps.inputOf(p.program, value{kind: textValue, s: p.text, taint: p.taint}, p.by)
		}
	}
}

// flushPipes judges what was written to pipes.
func (ps *programs) flushPipes() {
	for _, p := range ps.pipes {
		in := value{kind: textValue, s: p.text, taint: p.taint}
		if p.wrote && p.judged == len(p.text) && p.judged > 0 {
			continue
		}
		if !p.wrote {
			if !p.expected || ps.connected && isShellLine(p.program) {
				continue // the host controls it, which was reported
			}
			in = unknown(0)
		}
		ps.inputOf(p.program, in, p.by)
	}
	ps.pipes = nil
}

// judgeShellInput judges the input of a program. The input of a shell may be run even if the shell
// has a script, because the script may read it.
func (ps *programs) judgeShellInput(program string, in value, by string) {
	if isShellLine(program) && hasScript(program) {
		ps.out.found(Found{Op: Shell, Text: in.str(), Taint: in.taint, By: by})
	}
}

// inputOf judges a program by its input.
func (ps *programs) inputOf(program string, in value, by string) {
	ps.noteInput(program)
	line := in.str()
	switch {
	case isShellLine(program) && !hasScript(program):
		if strings.TrimSpace(line) != "" {
			ps.out.found(Found{Op: Shell, Text: line, Taint: in.taint, By: by})
		}
		return
	case !effect.IsKnown(line) && runsWhatItReads(program):
		ps.out.found(Found{Op: Shell, Text: effect.Unknown, Taint: in.taint, By: by})
	}
	if strings.Trim(line, effect.Unknown+" \n") != "" {
		ps.out.found(Found{Op: Shell, Text: withInput(program, line), Taint: in.taint, By: by})
	}
}

// withInput returns a command line that gives a program its input.
func withInput(program, in string) string {
	end := "END_OF_INPUT"
	for strings.Contains(in, end) {
		end += "_"
	}
	in = strings.NewReplacer(`\`, `\\`, "$", `\$`, "`", "\\`").Replace(in)
	return "{ " + program + "\n} <<" + end + "\n" + strings.TrimSuffix(in, "\n") + "\n" + end + "\n"
}

// programs are the programs that the code starts, and their inputs.
type programs struct {
	d         *dialect
	out       *report
	connected bool          // a socket to another host was opened
	idleShell string        // a shell that may be connected to a socket
	pipes     []pipe        // to the started programs
	bare      []bareProgram // programs that run their input
	hadInput  []string      // programs whose input was seen, or that have none
}

type bareProgram struct{ line, by string }

const maxBare = 32

// noteProgram records a program that runs its input, if a command line is one.
func (ps *programs) noteProgram(line, by string) {
	if len(ps.bare) < maxBare && (ps.d == nil || !ps.d.ownReader) && RunsItsInput(line) {
		ps.bare = append(ps.bare, bareProgram{line, by})
	}
}

// noteInput records that the input of a program was judged, or that there is none.
func (ps *programs) noteInput(program string) {
	if len(ps.bare) > 0 {
		ps.hadInput = append(ps.hadInput, program)
	}
}

// judgeBare judges programs whose input was not seen.
func (ps *programs) judgeBare() {
	for _, b := range ps.bare {
		if at := slices.Index(ps.hadInput, b.line); at >= 0 {
			ps.hadInput = slices.Delete(ps.hadInput, at, at+1)
			continue
		}
		if !ps.connected { // the host controls it, which was reported
			ps.out.found(Found{Op: Shell, Text: effect.Unknown, By: b.by})
			break
		}
	}
	ps.bare, ps.hadInput = nil, nil
}
