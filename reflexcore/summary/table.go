package summary

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"approver.example/display"
	"approver.example/internal/glob"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
)

// The tables have one row on a line: kinds of effects and conditions, a text, and the words that are
// put into it. A row of does.txt has a second text for several effects.
//
// A condition is a name and patterns, of which one must match: what:, by: and target: are about the
// effect, tool: about the name of the tool, rule: about the rule that found it. In patterns * is any
// text and _ is a blank. how:, from: and place: have names of bits, taints and places. A condition
// without patterns is one of [is], or says that the word of that name is known.
var (
	//go:embed titles.txt
	titlesText string
	//go:embed does.txt
	doesText string

	titles = sync.OnceValue(func() []row { return rows(titlesText) })
	does   = sync.OnceValue(func() []row { return rows(doesText) })
)

// A row says something about the effects that fit.
type row struct {
	kinds      []effect.Kind // one of these; none is any
	conditions []condition
	bits       effect.Bits
	taint      effect.Taint
	place      places.Place
	text, many string
	args       []string // names of words
}

// A condition has a name and patterns.
type condition struct {
	name     string
	patterns []string
}

func rows(text string) (out []row) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "|")
		r := row{text: strings.TrimSpace(cells[1]), args: strings.Fields(cells[len(cells)-1])}
		if len(cells) > 3 {
			r.many = strings.TrimSpace(cells[2])
		}
		words := strings.Fields(cells[0])
		for kind := range strings.SplitSeq(words[0], ",") {
			var k effect.Kind
			if kind != "*" && k.UnmarshalText([]byte(kind)) == nil {
				r.kinds = append(r.kinds, k)
			}
		}
		for _, word := range words[1:] {
			r.condition(word)
		}
		out = append(out, r)
	}
	return out
}

// condition adds a condition. The tests find one that is misspelled.
func (r *row) condition(word string) {
	name, list, _ := strings.Cut(word, ":")
	patterns := strings.Split(list, ",")
	switch name {
	case "how":
		b, _ := effect.BitOf(list)
		r.bits |= b
	case "from":
		t, _ := effect.TaintOf(list)
		r.taint |= t
	case "place":
		for _, of := range patterns {
			p, _ := places.Named(of)
			r.place |= p
		}
	default:
		for i := range patterns {
			patterns[i] = blanks(patterns[i])
		}
		r.conditions = append(r.conditions, condition{name, patterns})
	}
}

// blanks returns a name with blanks for underscores.
func blanks(s string) string { return strings.ReplaceAll(s, "_", " ") }

// fits reports whether an effect is like a row; with -1 whether the rule alone is. Of what happens
// later only rows say something that are about that.
func (r *row) fits(c *Call, i int) bool {
	if i < 0 {
		return len(r.kinds) == 0 && len(r.conditions) > 0 && r.meets(c, nil)
	}
	e := &c.Effects[i]
	later := e.Bits&effect.Later != 0 && e.Kind != effect.Persist
	switch {
	case len(r.kinds) > 0 && !slices.Contains(r.kinds, e.Kind),
		later && r.bits&effect.Later == 0, e.Bits&r.bits != r.bits, e.Taint&r.taint != r.taint,
		r.place != 0 && (i >= len(c.Places) || c.Places[i]&r.place == 0):
		return false
	}
	return r.meets(c, &matter{c, i, e})
}

// A matter is an effect that a phrase is about.
type matter struct {
	*Call
	index int
	*effect.Effect
}

// meets reports whether all conditions are met; m is nil if there is no effect.
func (r *row) meets(c *Call, m *matter) bool {
	for i := range r.conditions {
		cond := &r.conditions[i]
		var text string
		switch {
		case cond.name == "rule":
			text = c.Rule
		case cond.name == "tool":
			text = c.toolName()
		case m == nil:
			return false
		case cond.name == "what":
			text = m.What
		case cond.name == "by":
			text = m.By
		case cond.name == "target":
			text = m.Target
		default:
			if !m.is(cond.name) {
				return false
			}
			continue
		}
		text = blanks(text)
		if !slices.ContainsFunc(cond.patterns, func(p string) bool { return glob.Text(p, text) }) {
			return false
		}
	}
	return true
}

// is reports a fact without patterns.
func (m *matter) is(name string) bool {
	switch name {
	case "many":
		return len(m.group()) > 1
	case "mcp":
		return m.Command == "" && m.serverName() != ""
	case "remote":
		return m.Bits&effect.Remote != 0
	case "inside":
		return m.inContainer()
	case "home":
		return m.Home != "" && strings.TrimSuffix(m.Target, "/*") == m.Home
	case "milder": // and the program does nothing worse
		return !slices.ContainsFunc(m.Effects, func(e effect.Effect) bool {
			return e.By == m.By && (e.Kind == effect.Discard || e.Kind == effect.RemoteDelete)
		})
	case "somewhere": // in a known folder, and which is not known
		return base(m.Target) == effect.Unknown && effect.IsPlain(path.Dir(m.Target)) && path.IsAbs(m.Target)
	case "everything":
		return m.Amount() == effect.Many && m.Bits&effect.Recursive == 0
	}
	return m.word(name) != ""
}

// words returns what is put into the text of a row; ok is false if some of it is not known.
func (r *row) words(c *Call, i int) (out []string, ok bool) {
	if len(r.args) == 0 {
		return nil, true
	}
	word := c.argument
	if i >= 0 {
		word = (&matter{c, i, &c.Effects[i]}).word
	}
	for _, name := range r.args {
		word := word(name)
		if word == "" {
			return nil, false
		}
		out = append(out, oneLine(word))
	}
	return out, true
}

// say returns the phrase of the first row that fits and whose words are known.
func (c *Call) say(table []row, i int) (p display.Phrase, of *row, ok bool) {
	for k := range table {
		r := &table[k]
		if !r.fits(c, i) {
			continue
		}
		if words, ok := r.words(c, i); ok {
			return display.Phrase{Text: r.text, Args: words}, r, true
		}
	}
	return display.Phrase{}, nil, false
}

// Texts returns every text that this package says, for catalogs of translations.
func Texts() []string {
	out := []string{andMore}
	for _, table := range [][]row{titles(), does()} {
		for i := range table {
			for _, text := range []string{table[i].text, table[i].many} {
				if text != "" && text != nothing {
					out = append(out, text)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
