package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// history walks history and fc: they list and change what was typed, save it to a file and read it
// from one, and fc runs lines of it.
func (bc builtinCall) history() {
	args := bc.in.exp.fields[bc.mark+1:]
	if bc.in.exp.fields[bc.mark].text == "fc" && !fcLists(args) {
		bc.in.hist.rerun(args, bc.sink)
		return
	}
	for i, f := range args {
		if len(f.text) < 2 || f.text[0] != '-' || bc.in.exp.fields[bc.mark].text == "fc" {
			continue
		}
		rest := args[i+1:]
		switch letters := f.text[1:]; {
		case strings.Contains(letters, "s"):
			bc.in.hist.record(words(rest))
			return
		case strings.Contains(letters, "p"):
			d := words(rest)
			if strings.ContainsAny(d.text, "!^") {
				d.text = effect.Unknown
			}
			bc.sink.add(data{d.text + "\n", d.taint})
			return
		case strings.ContainsAny(letters, "aw"):
			bc.in.hist.saveHistory(rest)
		case strings.ContainsAny(letters, "rn"):
			bc.in.hist.record(bc.in.fs.contentOf(bc.in.hist.historyFile(rest)))
			return
		}
		if strings.ContainsAny(f.text, "cdw") {
			bc.in.add(effect.Effect{Kind: effect.Discard, Target: "shell history", By: "history"})
			return
		}
	}
	bc.in.rep.typed = true
	bc.sink.add(data{effect.Unknown, effect.Secret | effect.File})
}

// fcLists reports whether fc lists, and runs nothing.
func fcLists(args []field) bool {
	return slices.ContainsFunc(args, func(f field) bool {
		return len(f.text) > 1 && f.text[0] == '-' && strings.Contains(f.text, "l") &&
			strings.Trim(f.text[1:], "lnr0123456789") == ""
	})
}

// record adds a text to the history.
func (hs *history) record(d data) {
	if d.text != "" && len(hs.recorded) < hs.in.rep.lim.Alternatives {
		hs.recorded = append(hs.recorded, d)
	}
}

// historyFile is the file that history -a, -w, -r or -n names, or else $HISTFILE.
func (hs *history) historyFile(args []field) string {
	if len(args) > 0 {
		return hs.in.fs.expandHome(args[0].text)
	}
	return hs.in.fs.expandHome(hs.in.par.valueOf("HISTFILE").text)
}

// saveHistory writes the history to its file, if the text chose that file.
func (hs *history) saveHistory(args []field) {
	if len(hs.recorded) == 0 || len(args) == 0 && hs.in.vars.find("HISTFILE") == nil {
		return
	}
	hs.in.fs.wrote(hs.historyFile(args), join(hs.recorded, "\n"), false, "history")
}

// rerun walks fc without -l: it runs lines of the history again, perhaps changed by an editor, or
// with one text replaced by another.
func (hs *history) rerun(args []field, sink *data) {
	known := len(hs.recorded) > 0
	for i := 0; i < len(args); i++ {
		switch w := args[i].text; {
		case w == "-s" || w == "-e-":
		case strings.HasPrefix(w, "-e"):
			editor := args[i].data
			if editor.text = w[2:]; editor.text == "" && i+1 < len(args) {
				i++
				editor = args[i].data
			}
			if editor.text != "-" {
				known = false
				hs.in.payloads.sub(data{hs.in.arena.concat(editor.text, " ", effect.Unknown), editor.taint}, "fc", &input{}, nil)
			}
		case strings.Contains(w, "=") || !effect.IsKnown(w):
			known = false
		}
	}
	lines := slices.Clip(hs.recorded)
	if !known {
		lines = append(lines, unknown)
	}
	hs.in.alt.afresh(func() {
		for _, d := range lines {
			hs.in.payloads.payload(d, "fc", &input{}, sink)
		}
	})
}

// lastWord adds the last word of a command to the values that $_ may have after it. After four
// values, an unknown one stands for all others.
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

// recall gives $_ the words that it may be. A command in the background changes it only for
// itself.
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
		return hs.in.exp.oneWord(a.Value)
	case a.Naked:
		return data{text: a.Name.Value}
	case a.Array != nil || a.Index != nil:
		return unknown
	default:
		d := hs.in.exp.oneWord(a.Value)
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
