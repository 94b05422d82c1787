package claudesettings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"approver.example/agents/settings"
	"github.com/tailscale/hujson"
)

// A Problem is a value for which Claude Code ignores the whole file.
type Problem struct {
	At  string // the file with line and column
	Key string // such as permissions.defaultMode
	Why string
}

// String returns the problem in a sentence.
func (p Problem) String() string {
	key := strconv.Quote(p.Key)
	if p.Key == "" {
		key = "the file"
	}
	return fmt.Sprintf("%s: %s %s, and for that Claude Code drops the whole file in silence, hooks and all", p.At, key,
		p.Why)
}

// Check returns what Claude Code does not accept in the text of a settings file. It knows the keys
// in table.go, and if in doubt it reports. Like Claude Code, it accepts other keys. In managed
// settings Claude Code ignores only the value, and not the file.
func Check(path string, text []byte) []Problem {
	text = unmarked(text)
	c := checker{path: path, text: text}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		at := int64(0)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		c.add(int(at), "", "is not JSON ("+err.Error()+")")
		return c.found
	}
	v, err := hujson.Parse(text)
	if err != nil {
		c.add(0, "", "is not JSON ("+err.Error()+")")
		return c.found
	}
	c.check(v, "", settingsShape)
	if top, ok := v.Value.(*hujson.Object); ok {
		c.findMisplaced(top)
	}
	return c.found
}

type checker struct {
	path  string
	text  []byte
	found []Problem
}

func (c *checker) add(at int, key, why string) {
	c.found = append(c.found, Problem{At: settings.Locate(c.path, c.text, at+1), Key: key, Why: why})
}

// A kind is what a value may be.
type kind uint8

const (
	anything kind = iota
	boolean
	text
	number
	list
	object
)

// A shape says which values Claude Code accepts. The zero value accepts all.
type shape struct {
	kind   kind
	null   bool     // null is as good as nothing
	or     *shape   // another shape that will do
	words  []string // of a text: one of these
	filled bool     // of a text: not empty
	whole  bool     // of a number: no fraction
	least  float64  // of a number
	most   float64  // of a number; zero is no limit
	above  bool     // of a number: least itself is too little
	each   *shape   // of a list, and of the other values of an object
	fields map[string]shape
	needs  []string // of an object: keys that must be there
	// byType has more keys that must be there, by the text of the object's "type".
	byType map[string][]string
}

func (c *checker) check(v hujson.Value, key string, s shape) {
	why := c.fits(v, s)
	if why != "" && s.or != nil {
		if other := c.fits(v, *s.or); other == "" {
			c.below(v, key, *s.or)
			return
		}
	}
	if why != "" {
		c.add(v.StartOffset, key, why)
		return
	}
	c.below(v, key, s)
}

// below checks what is in a list or an object.
func (c *checker) below(v hujson.Value, key string, s shape) {
	if s.kind == anything {
		return
	}
	dot := key + "."
	if key == "" {
		dot = ""
	}
	switch value := v.Value.(type) {
	case *hujson.Array:
		for i, e := range value.Elements {
			if s.each != nil {
				c.check(e, dot+strconv.Itoa(i), *s.each)
			}
		}
	case *hujson.Object:
		for _, m := range value.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if field, ok := s.fields[name]; ok {
				c.check(m.Value, dot+name, field)
			} else if s.each != nil {
				c.check(m.Value, dot+name, *s.each)
			}
		}
	}
}

// fits returns what is wrong with a value itself; "" means nothing.
func (c *checker) fits(v hujson.Value, s shape) string {
	switch value := v.Value.(type) {
	case hujson.Literal:
		return s.literal(value)
	case *hujson.Array:
		if s.kind != list && s.kind != anything {
			return "must be " + s.kind.String() + ", not a list"
		}
	case *hujson.Object:
		if s.kind != object && s.kind != anything {
			return "must be " + s.kind.String() + ", not an object"
		}
		needs := s.needs
		for _, m := range value.Members {
			if l, ok := m.Value.Value.(hujson.Literal); ok && m.Name.Value.(hujson.Literal).String() == "type" &&
				l.Kind() == '"' {
				needs = append(slices.Clone(needs), s.byType[l.String()]...)
			}
		}
		for _, need := range needs {
			if !slices.ContainsFunc(value.Members,
				func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == need }) {
				return "has no " + strconv.Quote(need)
			}
		}
	}
	return ""
}

func (s shape) literal(l hujson.Literal) string {
	is := map[hujson.Kind]kind{'t': boolean, 'f': boolean, '"': text, '0': number}[l.Kind()]
	switch {
	case s.kind == anything, l.Kind() == 'n' && s.null:
		return ""
	case is != s.kind:
		return "must be " + s.kind.String() + ", not " + shortened(string(l))
	case s.kind == text && s.words != nil && !slices.Contains(s.words, l.String()):
		return "must be one of " + strings.Join(s.words, ", ") + ", not " + shortened(string(l))
	case s.kind == text && s.filled && l.String() == "":
		return "must not be empty"
	case s.kind == number:
		n, err := strconv.ParseFloat(string(l), 64)
		if err != nil || s.whole && n != math.Trunc(n) || n < s.least || s.above && n <= s.least || s.most > 0 && n > s.most {
			return "is " + shortened(string(l)) + ", which is out of range"
		}
	}
	return ""
}

// shortened shortens a long value for a line of text.
func shortened(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	at := most
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at] + "…"
}

// String returns the word for people.
func (k kind) String() string {
	return [...]string{"anything", "true or false", "a text", "a number", "a list", "an object"}[k]
}

// guards are the events for whose invalid hooks Claude Code ignores the whole file; for other
// events it ignores the hook.
var guards = []string{"PreToolUse", "PermissionRequest"}

// findMisplaced finds hooks that guard calls in places where Claude Code does not read them.
func (c *checker) findMisplaced(top *hujson.Object) {
	for _, m := range top.Members {
		name := m.Name.Value.(hujson.Literal).String()
		switch {
		case name == "hooks":
			if events, ok := m.Value.Value.(*hujson.Object); ok {
				c.events(events)
			}
		case name == "env": // texts, whatever stands there
		case slices.Contains(guards, name):
			c.stray(m.Value, name)
		default:
			c.findMisplacedBelow(m.Value, name)
		}
	}
}

// events looks at the values of names that are not events.
func (c *checker) events(events *hujson.Object) {
	for _, m := range events.Members {
		name := m.Name.Value.(hujson.Literal).String()
		if name == "matcher" || name == "hooks" {
			c.add(m.Name.StartOffset, "hooks."+name, "is no event")
		} else if _, known := eventShapes[name]; !known {
			c.findMisplacedBelow(m.Value, "hooks."+name)
		}
	}
}

func (c *checker) findMisplacedBelow(v hujson.Value, key string) {
	switch value := v.Value.(type) {
	case *hujson.Array:
		for i, e := range value.Elements {
			c.findMisplacedBelow(e, key+"."+strconv.Itoa(i))
		}
	case *hujson.Object:
		for _, m := range value.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if slices.Contains(guards, name) {
				c.stray(m.Value, key+"."+name)
				continue
			}
			c.findMisplacedBelow(m.Value, key+"."+name)
		}
	}
}

func (c *checker) stray(v hujson.Value, key string) {
	if list, ok := v.Value.(*hujson.Array); ok && len(list.Elements) > 0 {
		c.add(v.StartOffset, key, `stands outside "hooks"`)
	}
}
