package shell

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// sourceMarks are the markers before the arguments, or the argument files, of parallel.
var sourceMarks = []string{":::", "::::", ":::+", "::::+"}

// sources returns the input sources of parallel, each as its list of words: the standard input or
// the file of -a, then the words after each marker. Each of several files is a source of its own.
func (lr *listRunner) sources() [][]field {
	var out [][]field
	if hasRole(lr.line.p.Stdin, grammar.Args) && lr.std.present {
		out = append(out, lr.wordsOf(lr.std, endsLine))
	}
	last := 0
	for i := range lr.line.p.Uses {
		u := &lr.line.p.Uses[i]
		switch {
		case u.Role == grammar.Read && u.Word > 0:
			var words []field
			for _, std := range lr.contents(u) {
				words = append(words, lr.wordsOf(&std, endsLine)...)
			}
			out = append(out, words)
		case u.Role == grammar.Args && u.Word > 0:
			mark := u.Word
			for mark > 0 && !slices.Contains(sourceMarks, lr.line.argv[mark]) {
				mark--
			}
			if mark != last || len(out) == 0 {
				out, last = append(out, nil), mark
			}
			out[len(out)-1] = append(out[len(out)-1], lr.field(u))
		}
	}
	if len(out) == 0 && !lr.std.present {
		return [][]field{{{data: unknown, splits: true}}}
	}
	return out
}

// runsList walks the lines of the files of parallel as commands if no command is given.
func (lr *listRunner) runsList(out *data) {
	if lr.line.p.Program.Name != "parallel" || hasRole(lr.line.p.Uses, grammar.Shell) {
		return
	}
	for u := range lr.line.uses(grammar.Read) {
		for _, std := range lr.contents(u) {
			lr.in.payloads.runScript("sh", std.data, nil, lr.std, out, lr.line.by)
		}
	}
}

// option returns the value of an option of parallel, by the name that the table gives it, and
// whether the option is present.
func (l *commandLine) option(name string) (value string, found bool) {
	for u := range l.uses(grammar.Text) {
		if u.Arg == name {
			value, found = u.Text, true
		}
	}
	return value, found
}

// hasFlag reports whether one of the flags is among the words before the command.
func (l *commandLine) hasFlag(command int, flags ...string) bool {
	return slices.ContainsFunc(l.argv[:min(command, len(l.argv))],
		func(w string) bool { return slices.Contains(flags, w) })
}

var (
	// placeholders finds the replacement strings of parallel: {}, {.}, {2}, {2/}, {+}.
	placeholders = lazyregexp.New(`\{(?:(-?[0-9]+)?(\.|//|/\.|/)?|\+)\}`)
	// computed finds the replacement strings that are Perl code: {= … =}.
	computed = lazyregexp.New(`(?s)\{=(?:\s*-?[0-9]+\s)?(.*?)=\}`)
	// besides finds an output file that is named after an input word: > {.}
	besides = lazyregexp.New(`(>\s*)\{(?:\.|/\.?|//)\}`)
	// literal matches a separator that has no special characters of regular expressions.
	literal = lazyregexp.New(`^[^\\.^$*+?()\[\]{}|]+$`)
)

// inEach runs the command line of parallel once for each word, or for each combination of words
// of several sources. If the command begins with a replacement string, its words are code:
// parallel quotes nothing in a command that consists of replacement strings alone, and rush never
// quotes.
func (lr *listRunner) inEach(u *grammar.Use, d data, out *data) {
	in := lr.in
	for option := range lr.line.uses(grammar.Text) { // options that rename a replacement string
		if option.Text != "" && option.Arg[0] == '{' {
			d.text = strings.ReplaceAll(d.text, option.Text, option.Arg)
		}
	}
	if code, ok := lr.line.option("code"); ok {
		tag, code, _ := strings.Cut(code, " ")
		place := "{==}"
		if strings.Contains(code, "uq") {
			place = "{= uq() =}"
		}
		in.payloads.runCode("perl", data{text: code}, nil, &input{}, out, lr.line.by)
		d.text = strings.ReplaceAll(d.text, tag, place)
	}
	unquoted := path.Base(lr.line.argv[0]) != "parallel"
	for _, m := range computed().FindAllStringSubmatch(d.text, 8) {
		if code := strings.TrimSpace(m[1]); code != "" {
			in.payloads.runCode("perl", data{text: code}, nil, &input{}, out, lr.line.by)
		}
		unquoted = unquoted || strings.Contains(m[1], "uq")
	}
	if lr.line.hasFlag(u.Word, "--pipe", "--pipepart", "--pipe-part", "--spreadstdin") {
		lr.inPipe(u, d, out)
		return
	}
	first := strings.TrimSpace(d.text)
	for _, re := range [...]*regexp.Regexp{placeholders(), computed()} {
		at := re.FindStringIndex(first)
		unquoted = unquoted || at != nil && at[0] == 0
	}
	if !computed().MatchString(d.text) && !placeholders().MatchString(d.text) {
		lr.each(d, lr.added(), out)
		for _, row := range lr.rows(u.Word) { // the line as one word: sh -c
			if in.rep.stopped() {
				return
			}
			if len(row) == 1 && (strings.ContainsAny(row[0].text, " \t") || !row[0].known()) {
				in.payloads.runScript("sh", filled(data{d.text + " {}", d.taint}, row, true), nil, lr.std, out, lr.line.by)
			}
		}
		return
	}
	for _, row := range lr.rows(u.Word) {
		if in.rep.stopped() {
			return
		}
		text := filled(d, row, !unquoted)
		if !text.known() && placeholders().ReplaceAllString(strings.ReplaceAll(first, " ", ""), "") == "" {
			text.text = effect.Unknown // any code
		}
		in.payloads.runScript("sh", text, nil, lr.std, out, lr.line.by)
	}
}

// inPipe runs the command line of parallel with --pipe: each command gets the input as its
// standard input, or in a file whose name replaces {}.
func (lr *listRunner) inPipe(u *grammar.Use, d data, out *data) {
	std := lr.std
	for r := range lr.line.uses(grammar.Read) {
		std = &lr.contents(r)[0]
	}
	if !std.present {
		std = &input{data: unknown, present: true}
	}
	if lr.line.hasFlag(u.Word, "--cat", "--fifo") {
		lr.in.fs.procs++
		name := "/dev/fd/" + strconv.Itoa(62+lr.in.fs.procs)
		lr.in.fs.list = append(lr.in.fs.list, virtual{path: name, data: std.data})
		d.text = strings.ReplaceAll(d.text, "{}", name)
	}
	lr.in.payloads.runScript("sh", d, nil, std, out, lr.line.by)
}

// rows returns the argument lists of the runs of a command. Each run takes one word of each
// source. With columns, each column of a word is a word of its own.
func (lr *listRunner) rows(command int) [][]field {
	split, columns := lr.line.option("columns")
	rows := [][]field{nil}
	sources := lr.sources()
	for i := range sources {
		sources[i] = walked(&lr.in.rep, sources[i], others(sources[i]))
	}
	// If there are too many to walk, any word may be in any position.
	if len(sources) > 1 && combinations(sources) > lr.in.rep.lim.Rounds {
		rows[0] = []field{{data: unknown}}
		for _, w := range slices.Concat(sources...) {
			if lr.in.rep.pieces(len(sources)); !lr.in.rep.spend() {
				break
			}
			rows = append(rows, slices.Repeat([]field{w}, len(sources)))
		}
		return rows
	}
	for _, words := range sources {
		var next [][]field
		for _, row := range rows {
			for _, w := range words {
				cells := []field{w}
				if columns {
					cells = w.columns(split)
				}
				if lr.in.rep.pieces(len(row) + len(cells)); !lr.in.rep.spend() {
					return rows
				}
				next = append(next, slices.Concat(row, cells))
			}
		}
		rows = next
	}
	if !columns && len(sources) == 1 {
		rows = append(rows, lr.line.together(command, sources[0])...)
	}
	return rows
}

// others stands for all of the words.
func others(words []field) field {
	f := field{data: unknown, splits: true}
	for _, w := range words {
		f.taint |= w.taint
	}
	return f
}

// combinations returns the number of runs that take one word of each source. It stops counting
// beyond 1<<16.
func combinations(sources [][]field) int {
	n := 1
	for _, words := range sources {
		if n *= len(words); n > 1<<16 {
			break
		}
	}
	return n
}

// together returns the argument lists of runs that take several words of one source.
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

// filled returns a command line with its replacement strings replaced by words.
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
	if slices.ContainsFunc(row, func(f field) bool { return !f.known() }) { // a new file next to the input
		d.text = besides().ReplaceAllString(d.text, "${1}output")
	}
	d.text = computed().ReplaceAllStringFunc(d.text, func(place string) string {
		if strings.Contains(place, "uq") {
			return "{}"
		}
		return effect.Unknown
	})
	d.text = placeholders().ReplaceAllStringFunc(d.text, func(place string) string {
		m := placeholders().FindStringSubmatch(place)
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
