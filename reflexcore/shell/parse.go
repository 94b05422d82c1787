package shell

import (
	"slices"
	"strings"
	"sync"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"

	"mvdan.cc/sh/v3/syntax"
)

// parsers keep their memory between calls. There is one per dialect.
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

// maxRetried is the size limit, in bytes, for parsing a text again if it is not bash.
const maxRetried = 32 << 10

// parse parses a command line: as bash, then as zsh, then as bash with error recovery. The result
// has no file if none of these works.
func parse(src string, lim *Limits) read {
	if len(src) > lim.Bytes || tooDeep(src, lim.Nesting) {
		return read{src: src, how: Refused}
	}
	p := pool.Get().(*parsers)
	defer pool.Put(p)
	if file, strange := parseWith(p.bash, src); file != nil {
		return read{src: src, file: file, strange: strange}
	}
	for _, change := range [...]func(string) string{uncommented, subshells} {
		if text := change(src); text != src {
			if file, strange := parseWith(p.bash, text); file != nil {
				return read{src: src, file: file, strange: strange}
			}
		}
	}
	if len(src) > maxRetried {
		return read{src: src, how: Tokens} // parsing a long text again is too expensive
	}
	if file, strange := parseWith(p.zsh, src); file != nil {
		return read{src: src, file: file, strange: strange, notBash: true}
	}
	if file, strange := parseWith(p.recovering, src); file != nil {
		return read{src: src, file: file, how: Recovered, strange: strange}
	}
	return read{src: src, how: Tokens}
}

// subshells writes ((a); b) as a subshell within a subshell, for texts in which (( does not begin
// an arithmetic command.
func subshells(src string) string { return strings.ReplaceAll(src, "((", "( (") }

// parseWith parses a text and corrects what the parser reads differently from bash, see [reread].
// It returns nil on an error.
func parseWith(p *syntax.Parser, src string) (*syntax.File, bool) {
	file, err := tryParse(p, src)
	if err != nil {
		return nil, false
	}
	return reread(p, src, file)
}

// tooDeep reports whether brackets, backquotes or compound commands nest deeper than limit, which
// keeps the parser's stack small. It ignores quotes, so it may refuse a text whose brackets are
// only quoted.
func tooDeep(src string, limit int) bool {
	depth, most := 0, 0
	for i := 0; i < len(src); i++ {
		if !nesting[src[i]] {
			continue // the common case
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
			// Nested backquotes are escaped with backslashes.
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

// nesting marks the bytes that may open or close a level, and the first bytes of keywords that
// do.
var nesting = bytesOf("(){}[]`iwfucde")

// beforeWord marks the bytes that may precede a keyword.
var beforeWord = bytesOf(" \t\n;|&({")

// wordAt reports whether one of the words stands at index i as a word of its own.
func wordAt(src string, i int, words ...string) bool {
	if i > 0 && !beforeWord[src[i-1]] {
		return false // the common case
	}
	return slices.ContainsFunc(words, func(word string) bool {
		rest, found := strings.CutPrefix(src[i:], word)
		return found && (rest == "" || strings.IndexByte(" \t\n;|&)}(", rest[0]) >= 0)
	})
}

// HowRead returns how a text would be parsed, without walking it. lim.Bytes and lim.Nesting
// apply.
func HowRead(src string, lim Limits) How {
	return parse(src, &lim).how
}

// tokens walks a text that no parser reads: it is cut at operators, quotes are removed, and each
// piece is walked as a command, and then as a part of its pipeline.
func (in *interp) tokens(src string) {
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
			i = endOfName(src, i)
		default:
			word.WriteByte(c)
			some = true
		}
	}
	endCommand()
	if !in.inert(src) {
		in.pipelines(src)
	}
}

// inert reports whether a text that no parser reads is harmless, however a shell reads it. It is
// one short line, so that a shell with a syntax error runs none of it. It has nothing that a
// shell expands. None of its words, however they are split or joined, is a program that the
// tables know, a keyword or a path. Such a text is usually a line of another language.
func (a *Analyzer) inert(src string) bool {
	if len(src) > 512 || strings.ContainsAny(src, "$`\n\r\x00") {
		return false
	}
	if a.assignmentElsewhere(src) {
		return true
	}
	// A line with a single unclosed quote runs nothing. An interactive shell may get the closing
	// quote later, and then runs the text before the quote: that text is walked as it is. The
	// text after the quote is code only if another quote was open before.
	if i := strings.IndexAny(src, `'"`); i >= 0 && strings.LastIndexAny(src, `'"`) == i &&
		!strings.ContainsAny(src, `\\`) && !strings.ContainsAny(src[:i], "*?~!^{}()<>|&;#[]") {
		src = src[i+1:]
	}
	// Braces form names only with a list or a range, and functions only with operators.
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

// assignmentElsewhere reports whether a text is an assignment in another language, with spaces
// around the equals sign. A shell takes it for a program of that name, or for an error.
func (a *Analyzer) assignmentElsewhere(src string) bool {
	name, rest, ok := strings.Cut(strings.TrimSpace(src), " = ")
	if !ok || strings.ContainsAny(rest, ";|&<>=`$\n") ||
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return false
	}
	return a.Table.Find(name) == nil && !keywords[name]
}

// keywords are shell words that name no program.
var keywords = wordset.Of(section("keywords"))

// bared runs the words of a command once more without their unknown parts.
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

// Parses reports whether a text is shell code by itself.
func Parses(text string) bool {
	_, err := tryParse(syntax.NewParser(syntax.Variant(syntax.LangBash)), text)
	return err == nil
}
