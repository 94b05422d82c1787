package shell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/wordset"

	"mvdan.cc/sh/v3/syntax"
)

// qualified walks what runs in the brackets at the end of a pattern of zsh: of its qualifiers, e has a text,
// and + the name of a function or program, that runs for each file, *(e:'rm $REPLY':). In bash, such brackets
// are a part of a pattern or an error.
func (ex *expander) qualified(group string) {
	codes, _ := qualifierCodes(strings.TrimPrefix(group, "#q"))
	for _, code := range codes {
		ex.hidden("$(" + code + "\n)")
	}
}

// pattern walks what runs in a value that zsh takes for a pattern, ${~x} or with GLOB_SUBST.
func (ex *expander) pattern(d data, quoted bool) {
	if from := strings.IndexByte(d.text, '('); !quoted && from >= 0 && strings.HasSuffix(d.text, ")") {
		ex.qualified(d.text[from+1 : len(d.text)-1])
	}
}

// Qualifiers of zsh: those of one character, those with a number behind them or behind one of a set, and
// those with a text between two marks.
const (
	plainQualifiers  = "/F.@=p*%bcrwxAIERWXsStUGNDnTM^-, "
	numberQualifiers = "dlamcLY"
	numberUnits      = "MwhmsdkKgGtTpP+-"
	textQualifiers   = "fugP"
	sortQualifiers   = "nLlamcdN"
)

// qualifierCodes returns what runs in a list of qualifiers. all says that they were all understood.
func qualifierCodes(s string) (codes []string, all bool) {
	for s != "" {
		c, rest := s[0], s[1:]
		switch {
		case c == 'e':
			code, after, ok := delimited(rest)
			if !ok {
				return codes, false
			}
			if more, fine := qualifierCodes(after); fine {
				return append(append(codes, unquotedCode(code)), more...), true
			}
			mark, size := utf8.DecodeRuneInString(rest)
			last := max(size, strings.LastIndex(rest, string(closing(mark))))
			return append(codes, unquotedCode(rest[size:last])), false
		case c == '+':
			end := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && r != '-' && (r < '0' || r > 'z') })
			if end < 0 {
				end = len(rest)
			}
			if end > 0 {
				codes = append(codes, rest[:end])
			}
			s = rest[end:]
		case (c == 'o' || c == 'O') && rest != "" && strings.IndexByte("e+", rest[0]) >= 0:
			s = rest
		case (c == 'o' || c == 'O') && rest != "" && strings.IndexByte(sortQualifiers, rest[0]) >= 0:
			s = rest[1:]
		case c == '[' && strings.IndexByte(rest, ']') >= 0:
			s = rest[strings.IndexByte(rest, ']')+1:]
		case c == ':':
			return codes, true // modifiers of the names
		case strings.IndexByte(numberQualifiers, c) >= 0 && strings.TrimLeft(rest, numberUnits+"0123456789") != rest:
			s = strings.TrimLeft(strings.TrimLeft(rest, numberUnits), "0123456789")
		case strings.IndexByte(textQualifiers, c) >= 0 && strings.TrimLeft(rest, "=+-?0123456789") != rest:
			s = strings.TrimLeft(rest, "=+-?0123456789")
		case strings.IndexByte(textQualifiers, c) >= 0:
			_, after, ok := delimited(rest)
			if !ok {
				return codes, false
			}
			s = after
		case strings.IndexByte(plainQualifiers, c) >= 0:
			s = rest
		default:
			return codes, false
		}
	}
	return codes, true
}

// closing returns the mark that ends a text which a mark begins.
func closing(mark rune) rune {
	if i := strings.IndexRune("[{(<", mark); i >= 0 {
		return rune("]})>"[i])
	}
	return mark
}

// delimited divides a text between two marks from what follows.
func delimited(s string) (text, after string, ok bool) {
	switch {
	case s == "":
		return "", "", false
	case s[0] == '\'' || s[0] == '"': // the marks are in the quotes, too
		if text, after, ok = strings.Cut(s[1:], s[:1]); len(text) > 1 {
			text = text[1 : len(text)-1]
		}
		return text, after, ok
	}
	mark, size := utf8.DecodeRuneInString(s)
	return strings.Cut(s[size:], string(closing(mark)))
}

// unquotedCode takes the quotes off a text that zsh runs.
func unquotedCode(s string) string {
	if n := len(s); n > 1 && s[0] == s[n-1] && slices.Contains([]byte(`'"`), s[0]) {
		return s[1 : n-1]
	}
	return string(unescape(nil, s, ""))
}

// codeTables are the arrays of zsh whose values are what functions and aliases run.
var codeTables = wordset.Of("functions dis_functions aliases dis_aliases galiases dis_galiases saliases dis_saliases")

// defined walks what a value of one of zsh's own arrays runs: functions[f]=… defines a function, and
// commands[f]=… another name of a program.
func (as *assigner) defined(a *syntax.Assign) {
	switch name := a.Name.Value; {
	case codeTables[name] && a.Array != nil:
		for _, e := range a.Array.Elems {
			as.in.payloads.payload(as.in.exp.oneWord(e.Value), "zsh "+name, &input{}, nil)
		}
	case codeTables[name] && a.Value != nil:
		as.in.payloads.payload(as.in.exp.oneWord(a.Value), "zsh "+name, &input{}, nil)
	case name == "commands" && a.Value != nil:
		if index, ok := a.Index.(*syntax.Word); ok && len(as.in.def.aliases) < as.in.rep.lim.Fields {
			as.in.def.aliases = append(as.in.def.aliases,
				alias{name: index.Lit(), text: quote(as.in.exp.oneWord(a.Value).text), maybe: true})
		}
	}
}
