package shell

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// sourceMarks begin the words, or the files of words, of parallel.
var sourceMarks = []string{":::", "::::", ":::+", "::::+"}

// sources are what parallel takes its words from, each with its words: the standard input
// or what -a names, then what stands behind each mark. Several files have a source each.
func (a *applied) sources() [][]field {
	var out [][]field
	if hasRole(a.line.p.Stdin, grammar.Args) && a.std.present {
		out = append(out, wordsOf(a.std, endsLine))
	}
	last := 0
	for i := range a.line.p.Uses {
		u := &a.line.p.Uses[i]
		switch {
		case u.Role == grammar.Read && u.Word > 0:
			var words []field
			for _, std := range a.contents(u) {
				words = append(words, wordsOf(&std, endsLine)...)
			}
			out = append(out, words)
		case u.Role == grammar.Args && u.Word > 0:
			mark := u.Word
			for mark > 0 && !slices.Contains(sourceMarks, a.line.argv[mark]) {
				mark--
			}
			if mark != last || len(out) == 0 {
				out, last = append(out, nil), mark
			}
			out[len(out)-1] = append(out[len(out)-1], a.field(u))
		}
	}
	if len(out) == 0 && !a.std.present {
		return [][]field{{{data: unknown, splits: true}}}
	}
	return out
}

// runsList walks the lines of the files of parallel where no command is given: they are the
// commands.
func (a *applied) runsList(out *data) {
	if a.line.p.Program.Name != "parallel" || hasRole(a.line.p.Uses, grammar.Shell) {
		return
	}
	for u := range a.line.uses(grammar.Read) {
		for _, std := range a.contents(u) {
			a.in.payloads.runScript("sh", std.data, nil, a.std, out, a.line.by)
		}
	}
}

// option is the value of the options of parallel that the table gives a name, and whether there
// is one.
func (l *commandLine) option(name string) (value string, found bool) {
	for u := range l.uses(grammar.Text) {
		if u.Arg == name {
			value, found = u.Text, true
		}
	}
	return value, found
}

// hasFlag reports whether one of those flags is among the words before the command.
func (l *commandLine) hasFlag(command int, flags ...string) bool {
	return slices.ContainsFunc(l.argv[:min(command, len(l.argv))],
		func(w string) bool { return slices.Contains(flags, w) })
}

var (
	// placeholders finds the places of parallel's words: {}, {.}, {2}, {2/}, {+}.
	placeholders = regexp.MustCompile(`\{(?:(-?[0-9]+)?(\.|//|/\.|/)?|\+)\}`)
	// computed finds the places whose text code in Perl makes of a word.
	computed = regexp.MustCompile(`(?s)\{=(?:\s*-?[0-9]+\s)?(.*?)=\}`)
	// besides finds an output that has its name from a word: > {.}
	besides = regexp.MustCompile(`(>\s*)\{(?:\.|/\.?|//)\}`)
	// literal is a separator that is no pattern.
	literal = regexp.MustCompile(`^[^\\.^$*+?()\[\]{}|]+$`)
)

// inEach runs the command line of parallel once for each word, or for each combination of
// words of several sources. A command that begins with a place is code: parallel quotes
// nothing in one of places alone, and rush quotes nothing at all.
func (a *applied) inEach(u *grammar.Use, d data, out *data) {
	in := a.in
	for option := range a.line.uses(grammar.Text) { // those that give a place another text
		if option.Text != "" && option.Arg[0] == '{' {
			d.text = strings.ReplaceAll(d.text, option.Text, option.Arg)
		}
	}
	if code, ok := a.line.option("code"); ok {
		tag, code, _ := strings.Cut(code, " ")
		place := "{==}"
		if strings.Contains(code, "uq") {
			place = "{= uq() =}"
		}
		in.payloads.runCode("perl", data{text: code}, nil, &input{}, out, a.line.by)
		d.text = strings.ReplaceAll(d.text, tag, place)
	}
	unquoted := path.Base(a.line.argv[0]) != "parallel"
	for _, m := range computed.FindAllStringSubmatch(d.text, 8) {
		if code := strings.TrimSpace(m[1]); code != "" {
			in.payloads.runCode("perl", data{text: code}, nil, &input{}, out, a.line.by)
		}
		unquoted = unquoted || strings.Contains(m[1], "uq")
	}
	if a.line.hasFlag(u.Word, "--pipe", "--pipepart", "--pipe-part", "--spreadstdin") {
		a.inPipe(u, d, out)
		return
	}
	first := strings.TrimSpace(d.text)
	for _, re := range [...]*regexp.Regexp{placeholders, computed} {
		at := re.FindStringIndex(first)
		unquoted = unquoted || at != nil && at[0] == 0
	}
	if !computed.MatchString(d.text) && !placeholders.MatchString(d.text) {
		a.each(d, a.added(), out)
		for i, row := range a.rows(u.Word) { // a line is one word: sh -c
			if i > in.rep.lim.Rounds || in.rep.stopped() {
				return
			}
			if len(row) == 1 && strings.ContainsAny(row[0].text, " \t") {
				in.payloads.runScript("sh", filled(data{d.text + " {}", d.taint}, row, true), nil, a.std, out, a.line.by)
			}
		}
		return
	}
	for i, row := range a.rows(u.Word) {
		if i > in.rep.lim.Rounds || in.rep.stopped() {
			return
		}
		text := filled(d, row, !unquoted)
		if !text.known() && placeholders.ReplaceAllString(strings.ReplaceAll(first, " ", ""), "") == "" {
			text.text = effect.Unknown // any code
		}
		in.payloads.runScript("sh", text, nil, a.std, out, a.line.by)
	}
}

// inPipe runs the command line of parallel that has its input as the input of the command,
// or in a file whose name stands in the places.
func (a *applied) inPipe(u *grammar.Use, d data, out *data) {
	std := a.std
	for r := range a.line.uses(grammar.Read) {
		std = &a.contents(r)[0]
	}
	if !std.present {
		std = &input{data: unknown, present: true}
	}
	if a.line.hasFlag(u.Word, "--cat", "--fifo") {
		a.in.fs.procs++
		name := "/dev/fd/" + strconv.Itoa(62+a.in.fs.procs)
		a.in.fs.list = append(a.in.fs.list, virtual{path: name, data: std.data})
		d.text = strings.ReplaceAll(d.text, "{}", name)
	}
	a.in.payloads.runScript("sh", d, nil, std, out, a.line.by)
}

// rows are the words of the runs of a command, as far as one walks them: one of each source
// in a run. Columns of a word are words of their own.
func (a *applied) rows(command int) [][]field {
	most := a.in.rep.lim.Rounds
	split, columns := a.line.option("columns")
	rows := [][]field{nil}
	sources := a.sources()
	if len(sources) > 1 && combinations(sources) > most { // not all are walked: any may be in a place
		rows[0] = []field{{data: unknown}}
		for _, w := range slices.Concat(sources...) {
			rows = append(rows, slices.Repeat([]field{w}, len(sources)))
		}
		return rows
	}
	for _, words := range sources {
		var next [][]field
		for _, row := range rows {
			for _, w := range words {
				if len(next) > most {
					break
				}
				cells := []field{w}
				if columns {
					cells = w.columns(split)
				}
				next = append(next, append(slices.Clone(row), cells...))
			}
		}
		rows = next
	}
	if !columns && len(sources) == 1 {
		rows = append(rows, a.line.together(command, sources[0])...)
	}
	return rows
}

// combinations is how many runs there are with one word of each source.
func combinations(sources [][]field) int {
	n := 1
	for _, words := range sources {
		if n *= len(words); n > 1<<16 {
			break
		}
	}
	return n
}

// together are the rows of several words of one source that one run has.
func (l *commandLine) together(command int, words []field) (rows [][]field) {
	n, counted := 0, false
	for _, name := range [...]string{"N", "n", "L"} {
		if value, ok := l.option(name); ok && !counted {
			counted = true
			n, _ = strconv.Atoi(value)
		}
	}
	if !counted && l.hasFlag(command, "-X", "-m", "--xargs") {
		n = len(words)
	}
	if n < 2 {
		return nil
	}
	for chunk := range slices.Chunk(words, n) {
		rows = append(rows, chunk)
	}
	return rows
}

// filled is a command line with words in its places.
func filled(d data, row []field, quoted bool) data {
	say := func(f *field, change string) string {
		d.taint |= f.taint
		text := f.text
		if change == "." || change == "/." {
			text = strings.TrimSuffix(text, path.Ext(text))
		}
		switch change {
		case "/", "/.":
			text = path.Base(text)
		case "//":
			text = path.Dir(text)
		}
		if !quoted {
			return text
		}
		return quote(text)
	}
	if slices.ContainsFunc(row, func(f field) bool { return !f.known() }) { // its output is a new file beside it
		d.text = besides.ReplaceAllString(d.text, "${1}output")
	}
	d.text = computed.ReplaceAllStringFunc(d.text, func(place string) string {
		if strings.Contains(place, "uq") {
			return "{}"
		}
		return effect.Unknown
	})
	d.text = placeholders.ReplaceAllStringFunc(d.text, func(place string) string {
		m := placeholders.FindStringSubmatch(place)
		if m[1] == "" {
			var all []string
			for i := range row {
				all = append(all, say(&row[i], m[2]))
			}
			return strings.Join(all, " ")
		}
		n, _ := strconv.Atoi(m[1])
		if n < 0 {
			n += len(row) + 1
		}
		switch {
		case n > 0 && n <= len(row):
			return say(&row[n-1], m[2])
		case len(row) == 1 && !row[0].known():
			return say(&row[0], "")
		}
		return ""
	})
	return d
}
