package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// tokens is what is left for a text that no parser reads: it is cut at operators,
// quotes glue, and each piece is walked as a command. That it could not be parsed
// is an opaque effect by itself, so that this can only make the verdict stricter.
func (in *interp) tokens(src string) {
	if !in.inert(src) {
		in.add(effect.Effect{Kind: effect.Opaque, Target: "syntax error", Bits: effect.Partial})
	}
	mark := len(in.exp.fields)
	var word strings.Builder
	some := false
	endWord := func() {
		if some {
			in.exp.push(field{data: data{text: word.String()}})
		}
		word.Reset()
		some = false
	}
	endCommand := func() {
		endWord()
		for len(in.exp.fields) > mark+1 && isKeyword(in.exp.fields[mark].text) {
			copy(in.exp.fields[mark:], in.exp.fields[mark+1:])
			in.exp.fields = in.exp.fields[:len(in.exp.fields)-1]
		}
		if len(in.exp.fields) > mark && in.rep.spend() {
			in.run(mark, &input{unknown, true}, nil, false)
			in.bared(mark)
		}
		in.exp.fields = in.exp.fields[:mark]
	}
	var quote byte
	for i := 0; i < len(src) && !in.rep.stopped(); i++ {
		c := src[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(src):
			i++
			word.WriteByte(src[i])
			some = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, some = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			endWord()
		case quote == 0 && strings.IndexByte(";|&\n(){}`<>", c) >= 0:
			endCommand()
		case c == '$' && quote != '\'':
			word.WriteString(effect.Unknown)
			some = true
			if end := strings.IndexByte(src[i:], '}'); end > 1 && src[i+1] == '{' &&
				!strings.ContainsAny(src[i+2:i+end], "$`({;|&\n'\"") {
				i += end // ${X}
				break
			}
			for i+1 < len(src) && (src[i+1] == '_' || src[i+1]|0x20 >= 'a' && src[i+1]|0x20 <= 'z' || src[i+1] >= '0' && src[i+1] <= '9') {
				i++
			}
		default:
			word.WriteByte(c)
			some = true
		}
	}
	endCommand()
}

// inert reports whether a text that no parser reads can do nothing whatever a shell
// makes of it: it is one line, of which a shell runs nothing if it has an error, it has
// nothing that a shell would expand, and none of its words, however they are cut or
// glued, is the name of a program that does harm. It is a line of another language.
func (a *Analyzer) inert(src string) bool {
	if len(src) > 512 || strings.ContainsAny(src, "$`\n\r\x00") {
		return false
	}
	if a.assignmentElsewhere(src) {
		return true
	}
	// A line in which the only quote does not end runs nothing. A shell that lives on may get
	// the end later, and then runs what stands before it: that is walked as it is. What stands
	// behind it is code if a quote was open before.
	if i := strings.IndexAny(src, `'"`); i >= 0 && strings.LastIndexAny(src, `'"`) == i && !strings.ContainsAny(src, `\\`) && !strings.ContainsAny(src[:i], "*?~!^{}()<>|&;#[]") {
		src = src[i+1:]
	}
	// Braces make names only of a list or a range, and functions only with operators.
	if strings.ContainsAny(src, "*?~!^") || strings.ContainsAny(src, "{}") && (strings.ContainsAny(src, ",;|&()<>") || strings.Contains(src, "..")) {
		return false
	}
	glued := strings.NewReplacer("'", "", "\"", "", "\\", "").Replace(src)
	for _, text := range [...]string{src, glued} {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return r <= ' ' || strings.ContainsRune("'\"\\()[]{}<>|&;=,:", r)
		}) {
			if a.Table.Plausible(word) != nil || isKeyword(word) || strings.IndexByte(word, '/') >= 0 {
				return false
			}
		}
	}
	return true
}

// assignmentElsewhere reports whether a text is an assignment of another language,
// with spaces around its sign: to a shell that is one program of that name, or an
// error.
func (a *Analyzer) assignmentElsewhere(src string) bool {
	name, rest, ok := strings.Cut(strings.TrimSpace(src), " = ")
	if !ok || strings.ContainsAny(rest, ";|&<>=`$\n") || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return false
	}
	return a.Table.Find(name) == nil && !isKeyword(name)
}

func isKeyword(s string) bool {
	switch s {
	case "if", "then", "else", "elif", "do", "while", "until", "for", "case", "!", "time", "function", "end", "begin", "not", "and", "or":
		return true
	}
	return false
}

// bared runs the words of a command once more without what is not known of them.
func (in *interp) bared(mark int) {
	some := false
	for i := mark; i < len(in.exp.fields); i++ {
		if f := &in.exp.fields[i]; !f.known() {
			some, f.text = true, strings.ReplaceAll(f.text, effect.Unknown, "")
		}
	}
	for len(in.exp.fields) > mark && in.exp.fields[mark].text == "" {
		in.exp.fields = append(in.exp.fields[:mark], in.exp.fields[mark+1:]...)
	}
	if some && len(in.exp.fields) > mark && in.rep.spend() {
		in.run(mark, &input{unknown, true}, nil, false)
	}
}
