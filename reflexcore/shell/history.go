package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// history lists what was typed, and writes to that list: a file, or a line that fc runs.
func (in *interp) history(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	if in.fields[mark].text == "fc" && !strings.HasPrefix(lettersIn(args), "l") {
		in.rerun(args, sink)
		return
	}
	for i, f := range args {
		if len(f.text) < 2 || f.text[0] != '-' || in.fields[mark].text == "fc" {
			continue
		}
		rest := args[i+1:]
		switch letters := f.text[1:]; {
		case strings.Contains(letters, "s"):
			in.record(words(rest))
			return
		case strings.Contains(letters, "p"):
			d := words(rest)
			if strings.ContainsAny(d.text, "!^") {
				d.text = effect.Unknown
			}
			sink.append(data{d.text + "\n", d.taint})
			return
		case strings.ContainsAny(letters, "aw"):
			in.saveHistory(rest)
		case strings.ContainsAny(letters, "rn"):
			in.record(in.contentOf(in.historyFile(rest)))
			return
		}
		if strings.ContainsAny(f.text, "cdw") {
			in.add(effect.Effect{Kind: effect.Discard, Target: "shell history", By: "history"})
			return
		}
	}
	in.rep.typed = true
	sink.append(data{effect.Unknown, effect.Secret | effect.File})
}

// lettersIn are the flags of fc, l first if there is one: it lists and runs nothing.
func lettersIn(args []field) string {
	for _, f := range args {
		if len(f.text) > 1 && f.text[0] == '-' && strings.Contains(f.text, "l") &&
			strings.Trim(f.text[1:], "lnr0123456789") == "" {
			return "l"
		}
	}
	return ""
}

// words is a list of words as one text.
func words(list []field) data {
	var d data
	for i, f := range list {
		if i > 0 {
			d.text += " "
		}
		d.text += f.text
		d.taint |= f.taint
	}
	return d
}

// record adds a text to the history.
func (in *interp) record(d data) {
	if d.text != "" && len(in.recorded) < in.rep.lim.Alternatives {
		in.recorded = append(in.recorded, d)
	}
}

// historyFile is the file that a command of the history is for.
func (in *interp) historyFile(args []field) string {
	if len(args) > 0 {
		return in.home(args[0].text)
	}
	return in.home(in.value("HISTFILE").text)
}

// saveHistory writes the history to its file, where the text chose that.
func (in *interp) saveHistory(args []field) {
	if len(in.recorded) == 0 || len(args) == 0 && in.vars.find("HISTFILE") == nil {
		return
	}
	in.wrote(in.historyFile(args), join(in.recorded, "\n"), false, "history")
}

// rerun is fc without -l: it runs lines of the history once more, perhaps changed by an
// editor, or with one text in the place of another.
func (in *interp) rerun(args []field, sink *data) {
	known := len(in.recorded) > 0
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
				in.sub(data{in.arena.concat(editor.text, " ", effect.Unknown), editor.taint}, "fc", &input{}, nil)
			}
		case strings.Contains(w, "=") || !effect.IsKnown(w):
			known = false
		}
	}
	outer := in.alt.setAside()
	for _, d := range in.recorded {
		in.payload(d, "fc", &input{}, sink)
	}
	if !known {
		in.payload(unknown, "fc", &input{}, sink)
	}
	in.alt.selection = outer
}
