package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// read reads one line of the standard input into variables.
func (bc builtinCall) read() {
	bc.evaluateNames()
	var names []string
	array := ""
	delimiter, raw := "\n", false
	var most *string // the number of characters to read, if it is given
	args := bc.in.exp.fields[bc.mark+1:]
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if len(text) < 2 || text[0] != '-' {
			names = append(names, text)
			continue
		}
		letters := strings.TrimLeft(text[1:], "rse")
		raw = raw || strings.Contains(text, "r")
		if letters == "" {
			continue
		}
		value := letters[1:]
		if value == "" && i+1 < len(args) && strings.IndexByte("adinNptu", letters[0]) >= 0 {
			i++
			value = args[i].text
		}
		switch letters[0] {
		case 'a', 'A':
			array = value
		case 'd':
			delimiter = value
		case 'n':
			most = &value
		case 'N', 'k', 'q':
			delimiter, most = "", &value // newlines included
		case 'u':
			bc.std = bc.in.lines.inputOf(value, bc.std)
		}
	}
	line := bc.in.echoes.eitherSpoken(bc.in.lines.readLetters(bc.std, delimiter, most, raw))
	if !raw && line.known() {
		line.text = string(unescape(nil, line.text, ""))
	}
	if array != "" {
		v := variable{name: array, array: true, integer: bc.in.vars.slot(array).integer}
		for _, w := range bc.in.lines.cutIFS(line.text, -1) {
			v.list = append(v.list, bc.in.math.countElement(&v, data{w, line.taint}))
		}
		*bc.in.vars.slot(array) = v
		return
	}
	if len(names) == 0 {
		bc.in.assigner.setVariable("REPLY", line)
		return
	}
	words := bc.in.lines.cutIFS(line.text, len(names))
	for i, name := range names {
		d := data{taint: line.taint}
		switch {
		case i < len(words):
			d.text = words[i]
		case !line.known():
			d.text = effect.Unknown
		}
		bc.in.assigner.setVariable(name, d)
		bc.in.env.affects(name, d)
	}
}

// inputOf returns the input that is read from a descriptor number.
func (lr *lineReader) inputOf(number string, std *input) *input {
	n, err := strconv.Atoi(number)
	switch {
	case err != nil && !effect.IsKnown(number):
		return &input{unknown, true}
	case err == nil && n >= 0 && n < len(lr.in.io.fds) && lr.in.io.fds[n] != "":
		return &input{lr.in.fs.contentOf(lr.in.io.fds[n]), true}
	}
	return std
}

// readLine takes one line from the input. delimiter ends it; if that is empty, it takes all.
func (lr *lineReader) readLine(std *input, delimiter string) data {
	if !std.present {
		lr.in.rep.typed = true
		return unknown // the terminal
	}
	if std.text == "" {
		lr.eof = true
		return data{}
	}
	if !std.known() {
		return data{effect.Unknown, std.taint}
	}
	line, rest := std.text, ""
	if delimiter != "" {
		line, rest, _ = strings.Cut(std.text, delimiter[:1])
	}
	std.text = rest
	return data{line, std.taint}
}

// cutIFS splits a line at IFS into at most n words, or into all words if n is below 0.
func (lr *lineReader) cutIFS(text string, n int) []string {
	ifs := lr.in.par.ifs()
	var words []string
	text = strings.Trim(text, " \t\n")
	for text != "" {
		i := strings.IndexAny(text, ifs)
		if i < 0 || n > 0 && len(words) == n-1 {
			words = append(words, text)
			break
		}
		words = append(words, text[:i])
		text = strings.TrimLeft(text[i+1:], " \t\n")
	}
	lr.in.rep.pieces(len(words))
	return words
}

func (bc builtinCall) mapfile() {
	name, callback, origin := "MAPFILE", data{}, ""
	how := cutting{delimiter: "\n"}
	args := bc.in.exp.fields[bc.mark+1:]
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if len(text) < 2 || text[0] != '-' {
			name = text
			continue
		}
		letters := strings.TrimLeft(text[1:], "t")
		how.trims = how.trims || text[1] == 't'
		if letters == "" {
			continue
		}
		value := data{letters[1:], args[i].taint}
		if value.text == "" && i+1 < len(args) {
			i++
			value = args[i].data
		}
		switch letters[0] {
		case 'C':
			callback = value
		case 'O':
			origin = value.text
		case 'd':
			how.delimiter = value.text
		case 'n':
			how.most = value.text
		case 's':
			how.skips = value.text
		case 'u':
			bc.std = bc.in.lines.inputOf(value.text, bc.std)
		}
	}
	v := variable{name: name, array: true, integer: bc.in.vars.slot(name).integer}
	if lines, ok := how.cut(bc.std.text); ok && bc.std.known() && bc.std.present {
		bc.in.rep.pieces(len(lines))
		next := 0
		if origin != "" { // existing elements stay
			next = bc.in.lines.keepElements(&v, name, origin)
		}
		for _, line := range lines {
			next = v.put(next, bc.in.math.countElement(&v, data{line, bc.std.taint}))
		}
	} else {
		v = bc.in.lines.unread(name, origin, bc.std.taint)
	}
	if callback.text != "" {
		bc.in.lines.callback(callback, &v)
	}
	*bc.in.vars.slot(name) = v
}

// unread returns an array that mapfile fills with unknown lines. If there is an origin, the
// elements before it stay.
func (lr *lineReader) unread(name, origin string, taint effect.Taint) variable {
	open := variable{name: name, data: data{effect.Unknown, taint}}
	if origin == "" {
		return open
	}
	stays := variable{name: name, array: true}
	lr.keepElements(&stays, name, origin)
	v := stays
	v.forms = []variable{stays, open}
	return v
}

// callback walks the command that mapfile runs with the index and the text of each line.
func (lr *lineReader) callback(command data, lines *variable) {
	list := lines.list
	if len(list) == 0 { // the lines are not known
		list = []data{{effect.Unknown, lines.taint}}
	}
	lr.in.alt.afresh(func() {
		for i, line := range walked(&lr.in.rep, list, anyOf(list)) {
			if lr.in.rep.stopped() {
				break
			}
			text := lr.in.arena.concat(command.text, " ", strconv.Itoa(i), " ", quote(line.text))
			lr.in.payloads.payload(data{text, command.taint | line.taint}, "mapfile -C", &input{}, nil)
		}
	})
}

// keepElements gives v the elements of the array of that name, and returns the index at which the
// read lines begin.
func (lr *lineReader) keepElements(v *variable, name, origin string) int {
	n, ok := lr.in.math.toInteger(strings.TrimSpace(origin), 0)
	if old := lr.in.par.lookup(name); old != nil && old.array {
		v.list, v.keys = slices.Clone(old.list), slices.Clone(old.keys)
	} else {
		v.list = lr.in.par.asList(name)
	}
	return v.resolve(n, ok)
}

// readLetters takes a line from the input, or as many characters as read -n asks for.
func (lr *lineReader) readLetters(std *input, delimiter string, most *string, raw bool) data {
	if most == nil {
		return lr.readLine(std, delimiter)
	}
	whole := std.text
	line := lr.readLine(std, delimiter)
	n, err := strconv.Atoi(*most)
	switch {
	case !std.present || !line.known() || line.text == "":
		return line
	case err != nil || n < 0 || !raw && strings.Contains(line.text, `\`):
		return data{effect.Unknown, line.taint}
	}
	for i := range line.text {
		if n == 0 {
			std.text = whole[i:]
			return data{line.text[:i], line.taint}
		}
		n--
	}
	return line
}

// A cutting describes how mapfile splits its input.
type cutting struct {
	delimiter, most, skips string
	trims                  bool
}

// cut splits a text. ok is false if a count is not known.
func (c cutting) cut(text string) (pieces []string, ok bool) {
	most, err := strconv.Atoi("0" + c.most)
	skips, also := strconv.Atoi("0" + c.skips)
	if err != nil || also != nil {
		return nil, false
	}
	delimiter := "\x00"
	if c.delimiter != "" {
		delimiter = c.delimiter[:1]
	}
	for text != "" && (most == 0 || len(pieces) < most) {
		piece, rest, found := strings.Cut(text, delimiter)
		if text = rest; skips > 0 {
			skips--
			continue
		}
		if found && !c.trims && delimiter != "\n" {
			piece += delimiter
		}
		pieces = append(pieces, piece)
	}
	return pieces, true
}
