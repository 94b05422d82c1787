package display

import (
	"path"
	"slices"
	"strings"

	"approver.example/display/places"
	"approver.example/display/shape"
)

// A reading is a call's text, with what is known about it so far.
type reading struct {
	text, command string
	left          int // steps left; the work is limited because an agent chooses the text
	rereading     *bool
	indirection   *bool
	knowsAll      *bool
	read          bool // segments and spans are found
	segments      []places.Segment
	spans         []places.Span
	variables     places.Variables
	assignments   [][]int // where variables get their values
}

// textBefore returns the text before a place, at most as much as a pattern looks at.
func (c *reading) textBefore(at int) string { return c.text[max(0, at-shape.MaxBefore):at] }

// credentialPlace reports whether programs take a credential at a place.
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

// namedField reports whether name=value is in data that a program such as curl sends.
func (c *reading) namedField(at int) bool {
	kind, _ := c.placeAt(at)
	return kind != places.Unclear || fieldPlace().MatchString(c.textBefore(at))
}

// inAddress reports whether name=value is in the query of an address.
func (c *reading) inAddress(at int) bool { return queryPlace().MatchString(c.textBefore(at)) }

// once returns the result of find, which it calls only the first time.
func once(known **bool, find func() bool) bool {
	if *known == nil {
		found := find()
		*known = &found
	}
	return **known
}

// rereads reports whether the text has something that could split a word and use a piece of it.
// Then the place of a value does not say where it goes.
func (c *reading) rereads() bool {
	return once(&c.rereading, func() bool { return c.command != "" && rereading().MatchString(c.text) })
}

// indirect reports whether the text has something that can look up a variable without writing
// its name.
func (c *reading) indirect() bool {
	return once(&c.indirection, func() bool { return indirect().MatchString(c.text) })
}

// allKnown reports whether every program that the command visibly runs is known to use credentials
// as their names say.
func (c *reading) allKnown() bool { return once(&c.knowsAll, func() bool { return c.known("") }) }

// known is allKnown with one more program that counts as known.
func (c *reading) known(more string) bool {
	return c.command != "" && !slices.ContainsFunc(programs(c.command), func(p string) bool {
		first, second, _ := strings.Cut(p, " ")
		only, known := shape.KnownPrograms[first]
		return first != more && (!known || only != "" && !slices.Contains(strings.Fields(only), second))
	})
}

// programs returns the first word of everything that could be a command, with the word after it.
// It ignores quotes that are not certain. That can only add programs, never remove one.
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

// placeAt returns how certain it is that a known program takes a credential at a place. found
// reports whether there is such a place.
func (c *reading) placeAt(from int) (kind places.Kind, found bool) {
	c.lexed()
	for _, s := range c.spans {
		if s.From == from && s.Variable == "" && !s.Followed && !s.Carrier {
			kind, found = max(kind, s.Kind), true
		}
	}
	return kind, found
}

// operandOf returns the program that has the text at a place as an argument, or "". For nested
// commands it is the innermost one.
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

// lexed reads the commands of the text the first time it is called.
func (c *reading) lexed() {
	if !c.read {
		c.read = true
		l := places.Of(c.text)
		c.segments, c.spans, c.variables = l.Segments, l.Spans, l.Variables
	}
	c.left -= len(c.segments) + len(c.spans)
}

// holders returns the variables whose assigned value contains a place.
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
		// A known program does not print the arguments that it gets in a substitution.
		if depth := strings.Index(value, "$("); depth >= 0 && c.allKnown() {
			value = value[:depth] + " "
		}
		if inWord(value, true) || inWord(value, false) {
			names = shape.AppendNew(names, []string{name})
		}
	}
	return names
}

// uses finds where a variable is used. Its name without a sigil, such as $, counts only if
// something might look up the variable by its name.
func (c *reading) uses(name string) []use {
	var out []use
	foreign := !c.allKnown() || c.indirect()
	c.left -= len(c.text)
	lower, want := strings.ToLower(c.text), strings.ToLower(name)
	if len(lower) != len(c.text) {
		return []use{{mention: true}} // some lowercase letters have another length
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

// carries reports whether a program takes a part of the variable's value as a credential.
func (c *reading) carries(u use) bool {
	return slices.ContainsFunc(c.spans, func(s places.Span) bool { return s.Carrier && s.From <= u.from && u.to <= s.To })
}

// inWord reports whether a shell that begins to read a word at the start of s is still in that
// word at the end of s. escapes says whether a backslash escapes a quote. It does not if s is
// itself inside quotes.
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
	plain    bool // its whole value, not a part
	mention  bool // only its name is there
}
