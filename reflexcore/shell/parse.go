package shell

import (
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// parsers keep their memory between calls: one for each dialect.
type parsers struct {
	bash, zsh, posix, recovering *syntax.Parser
}

var pool = sync.Pool{New: func() any {
	return &parsers{
		bash:       syntax.NewParser(syntax.Variant(syntax.LangBash)),
		zsh:        syntax.NewParser(syntax.Variant(syntax.LangZsh)),
		posix:      syntax.NewParser(syntax.Variant(syntax.LangPOSIX)),
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
	if file, strange = p.asBash(src); file != nil {
		return file, Parsed, strange
	}
	if whole := uncommented(src); whole != src {
		if file, strange = p.asBash(whole); file != nil {
			return file, Parsed, strange
		}
	}
	// ((a); b) is a subshell in a subshell, where bash's own arithmetic does not fit.
	if strings.Contains(src, "((") {
		if file, strange = p.asBash(strings.ReplaceAll(src, "((", "( (")); file != nil {
			return file, Parsed, strange
		}
	}
	if len(src) > maxRetried {
		return nil, Tokens, false // another parse of so much would cost too much
	}
	if file, err := tryParse(p.zsh, src); err == nil {
		file, strange = reread(p.zsh, src, file)
		return file, Parsed, strange
	}
	if file, err := tryParse(p.recovering, src); err == nil || file != nil && len(file.Stmts) > 0 && err == nil {
		file, strange = reread(p.recovering, src, file)
		return file, Recovered, strange
	}
	return nil, Tokens, false
}

// asBash reads a text as bash does, or returns nil.
func (p *parsers) asBash(src string) (*syntax.File, bool) {
	file, err := tryParse(p.bash, src)
	if err != nil {
		return nil, false
	}
	return reread(p.bash, src, file)
}

// tryParse parses, and takes a panic of the parser for an error.
func tryParse(p *syntax.Parser, src string) (file *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	return p.Parse(strings.NewReader(src), "")
}

// tooDeep reports whether brackets, braces or backquotes nest deeper than the
// parser's stack should follow. It counts what may nest, without regard to
// quotes: a text with that many open brackets is refused either way.
func tooDeep(src string, limit int) bool {
	depth, most := 0, 0
	for i := 0; i < len(src); i++ {
		switch nesting[src[i]] {
		case nestsNot:
			continue
		case nestsAsWord:
			if i > 0 && !beforeWord[src[i-1]] {
				continue // most
			}
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
			// if, while, for, until, case open without a bracket
			if keywordAt(src, i) {
				depth++
				most = max(most, depth)
			}
		case 'd', 'e':
			if closerAt(src, i) && depth > 0 {
				depth--
			}
		}
		if most > limit {
			return true
		}
	}
	return false
}

// What a byte may open or close.
const (
	nestsNot    = iota
	nestsAlone  // it does so itself
	nestsAsWord // a word that begins with it does
)

var nesting = func() (t [256]uint8) {
	for _, c := range []byte("(){}[]`") {
		t[c] = nestsAlone
	}
	for _, c := range []byte("iwfucde") {
		t[c] = nestsAsWord
	}
	return t
}()

// beforeWord marks the bytes that a keyword may stand behind.
var beforeWord = func() (t [256]bool) {
	for _, c := range []byte(" \t\n;|&({") {
		t[c] = true
	}
	return t
}()

func wordAt(src string, i int, word string) bool {
	if !strings.HasPrefix(src[i:], word) || i > 0 && !beforeWord[src[i-1]] {
		return false
	}
	end := i + len(word)
	return end == len(src) || strings.IndexByte(" \t\n;|&)}(", src[end]) >= 0
}

func keywordAt(src string, i int) bool {
	switch src[i] {
	case 'i':
		return wordAt(src, i, "if")
	case 'w':
		return wordAt(src, i, "while")
	case 'f':
		return wordAt(src, i, "for") || wordAt(src, i, "function")
	case 'u':
		return wordAt(src, i, "until")
	}
	return wordAt(src, i, "case")
}

func closerAt(src string, i int) bool { return wordAt(src, i, "done") || wordAt(src, i, "esac") }

// Read says how a text would be read, without walking it.
func Read(src string, lim Limits) How {
	_, how, _ := parse(src, &lim)
	return how
}

// Trees are short texts that were parsed while one call is judged. The same payload often
// stands in a call several times, and what was found encoded is analyzed by itself once
// more. The zero value is empty. It must not be shared, and nil keeps nothing.
type Trees struct{ reads []read }

const (
	maxKept     = 8       // texts
	maxKeptText = 4 << 10 // bytes of one
)

// Forget drops the texts, and keeps the memory.
func (t *Trees) Forget() {
	clear(t.reads)
	t.reads = t.reads[:0]
}

// of returns what a text was read as, if that is known.
func (t *Trees) of(src string) (read, bool) {
	if t != nil && len(src) <= maxKeptText {
		for i := range t.reads {
			if t.reads[i].src == src {
				return t.reads[i], true
			}
		}
	}
	return read{}, false
}

// keep notes what a text was read as, while there is room.
func (t *Trees) keep(r read) {
	if t != nil && len(t.reads) < maxKept && len(r.src) <= maxKeptText && !mayDefine(r.src) {
		t.reads = append(t.reads, r)
	}
}

// mayDefine reports whether a text may define a function. Each definition has to be one of
// its own: how often a body calls itself is counted by the place where it stands in a tree.
func mayDefine(src string) bool {
	return strings.IndexByte(src, '(') >= 0 || strings.Contains(src, "function") ||
		strings.IndexByte(src, '\\') >= 0 && (strings.Contains(src, "\\\n") || strings.Contains(src, "\\\r"))
}
