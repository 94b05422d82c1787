// Package summary says in words for people what a call would do, from the effects that the engine
// found: a title, what it does, how hard it is to undo, and which part of the command that is.
//
// The sentences are rows of titles.txt and does.txt. They are constant, so that they can be
// translated; what belongs to one call is put into them as arguments.
//
// Read summary.go, table.go and words.go, then the rest by name.
package summary

import (
	"slices"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
)

// A Call is a call, and what is known of it.
type Call struct {
	approver.ToolCall
	Home    string
	Effects []effect.Effect
	Places  []places.Place // of the effects
	About   int            // the index of the effect that the verdict is about, or -1
	Rule    string         // the rule that found it
	Push    gitrepo.Push   // where the only push of the call goes, if no place names it
	// Rerouted says that what goes to the host of an address may reach another one.
	Rerouted bool
	// Real returns where the links of a path lead. Nil follows none.
	Real   func(string) (string, bool)
	Pieces []shell.Piece // the simple commands in the command; nil if they are not known

	server  string
	args    map[string]string
	grouped *[]group // once they are known
	ranks   []int16  // by effect, plus one; zero is one that is not known yet
}

// maxDoes limits the phrases of what a call does; of further ones the number is said.
const maxDoes = 4

// Title says what the call would do, as a person would; zero if nothing says more than the call
// itself. more is how many further things it does beside the one that the title names.
func (c *Call) Title() (p display.Phrase, more int) {
	if c.About < 0 {
		if p, ok := c.titleOfRule(); ok {
			return p, 0
		}
	}
	i := c.subject()
	if i < 0 || c.isPlainFile(&c.Effects[i]) {
		return display.Phrase{}, 0
	}
	i = c.worst(i)
	p, row, ok := c.titleOf(i)
	if !ok && c.Effects[i].Bits&effect.Later != 0 { // what the code does has no title, but that it is written
		for k := range c.Effects {
			if e := &c.Effects[k]; e.Kind == effect.Write && e.Bits&effect.Later == 0 && !c.isPlainFile(e) {
				p, _, _ = c.titleOf(k)
				return p, 0
			}
		}
	}
	if !ok {
		return p, 0
	}
	return p, c.more(i, row)
}

// isPlainFile reports whether an effect is only that a tool for files changes a file, which a card
// says without us.
func (c *Call) isPlainFile(e *effect.Effect) bool {
	switch c.Tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		return e.Kind == effect.Write && e.Bits&effect.Later == 0
	}
	return false
}

// subject returns the effect that the call is about: that of the verdict, or else the worst.
func (c *Call) subject() int {
	if c.About >= 0 && c.About < len(c.Effects) {
		return c.lostBy(c.About)
	}
	best, rank := -1, len(does().rows)
	for i := range c.Effects {
		if r := c.rank(i); r < rank {
			best, rank = i, r
		}
	}
	if best >= 0 {
		return best
	}
	return slices.IndexFunc(c.Effects, func(e effect.Effect) bool {
		return e.Kind != effect.Exec && e.Kind != effect.Read && e.Kind != effect.NetIn
	})
}

// lostBy returns what is lost by a change that an option sends elsewhere: that is worse than where. It is the change
// itself if nothing is.
func (c *Call) lostBy(i int) int {
	if c.Effects[i].What != effect.Elsewhere || !c.runsOnce(c.Effects[i].Program()) {
		return i
	}
	k := slices.IndexFunc(c.Effects, func(e effect.Effect) bool {
		return e.Program() == c.Effects[i].Program() && losing&(1<<e.Kind) != 0 && e.What != effect.Elsewhere
	})
	return max(k, i*b2i(k < 0))
}

// Elsewhere returns where an option sends the change that the call is about: production, or another machine's daemon.
// It is empty if the title says so, if it is several places, and if there is no option.
func (c *Call) Elsewhere() string {
	i, only := c.subject(), ""
	if i < 0 || c.Effects[i].What == effect.Elsewhere || !c.runsOnce(c.Effects[i].Program()) {
		return ""
	}
	for k := range min(len(c.Effects), maxGrouped) {
		e := &c.Effects[k]
		if e.What != effect.Elsewhere || e.Program() != c.Effects[i].Program() {
			continue
		}
		if only != "" && only != e.Target {
			return ""
		}
		only = e.Target
	}
	return oneLine(show(only))
}

// runsOnce reports whether a program is named in one command only: then all that it does is of that one.
func (c *Call) runsOnce(program string) bool {
	n := 0
	for _, p := range c.Pieces {
		if program != "" && wordIn(p.Text, program) >= 0 {
			n++
		}
	}
	return n == 1
}

// nothing is the text of what is not worth a word.
const nothing = "-"

// rank returns the row of what an effect does; the number of rows if it is not worth a word.
func (c *Call) rank(i int) int {
	if c.ranks == nil {
		c.ranks = make([]int16, len(c.Effects))
	}
	if c.ranks[i] == 0 {
		c.ranks[i] = int16(c.findRank(i)) + 1
	}
	return int(c.ranks[i]) - 1
}

func (c *Call) findRank(i int) int {
	e, none := &c.Effects[i], len(does().rows)
	switch {
	case e.Kind == effect.Exec && e.Target == e.By, e.Kind == effect.NetIn,
		e.Kind == effect.Read && e.Taint&effect.Secret == 0:
		return none
	}
	n, _, ok := does().first(c.matter(i))
	if !ok || does().rows[n].text == nothing {
		return none
	}
	return n
}

// A group has the effects of one row.
type group struct {
	row     int
	effects []int // with different words each
}

// Does says what the call does, what the verdict is about first, and then the worst.
func (c *Call) Does() (out []display.Phrase) {
	groups := c.groups()
	for n := range groups {
		g := &groups[n]
		if n == maxDoes {
			return append(out, display.Phrase{Text: andMore, Args: []string{strconv.Itoa(len(groups) - n)}})
		}
		row := &does().rows[g.row]
		args, _ := row.words(c.matter(g.effects[0]).word)
		text := row.text
		if len(g.effects) > 1 {
			if text = row.many; strings.Count(text, "%s") > len(args) {
				args = append([]string{number(len(g.effects))}, args...)
			}
		}
		out = append(out, display.Phrase{Text: text, Args: args})
	}
	return out
}

// andMore is said of what is left out.
const andMore = "and %s more"

// maxGrouped limits the effects whose words are compared.
const maxGrouped = 20_000

// groups returns the effects by rows, in their order.
func (c *Call) groups() []group {
	if c.grouped != nil {
		return *c.grouped
	}
	var out []group
	seen := map[string]bool{}
	for i := range min(len(c.Effects), maxGrouped) {
		r := c.rank(i)
		if r == len(does().rows) {
			continue
		}
		args, _ := does().rows[r].words(c.matter(i).word)
		key := strconv.Itoa(r) + "\x00" + strings.Join(args, "\x00")
		e := &c.Effects[i]
		if real := c.real(e); real != e.Target && slices.Contains(args, oneLine(c.shown(e.Target))) {
			key = strconv.Itoa(r) + "\x00" + c.shown(real)
		}
		if seen[key] || isGeneric(e) && c.hasOther(i) {
			continue
		}
		seen[key] = true
		n := slices.IndexFunc(out, func(g group) bool { return g.row == r })
		if n < 0 {
			n, out = len(out), append(out, group{row: r})
		}
		out[n].effects = append(out[n].effects, i)
	}
	first := len(does().rows)
	if c.About >= 0 && c.About < len(c.Effects) {
		first = c.rank(c.About)
	}
	for n := range out {
		c.worstFirst(out[n].effects)
	}
	slices.SortStableFunc(out, func(a, b group) int {
		if a.row == first || b.row == first {
			return b2i(b.row == first) - b2i(a.row == first)
		}
		return a.row - b.row
	})
	c.grouped = &out
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// hasOther reports whether the same program has the same kind of effect on something with a name.
func (c *Call) hasOther(i int) bool {
	return slices.ContainsFunc(c.matter(i).alike(), func(e *effect.Effect) bool { return !isGeneric(e) })
}

// number writes a number with commas: 1,100.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
