package display

import (
	"path"
	"slices"
	"strings"

	"approver.example/display/places"
	"approver.example/display/shape"
)

// A reading is a call's text and what was found out about it.
type reading struct {
	text, command string
	left          int // steps that may still be taken: an agent chooses the text
	rereading     *bool
	indirection   *bool
	knowsAll      *bool
	read          bool // segments and spans are found
	segments      []places.Segment
	spans         []places.Span
	variables     places.Variables
	assignments   [][]int // where variables get their values
}

// textBefore is what stands before a place, as much of it as a pattern looks at.
func (c *reading) textBefore(at int) string { return c.text[max(0, at-shape.MaxBefore):at] }

// credentialPlace reports a place where programs take what proves who asks.
func (c *reading) credentialPlace(from, to int) bool {
	c.lexed()
	for _, s := range c.spans {
		if s.Kind != places.Unclear && s.Variable == "" && !s.Followed && s.From <= from && to <= s.To &&
			!strings.ContainsAny(c.text[s.From:from], "(`") {
			return true
		}
	}
	before := c.textBefore(from)
	for _, place := range credentialPlaces {
		if place().MatchString(before) {
			return true
		}
	}
	return addressUser().MatchString(before) && beforeHost().MatchString(c.text[to:])
}

// namedField reports name=value in what curl and its like send.
func (c *reading) namedField(at int) bool {
	kind, _ := c.placeAt(at)
	return kind != places.Unclear || fieldPlace().MatchString(c.textBefore(at))
}

// inAddress reports name=value in the query of an address.
func (c *reading) inAddress(at int) bool { return queryPlace().MatchString(c.textBefore(at)) }

// once is what find returns, which is asked the first time only.
func once(known **bool, find func() bool) bool {
	if *known == nil {
		found := find()
		*known = &found
	}
	return **known
}

// rereads reports that the text has what could take a word of it apart and use a
// piece: then where a value stands does not say where it goes.
func (c *reading) rereads() bool {
	return once(&c.rereading, func() bool { return c.command != "" && rereading().MatchString(c.text) })
}

// indirect reports that the text has what can look a variable up unseen.
func (c *reading) indirect() bool {
	return once(&c.indirection, func() bool { return indirect().MatchString(c.text) })
}

// allKnown reports that every program which the command can be seen to run is one
// that does with credentials what their names say.
func (c *reading) allKnown() bool { return once(&c.knowsAll, func() bool { return c.known("") }) }

// known is allKnown, but for one more program.
func (c *reading) known(more string) bool {
	return c.command != "" && !slices.ContainsFunc(programs(c.command), func(p string) bool {
		first, second, _ := strings.Cut(p, " ")
		only, known := shape.KnownPrograms[first]
		return first != more && (!known || only != "" && !slices.Contains(strings.Fields(only), second))
	})
}

// programs lists the first word of everything that could be a command, with the
// word behind it. Quotes that are not plain to see are not heeded: then there are
// more, never fewer.
func programs(command string) []string {
	var out []string
	text := redirections().ReplaceAllString(shape.WithoutQuotes(plainEcho().ReplaceAllString(command, "${1}true${2}")),
		" ")
	for segment := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return strings.ContainsRune("\n\r;|&(){}`", r) }) {
		words := strings.Fields(segment)
		for len(words) > 0 && (shape.Prefixes[words[0]] || assigned().MatchString(words[0])) {
			words = words[1:]
		}
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		name := words[0]
		if !strings.Contains(name, "/") || strings.HasPrefix(name, "/usr/bin/") || strings.HasPrefix(name, "/bin/") {
			name = path.Base(name)
		}
		second := ""
		for _, w := range words[1:] {
			if second == "" || strings.HasPrefix(second, "--") && strings.Contains(second, "=") {
				second = w
			}
		}
		out = append(out, name+" "+second)
	}
	return out
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
		sigil := sigils().FindString(c.textBefore(from))
		exact := c.text[from:to] == name
		switch {
		case sigil != "" && (exact || strings.ContainsAny(sigil, ":%{")):
			plain := sigil == "$" || sigil == "${" && strings.HasPrefix(tail, "}")
			out = append(out, use{from: from - len(sigil), to: to, plain: plain})
		case !exact, definition().MatchString(tail), exported().MatchString(c.textBefore(from)), strings.HasSuffix(head, "-"):
		case foreign:
			out = append(out, use{mention: true})
		}
	}
}

// carries reports a variable of which a program takes a part as a credential.
func (c *reading) carries(u use) bool {
	return slices.ContainsFunc(c.spans, func(s places.Span) bool { return s.Carrier && s.From <= u.from && u.to <= s.To })
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
