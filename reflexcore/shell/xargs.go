package shell

import (
	"slices"
	"strings"
	"unicode"

	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/buildnames"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// An xargsFlags is what the flags of xargs say of its input. Those of the command that it runs
// are none of them.
type xargsFlags struct {
	place string // the text that a word is put in the place of; empty: there is none
	ends  string // what words end with; empty: blanks, or the ends of lines with a place

	delimited bool // a flag says what they end with, which may be another end than that of lines

	// The most words, and the most lines, of one run; 0: no flag says it.
	mostWords, mostLines int
}

// lineEnds are what words end with that are lines, or are apart by a NUL.
const lineEnds = "\n\x00"

// xargsValues are the long flags of xargs that take a value.
var xargsValues = strings.Fields("--arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var")

// contents returns what a use reads its words from: the standard input, or a file. If the content
// of the file is unknown, the standard input is a second possibility, because the name may be an
// alias of it.
func (lr *listRunner) contents(u *grammar.Use) []input {
	n, descriptor := lr.in.fs.descriptorOf(lr.pathOf(u))
	if isStdin(u.Text) || descriptor && n == 0 {
		if lr.std.present {
			return []input{*lr.std}
		}
		return []input{{data: unknown, present: true}}
	}
	file := input{data: lr.in.fs.contentOf(lr.pathOf(u)), present: true}
	if !file.known() && lr.std.present {
		return []input{file, *lr.std}
	}
	return []input{file}
}

// read returns the possible inputs of xargs: the file that it is given, or else its standard
// input. Without either, the input is unknown.
func (lr *listRunner) read() []input {
	for u := range lr.line.uses(grammar.Read) {
		if lr.line.p.Program.Name == "xargs" {
			return lr.contents(u)
		}
	}
	if lr.std.present {
		return []input{*lr.std}
	}
	return []input{{data: unknown, present: true}}
}

// endsLine reports whether a character ends a word for a program that takes each line as one
// word.
func endsLine(r rune) bool { return r == '\n' || r == 0 }

// wordsOf returns the words of an input. ends reports the characters that end one.
func (lr *listRunner) wordsOf(std *input, ends func(rune) bool) []field {
	switch {
	case !std.present:
		return nil
	case !std.known():
		return []field{{data: data{effect.Unknown, std.taint}, splits: true}}
	}
	var out []field
	for w := range strings.FieldsFuncSeq(std.text, ends) {
		out = append(out, field{data: data{w, std.taint}})
	}
	lr.in.rep.pieces(len(out))
	return out
}

// fromLists returns the words that parallel reads from files, or an unknown word if it has no
// input.
func (lr *listRunner) fromLists() []field {
	var out []field
	given := lr.std.present
	for i := range lr.line.p.Uses {
		switch u := &lr.line.p.Uses[i]; {
		case u.Role == grammar.Read && u.Word > 0:
			given = true
			for _, std := range lr.contents(u) {
				out = append(out, lr.wordsOf(&std, unicode.IsSpace)...)
			}
		case u.Role == grammar.Args:
			given = true
		}
	}
	if !given {
		return []field{{data: unknown, splits: true}}
	}
	return out
}

// vector walks the words of a use as a command, once with each input that xargs may read.
func (lr *listRunner) vector(u *grammar.Use, out *data) {
	if u.Arg != "stdin" {
		lr.vectorWith(u, nil, "", out)
		return
	}
	x, lists := readXargs(lr.line.argv), lr.read()
	walk := func(std *input) {
		for _, words := range lr.runs(u, x, std) {
			if lr.in.rep.stopped() {
				return
			}
			lr.vectorWith(u, words, x.place, out)
		}
	}
	for i := range lists[1:] {
		lr.in.separately(false, func() { walk(&lists[i+1]) })
	}
	walk(&lists[0])
}

// vectorWith walks the words of a use as a command. For find's {} stands what was
// found; xargs adds the words of a run, or puts them in their place.
func (lr *listRunner) vectorWith(u *grammar.Use, list []field, place string, out *data) {
	in := lr.in
	mark, placed := len(in.exp.fields), false
	end := min(u.End, len(lr.line.argv))
	var found []string
	held := in.rep.bits
	if u.Arg == "found" {
		found = lr.found(u.Word - 1)
		wide := func(p string) bool {
			return (lr.line.isFind() || lr.line.findsAny()) && strings.HasSuffix(p, "/"+effect.Unknown) || !in.fs.near(p)
		}
		if slices.ContainsFunc(found, wide) {
			in.rep.bits |= effect.Recursive // the command applies to everything below
		}
	}
	if found == nil && u.Word < end {
		in.exp.pushAll(in.exp.fields[lr.mark+u.Word : lr.mark+end])
	}
	for i := u.Word; i < end && found != nil; i++ {
		f := in.exp.fields[lr.mark+i]
		if !strings.Contains(f.text, "{}") {
			in.exp.push(f)
			continue
		}
		placed = true
		text := f.text
		for _, p := range found {
			f.text = strings.ReplaceAll(text, "{}", p)
			in.exp.push(f)
		}
	}
	if !placed && !lr.line.isFind() { // find adds nothing by itself
		for _, p := range found {
			in.exp.push(field{data: data{text: p}})
		}
	}
	if u.Arg == "stdin" {
		if slices.ContainsFunc(list, in.fs.isAnyBelow) && len(in.exp.fields) > mark && losesFiles(in.exp.fields[mark].text) {
			in.rep.bits |= effect.Recursive // the list has all that is below a folder
		}
		lr.appendInput(mark, list, place)
		in.readings.fed(mark)
	}
	in.exp.pushAll(lr.added())
	if len(in.exp.fields) > mark && strings.IndexByte(in.exp.fields[mark].text, ' ') >= 0 && !in.rep.stopped() &&
		in.rep.level < in.rep.lim.Nesting {
		// No program has a space in its name: many runners pass such words to a shell.
		d := words(in.exp.fields[mark:])
		in.inProcess(func() { in.payloads.sub(d, lr.line.by, &input{}, nil) })
	}
	if len(in.exp.fields) > mark && !in.rep.stopped() {
		via, homeless := in.via, in.agents.homeless
		in.via, in.agents.homeless = lr.line.by, homeless || lr.line.takesHome(u) ||
			agentcli.Isolates[lr.line.p.Program.Name]
		bare := in.rep.bits&effect.Remote != 0 || lr.line.clears()
		in.rep.deeper(func() { in.separately(bare, func() { in.runWords(mark, lr.std, out, false) }) })
		in.via, in.agents.homeless = via, homeless
	}
	in.exp.fields, in.rep.bits = in.exp.fields[:mark], held
}

// found returns what find, or a program like it, would put in the place of {}. action is the
// index of the word that asks for it.
func (lr *listRunner) found(action int) []string {
	roots := lr.roots()
	if !lr.line.isFind() {
		roots = nil
		for u := range lr.line.uses(grammar.Read) {
			roots = append(roots, lr.pathOf(u))
		}
		if len(roots) == 0 {
			roots = append(roots, lr.in.cwd.dir)
		}
	} else if list := lr.findTargets(action, roots...); list != nil {
		if i := slices.Index(list, empty); i < 0 {
			return list
		}
	}
	return []string{strings.TrimSuffix(ancestor(roots), "/") + "/" + effect.Unknown + lr.line.named()}
}

// named returns a slash and the name that find looks for, or an empty string if that is not one
// exact name. Behind a star it is one if builds make what is called so.
func (l *commandLine) named() string {
	i := slices.Index(l.argv, "-name")
	if i < 1 || i+1 >= len(l.argv) ||
		slices.ContainsFunc(l.argv, func(w string) bool { return wordset.Has("-o -or ! -not ,", w) }) {
		return ""
	}
	name, ending := strings.CutPrefix(l.argv[i+1], "*")
	if strings.ContainsAny(name, "*?[") || ending && buildnames.Of(name) != buildnames.Always {
		return ""
	}
	return "/" + l.argv[i+1]
}

// runs are the words of each command that xargs runs with an input: all of them, or where it puts
// each in a place of the command one.
func (lr *listRunner) runs(u *grammar.Use, x xargsFlags, std *input) [][]field {
	texts := []string{effect.Unknown}
	switch {
	case std.known():
		texts = x.words(std.text)
	case !x.delimited && isList(std):
		texts = strings.Split(strings.TrimSpace(std.text), "\n")
	}
	lr.in.rep.pieces(len(texts))
	placed := x.place != "" && slices.ContainsFunc(lr.line.argv[u.Word:],
		func(w string) bool { return strings.Contains(w, x.place) })
	switch {
	case !placed:
	case len(texts) == 0:
		texts = []string{""}
	case !std.known() && len(texts) > 1:
		texts = []string{effect.Unknown}
	default:
		texts = walked(&lr.in.rep, texts, effect.Unknown)
	}
	var words []field
	for _, w := range texts {
		words = append(words, field{data: data{w, std.taint}, splits: !effect.IsKnown(w)})
	}
	if placed {
		return slices.Collect(slices.Chunk(words, 1))
	}
	return append([][]field{words}, lr.shares(x, std, words)...)
}

// shares are the words of each run where flags say how many words or lines a run takes: which of
// them is a program, its code or the operand of a flag is another one in each run.
func (lr *listRunner) shares(x xargsFlags, std *input, words []field) [][]field {
	var all [][]field
	switch {
	case !std.known():
	case x.mostWords > 0:
		all = slices.Collect(slices.Chunk(words, x.mostWords))
	case x.mostLines > 0 && x.ends == "":
		for lines := range slices.Chunk(strings.Split(std.text, "\n"), x.mostLines) {
			var share []field
			for _, w := range xargsWords(strings.Join(lines, "\n"), false) {
				share = append(share, field{data: data{w, std.taint}})
			}
			if len(share) > 0 {
				all = append(all, share)
			}
		}
	case x.mostLines > 0:
		all = slices.Collect(slices.Chunk(words, x.mostLines))
	}
	if len(all) < 2 {
		return nil
	}
	return walked(&lr.in.rep, all, []field{others(words)})
}

// appendInput adds the words of a run, or puts them in their place.
func (lr *listRunner) appendInput(mark int, words []field, place string) {
	in := lr.in
	done := false
	for i := mark; i < len(in.exp.fields) && place != "" && len(words) == 1; i++ {
		f := &in.exp.fields[i]
		if strings.Contains(f.text, place) {
			if f.text == place && i > mark && in.exp.fields[i-1].text == "-c" {
				in.rep.noteOddity(InputAsCode, lr.line.by)
			}
			f.text = strings.ReplaceAll(f.text, place, words[0].text)
			f.taint |= words[0].taint
			done = true
		}
	}
	if done {
		return
	}
	if len(in.exp.fields) > mark && in.exp.fields[len(in.exp.fields)-1].text == "-c" {
		in.rep.noteOddity(InputAsCode, lr.line.by)
	}
	in.exp.pushAll(words)
}

// isList reports whether the standard input is paths, of each of which it is known
// where it begins, one a line.
func isList(std *input) bool {
	for line := range strings.Lines(std.text) {
		if line[0] != '/' || !strings.HasSuffix(line, "\n") {
			return false
		}
	}
	return std.text != ""
}

// added are the words that a use of the role args adds to the command.
func (lr *listRunner) added() []field {
	var out []field
	for u := range lr.line.uses(grammar.Args) {
		out = append(out, lr.field(u))
	}
	for i := range lr.line.p.Stdin {
		if lr.line.p.Stdin[i].Role == grammar.Args {
			out = append(out, lr.wordsOf(lr.std, unicode.IsSpace)...)
		}
	}
	if lr.line.p.Program.Name == "parallel" {
		out = append(out, lr.fromLists()...)
	}
	return out
}

// each runs a command line with additional words: once for each word in the place of {}, or,
// without {}, once with all words at the end.
func (lr *listRunner) each(d data, args []field, out *data) {
	if !strings.Contains(d.text, "{}") {
		words := []data{d}
		for _, f := range args {
			words = append(words, data{quote(f.text), f.taint})
		}
		lr.in.payloads.runScript("sh", join(words, " "), nil, lr.std, out, lr.line.by)
		return
	}
	for _, f := range walked(&lr.in.rep, args, others(args)) {
		if lr.in.rep.stopped() {
			return
		}
		lr.in.payloads.runScript("sh", data{strings.ReplaceAll(d.text, "{}", quote(f.text)), d.taint | f.taint}, nil,
			lr.std, out, lr.line.by)
	}
}
