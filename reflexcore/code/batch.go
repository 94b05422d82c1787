package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
)

// A batch reads a line of cmd.exe: commands between &, && , || and |, words with carets and double
// quotes, and %variables%, which are not known.
type batch struct{ *machine }

// run evaluates the line.
func (b *batch) run(src string) {
	var words []string
	var w strings.Builder
	quoted, any := false, false
	word := func() {
		if any {
			words = append(words, w.String())
		}
		w.Reset()
		any = false
	}
	command := func() {
		word()
		b.command(words)
		words = nil
	}
	for i := 0; i < len(src) && b.budget.step(); i++ {
		switch c := src[i]; {
		case c == '^' && !quoted && i+1 < len(src):
			i++
			w.WriteByte(src[i])
			any = true
		case c == '"':
			quoted, any = !quoted, true
		case c == '%':
			if end := strings.IndexByte(src[i+1:], '%'); end > 0 && isPlainName(src[i+1:i+1+end]) {
				w.WriteString(b.variable(src[i+1 : i+1+end]))
				i += end + 1
			} else {
				w.WriteByte(c)
			}
			any = true
		case quoted:
			w.WriteByte(c)
		case c == '&' || c == '|' || c == '\n' || c == '(' && len(words) == 0 && !any || c == ')':
			command()
		case c == '>':
			if s := w.String(); s == "1" || s == "2" {
				w.Reset()
				any = false
			}
			word()
			words = append(words, ">")
		case c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';':
			word()
		default:
			w.WriteByte(c)
			any = true
		}
	}
	command()
}

func (b *batch) variable(name string) string {
	switch strings.ToUpper(name) {
	case "USERPROFILE", "HOME":
		return b.lim.Home
	case "HOMEDRIVE": // of %HOMEDRIVE%%HOMEPATH%
		return ""
	case "HOMEPATH":
		return b.lim.Home
	case "COMSPEC":
		return "cmd"
	}
	return b.inputs.env(name, "%"+name+"%").str()
}

// redirected yields the files that a command's output goes to, and returns its other words.
func (b *batch) redirected(words []string) []string {
	for i := 0; i+1 < len(words); i++ {
		if words[i] == ">" {
			path, appends := words[i+1], effect.Bits(0)
			if path == ">" && i+2 < len(words) {
				path, appends = words[i+2], effect.Append
				words = append(words[:i:i], words[i+1:]...)
			}
			words = append(words[:i:i], words[i+2:]...)
			if !strings.EqualFold(path, "nul") {
				b.out.found(Found{Op: Write, Text: path, Bits: appends, By: "cmd >"})
			}
			i--
		}
	}
	return words
}

// command yields what one command does. What is no command of cmd itself is a program.
func (b *batch) command(words []string) {
	words = b.redirected(words)
	if len(words) == 0 {
		return
	}
	name := strings.ToLower(strings.TrimPrefix(words[0], "@"))
	if i := strings.IndexByte(name, '/'); i > 0 && len(name) > i+1 { // rd/s/q
		words = append([]string{name[:i], name[i:]}, words[1:]...)
		name = words[0]
	}
	var operands []string
	flags, bits := "", effect.Bits(0)
	for _, w := range words[1:] {
		if strings.HasPrefix(w, b.lim.Home) { // a path of the machine that this is
			w = strings.ReplaceAll(w, `\`, "/")
		} else if strings.HasPrefix(w, "/") {
			flags += strings.ToLower(w)
			continue
		}
		operands = append(operands, w)
	}
	for flag := range strings.SplitSeq(flags, "/") {
		switch flag {
		case "s":
			bits |= effect.Recursive
		case "q", "f":
			bits |= effect.Force
		}
	}
	var op Op
	switch name {
	case "del", "erase", "rd", "rmdir":
		op = Delete
	case "type":
		op = Read
	case "copy", "move", "xcopy", "ren", "rename", "md", "mkdir":
		op = Write
	case "echo", "rem", "cd", "chdir", "set", "setlocal", "endlocal", "pause", "cls", "exit", "goto", "ver", "vol",
		"dir", "title", "pushd", "popd":
		return
	case "do", "else":
		b.command(words[1:])
		return
	case "if", "for", "call", "start":
		b.out.found(Found{Text: strings.Join(words, " "), By: "cmd " + name})
		return
	default:
		b.programs.argv(append([]string{name}, words[1:]...), 0, "cmd")
		return
	}
	for _, path := range operands {
		if len(path) > 1 && path[0] == '%' && lex.IsLetter(path[len(path)-1]) { // the variable of a loop
			path = effect.Unknown
		}
		b.out.found(Found{Op: op, Text: path, Bits: bits, By: name})
	}
}
