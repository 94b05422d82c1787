package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file is what a shell is given besides its code: parameters, a trace, and what a file
// sets that is read into it.

// stdinArgs are the parameters of a script that a shell reads from its standard input: the
// words behind -s.
func (a *applied) stdinArgs() []field {
	words := a.in.exp.fields[a.mark+1 : min(a.mark+len(a.line.argv), len(a.in.exp.fields))]
	reads := false
	for len(words) > 0 {
		text := words[0].text
		if text == "-" { // it ends the options, as -- does
			words = words[1:]
			break
		}
		if len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		words = words[1:]
		if text == "--" {
			break
		}
		reads = reads || text[0] == '-' && text[1] != '-' && strings.Contains(text, "s")
		if last := text[len(text)-1]; text[1] != '-' && (last == 'o' || last == 'O') && len(words) > 0 {
			words = words[1:]
		}
	}
	if !reads {
		return nil
	}
	return words
}

// traces reports whether a shell that is started writes each command that it runs to a
// descriptor that the text chose: what it prints then is what PS4 says as well.
func (l *commandLine) traces(vars *variables) bool {
	if vars.find("BASH_XTRACEFD") == nil {
		return false
	}
	for _, w := range l.argv[1:] {
		if len(w) < 2 || w[0] != '-' {
			return false
		}
		if w[1] != '-' && strings.Contains(w, "x") || w == "xtrace" {
			return true
		}
	}
	return false
}

// tracing adds what set -x prints to the output of a command.
func (dt *descriptorTable) tracing(sink *data) {
	if !dt.xtrace {
		return
	}
	if dt.err != nil && dt.in.vars.find("PS4") != nil {
		dt.err.add(unknown)
	}
	if dt.in.vars.find("BASH_XTRACEFD") != nil {
		sink.add(unknown)
	}
}

// shakes notes that what runs is a variable that may have been set by such a file.
func (in *interp) shakes(words []field, by string) {
	for i := range words {
		if words[i].shaken {
			in.add(effect.Effect{Kind: effect.Exec, Target: "shell code", What: "any", Taint: words[i].taint | effect.File, Bits: effect.Partial, By: by})
			return
		}
	}
}

// shift takes a number, zsh an expression as well. Of one that is not known, or that a shell
// may refuse, each number counts.
func (bc builtinCall) shift() {
	list := bc.in.par.positional()
	args := bc.in.exp.fields[bc.mark+1:]
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	n := 1
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0].text); err != nil {
			bc.in.math.reckoned(args[0].data) // which may run something
			var all [][]data
			for i := range list {
				all = append(all, list[i:])
			}
			if len(all) > 0 {
				bc.in.par.joinParams(nil, append(all, []data{}))
			}
			return
		}
	}
	if list != nil && n >= 0 && n <= len(list) { // more than there are is an error
		bc.in.par.setPositional(list[n:])
	}
}
