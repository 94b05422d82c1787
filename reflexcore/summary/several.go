package summary

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file counts: one of several things must not be shown as if it were all. The worst is named.

// losing are the kinds of effects that count beside what a title names.
const losing = 1<<effect.Delete | 1<<effect.Discard | 1<<effect.RemoteDelete | 1<<effect.Publish | 1<<effect.Kill

// Said returns the effects that the title and the sentences are about, with one of those that have the same words.
func (c *Call) Said() (out []int) {
	for _, g := range c.groups() {
		out = append(out, g.effects...)
	}
	if i := c.subject(); i >= 0 && !slices.Contains(out, i) {
		out = append(out, i)
	}
	return out
}

// beside returns what counts beside an effect: the others of its kind, and all that is lost otherwise.
func (c *Call) beside(i int) (alike, others []int) {
	own := c.rank(i)
	for _, g := range c.groups() {
		for _, k := range g.effects {
			e := &c.Effects[k]
			switch {
			case k == i:
			case g.row == own, isGeneric(&c.Effects[i]) && e.By == c.Effects[i].By && e.Kind == c.Effects[i].Kind:
				alike = append(alike, k)
			case isGrave(e) && e.By != c.Effects[i].By,
				losing&(1<<e.Kind) != 0 && e.Bits&effect.Later == 0 && e.What != effect.Elsewhere &&
					(e.By != c.Effects[i].By || e.Kind == c.Effects[i].Kind && len(does().rows[g.row].args) > 0):
				others = append(others, k)
			}
		}
	}
	if !c.isSaid(i) && len(alike) > 0 {
		alike = alike[1:] // one of them has the same words
	}
	return alike, others
}

// isGrave reports whether an effect counts beside every other one: code from the network, a secret that is sent, an
// attack.
func isGrave(e *effect.Effect) bool {
	if e.Bits&effect.Later != 0 {
		return false
	}
	return e.Kind == effect.Attack || e.Kind == effect.Exec && e.Taint&effect.Network != 0 ||
		e.Kind == effect.NetOut && e.Taint&effect.Secret != 0
}

// isSaid reports whether an effect stands for those with the same words.
func (c *Call) isSaid(i int) bool {
	return slices.ContainsFunc(c.groups(), func(g group) bool { return slices.Contains(g.effects, i) })
}

// more returns how many things there are beside an effect, for a title of a row.
func (c *Call) more(i int, title *row) int {
	alike, others := c.beside(i)
	if title.counts() {
		return len(others)
	}
	n := len(alike)
	if own := c.rank(i); own < len(does().rows) && len(does().rows[own].args) == 0 { // only the title has a name
		n = max(n, c.titled(i, title)-1)
	}
	if all, named := c.matter(i).commands(); named {
		n = max(n, len(all)-1)
	}
	return n + len(others)
}

// titled returns how many different words a title has for what a program does to several things.
func (c *Call) titled(i int, title *row) int {
	seen := map[string]bool{}
	for k := range min(len(c.Effects), maxGrouped) {
		if e := &c.Effects[k]; e.Kind == c.Effects[i].Kind && e.By == c.Effects[i].By && title.fits(c.matter(k)) {
			if words, ok := title.words(c.matter(k).word); ok {
				seen[strings.Join(words, "\x00")] = true
			}
		}
	}
	return len(seen)
}

// worst returns the worst of the effects that are said like one.
func (c *Call) worst(i int) int {
	alike, _ := c.beside(i)
	for _, k := range alike {
		if c.weight(k) > c.weight(i) {
			i = k
		}
	}
	return i
}

// worstFirst moves the worst of some effects to their front.
func (c *Call) worstFirst(effects []int) {
	at, most := 0, c.weight(effects[0])
	for n, i := range effects {
		if w := c.weight(i); w > most || w == most && i == c.About {
			at, most = n, w
		}
	}
	i := effects[at]
	copy(effects[1:at+1], effects[:at])
	effects[0] = i
}

// Words of names that say how much a thing is worth.
var (
	shared = wordset.Of("main master trunk release")
	spare  = wordset.Of("tmp temp test tests testing scratch dev demo sandbox playground example staging preview old")
)

// weight says how bad an effect is among those of its kind.
func (c *Call) weight(i int) (n int) {
	e := &c.Effects[i]
	if e.What == effect.Production || effect.IsProduction(e.Target) {
		n += 8
	}
	words := strings.FieldsFunc(strings.ToLower(e.Target), func(r rune) bool {
		return strings.ContainsRune("/.-_: ", r)
	})
	if slices.ContainsFunc(words, func(w string) bool { return shared[w] }) {
		n += 4
	}
	if e.Bits&(effect.Bulk|effect.Recursive) != 0 {
		n++
	}
	if slices.ContainsFunc(words, func(w string) bool { return spare[w] }) || e.What == effect.Scratch {
		n -= 4
	}
	if i < len(c.Places) && c.Places[i]&(places.Temp|places.Build|places.Recoverable|places.Feature) != 0 {
		n -= 4
	}
	return n
}

// counts reports whether the text of a row has the number of things.
func (r *row) counts() bool {
	return slices.Contains(r.args, "count")
}

// commands returns the simple commands that may have the effect: those that name it best. named says that they
// name its program.
func (m *matter) commands() (out []shell.Piece, named bool) {
	best := 0
	words := strings.Fields(strings.ReplaceAll(m.By, "=", "= "))
	for _, p := range m.Pieces {
		s := 0
		if inOrder(p.Text, words) {
			s = 2
		}
		if m.mentioned(p.Text) {
			s++
		}
		if s > best {
			best, out = s, nil
		}
		if s < best || s == 0 {
			continue
		}
		if n := len(out) - 1; n >= 0 && p.At+len(p.Text) <= out[n].At+len(out[n].Text) {
			out = out[:n] // of a command within another, the inner one has the effect
		}
		out = append(out, p)
	}
	return out, best > 1
}
