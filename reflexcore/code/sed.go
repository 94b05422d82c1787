package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/effect"
)

// A sedScript is read command by command: addresses, a letter, and the rest that belongs to it. Only
// e, s///e and the letters with a file have effects outside of the stream.
type sedScript struct {
	*machine
	src     string
	i       int
	changed bool // an earlier command may have changed the stream
}

// run evaluates the script.
func (s *sedScript) run(src string) {
	for s.src = src; s.i < len(s.src) && s.budget.step(); {
		s.command()
	}
}

func (s *sedScript) peek() byte { return lex.ByteAt(s.src, s.i) }

func (s *sedScript) skip(chars string) {
	for s.i < len(s.src) && strings.IndexByte(chars, s.src[s.i]) >= 0 {
		s.i++
	}
}

// line reads the rest of the line.
func (s *sedScript) line() string {
	line, _, _ := strings.Cut(s.src[s.i:], "\n")
	s.i += len(line)
	return line
}

// delimited reads up to the next delimiter, over escapes and bracket expressions.
func (s *sedScript) delimited(delim byte, pattern bool) string {
	start := s.i
	for s.i < len(s.src) && s.src[s.i] != delim {
		switch {
		case s.src[s.i] == '\\':
			s.i++
		case pattern && s.src[s.i] == '[':
			s.class()
		}
		s.i++
	}
	s.i = min(s.i, len(s.src))
	text := s.src[min(start, s.i):s.i]
	s.i = min(s.i+1, len(s.src))
	return text
}

// class skips a bracket expression, if it is next.
func (s *sedScript) class() {
	j := s.i + 1
	if lex.ByteAt(s.src, j) == '^' {
		j++
	}
	if lex.ByteAt(s.src, j) == ']' {
		j++
	}
	for j < len(s.src) && s.src[j] != ']' && s.src[j] != '\n' {
		j++
	}
	if lex.ByteAt(s.src, j) == ']' {
		s.i = j
	}
}

func (s *sedScript) address() {
	for s.budget.step() {
		s.skip(" \t")
		switch c := s.peek(); {
		case lex.IsDigit(c), c == '$', c == '+', c == '~', c == ',', c == '!':
			s.i++
		case c == '/':
			s.i++
			s.delimited('/', true)
			s.skip("IM")
		case c == '\\' && s.i+1 < len(s.src):
			s.i += 2
			s.delimited(s.src[s.i-1], true)
			s.skip("IM")
		default:
			return
		}
	}
}

func (s *sedScript) command() {
	s.skip(" \t\n;{}")
	s.address()
	if s.i >= len(s.src) {
		return
	}
	c := s.src[s.i]
	s.i++
	s.changed = s.changed || strings.IndexByte("epqd#", c) < 0
	switch c {
	case 's':
		s.substitute()
	case 'y':
		if s.i < len(s.src) {
			d := s.src[s.i]
			s.i++
			s.delimited(d, false)
			s.delimited(d, false)
		}
	case 'e':
		line := strings.TrimLeft(s.line(), " \t")
		if line == "" {
			s.stream()
			return
		}
		s.out.found(Found{Op: Shell, Text: line, By: "sed e"})
		s.programs.noteProgram(line, "sed e")
	case 'r', 'R':
		s.touches(Read, "sed "+string(c))
	case 'w', 'W':
		s.touches(Write, "sed "+string(c))
	case 'a', 'i', 'c':
		start := s.i
		for s.i < len(s.src) && s.src[s.i] != '\n' { // text, with continued lines
			if s.src[s.i] == '\\' {
				s.i++
			}
			s.i++
		}
		s.i = min(s.i, len(s.src))
		s.out.inserts(strings.TrimLeft(s.src[start:s.i], "\\ \t\n"))
	case '#', ':', 'v':
		s.line()
	case 'b', 't', 'T':
		for s.i < len(s.src) && strings.IndexByte(";\n}", s.src[s.i]) < 0 {
			s.i++
		}
	}
}

// stream evaluates e without a command, which runs the stream as one.
func (s *sedScript) stream() {
	lines := s.inputs.inputLines()
	if lines == nil || s.changed {
		lines = []value{unknown(0)}
	}
	for _, line := range lines {
		s.out.found(Found{Op: Shell, Text: line.str(), Taint: line.taint | effect.File, By: "sed e"})
	}
}

func (s *sedScript) touches(op Op, by string) {
	path := strings.TrimLeft(s.line(), " \t")
	if path == "" || strings.HasPrefix(path, "/dev/std") {
		return
	}
	s.out.found(Found{Op: op, Text: path, By: by})
}

func (s *sedScript) substitute() {
	if s.i >= len(s.src) {
		return
	}
	d := s.src[s.i]
	s.i++
	pattern := s.delimited(d, true)
	replacement := s.delimited(d, false)
	s.out.inserts(plainText(replacement))
	for s.i < len(s.src) && s.budget.step() {
		switch c := s.src[s.i]; {
		case c == 'e':
			s.i++
			s.out.found(Found{Op: Shell, Text: replaced(pattern, replacement), Taint: effect.File, By: "sed s///e"})
		case c == 'w':
			s.i++
			s.touches(Write, "sed s///w")
			return
		case lex.IsLetter(c) || lex.IsDigit(c):
			s.i++
		default:
			return
		}
	}
}

// replaced returns the stream after a substitution, as far as it is known.
func replaced(pattern, replacement string) string {
	text := plainText(replacement)
	switch strings.Trim(pattern, "^$") {
	case ".*", ".+", "":
		return text
	}
	return glue(glue(effect.Unknown, text), effect.Unknown)
}

// plainText returns the text of a replacement, with effect.Unknown for what it takes from the
// replaced text.
func plainText(replacement string) string {
	var b strings.Builder
	for i := 0; i < len(replacement); i++ {
		switch c := replacement[i]; {
		case c == '&':
			b.WriteString(effect.Unknown)
		case c == '\\' && i+1 < len(replacement) && (lex.IsDigit(replacement[i+1]) ||
			strings.IndexByte("ULElu", replacement[i+1]) >= 0):
			i++
			b.WriteString(effect.Unknown)
		case c == '\\' && i+1 < len(replacement):
			i++
			b.WriteString(decode.Unescape(replacement[i-1 : i+1]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
