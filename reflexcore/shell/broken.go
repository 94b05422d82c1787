package shell

import (
	"io"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// A shell runs each line before it reads the next one. If a text has a syntax error, the lines
// before it run, and a shell that reads from a terminal goes on after it. Another shell may also
// accept what this parser does not. So a text that cannot be parsed as a whole is walked in parts:
// the lines that can be parsed as a shell walks them, and the others by their tokens.

// maxParts is how many parts of a text are parsed by themselves, and maxPartBytes how many bytes
// of it, if some are parsed several times.
const maxParts, maxPartBytes = 32, 1 << 20

// syntaxError records that a shell may read a text differently.
func (in *interp) syntaxError() {
	in.add(effect.Effect{Kind: effect.Opaque, Target: "syntax error", Bits: effect.Partial})
}

// broken walks a text that is not parsed as a whole.
func (in *interp) broken(src string, how How, std *input, sink *data) {
	switch {
	case how == Refused:
		in.add(effect.Effect{Kind: effect.Opaque, Target: "too complex: nesting"})
	case how != Parsed && !in.inert(src):
		in.syntaxError()
	}
	in.src.broken = true
	from := len(in.rep.res.Effects)
	if rest := in.linewise(src, from, std, sink); rest != "" {
		in.afresh(from, func() { in.aside(func() { in.remains(rest, std, sink) }) })
	}
}

// linewise walks the lines of a text that can be parsed, in the order of a shell that goes on behind an
// error. Effects are not repeated since from. It returns what remains after the lines before the first
// error.
func (in *interp) linewise(src string, from int, std *input, sink *data) (rest string) {
	lines := brokenLines{rest: src, limit: in.rep.lim.Nesting}
	rest = src
	for n := 0; !in.rep.stopped() && lines.next(); n++ {
		walk := in.mayWalk
		if n == 0 {
			walk, rest = in.walkStmts, lines.rest
		}
		if lines.file == nil {
			continue
		}
		in.holds(lines.part, lines.file)
		if lines.strange {
			in.syntaxError()
		}
		in.afresh(from, func() { walk(lines.file.Stmts, std, sink) })
	}
	return rest
}

// afresh walks what may have been walked before, and keeps only effects that are not among those since
// from.
func (in *interp) afresh(from int, walk func()) {
	r := in.rep.res
	before := len(r.Effects)
	walk()
	r.Effects = r.Effects[:before+keepFresh(r.Effects[from:before], r.Effects[before:])]
}

// holds keeps a text that is walked for those who search it.
func (in *interp) holds(src string, file *syntax.File) {
	if in.readings.omits == omitsNothing && len(in.candidates.files) < 16 && mayHold(src) {
		in.candidates.files = append(in.candidates.files, file)
	}
	if len(in.src.trees) < maxTrees {
		in.src.trees = append(in.src.trees, file)
	}
}

// oversized walks a text that is too long, in parts of whole lines that are not. What is beyond maxWindows
// of them is not seen.
func (in *interp) oversized(src string, std *input, sink *data) {
	for range maxWindows {
		if src == "" || in.rep.stopped() {
			break
		}
		part := src[:min(len(src), in.rep.lim.Bytes)]
		if n := strings.LastIndexByte(part, '\n') + 1; n > 0 && len(part) < len(src) {
			part = part[:n]
		}
		src = src[len(part):]
		in.rep.steps += len(part) / 256
		in.broken(part, Parsed, std, sink)
	}
	in.rep.over("size or nesting")
}

// maxWindows is how many parts of a text that is too long are walked.
const maxWindows = 8

// remains walks what is left of a text after the lines that could be parsed: the commands before the error
// on its line, and the rest with error recovery, or by its tokens.
func (in *interp) remains(src string, std *input, sink *data) {
	if n := in.wholeCommands(src); n > 0 {
		p := pool.Get().(*parsers)
		file, _ := parseWith(p.bash, src[:n])
		pool.Put(p)
		if file != nil {
			in.walkStmts(file.Stmts, std, sink)
		}
	}
	if len(src) <= maxRetried && !tooDeep(src, in.rep.lim.Nesting) {
		p := pool.Get().(*parsers)
		file, _ := parseWith(p.recovering, src)
		pool.Put(p)
		if file != nil {
			in.holds(src, file)
			in.walkStmts(file.Stmts, std, sink)
			return
		}
	}
	in.tokens(src)
}

// brokenLines cuts a text that cannot be parsed into parts that can, each of them whole lines.
type brokenLines struct {
	rest  string // what was not cut yet
	limit int    // how deep brackets may nest
	parts int    // how many there were
	bytes int    // how many bytes were parsed

	part    string
	file    *syntax.File // nil if the text begins with a line that cannot be parsed
	strange bool
	stopped bool // the rest begins with a line that cannot be parsed
}

// next cuts the next part off. It returns false if nothing is left, or there were too many.
func (b *brokenLines) next() bool {
	if b.stopped { // after what could not be parsed, a shell goes on with the next line
		_, b.rest, _ = strings.Cut(b.rest, "\n")
	}
	b.part, b.file, b.strange = "", nil, false
	if b.rest == "" || b.parts >= maxParts || b.bytes >= maxPartBytes {
		return false
	}
	p := pool.Get().(*parsers)
	defer pool.Put(p)
	shallow := shallowLines(b.rest, b.limit)
	n := wholeLines(p.bash, b.rest[:shallow])
	b.parts++
	b.bytes += shallow
	if n > 0 {
		b.part = b.rest[:n]
		b.file, b.strange = parseWith(p.bash, b.part)
	}
	b.rest, b.stopped = b.rest[n:], n < shallow || n == 0
	return true
}

// shallowLines returns how many bytes of a text are whole lines before the first one in which
// brackets nest deeper than limit.
func shallowLines(src string, limit int) int {
	if !tooDeep(src, limit) {
		return len(src)
	}
	from, to := 0, len(src) // src[:from] is not too deep, src[:to] is
	for {
		middle := strings.LastIndexByte(src[:from+(to-from)/2], '\n') + 1
		if middle <= from {
			if end := strings.IndexByte(src[from:to], '\n'); end < 0 || from+end+1 >= to {
				return from
			} else {
				middle = from + end + 1
			}
		}
		if tooDeep(src[:middle], limit) {
			to = middle
		} else {
			from = middle
		}
	}
}

// wholeLines returns how many bytes at the start of a text are lines with complete commands.
func wholeLines(p *syntax.Parser, src string) (n int) {
	defer func() { _ = recover() }() // the parser may fail
	lines := oneLine{rest: src}
	for _, err := range p.InteractiveSeq(&lines) {
		if err != nil {
			return n
		}
		if !p.Incomplete() {
			n = len(src) - len(lines.rest)
		}
	}
	return len(src)
}

// wholeCommands returns how many bytes at the start of a text are complete commands.
func (in *interp) wholeCommands(src string) (n int) {
	defer func() { _ = recover() }() // the parser may fail
	src = src[:shallowLines(src, in.rep.lim.Nesting)]
	p := pool.Get().(*parsers)
	defer pool.Put(p)
	for stmt, err := range p.bash.StmtsSeq(strings.NewReader(src)) {
		if err != nil {
			break
		}
		n = min(int(stmt.End().Offset()), len(src))
	}
	return n
}

// A oneLine reads a text one line at a time.
type oneLine struct{ rest string }

func (l *oneLine) Read(b []byte) (int, error) {
	line, rest, found := strings.Cut(l.rest, "\n")
	if found {
		line = l.rest[:len(line)+1]
	}
	if l.rest == "" {
		return 0, io.EOF
	}
	n := copy(b, line)
	if l.rest = l.rest[n:]; n == len(line) {
		l.rest = rest
	}
	return n, nil
}
