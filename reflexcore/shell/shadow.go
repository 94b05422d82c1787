package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"mvdan.cc/sh/v3/syntax"
)

// harmless are words before a program that change nothing of what it does.
var harmless = map[string]bool{"sudo": true, "doas": true, "command": true, "builtin": true, "noglob": true, "nocorrect": true, "time": true, "nice": true}

// isCall reports whether a word calls the program of that name, by its path perhaps.
func isCall(word, name string) bool {
	return strings.TrimPrefix(word[strings.LastIndexByte(word, '/')+1:], `\`) == name
}

// watchTyping looks at where script writes what is typed in the shell that it starts.
func (a *applied) watchTyping() {
	file := ""
	for i := range a.line.p.Uses {
		switch u := &a.line.p.Uses[i]; u.Role {
		case grammar.Shell, grammar.Argv:
			return // one command, of which nothing is typed
		case grammar.Write, grammar.Append:
			file = a.pathOf(u)
		default: // nothing of it is typed
		}
	}
	if covert(file) || strings.HasPrefix(path.Base(file), ".") && file != "" {
		a.in.add(effect.Effect{Kind: effect.Attack, Target: "keys", By: a.line.by})
	}
}

// shadowedBy walks a function that has the name of a well-known program: it will run
// whenever the program is called, and nobody will look at it then.
func (df *definitions) shadowedBy(name string, body *syntax.Stmt) {
	wraps := false
	syntax.Walk(body, func(n syntax.Node) bool {
		if lit, ok := n.(*syntax.Lit); ok && isCall(lit.Value, name) {
			wraps = true
		}
		return !wraps
	})
	df.shadow(name, wraps, func() { df.invokeBare(name, body) })
}

// invokeBare walks a function as if it had been called without words.
func (df *definitions) invokeBare(name string, body *syntax.Stmt) {
	mark := len(df.in.exp.fields)
	df.in.exp.push(field{data: data{text: name}})
	df.invoke(body, mark, &input{}, nil, false)
	df.in.exp.fields = df.in.exp.fields[:mark]
}

// walkExported walks a function that other shells will have, unless it was walked when it
// was defined.
func (df *definitions) walkExported(name string) {
	df.passFunction(name)
	for i := len(df.funcs) - 1; i >= 0; i-- {
		if f := df.funcs[i]; f.name == name && f.body != nil && !df.in.wellKnown(name) {
			df.in.aside(func() { df.invokeBare(name, f.body) })
			return
		}
	}
}

// shadowedByAlias does it for an alias. One that only puts sudo or the like before the
// program does what the program does.
func (df *definitions) shadowedByAlias(name, text string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()`$\"'", r) })
	wraps := slices.ContainsFunc(words, func(w string) bool { return isCall(w, name) })
	if plain := strings.Fields(text); len(plain) > 0 && plain[len(plain)-1] == name && !slices.ContainsFunc(plain[:len(plain)-1], func(w string) bool { return !harmless[w] }) {
		return
	}
	df.shadow(name, wraps, func() { df.in.payloads.sub(data{text: text}, "alias", &input{}, nil) })
}

// shadow walks what is put in the place of a well-known program. If it calls the
// program as well, so that nobody notices, what else it reaches or runs, it does by
// itself from then on; and what it asks or writes down on the side, it spies out.
func (df *definitions) shadow(name string, wraps bool, walk func()) {
	before, typed := len(df.in.rep.res.Effects), df.in.rep.typed
	df.in.rep.typed = false
	df.in.aside(walk)
	asks := df.in.rep.typed
	df.in.rep.typed = typed
	if !wraps {
		return
	}
	reaches, spies := false, false
	for _, e := range df.in.rep.res.Effects[min(before, len(df.in.rep.res.Effects)):] {
		by, _, _ := strings.Cut(e.By, " ")
		switch e.Kind {
		case effect.NetIn, effect.NetOut:
			reaches = reaches || by != name
			spies = spies || asks
		case effect.Exec:
			reaches = reaches || e.Taint&effect.Network != 0 || temporary(strings.TrimPrefix(e.Target, "search "))
		case effect.Write:
			spies = spies || asks || covert(e.Target)
		default: // counts as what it is
		}
	}
	df.in.traps.noteHook(name, reaches, spies)
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
