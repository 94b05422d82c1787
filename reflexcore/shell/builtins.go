package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// A builtin walks a command of the shell itself. Its words are in.fields[mark:].
type builtin func(in *interp, mark int, std *input, sink *data)

// builtins are the commands of the shell that change what later words mean, or
// whose output is known.
var builtins map[string]builtin

func init() { // the table refers to itself through eval
	builtins = map[string]builtin{
		"echo": (*interp).echo, "printf": (*interp).printf, "read": (*interp).read, "cd": (*interp).cd, "pushd": (*interp).cd, "popd": (*interp).popd,
		"set": (*interp).setParams, "shift": (*interp).shift, "unset": (*interp).unset, "eval": (*interp).eval, "exec": (*interp).exec,
		"source": (*interp).dot, ".": (*interp).dot, "trap": (*interp).trap, "command": (*interp).command, "builtin": (*interp).command, "noglob": (*interp).command, "nocorrect": (*interp).command,
		"type": (*interp).which, "which": (*interp).which, "alias": (*interp).defineAlias, "mapfile": (*interp).mapfile, "readarray": (*interp).mapfile,
		"export": (*interp).export, "readonly": (*interp).export, "declare": (*interp).export, "typeset": (*interp).export, "local": (*interp).export,
		"history": (*interp).history, "fc": (*interp).history, "enable": (*interp).enable, "bind": (*interp).bind, "complete": (*interp).complete, "pwd": (*interp).pwd,
		":": quiet, "true": quiet, "false": quiet, "test": (*interp).names, "[": (*interp).names, "exit": quiet, "return": (*interp).leaveFunction, "break": (*interp).leaveLoop, "continue": (*interp).leaveLoop,
		"let": (*interp).names, "getopts": (*interp).getopts, "umask": quiet, "hash": (*interp).hash, "shopt": quiet, "wait": quiet, "jobs": quiet, "bg": quiet, "fg": quiet, "disown": quiet,
		"times": quiet, "ulimit": quiet, "dirs": quiet, "unalias": quiet, "suspend": quiet, "logout": quiet, "compopt": quiet, "compgen": (*interp).environs, "caller": quiet, "setopt": quiet, "unsetopt": quiet,
	}
}

func quiet(in *interp, mark int, std *input, sink *data) {}

func (in *interp) leaveFunction(int, *input, *data) { in.jumped |= leavesFunction }

func (in *interp) leaveLoop(int, *input, *data) { in.jumped |= leavesLoop }

// echo gives its words, with escapes if -e says so or the shell may be one that
// needs no -e.
func (in *interp) echo(mark int, std *input, sink *data) {
	if sink == nil {
		return
	}
	args := in.fields[mark+1:]
	escapes, newline := false, true
	for len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0].text, "e")
		newline = newline && !strings.Contains(args[0].text, "n")
		args = args[1:]
	}
	buf, taint := []byte(nil), effect.Taint(0)
	for i, f := range args {
		if i > 0 {
			buf = append(buf, ' ')
		}
		if escapes {
			stopped := false
			if buf, stopped = ansiC(buf, f.text, true); stopped {
				newline = false
				break
			}
		} else {
			buf = append(buf, f.text...)
		}
		taint |= f.taint
	}
	if newline {
		buf = append(buf, '\n')
	}
	if in.made(len(buf)) {
		sink.append(data{string(buf), taint})
	}
}

// printf formats; what it cannot format is not known.
func (in *interp) printf(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	into := ""
	if len(args) > 1 && args[0].text == "-v" {
		in.injected(args[1].data)
		into, args = args[1].text, args[2:]
	}
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || sink == nil && into == "" {
		return
	}
	d := in.format(args[0].text, args[1:])
	d.taint |= args[0].taint
	if into != "" {
		in.set(into, d)
		in.environ(into, d)
		return
	}
	sink.append(d)
}

func (in *interp) format(format string, args []field) data {
	var buf []byte
	var taint effect.Taint
	for round := 0; ; round++ {
		used := 0
		next := func() string {
			if used < len(args) {
				used++
				taint |= args[used-1].taint
				return args[used-1].text
			}
			return ""
		}
		for i := 0; i < len(format); i++ {
			if format[i] == '\\' {
				end := i + 2
				for end < len(format) && end < i+10 && isEscape(format[i:end+1]) {
					end++
				}
				end = min(end, len(format))
				buf, _ = ansiC(buf, format[i:end], false)
				i = end - 1
				continue
			}
			if format[i] != '%' || i+1 == len(format) {
				buf = append(buf, format[i])
				continue
			}
			start := i
			for i++; i < len(format) && strings.IndexByte("#0- +'.123456789", format[i]) >= 0; i++ {
			}
			if i == len(format) {
				break
			}
			buf = verb(buf, format[start:i], format[i], next)
		}
		args = args[used:]
		if len(args) == 0 || used == 0 || !in.made(len(buf)) || round > in.lim.Fields {
			in.made(len(buf))
			return data{string(buf), taint}
		}
	}
}

// isEscape reports whether a text may be all of one numeric escape.
func isEscape(s string) bool {
	if len(s) < 3 {
		return true
	}
	switch s[1] {
	case 'x':
		return len(s) <= 4 && isDigits(s[2:], 16)
	case 'u':
		return len(s) <= 6 && isDigits(s[2:], 16)
	case 'U':
		return len(s) <= 10 && isDigits(s[2:], 16)
	}
	return len(s) <= 4 && isDigits(s[1:], 8)
}

func isDigits(s string, base int) bool {
	_, used := number(s, base, len(s))
	return used == len(s)
}

// verb formats one argument.
func verb(buf []byte, flags string, verb byte, next func() string) []byte {
	switch verb {
	case '%':
		return append(buf, '%')
	case 's', 'b', 'q':
		text := next()
		if verb == 'b' {
			decoded, _ := ansiC(nil, text, true)
			text = string(decoded)
		}
		if _, precision, ok := strings.Cut(flags, "."); ok {
			if n, err := strconv.Atoi(precision); err == nil && n < len(text) {
				text = text[:n]
			}
		}
		return append(buf, pad(text, flags)...)
	case 'c':
		if text := next(); text != "" {
			return append(buf, text[0])
		}
		return buf
	case 'd', 'i', 'u', 'x', 'X', 'o':
		text := next()
		n, err := strconv.ParseInt(strings.TrimSpace(text), 0, 64)
		if len(text) > 1 && (text[0] == '\'' || text[0] == '"') {
			n, err = int64(text[1]), nil
		}
		if text == "" {
			n, err = 0, nil
		}
		if err != nil {
			return append(buf, effect.Unknown...)
		}
		base := map[byte]int{'x': 16, 'X': 16, 'o': 8}[verb]
		if base == 0 {
			base = 10
		}
		out := strconv.FormatInt(n, base)
		if verb == 'X' {
			out = strings.ToUpper(out)
		}
		return append(buf, pad(out, flags)...)
	}
	next()
	return append(buf, effect.Unknown...)
}

// pad fills to the width in the flags of a verb.
func pad(text, flags string) string {
	flags, _, _ = strings.Cut(flags[1:], ".")
	digits := strings.TrimLeft(flags, "#- +'0")
	width, err := strconv.Atoi(digits)
	if err != nil || width <= len(text) || width > 4096 {
		return text
	}
	switch {
	case strings.Contains(flags, "-"):
		return text + strings.Repeat(" ", width-len(text))
	case strings.HasPrefix(flags, "0"):
		return strings.Repeat("0", width-len(text)) + text
	}
	return strings.Repeat(" ", width-len(text)) + text
}

// read takes one line of the standard input into variables.
func (in *interp) read(mark int, std *input, sink *data) {
	in.names(mark, std, sink)
	var names []string
	array := ""
	delimiter, raw := "\n", false
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
		case 'n', 'N', 'k', 'q':
			delimiter = "\x01" // all that there is
		case 'u':
			if n, err := strconv.Atoi(value); err == nil && n < len(in.fds) && in.fds[n] != "" {
				std = &input{in.contentOf(in.fds[n]), true}
			}
		}
	}
	line := in.line(std, delimiter)
	if !raw && line.known() {
		line.text = string(unescape(nil, line.text))
	}
	if array != "" {
		v := in.slot(array)
		*v = variable{name: array, array: true}
		for _, w := range in.cutIFS(line.text, -1) {
			v.list = append(v.list, data{w, line.taint})
		}
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

// line takes one line from the input.
func (in *interp) line(std *input, delimiter string) data {
	if !std.present {
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

func (in *interp) cd(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	for len(args) > 0 && (args[0].text == "" || len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "LPe@-") == "") {
		args = args[1:]
	}
	in.before = in.dir
	switch {
	case len(args) == 0:
		in.dir = in.value("HOME").text
	case args[0].text == "-" || args[0].glob || strings.HasPrefix(args[0].text, "+") || in.lookup("CDPATH") != nil && strings.IndexByte("./", args[0].text[0]) < 0:
		in.dir = effect.Unknown
	default:
		in.dir = in.abs(args[0].text)
	}
	if in.dir == "" {
		in.dir = effect.Unknown
	}
}

func (in *interp) popd(mark int, std *input, sink *data) { in.dir = effect.Unknown }

func (in *interp) pwd(mark int, std *input, sink *data) { sink.append(data{text: in.dir + "\n"}) }

// setParams is set: with words, they become the positional parameters.
func (in *interp) setParams(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	if len(args) == 0 {
		in.environs(mark, std, sink)
	}
	for i, f := range args {
		if f.text == "--" || f.text != "" && f.text[0] != '-' && f.text[0] != '+' && (i == 0 || args[i-1].text != "-o" && args[i-1].text != "+o") {
			if f.text == "--" {
				i++
			}
			params := make([]data, 0, len(args)-i)
			for _, p := range args[i:] {
				params = append(params, p.data)
			}
			in.setPositional(params)
			return
		}
	}
}

func (in *interp) shift(mark int, std *input, sink *data) {
	n := 1
	if args := in.fields[mark+1:]; len(args) > 0 {
		n, _ = strconv.Atoi(args[0].text)
	}
	if list := in.positional(); list != nil && n >= 0 {
		in.setPositional(list[min(n, len(list)):])
	}
}

func (in *interp) unset(mark int, std *input, sink *data) {
	in.names(mark, std, sink)
	for _, f := range in.fields[mark+1:] {
		if strings.HasPrefix(f.text, "-") {
			continue
		}
		if strings.HasPrefix(f.text, "HIST") {
			in.add(effect.Effect{Kind: effect.Discard, Target: "shell history", By: "unset"})
		}
		*in.slot(f.text) = variable{name: f.text, unset: true}
		if slices.ContainsFunc(in.funcs, func(have function) bool { return have.name == f.text }) {
			in.funcs = append(in.funcs, function{name: f.text})
		}
	}
}

func (in *interp) eval(mark int, std *input, sink *data) {
	var d data
	for i, f := range in.fields[mark+1:] {
		if i > 0 {
			d.text += " "
		}
		d.text += f.text
		d.taint |= f.taint
	}
	choices, choose, shared := in.choices, in.choose, in.shared
	in.choices, in.choose, in.shared = nil, false, false
	in.payload(d, "eval", std, sink)
	in.choices, in.choose, in.shared = choices, choose, shared
}

func (in *interp) exec(mark int, std *input, sink *data) {
	from := mark + 1
	for from < len(in.fields) && strings.HasPrefix(in.fields[from].text, "-") {
		if in.fields[from].text == "-a" {
			from++
		}
		from++
	}
	if from < len(in.fields) {
		in.again(from, std, sink)
	}
}

// again runs the words from an index on as a command, functions left out.
func (in *interp) again(from int, std *input, sink *data) {
	mark := len(in.fields)
	in.fields = append(in.fields, in.fields[from:]...)
	in.level++
	if in.level > in.lim.Nesting {
		in.over("depth")
	} else if b := builtins[in.fields[mark].text]; b != nil {
		b(in, mark, std, sink)
	} else {
		in.program(mark, std, sink)
	}
	in.level--
	in.fields = in.fields[:mark]
}

// dot is source.
func (in *interp) dot(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	if len(args) == 0 {
		return
	}
	p := args[0]
	if isStdin(p.text) {
		in.payload(std.data, "source", &input{}, sink)
		return
	}
	target := in.home(p.text)
	f := in.file(target)
	taint := p.taint
	if f != nil {
		taint |= f.taint
	}
	in.add(effect.Effect{Kind: effect.Exec, Target: target, Taint: taint, By: "source"})
	if f == nil {
		return
	}
	held, others := in.params, in.others
	if len(args) > 1 {
		in.setPositional(nil)
		for _, a := range args[1:] {
			in.params = append(in.params, a.data)
		}
	}
	choices, choose, shared := in.choices, in.choose, in.shared
	in.choices, in.choose, in.shared = nil, false, false
	in.payload(f.data, "source", std, sink)
	in.choices, in.choose, in.shared = choices, choose, shared
	in.params, in.others = held, others
}

func (in *interp) trap(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	for len(args) > 0 && (args[0].text == "--" || args[0].text == "-p" || args[0].text == "-l") {
		args = args[1:]
	}
	if len(args) < 2 || args[0].text == "-" || args[0].text == "" {
		return
	}
	in.sub(args[0].data, "trap", &input{}, nil)
}

// command is command, builtin: what follows, functions left out.
func (in *interp) command(mark int, std *input, sink *data) {
	from := mark + 1
	for from < len(in.fields) && strings.HasPrefix(in.fields[from].text, "-") {
		if strings.ContainsAny(in.fields[from].text, "vV") {
			in.which(from, std, sink)
			return
		}
		from++
	}
	if from < len(in.fields) {
		in.again(from, std, sink)
	}
}

// which gives the path of a program: its name will do.
func (in *interp) which(mark int, std *input, sink *data) {
	for _, f := range in.fields[mark+1:] {
		if !strings.HasPrefix(f.text, "-") {
			sink.append(data{f.text + "\n", f.taint})
		}
	}
}

func (in *interp) defineAlias(mark int, std *input, sink *data) {
	for _, f := range in.fields[mark+1:] {
		name, text, ok := strings.Cut(f.text, "=")
		if !ok {
			continue
		}
		if len(in.aliases) >= in.lim.Fields {
			in.over("aliases")
			return
		}
		in.aliases = append(in.aliases, alias{name: name, text: text})
	}
}

func (in *interp) mapfile(mark int, std *input, sink *data) {
	name := "MAPFILE"
	args := in.fields[mark+1:]
	for i := 0; i < len(args); i++ {
		if text := args[i].text; strings.HasPrefix(text, "-") {
			if len(text) == 2 && strings.IndexByte("dnOsuCc", text[1]) >= 0 {
				i++
				if text[1] == 'C' && i < len(args) {
					in.sub(args[i].data, "mapfile -C", &input{}, nil)
				}
			}
			continue
		}
		name = args[i].text
	}
	v := variable{name: name, array: true}
	if std.known() {
		for line := range strings.Lines(std.text) {
			v.list = append(v.list, data{strings.TrimSuffix(line, "\n"), std.taint})
		}
	} else {
		v = variable{name: name, data: data{effect.Unknown, std.taint}}
	}
	*in.slot(name) = v
}

// export is export and its like where they are not a declaration of the syntax.
func (in *interp) export(mark int, std *input, sink *data) {
	for _, f := range in.fields[mark+1:] {
		name, _, _ := strings.Cut(f.text, "=")
		in.injected(data{name, f.taint})
	}
	for _, f := range in.fields[mark+1:] {
		if name, value, ok := strings.Cut(f.text, "="); ok && effect.IsKnown(name) {
			in.set(name, data{value, f.taint})
			in.environ(name, data{value, f.taint})
		}
	}
}

func (in *interp) history(mark int, std *input, sink *data) {
	for _, f := range in.fields[mark+1:] {
		if strings.HasPrefix(f.text, "-") && strings.ContainsAny(f.text, "cdw") {
			in.add(effect.Effect{Kind: effect.Discard, Target: "shell history", By: "history"})
			return
		}
	}
	sink.append(data{effect.Unknown, effect.Secret})
}

// hash -p says where a program is.
func (in *interp) hash(mark int, std *input, sink *data) {
	if args := in.fields[mark+1:]; len(args) > 2 && args[0].text == "-p" && len(in.aliases) < in.lim.Fields {
		in.aliases = append(in.aliases, alias{name: args[2].text, text: quote(args[1].text)})
	}
}

// environs prints what the shell knows, tokens and all.
func (in *interp) environs(mark int, std *input, sink *data) {
	sink.append(data{effect.Unknown, effect.Secret})
}

// enable -f loads a library into the shell.
func (in *interp) enable(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	for i, f := range args {
		if f.text == "-f" && i+1 < len(args) {
			in.add(effect.Effect{Kind: effect.Exec, Target: in.home(args[i+1].text), By: "enable"})
		}
	}
}

// bind -x runs a command at a key.
func (in *interp) bind(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	for i, f := range args {
		if f.text == "-x" && i+1 < len(args) {
			_, text, _ := strings.Cut(args[i+1].text, ":")
			in.sub(data{strings.Trim(text, `"`), f.taint}, "bind -x", &input{}, nil)
		}
	}
}

// complete -C and -F run something at completion.
func (in *interp) complete(mark int, std *input, sink *data) {
	args := in.fields[mark+1:]
	for i, f := range args {
		if f.text == "-C" && i+1 < len(args) {
			in.sub(args[i+1].data, "complete -C", &input{}, nil)
		}
	}
}

func (in *interp) getopts(mark int, std *input, sink *data) {
	if args := in.fields[mark+1:]; len(args) > 1 {
		in.set(args[1].text, unknown)
		in.set("OPTARG", unknown)
	}
}
