package code

import (
	"slices"
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// command evaluates a command: its name and its words.
func (p *psReader) command(name, in value, piped bool) value {
	var words []psWord
	for p.budget.step() {
		p.space(false)
		if p.i >= len(p.src) || strings.IndexByte(";|\n)}", p.src[p.i]) >= 0 || p.at(0) == '&' && p.at(1) == '&' ||
			p.at(0) == '2' && p.at(1) == '>' || p.at(0) == '>' {
			break
		}
		before := p.i
		words = append(words, p.commandWord())
		if p.i == before {
			p.skip(1)
		}
	}
	return p.run(name, words, in, piped)
}

// A psWord is a parameter, which begins with a dash, or an argument.
type psWord struct {
	param string // in lower case, without the dash
	value
}

func (p *psReader) commandWord() psWord {
	if c := p.at(0); c == '-' && lex.IsLetter(p.at(1)) {
		word := p.while(func(c byte) bool { return lex.IsWord(c) || c == '-' })
		name := strings.ToLower(word[1:])
		if p.at(0) == ':' {
			p.skip(1)
			return psWord{name + ":", p.word()}
		}
		return psWord{param: name, value: text(word, 0)}
	}
	if p.at(0) == '{' {
		return psWord{value: p.primary()}
	}
	if p.at(0) == ',' {
		p.skip(1)
		p.space(false)
	}
	return psWord{value: p.listOf(p.argumentWord)}
}

// argumentWord evaluates a word with the members after it.
func (p *psReader) argumentWord() value {
	if p.startsExpression() && p.at(0) != '-' && !lex.IsDigit(p.at(0)) {
		v := p.primary()
		if p.i < len(p.src) && p.src[p.i] > ' ' && strings.IndexByte(";|),}", p.src[p.i]) < 0 {
			v = add(v, p.word(), true)
		}
		return v
	}
	return p.word()
}

// run evaluates a command: a row of the table, or a program.
func (p *psReader) run(name value, words []psWord, in value, piped bool) value {
	switch {
	case name.kind == objectValue && name.s == "scriptblock":
		return unknown(in.taint)
	case !name.known():
		p.out.found(Found{Text: name.str(), Taint: name.taint, By: "&"})
		return unknown(name.taint)
	}
	by := strings.TrimSuffix(strings.ToLower(name.str()), ".exe")
	if alias, ok := p.scope.get("alias:" + by); ok && alias.known() {
		by = strings.ToLower(alias.str())
		name = alias
	}
	if _, own := p.scope.get("function:" + by); own {
		return unknown(in.taint)
	}
	rows := p.api.find(by)
	if rows == nil {
		p.program(name, words, in, piped)
		return unknown(effect.File)
	}
	if unixWords(by, words) {
		p.program(name, words, in, piped)
	}
	if by == "select-string" || by == "sls" {
		words = withoutPattern(words)
	}
	args, bits, taint := psArguments(words)
	if (by == "new-item" || by == "ni") && makesDirectory(args) {
		by, rows = "mkdir", p.api.find("mkdir")
	}
	if piped && rows[0].param != "nopipe" {
		args = append([]arg{{value: in}}, args...)
		if len(args) > 1 && (rows[0].action == "write" || rows[0].action == "netin" || rows[0].action == "netout") {
			args[0], args[1] = args[1], args[0]
		}
	}
	result := unknown(taint)
	for _, r := range rows {
		r.bits |= bits
		site := callSite{p.machine, value{kind: nameValue, s: by}, args, taint | in.taint}
		if v, ok := (invocation{r, site}).act(); ok {
			result = v
		}
	}
	return result
}

// unixWords reports whether the arguments of an alias are meant for the Unix program with that name,
// which runs outside of Windows: rm -rf is no Remove-Item.
func unixWords(name string, words []psWord) bool {
	return unixPrograms[name] && slices.ContainsFunc(words, func(w psWord) bool {
		flags, dashed := w.param, true
		if flags == "" {
			flags, dashed = strings.CutPrefix(w.str(), "-")
		}
		return dashed && (strings.HasPrefix(flags, "-") || flags != "r" && strings.Trim(flags, "rRfvidIpnau") == "")
	})
}

var unixPrograms = wordset.Of("rm rmdir mv cp")

// withoutPattern leaves out what Select-String looks for, if it is the first word without a name: files follow it.
func withoutPattern(words []psWord) []psWord {
	first := -1
	for i, w := range words {
		name := strings.TrimSuffix(w.param, ":")
		switch {
		case psPrefix(name, "pattern", 3):
			return words
		case w.param == "" && first < 0 && (i == 0 || words[i-1].param == "" || psSwitches[words[i-1].param]):
			first = i
		}
	}
	if first < 0 {
		return words
	}
	return append(words[:first:first], words[first+1:]...)
}

// psArguments sorts the words of a command, so that those which the table counts by position come
// first.
func psArguments(words []psWord) (args []arg, bits effect.Bits, taint effect.Taint) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		taint |= w.taint
		name, hasValue := strings.CutSuffix(w.param, ":")
		switch {
		case name == "":
			args = append(args, arg{value: w.value})
		case psPrefix(name, "recurse", 1):
			bits |= effect.Recursive
		case psPrefix(name, "force", 2):
			bits |= effect.Force
		default:
			v := w.value
			if !hasValue && i+1 < len(words) && words[i+1].param == "" && !psSwitches[name] {
				i++
				v = words[i].value
				taint |= v.taint
			} else if !hasValue {
				continue
			}
			at := psPosition(name)
			switch {
			case at < 0:
				args = append(args, arg{name: name, value: v})
			case at < len(args) && at == 0:
				args = slices.Insert(args, 0, arg{value: v})
			default:
				args = append(args, arg{value: v})
			}
		}
	}
	return args, bits, taint
}

// makesDirectory reports whether New-Item is told to make a folder.
func makesDirectory(args []arg) bool {
	return slices.ContainsFunc(args, func(a arg) bool {
		return (psPrefix(a.name, "itemtype", 1) || psPrefix(a.name, "type", 2)) &&
			(strings.EqualFold(a.str(), "directory") || strings.EqualFold(a.str(), "container"))
	})
}

// psSwitches are parameters that take no value.
var psSwitches = wordset.Of("confirm whatif verbose noprofile nop usebasicparsing useb asplaintext append nonewline " +
	"raw passthru wait nonewwindow asjob hidden")

// psPosition returns the position of a named parameter among the arguments that a row counts, or -1.
func psPosition(name string) int {
	switch {
	case psPrefix(name, "path", 2), name == "literalpath", name == "lp", name == "pspath", psPrefix(name, "uri", 1),
		psPrefix(name, "filepath", 5), psPrefix(name, "command", 3),
		psPrefix(name, "scriptblock", 3), name == "typename", psPrefix(name, "name", 2), name == "id",
		name == "source", name == "inputobject", name == "identity", name == "computername",
		psPrefix(name, "executionpolicy", 2):
		return 0
	case psPrefix(name, "value", 1), psPrefix(name, "destination", 3), psPrefix(name, "argumentlist", 4),
		name == "args", name == "target":
		return 1
	}
	return -1
}

// program yields a command that is no cmdlet.
func (p *psReader) program(name value, words []psWord, in value, piped bool) {
	argv, taint := []string{name.str()}, name.taint
	for _, w := range words {
		taint |= w.taint
		switch {
		case strings.HasSuffix(w.param, ":"):
			argv = append(argv, "-"+w.param+w.str())
		case w.kind == listValue && w.keys == nil:
			argv = append(argv, w.words()...)
		default:
			argv = append(argv, w.str())
		}
	}
	if isVerbNoun(argv[0]) {
		if psHarmless(argv[0]) {
			return
		}
		p.out.found(Found{Text: argv[0], Taint: taint | in.taint, By: argv[0]})
		return
	}
	p.programs.argv(argv, taint, argv[0])
	if piped && isShellLine(strings.Join(argv, " ")) {
		p.out.found(Found{Op: Shell, Text: in.str(), Taint: in.taint, By: "|" + argv[0]})
	}
}

func isVerbNoun(s string) bool {
	verb, noun, ok := strings.Cut(s, "-")
	return ok && verb != "" && noun != "" && verb[0] >= 'A' && verb[0] <= 'Z' && noun[0] >= 'A' && noun[0] <= 'Z' &&
		isPlainName(verb) && isPlainName(noun)
}

// psHarmless reports whether a cmdlet, by its verb, only reads, compares or prints.
func psHarmless(name string) bool {
	verb, _, _ := strings.Cut(strings.ToLower(name), "-")
	return psHarmlessVerbs[verb] && !strings.EqualFold(name, "format-volume")
}

var psHarmlessVerbs = wordset.Of("get select where sort measure compare convertto convertfrom convert format group " +
	"join split test resolve write find read show wait tee foreach import")
