package tools

import (
	"strings"

	"approver.example/internal/keystrokes"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file reads commands that several arguments form: a program, the words after it, and what it reads.

var (
	// programKeys name a program, if words or an input stand beside it.
	programKeys = wordset.Of("program executable binary bin exe prog entrypoint command cmd interpreter shell")
	// namedKeys name it only beside words that are called its arguments.
	namedKeys = wordset.Of("name tool process file path")
	wordKeys  = wordset.Of("args arguments argv")
	flagKeys  = wordset.Of("params parameters options flags switches")
	inputKeys = wordset.Of("stdin input standardinput")
)

// vectors yields each command that a program and what stands beside it form. It reports whether there
// is one.
func (j *judge) vectors() (any bool) {
	for _, a := range j.in.args {
		strong := programKeys[a.key]
		if a.item >= 0 || a.number || a.text == "" || !strong && !namedKeys[a.key] || j.is(verbEditor) {
			continue
		}
		words, input := j.beside(a, strong)
		if words == "" && input == "" {
			continue
		}
		line := strings.TrimSpace(a.text + " " + words)
		if input != "" {
			line = fedWith(line, input)
		}
		j.payload(effect.Payload{Lang: j.shell(), Text: line, Why: a.key + " of " + j.tool})
		any = true
	}
	return any
}

// beside returns the words that stand beside a program, and its input.
func (j *judge) beside(program arg, strong bool) (words, input string) {
	var b strings.Builder
	for _, a := range j.in.args {
		switch {
		case a.object != program.object || a.key == program.key:
		case wordKeys[a.key], strong && flagKeys[a.key]:
			b.WriteByte(' ')
			if a.item >= 0 {
				b.WriteString(quoteWords([]string{a.text}))
			} else if !a.number {
				b.WriteString(a.text)
			}
		case strong && inputKeys[a.key] && a.item < 0 && !a.number:
			input = a.text
		}
	}
	if words = strings.TrimSpace(b.String()); words == "" && strong { // {"program": …, "input": {"args": […]}}
		words = quoteWords(j.in.words("args", "arguments", "argv"))
	}
	return words, input
}

// fedWith returns a command line with a text as its input.
func fedWith(line, text string) string {
	end := "INPUT"
	for strings.Contains(text, end) {
		end += "X"
	}
	return line + " <<'" + end + "'\n" + strings.TrimSuffix(text, "\n") + "\n" + end + "\n"
}

// shell returns the language of a tool's commands.
func (j *judge) shell() string {
	if j.is(nounPowerShell) {
		return effect.PowerShell
	}
	return effect.Shell
}

var (
	// lineKeys are arguments of a tool that runs something which may be a command line.
	lineKeys = wordset.Of("line lines")
	// typedKeys are arguments of a tool that types into a shell.
	typedKeys = wordset.Of("input text stdin keys keystrokes chars data content line lines")
)

// terminals are words for what has a shell in it.
const terminals = "terminal tmux iterm pty tty stdin pane"

// enters yields what a tool types into a shell. It reports whether there is something.
func (j *judge) enters(runs bool) (any bool) {
	types := (j.near(terminals) || j.is(nounShell)) && j.is(verbWrite|verbSend|verbType)
	for _, a := range j.in.args {
		enters := types && typedKeys[a.key] || runs && lineKeys[a.key]
		if a.number || !enters {
			continue
		}
		text, others := keystrokes.Text(a.text)
		j.payload(effect.Payload{Lang: j.shell(), Text: text, Why: a.key + " of " + j.tool})
		if any = true; others != "" {
			j.add(effect.Opaque, "", effect.Partial)
		}
	}
	return any
}

// unseenTools are those that run what is in none of their arguments: a task of an editor's settings, the
// cell of a file, a command of an editor's own. After SwitchMachine, all calls run on another machine.
var unseenTools = wordset.Of("runtask runnotebookcell runvscodecommand copilotrunvscodecommand switchmachine")

// unseen adds that something runs which is not known, or elsewhere.
func (j *judge) unseen() {
	name := fold(j.tool)
	switch {
	case unseenTools[name], name == "createandruntask" && !j.in.has(roleCommand):
		j.add(effect.Opaque, "", effect.Partial)
	case name == "remotetrigger" && !wordset.Has(triggerLooks, strings.Join(j.in.values("action"), " ")):
		j.add(effect.Persist, "a routine of Claude's", 0)
	}
}

// triggerLooks are the actions of RemoteTrigger that start and change no agent elsewhere.
const triggerLooks = "list get list_runs get_run_log"
