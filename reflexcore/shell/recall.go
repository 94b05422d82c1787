package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

const (
	recallsLast recalls = 1 << iota // $_
	recallsName                     // FUNCNAME
)

// recalled notes what a text asks for.
func (hs *history) recalled(src string) {
	if hs.recalls&recallsLast == 0 && strings.IndexByte(src, '_') >= 0 && (strings.Contains(src, "$_") || strings.Contains(src, "{_") ||
		strings.Contains(src, "{!_")) {
		hs.recalls |= recallsLast
	}
	if strings.Contains(src, "FUNCNAME") {
		hs.recalls |= recallsName
	}
}

// lastWord adds the last word of a command to those that $_ may be when it has ended.
func (hs *history) lastWord(mark int, lasts []data) []data {
	if hs.recalls&recallsLast == 0 || len(lasts) > 4 {
		return lasts
	}
	d := data{}
	if len(lasts) == 4 {
		d = unknown
	} else if len(hs.in.exp.fields) > mark {
		d = hs.in.exp.fields[len(hs.in.exp.fields)-1].data
	}
	if slices.Contains(lasts, d) {
		return lasts
	}
	return append(lasts, d)
}

// recall makes one of the words $_. What runs in the background changes it for itself
// only.
func (hs *history) recall(words []data, background bool) {
	if hs.recalls&recallsLast == 0 || background || hs.in.rep.stopped() || len(words) == 0 {
		return
	}
	hs.in.assigner.assignAll("_", words)
}

// lastDeclared is the last word of a declaration.
func (hs *history) lastDeclared(c *syntax.DeclClause) data {
	if len(c.Args) == 0 {
		return data{}
	}
	switch a := c.Args[len(c.Args)-1]; {
	case a.Name == nil:
		return hs.in.exp.one(a.Value)
	case a.Naked:
		return data{text: a.Name.Value}
	case a.Array != nil || a.Index != nil:
		return unknown
	default:
		d := hs.in.exp.one(a.Value)
		return data{hs.in.arena.concat(a.Name.Value, "=", d.text), d.taint}
	}
}

// calledAs makes a function's name the first of FUNCNAME until the function ends.
func (hs *history) calledAs(name string) {
	if hs.recalls&recallsName == 0 {
		return
	}
	h := hs.in.vars.hold("FUNCNAME")
	hs.in.vars.locals = append(hs.in.vars.locals, h)
	list := append([]data{{text: name}}, h.list...)
	*hs.in.vars.slot("FUNCNAME") = variable{name: "FUNCNAME", array: true, list: list}
}

// stacked puts the folder that pushd left on the stack of folders, or changes its top.
func (ds *directories) stacked(before string, push bool) {
	v := ds.in.vars.find("DIRSTACK")
	if v == nil && !push {
		return
	}
	list := []data{{text: before}}
	if v != nil && v.array && len(v.list) > 0 {
		list = slices.Clone(v.list)
	}
	if push {
		list = slices.Insert(list, 0, data{text: ds.in.cwd.dir})
		list[1] = data{text: before}
	}
	list[0] = data{text: ds.in.cwd.dir}
	*ds.in.vars.slot("DIRSTACK") = variable{name: "DIRSTACK", array: true, list: list}
}

// stack is the element of the stack of folders that ~1 or ~-0 names.
func (ds *directories) stack(number string) data {
	if number == "0" || number == "+0" {
		return data{text: ds.in.cwd.dir}
	}
	v := ds.in.par.lookup("DIRSTACK")
	if v == nil || !v.array || len(v.list) == 0 {
		return unknown
	}
	list, digits := v.list, strings.TrimLeft(number, "+-")
	n, ok := ds.in.math.integer(digits, 0)
	if number[0] == '-' {
		n = int64(len(list)) - 1 - n
	}
	if !ok || n < 0 || n >= int64(len(list)) {
		return unknown
	}
	return list[n]
}

// isStackNumber reports whether what follows a tilde is a number of the stack of folders.
func isStackNumber(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && len(s)-len(digits) < 2
}

// printDirs prints the stack of folders.
func (bc builtinCall) printDirs() {
	args := bc.in.exp.fields[bc.mark+1:]
	list := []data{{text: bc.in.cwd.dir}}
	if v := bc.in.par.lookup("DIRSTACK"); v != nil {
		if list = v.list; !v.array {
			list = []data{unknown}
		}
	}
	long := len(args) > 0 && args[0].text == "-l"
	if long {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
	case len(args) == 1 && isStackNumber(args[0].text):
		list = []data{bc.in.dirs.stack(args[0].text)}
	case len(args) == 1 && args[0].text == "-c":
		return
	default:
		list = []data{unknown}
	}
	if home := bc.in.par.valueOf("HOME").text; !long && len(home) > 1 {
		list = slices.Clone(list)
		for i := range list {
			if rest, ok := strings.CutPrefix(list[i].text, home); ok && (rest == "" || rest[0] == '/') {
				list[i].text = "~" + rest
			}
		}
	}
	d := join(list, " ")
	bc.sink.add(data{d.text + "\n", d.taint})
}

// optionValues are what OPTARG may be after getopts: each word behind a flag, and what is
// glued to one.
func (pm *parameters) optionValues(args []field) []data {
	words := make([]data, 0, 8)
	if len(args) > 2 {
		for _, f := range args[2:] {
			words = append(words, f.data)
		}
	} else {
		if pm.openParams() {
			return []data{unknown}
		}
		words = append(words, pm.positional()...)
	}
	out := []data{}
	for i, w := range words {
		if len(out) >= pm.in.rep.lim.Alternatives-1 || !w.known() {
			return []data{unknown}
		}
		if len(w.text) < 2 || w.text[0] != '-' {
			continue
		}
		if len(w.text) > 2 {
			out = append(out, data{w.text[2:], w.taint})
		} else if i+1 < len(words) {
			out = append(out, words[i+1])
		}
	}
	if len(out) == 0 {
		return []data{{}}
	}
	return out
}

// printed is what printenv prints of one variable that the text or the environment sets.
func (a *applied) printed() (data, bool) {
	if len(a.line.argv) != 2 {
		return data{}, false
	}
	in, name := a.in, a.line.argv[1]
	if _, ok := in.ctx.Env[name]; !ok && in.vars.find(name) == nil {
		return data{}, false
	}
	d := in.par.valueOf(name)
	return data{d.text + "\n", d.taint | a.taint}, true
}

// baseOf is what basename prints of words that are known.
func (l *commandLine) baseOf(words []field, taint effect.Taint) (data, bool) {
	args := l.argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		return data{}, false
	}
	if len(args) == 0 || len(args) > 2 || !effect.IsKnown(args[0]) || args[0] == "" {
		return data{}, false
	}
	text := strings.TrimRight(args[0], "/")
	if text = text[strings.LastIndexByte(text, '/')+1:]; text == "" {
		text = "/"
	}
	if len(args) == 2 {
		if !effect.IsKnown(args[1]) {
			return data{}, false
		}
		if text != args[1] {
			text = strings.TrimSuffix(text, args[1])
		}
	}
	for _, f := range words {
		taint |= f.taint
	}
	return data{text + "\n", taint}, true
}
