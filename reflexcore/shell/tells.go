package shell

import (
	"slices"
	"strings"
)

// builtin walks a shell builtin, and adds to its output what it prints of the state of the shell:
// $(dirs), $(alias) and $(trap) are not empty.
func (in *interp) builtin(b builtin, mark int, std *input, sink *data) {
	if in.doubtful(mark) {
		in.dirs.perhaps(func() { in.does(b, mark, std, sink) })
		return
	}
	n, fewer := len(in.exp.fields), in.exp.vanishing(mark)
	if !fewer {
		in.does(b, mark, std, sink)
		return
	}
	own := *std
	if name := in.exp.fields[mark].text; name == "cd" || name == "pushd" { // with too many words they fail
		in.does(b, n, std, sink)
		in.exp.fields = in.exp.fields[:n]
		return
	}
	in.does(b, mark, std, sink)
	in.dirs.perhaps(func() { in.does(b, n, &own, &data{}) })
	in.exp.fields = in.exp.fields[:n]
}

// does walks a shell builtin once, and adds what it prints of the state of the shell.
func (in *interp) does(b builtin, mark int, std *input, sink *data) {
	if sink == nil {
		b(builtinCall{in, mark, std, sink})
		return
	}
	name, tells := in.exp.fields[mark].text, in.tells(mark)
	b(builtinCall{in, mark, std, sink})
	switch {
	case !tells:
	case name == "cd":
		sink.add(data{text: in.cwd.dir + "\n"})
	case name == "pushd" || name == "popd":
		builtinCall{in, len(in.exp.fields) - 1, std, sink}.printDirs()
	default:
		sink.add(unknown)
	}
}

// tells reports whether a call of a builtin prints state of the shell.
func (in *interp) tells(mark int) bool {
	args := in.exp.fields[mark+1:]
	letters, words := "", 0
	for _, f := range args {
		if strings.HasPrefix(f.text, "-") && len(f.text) > 1 {
			letters += f.text[1:]
		} else {
			words++
		}
	}
	switch in.exp.fields[mark].text {
	case "times", "jobs", "caller", "pushd", "popd", "type":
		return true
	case "cd":
		return words > 0 && len(args) > 0 && (args[len(args)-1].text == "-" || in.par.lookup("CDPATH") != nil)
	case "alias":
		return words == 0 || slices.ContainsFunc(args, func(f field) bool { return !strings.Contains(f.text, "=") })
	case "trap", "hash":
		return len(args) == 0 ||
			strings.ContainsAny(letters, "plPt") && args[0].text != "--" && strings.HasPrefix(args[0].text, "-")
	case "shopt":
		return !strings.ContainsAny(letters, "suq")
	case "umask", "ulimit":
		return words == 0 || strings.Contains(letters, "p")
	case "complete", "enable", "bind":
		return len(args) == 0 || strings.ContainsAny(letters, "pPsSvVlXa")
	case "export", "readonly", "declare", "typeset", "local":
		return words == 0 || strings.ContainsAny(letters, "pfF")
	case "set", "fc":
		return words == 0 && strings.ContainsAny(letters, "ol")
	}
	return false
}

// doubtful reports whether a builtin may have no effect: it was disabled, or it has flags with
// which it fails.
func (in *interp) doubtful(mark int) bool {
	args := in.exp.fields[mark:]
	if slices.Contains(in.def.disabled, args[0].text) {
		return true
	}
	letters := ""
	switch args[0].text {
	case "read":
		letters = "adeinNprsA"
	case "mapfile", "readarray":
		letters = "dnOstcC"
	case "printf":
		letters = "v"
	case "unset", "export", "readonly", "declare", "typeset":
		letters = "aAfgiIlnrtuxv"
	default:
		return false
	}
	for _, f := range args[1:] {
		if len(f.text) < 2 || f.text[0] != '-' || f.text == "--" {
			break
		}
		for i := 1; i < len(f.text); i++ {
			if strings.IndexByte(letters, f.text[i]) < 0 {
				return true
			}
			if args[0].text != "unset" && strings.IndexByte("adinNpvOcC", f.text[i]) >= 0 {
				break // the rest is a value
			}
		}
	}
	return false
}

// vanishing pushes the words of a builtin again, without those that may be empty, if the meaning
// depends on the number of words. It reports whether that is a different reading.
func (ex *expander) vanishing(mark int) bool {
	if ex.in.readings.omits != omitsNothing && ex.in.readings.omits != omitsParts {
		return false
	}
	switch ex.fields[mark].text {
	case "cd", "pushd", "read", "printf", "mapfile", "readarray", "shift", "getopts", "hash":
	default:
		return false
	}
	n := len(ex.fields)
	for _, f := range ex.fields[mark:n] {
		if !f.vanishes() {
			ex.push(f)
		}
	}
	if kept := len(ex.fields) - n; kept < 2 || kept == n-mark {
		ex.fields = ex.fields[:n]
		return false
	}
	return true
}

// compgen prints possible completions, which may include environment variables with tokens. It
// expands the words of -W, and runs the command of -C and the function of -F.
func (bc builtinCall) compgen() {
	args := bc.in.exp.fields[bc.mark+1:]
	for i, f := range args {
		if len(f.text) < 2 || f.text[0] != '-' {
			continue
		}
		at := strings.IndexAny(f.text, "WCF")
		if at < 0 {
			continue
		}
		value := data{f.text[at+1:], f.taint}
		if value.text == "" && i+1 < len(args) {
			value = args[i+1].data
		}
		if f.text[at] == 'W' {
			bc.in.exp.hidden(value.text)
			continue
		}
		bc.in.payloads.sub(value, "compgen", &input{}, nil)
	}
	bc.environs()
}
