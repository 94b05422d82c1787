package shell

import (
	"slices"
	"strings"
	"sync"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"

	"mvdan.cc/sh/v3/syntax"
)

// parsers keep their memory between calls: one for each dialect.
type parsers struct {
	bash, zsh, recovering *syntax.Parser
}

var pool = sync.Pool{New: func() any {
	return &parsers{
		bash:       syntax.NewParser(syntax.Variant(syntax.LangBash)),
		zsh:        syntax.NewParser(syntax.Variant(syntax.LangZsh)),
		recovering: syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.RecoverErrors(64)),
	}
}}

// maxRetried is the longest text that is parsed again when it is no bash.
const maxRetried = 32 << 10

// parse reads a command line: as bash, then as zsh, then with errors mended. It
// returns nil if none of that works. Strange says that bash reads some of it otherwise.
func parse(src string, lim *Limits) (file *syntax.File, how How, strange bool) {
	if len(src) > lim.Bytes || tooDeep(src, lim.Nesting) {
		return nil, Refused, false
	}
	p := pool.Get().(*parsers)
	defer pool.Put(p)
	if file, strange = parseWith(p.bash, src); file != nil {
		return file, Parsed, strange
	}
	for _, change := range [...]func(string) string{uncommented, subshells} {
		if text := change(src); text != src {
			if file, strange = parseWith(p.bash, text); file != nil {
				return file, Parsed, strange
			}
		}
	}
	if len(src) > maxRetried {
		return nil, Tokens, false // another parse of so much would cost too much
	}
	if file, strange = parseWith(p.zsh, src); file != nil {
		return file, Parsed, strange
	}
	if file, strange = parseWith(p.recovering, src); file != nil {
		return file, Recovered, strange
	}
	return nil, Tokens, false
}

// subshells writes ((a); b) as a subshell in a subshell, where bash's own arithmetic does not fit.
func subshells(src string) string { return strings.ReplaceAll(src, "((", "( (") }

// parseWith reads a text as bash reads it, as far as a parser can, or returns nil.
func parseWith(p *syntax.Parser, src string) (*syntax.File, bool) {
	file, err := tryParse(p, src)
	if err != nil {
		return nil, false
	}
	return reread(p, src, file)
}

// tooDeep reports whether brackets, braces or backquotes nest deeper than the
// parser's stack should follow. It counts what may nest, without regard to
// quotes: a text with that many open brackets is refused either way.
func tooDeep(src string, limit int) bool {
	depth, most := 0, 0
	for i := 0; i < len(src); i++ {
		if !nesting[src[i]] {
			continue // most
		}
		switch src[i] {
		case '(', '{', '[':
			depth++
			most = max(most, depth)
		case ')', '}', ']':
			if depth > 0 {
				depth--
			}
		case '`':
			// Backquotes nest by backslashes.
			if i > 0 && src[i-1] == '\\' {
				n := 0
				for j := i - 1; j >= 0 && src[j] == '\\'; j-- {
					n++
				}
				most = max(most, min(n, 64))
			}
		case 'i', 'w', 'f', 'u', 'c':
			if wordAt(src, i, "if", "while", "for", "function", "until", "case") {
				depth++
				most = max(most, depth)
			}
		case 'd', 'e':
			if depth > 0 && wordAt(src, i, "done", "esac") {
				depth--
			}
		}
		if most > limit {
			return true
		}
	}
	return false
}

// nesting marks the bytes that may open or close something, or with which a word begins that does.
var nesting = bytesOf("(){}[]`iwfucde")

// beforeWord marks the bytes that a keyword may stand behind.
var beforeWord = bytesOf(" \t\n;|&({")

// wordAt reports whether one of some words stands at a place.
func wordAt(src string, i int, words ...string) bool {
	if i > 0 && !beforeWord[src[i-1]] {
		return false // most
	}
	return slices.ContainsFunc(words, func(word string) bool {
		rest, found := strings.CutPrefix(src[i:], word)
		return found && (rest == "" || strings.IndexByte(" \t\n;|&)}(", rest[0]) >= 0)
	})
}

// HowRead says how a text would be read, without walking it.
func HowRead(src string, lim Limits) How {
	_, how, _ := parse(src, &lim)
	return how
}

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
		for len(in.exp.fields) > mark+1 && keywords[in.exp.fields[mark].text] {
			in.exp.fields = slices.Delete(in.exp.fields, mark, mark+1)
		}
		if len(in.exp.fields) > mark && in.rep.spend() {
			in.runWords(mark, &input{unknown, true}, nil, false)
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
			for i+1 < len(src) &&
				(src[i+1] == '_' || src[i+1]|0x20 >= 'a' && src[i+1]|0x20 <= 'z' || src[i+1] >= '0' && src[i+1] <= '9') {
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
	if i := strings.IndexAny(src, `'"`); i >= 0 && strings.LastIndexAny(src, `'"`) == i &&
		!strings.ContainsAny(src, `\\`) && !strings.ContainsAny(src[:i], "*?~!^{}()<>|&;#[]") {
		src = src[i+1:]
	}
	// Braces make names only of a list or a range, and functions only with operators.
	if strings.ContainsAny(src, "*?~!^") ||
		strings.ContainsAny(src, "{}") && (strings.ContainsAny(src, ",;|&()<>") || strings.Contains(src, "..")) {
		return false
	}
	glued := strings.NewReplacer("'", "", "\"", "", "\\", "").Replace(src)
	for word := range strings.FieldsFuncSeq(src+" "+glued, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("'\"\\()[]{}<>|&;=,:", r)
	}) {
		if a.Table.Plausible(word) != nil || keywords[word] || strings.IndexByte(word, '/') >= 0 {
			return false
		}
	}
	return true
}

// assignmentElsewhere reports whether a text is an assignment of another language,
// with spaces around its sign: to a shell that is one program of that name, or an
// error.
func (a *Analyzer) assignmentElsewhere(src string) bool {
	name, rest, ok := strings.Cut(strings.TrimSpace(src), " = ")
	if !ok || strings.ContainsAny(rest, ";|&<>=`$\n") ||
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return false
	}
	return a.Table.Find(name) == nil && !keywords[name]
}

// keywords are words of a shell that name no program.
var keywords = wordset.Of(section("keywords"))

// bared runs the words of a command once more without what is not known of them.
func (in *interp) bared(mark int) {
	some := false
	for i := mark; i < len(in.exp.fields); i++ {
		if f := &in.exp.fields[i]; !f.known() {
			some, f.text = true, strings.ReplaceAll(f.text, effect.Unknown, "")
		}
	}
	for len(in.exp.fields) > mark && in.exp.fields[mark].text == "" {
		in.exp.fields = slices.Delete(in.exp.fields, mark, mark+1)
	}
	if some && len(in.exp.fields) > mark && in.rep.spend() {
		in.runWords(mark, &input{unknown, true}, nil, false)
	}
}
