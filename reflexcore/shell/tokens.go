package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// tokens is what is left for a text that no parser reads: it is cut at operators,
// quotes glue, and each piece is walked as a command. That it could not be parsed
// is an opaque effect by itself, so that this can only make the verdict stricter.
func (in *interp) tokens(src string) {
	in.add(effect.Effect{Kind: effect.Opaque, Target: "syntax error", Bits: effect.Partial})
	mark := len(in.fields)
	var word strings.Builder
	some := false
	endWord := func() {
		if some {
			in.push(field{data: data{text: word.String()}})
		}
		word.Reset()
		some = false
	}
	endCommand := func() {
		endWord()
		for len(in.fields) > mark+1 && isKeyword(in.fields[mark].text) {
			copy(in.fields[mark:], in.fields[mark+1:])
			in.fields = in.fields[:len(in.fields)-1]
		}
		if len(in.fields) > mark && in.spend() {
			in.run(mark, &input{unknown, true}, nil, false)
		}
		in.fields = in.fields[:mark]
	}
	var quote byte
	for i := 0; i < len(src) && !in.stopped(); i++ {
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

func isKeyword(s string) bool {
	switch s {
	case "if", "then", "else", "elif", "do", "while", "until", "for", "case", "!", "time", "function", "end", "begin", "not", "and", "or":
		return true
	}
	return false
}
