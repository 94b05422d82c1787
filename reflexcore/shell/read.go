package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// read takes one line of the standard input into variables.
func (in *interp) read(mark int, std *input, sink *data) {
	in.names(mark, std, sink)
	var names []string
	array := ""
	delimiter, raw := "\n", false
	var most *string // how many letters it takes, if that is said
	args := in.fields[mark+1:]
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
			delimiter, most = "", &value // newlines and all
		case 'u':
			std = in.from(value, std)
		}
	}
	line := in.eitherSpoken(in.letters(std, delimiter, most, raw))
	if !raw && line.known() {
		line.text = string(unescape(nil, line.text))
	}
	if array != "" {
		v := variable{name: array, array: true, integer: in.vars.slot(array).integer}
		for _, w := range in.cutIFS(line.text, -1) {
			v.list = append(v.list, in.counted(&v, data{w, line.taint}))
		}
		*in.vars.slot(array) = v
		return
	}
	if len(names) == 0 {
		in.set("REPLY", line)
		return
	}
	words := in.cutIFS(line.text, len(names))
	for i, name := range names {
		d := data{taint: line.taint}
		switch {
		case i < len(words):
			d.text = words[i]
		case !line.known():
			d.text = effect.Unknown
		}
		in.set(name, d)
		in.environ(name, d)
	}
}

// from is what is read from the descriptor of a number.
func (in *interp) from(number string, std *input) *input {
	n, err := strconv.Atoi(number)
	switch {
	case err != nil && !effect.IsKnown(number):
		return &input{unknown, true}
	case err == nil && n >= 0 && n < len(in.fds) && in.fds[n] != "":
		return &input{in.contentOf(in.fds[n]), true}
	}
	return std
}

// line takes one line from the input.
func (in *interp) line(std *input, delimiter string) data {
	if !std.present {
		in.rep.typed = true
		return unknown // the terminal
	}
	if std.text == "" {
		in.eof = true
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

// cutIFS splits a line into at most n words, all if n is below 0.
func (in *interp) cutIFS(text string, n int) []string {
	ifs := in.ifs()
	var words []string
	text = strings.Trim(text, " \t\n")
	for text != "" {
		i := strings.IndexAny(text, ifs)
		if i < 0 || n > 0 && len(words) == n-1 {
			return append(words, text)
		}
		words = append(words, text[:i])
		text = strings.TrimLeft(text[i+1:], " \t\n")
	}
	return words
}

func (in *interp) mapfile(mark int, std *input, sink *data) {
	name, callback, origin := "MAPFILE", data{}, ""
	how := cutting{delimiter: "\n"}
	args := in.fields[mark+1:]
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
			std = in.from(value.text, std)
		}
	}
	v := variable{name: name, array: true, integer: in.vars.slot(name).integer}
	if lines, ok := how.cut(std.text); ok && std.known() && std.present {
		next := 0
		if origin != "" { // what is there stays
			next = in.kept(&v, name, origin)
		}
		for _, line := range lines {
			next = v.put(next, in.counted(&v, data{line, std.taint}))
		}
	} else {
		v = in.unread(name, origin, std.taint)
	}
	if callback.text != "" {
		in.callback(callback, &v)
	}
	*in.vars.slot(name) = v
}

// unread is an array that mapfile fills with what is not known. From an origin on, what
// stands before it stays.
func (in *interp) unread(name, origin string, taint effect.Taint) variable {
	open := variable{name: name, data: data{effect.Unknown, taint}}
	if origin == "" {
		return open
	}
	stays := variable{name: name, array: true}
	in.kept(&stays, name, origin)
	v := stays
	v.forms = []variable{stays, open}
	return v
}

// callback walks what mapfile runs for each line: with its number and the line.
func (in *interp) callback(command data, lines *variable) {
	outer := in.alt.setAside()
	list := lines.list
	if len(list) == 0 { // it is not known what there is to read
		list = []data{{effect.Unknown, lines.taint}}
	}
	for i, line := range list {
		if i >= in.rep.lim.Rounds || in.rep.stopped() {
			break
		}
		text := in.arena.concat(command.text, " ", strconv.Itoa(i), " ", quote(line.text))
		in.payload(data{text, command.taint | line.taint}, "mapfile -C", &input{}, nil)
	}
	in.alt.selection = outer
}
