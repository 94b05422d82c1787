package shell

import (
	"strings"
)

// jobs lists; with -x it runs a command, in which only the numbers of jobs are replaced.
func (bc builtinCall) jobs() {
	from, runs := bc.mark+1, false
	for from < len(bc.in.exp.fields) && strings.HasPrefix(bc.in.exp.fields[from].text, "-") {
		runs = runs || strings.Contains(bc.in.exp.fields[from].text, "x")
		from++
	}
	if runs && from < len(bc.in.exp.fields) {
		bc.in.runAgain(from, bc.std, bc.sink)
	}
}

// compgen prints what could follow, tokens and all. It expands the words of -W, and runs
// the command of -C and the function of -F.
func (bc builtinCall) compgen() {
	args := bc.in.exp.fields[bc.mark+1:]
	for i, f := range args {
		if len(f.text) < 2 || f.text[0] != '-' {
			continue
		}
		at := strings.IndexAny(f.text, "WCF")
		if at < 0 {
			continue
		}
		value := data{f.text[at+1:], f.taint}
		if value.text == "" && i+1 < len(args) {
			value = args[i+1].data
		}
		if f.text[at] == 'W' {
			bc.in.exp.hidden(value.text)
			continue
		}
		bc.in.payloads.sub(value, "compgen", &input{}, nil)
	}
	bc.environs()
}
