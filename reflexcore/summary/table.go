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

	titles = sync.OnceValue(func() *table { return newTable(titlesText) })
	does   = sync.OnceValue(func() *table { return newTable(doesText) })
)

// A table has rows, of which the first that fits counts.
type table struct {
	rows []row
	of   map[effect.Kind][]int // the rows that may fit an effect of a kind
}

func newTable(text string) *table {
	t := &table{rows: rows(text), of: map[effect.Kind][]int{}}
	for i := range t.rows {
		for k := effect.Opaque; k <= effect.Attack; k++ {
			if kinds := t.rows[i].kinds; len(kinds) == 0 || slices.Contains(kinds, k) {
				t.of[k] = append(t.of[k], i)
			}
		}
	}
	return t
}

// A row says something about the effects that fit.
type row struct {
	kinds      []effect.Kind // one of these; none is any, and a row that is about the rule alone
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

// fits reports whether an effect of its kind is like a row. Of what happens later only rows say something that
// are about that.
func (r *row) fits(m *matter) bool {
	later := m.Bits&effect.Later != 0 && m.Kind != effect.Persist
	switch {
	case later && r.bits&effect.Later == 0, m.Bits&r.bits != r.bits, m.Taint&r.taint != r.taint,
		r.place != 0 && (m.index >= len(m.Places) || m.Places[m.index]&r.place == 0):
		return false
	}
	return r.meets(m.Call, m)
}

// A matter is an effect that a phrase is about.
type matter struct {
	*Call
	index int
	*effect.Effect
}

func (c *Call) matter(i int) *matter { return &matter{c, i, &c.Effects[i]} }

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
func (r *row) words(word func(name string) string) (out []string, ok bool) {
	if len(r.args) == 0 {
		return nil, true
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

// first returns the first row that fits an effect and whose words are known.
func (t *table) first(m *matter) (n int, words []string, ok bool) {
	for _, n := range t.of[m.Kind] {
		r := &t.rows[n]
		if !r.fits(m) {
			continue
		}
		if words, ok := r.words(m.word); ok || r.text == nothing {
			return n, words, true
		}
	}
	return len(t.rows), nil, false
}

// titleOf returns the title of an effect, and its row.
func (c *Call) titleOf(i int) (p display.Phrase, of *row, ok bool) {
	n, words, ok := titles().first(c.matter(i))
	if !ok {
		return p, nil, false
	}
	of = &titles().rows[n]
	return display.Phrase{Text: of.text, Args: words}, of, true
}

// titleOfRule returns the title of a call of which the rule says what it is.
func (c *Call) titleOfRule() (p display.Phrase, ok bool) {
	for i := range titles().rows {
		r := &titles().rows[i]
		if len(r.kinds) > 0 || !r.meets(c, nil) {
			continue
		}
		if words, ok := r.words(c.argument); ok {
			return display.Phrase{Text: r.text, Args: words}, true
		}
	}
	return p, false
}

// Texts returns every text that this package says, for catalogs of translations.
func Texts() []string {
	out := []string{andMore}
	for _, r := range slices.Concat(titles().rows, does().rows) {
		for _, text := range []string{r.text, r.many} {
			if text != "" && text != nothing {
				out = append(out, text)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
