package display

import (
	"slices"
	"strings"

	"approver.example/display/places"

	"approver.example/display/shape"
)

// This file finds where the variables go that hold a hidden part.

// followed judges a value that a variable brings to a place for a credential. It is one
// there; but each other use of the variable counts as well, and nothing may be in the
// text that could use it out of sight, or look it up by its name.
func (c *reading) followed(p part) meaning {
	c.lexed()
	kind := places.Unclear
	for _, s := range c.spans {
		if s.Followed && s.From == p.begin {
			kind = max(kind, s.Kind)
		}
	}
	names := c.holders(p.begin)
	if p.name != "" {
		names = shape.AppendNew(names, []string{p.name})
	}
	if kind == places.Unclear || kind == places.ByPosition && !shape.IsKey(c.text[p.from:p.to]) || len(names) == 0 {
		return meansUnclear
	}
	m, _, names := c.goes(names, false)
	if c.rereads() || c.indirect() || !c.known("echo") || !places.IsPlain(c.text) || !c.variables.Sets(p.begin, names) {
		return worse(m, meansUnclear)
	}
	return m
}

// goes says what is done with the values of variables: where they go, and through which
// others. used reports a place for a credential among them. An address as a whole may be
// handed on.
func (c *reading) goes(names []string, address bool) (m meaning, used bool, all []string) {
	m = meansCredential
	for i := 0; i < len(names) && i < maxNames; i++ {
		if i == maxNames-1 {
			return meansUnclear, used, names
		}
		for _, u := range c.uses(names[i]) {
			switch {
			case u.mention:
				m = worse(m, meansUnclear)
			case c.credentialPlace(u.from, u.to) || address && u.plain && !c.rereads():
				used = true
				names = shape.AppendNew(names, c.holders(u.from))
			case c.carries(u):
				m = worse(m, meansUnclear)
			default:
				held := c.holders(u.from)
				names = shape.AppendNew(names, held)
				if len(held) == 0 || c.actedOn(u.from) {
					m = worse(m, meansChoice)
				}
			}
		}
	}
	if !address && slices.ContainsFunc(names, places.IsDeciding) { // a program finds it by its name
		m = worse(m, meansUnclear)
	}
	return m, used, names
}

// actedOn reports a variable in NAME=$variable, where a program acts on that word.
func (c *reading) actedOn(at int) bool {
	for _, m := range c.assignments {
		if c.left--; m[1] > at || c.left < 0 {
			break
		}
		if c.variables.IsOperand(m[2]) && (inWord(c.text[m[1]:at], true) || inWord(c.text[m[1]:at], false)) {
			return true
		}
	}
	return false
}

// carries reports a variable of which a program takes a part as a credential.
func (c *reading) carries(u use) bool {
	return slices.ContainsFunc(c.spans, func(s places.Span) bool { return s.Carrier && s.From <= u.from && u.to <= s.To })
}

// maxNames bounds the variables that are followed.
const maxNames = 16

// holders are the variables whose assigned value a place lies in.
func (c *reading) holders(at int) []string {
	var names []string
	if c.left -= at; c.left < 0 {
		return nil
	}
	if c.assignments == nil {
		c.assignments = shape.Assignment().FindAllStringSubmatchIndex(c.text, -1)
	}
	for _, m := range c.assignments {
		if m[1] > at {
			break
		}
		if c.left -= at - m[1]; c.left < 0 {
			return nil
		}
		name := c.text[m[2]:m[3]]
		value := c.text[m[1]:at]
		// What a known program is given in a substitution is not what it prints.
		if depth := strings.Index(value, "$("); depth >= 0 && c.allKnown() {
			value = value[:depth] + " "
		}
		if inWord(value, true) || inWord(value, false) {
			names = shape.AppendNew(names, []string{name})
		}
	}
	return names
}

// inWord reports whether a shell that begins to read a word at the start of s is
// still in it at the end of s. escapes says whether a backslash takes the meaning
// from a quote: inside the quotes of another text it does not.
func inWord(s string, escapes bool) bool {
	var quote byte
	depth := 0
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == '\\' && escapes && quote != '\'':
			i++
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '\'' || b == '"' || b == '`':
			quote = b
		case b == '(':
			depth++
		case b == ')' && depth > 0:
			depth--
		case depth == 0 && strings.IndexByte(" \t\r\n;&|)", b) >= 0:
			return false
		}
	}
	return true
}

// A use is a place where a variable's value goes.
type use struct {
	from, to int
	plain    bool // its whole value, not a piece of it
	mention  bool // only its name stands there
}

// uses finds where a variable is used. A name without a sigil, such as $, before it counts
// where something might look the variable up by its name.
func (c *reading) uses(name string) []use {
	var out []use
	foreign := !c.allKnown() || c.indirect()
	c.left -= len(c.text)
	lower, want := strings.ToLower(c.text), strings.ToLower(name)
	if len(lower) != len(c.text) {
		return []use{{mention: true}} // characters whose small forms have other lengths
	}
	for at := 0; ; {
		n := strings.Index(lower[at:], want)
		if c.left -= shape.MaxBefore; n < 0 || c.left < 0 {
			return out
		}
		from, to := at+n, at+n+len(want)
		at = to
		head, tail := c.text[:from], c.text[to:]
		if from > 0 && shape.IsWordByte(head[from-1]) || tail != "" && shape.IsWordByte(tail[0]) {
			continue
		}
		sigil := sigils().FindString(c.before(from))
		exact := c.text[from:to] == name
		switch {
		case sigil != "" && (exact || strings.ContainsAny(sigil, ":%{")):
			plain := sigil == "$" || sigil == "${" && strings.HasPrefix(tail, "}")
			out = append(out, use{from: from - len(sigil), to: to, plain: plain})
		case !exact, definition().MatchString(tail), exported().MatchString(c.before(from)), strings.HasSuffix(head, "-"):
		case foreign:
			out = append(out, use{mention: true})
		}
	}
}

// placeAt says what a known program takes where a value stands.
func (c *reading) placeAt(from int) (kind places.Kind, found bool) {
	c.lexed()
	for _, s := range c.spans {
		if s.From == from && s.Variable == "" && !s.Followed && !s.Carrier {
			kind, found = max(kind, s.Kind), true
		}
	}
	return kind, found
}

// operandOf returns the program that a value is an argument of. Of commands within
// each other it is the innermost.
func (c *reading) operandOf(at int) string {
	c.lexed()
	size, program := len(c.text)+1, ""
	for _, s := range c.segments {
		if s.Operands <= at && at < s.To && s.To-s.From < size {
			size, program = s.To-s.From, s.Program
		}
	}
	return program
}

// lexed reads the commands of the text, once.
func (c *reading) lexed() {
	if !c.read {
		c.read = true
		l := places.Of(c.text)
		c.segments, c.spans, c.variables = l.Segments, l.Spans, l.Variables
	}
	c.left -= len(c.segments) + len(c.spans)
}
