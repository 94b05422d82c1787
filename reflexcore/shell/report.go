package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// sameTail is how many of the last effects a new effect is compared with, so that it is not added
// twice.
const sameTail = 4

const (
	maxPrograms = 128 // programs reported per text
	maxLists    = 64  // lists of words per program
	maxWords    = 32  // words per list
)

// maxDotted is the limit, per text, on directories that are written with "..".
const maxDotted = 256

// The limits that may end the first walk, but not a lean one.
const (
	overDepth        = "depth"
	overAlternatives = "alternatives"
)

// handsOn records a program, and a list of words that it is started with. A loop may start one
// program many times: it is recorded once.
func (r *report) handsOn(p Program, args []string) {
	i := slices.IndexFunc(r.res.Programs, func(q Program) bool { return q.Path == p.Path && q.Named == p.Named })
	if i < 0 {
		if i = len(r.res.Programs); i >= maxPrograms {
			r.over("programs")
			return
		}
		r.res.Programs = append(r.res.Programs, p)
	}
	args = args[:min(len(args), maxWords)]
	same := func(words []string) bool { return slices.Equal(words, args) }
	switch q := &r.res.Programs[i]; {
	case q.More || slices.ContainsFunc(q.Words, same):
	case len(q.Words) >= maxLists:
		q.More = true
	default:
		q.Words = append(q.Words, slices.Clone(args))
	}
}

// noteProgram records in the trace what runs the current command: a program of the tables, or the
// shell itself.
func (r *report) noteProgram(program string, shell bool) {
	if !r.ctx.Explain || r.step < 0 {
		return
	}
	if s := &r.res.Steps[r.step]; s.Program == "" && !s.Shell { // further programs are only tried
		s.Program, s.Shell = program, shell
	}
}

// connected records the standard input of the current command in the trace.
func (r *report) connected(std *input) {
	if r.ctx.Explain && r.step >= 0 && std.present {
		s := &r.res.Steps[r.step]
		s.Fed, s.Input = true, std.text
	}
}

// dotted records the directory of a path that is written with "..".
func (r *report) dotted(p string) {
	i := strings.LastIndex(p, "/..")
	if i < 0 || p[0] != '/' || len(p) > i+3 && p[i+3] != '/' {
		return
	}
	d := Dotted{Written: p[:i+3], Path: path.Clean(p[:i+3])}
	if slices.Contains(r.res.Dotted, d) {
		return
	}
	if len(r.res.Dotted) >= maxDotted {
		r.over("folders")
		return
	}
	r.res.Dotted = append(r.res.Dotted, d)
}

// noteOddity records an oddity of a command, and the actual name of the first such command.
func (r *report) noteOddity(o Oddity, name string) {
	r.res.Odd |= o
	if r.res.OddName == "" {
		r.res.OddName = name
	}
}

// keep returns bytes as a text.
func (m *arena) keep(b []byte) string {
	start := m.texts.Len()
	m.texts.Write(b)
	return m.texts.String()[start:]
}

// concat joins texts.
func (m *arena) concat(parts ...string) string {
	start := m.texts.Len()
	for _, p := range parts {
		m.texts.WriteString(p)
	}
	return m.texts.String()[start:]
}

func (r *report) stopped() bool { return r.res.Over != "" }

// over ends the analysis because a limit was exceeded: what follows is unknown.
func (r *report) over(limit string) {
	if r.res.Over == "" {
		r.res.Over = limit
		r.res.Effects = append(r.res.Effects,
			effect.Effect{Kind: effect.Opaque, Target: "too complex: " + limit, Step: r.step})
	}
}

// tellsOver makes sure that a limit is an effect as well: only effects are judged.
func (r *report) tellsOver() {
	if over := r.res.Over; over != "" &&
		!slices.ContainsFunc(r.res.Effects, func(e effect.Effect) bool { return e.Kind == effect.Opaque }) {
		r.res.Over = ""
		r.over(over)
	}
}

// deeper walks something one level deeper. If the nesting exceeds the limit, the analysis ends.
func (r *report) deeper(walk func()) {
	if r.level++; r.level > r.lim.Nesting {
		r.over(overDepth)
	} else {
		walk()
	}
	r.level--
}

// walked returns the values that are walked one by one, up to the limit of rounds. If there are
// more, rest stands behind them for all others.
func walked[T any](r *report, all []T, rest T) []T {
	most := max(r.lim.Rounds, 1)
	if len(all) <= most {
		return all
	}
	return append(all[:most:most], rest)
}

// spend counts one step. It returns false if the analysis has ended.
func (r *report) spend() bool {
	if r.steps++; r.steps > r.lim.Steps {
		r.over("steps")
	}
	return !r.stopped()
}

// reads counts the steps for reading that many bytes of code in another language. It returns false
// if the analysis has ended.
func (r *report) reads(bytes int) bool {
	r.steps += bytes / 128
	return r.spend()
}

// work counts the steps for matching a pattern against that many bytes. It returns false if the
// analysis has ended.
func (r *report) work(bytes int) bool {
	r.steps += bytes / 8
	return r.spend()
}

// passes counts the steps for going over that many bytes of a value, however little of it is used:
// commands that each take one letter of a long value would otherwise cost its length each.
func (r *report) passes(bytes int) { r.steps += bytes / 1024 }

// pieces counts the steps for making, copying or looking through that many pieces of a value.
func (r *report) pieces(n int) { r.steps += n / 16 }

// made counts bytes that an expansion produced. It returns false if the analysis has ended.
func (r *report) made(n int) bool {
	if r.expanded += n; r.expanded > r.lim.Expanded {
		r.over("expansion")
	}
	return !r.stopped()
}

// inert are the kinds of effects that need no rights of their own: a package manager that fetches.
const inert = 1<<effect.NetIn | 1<<effect.Privilege

// isInert reports whether an effect changes nothing for which rights count. What may be read of logs and settings is
// judged by itself, and the shell writes it without the rights of another.
func isInert(e *effect.Effect) bool {
	return inert&(1<<e.Kind) != 0 || effect.OnlyMakes(e) || e.Kind == effect.Read && effect.IsPlain(e.Target) &&
		wordset.HasAnyPrefix(e.Target, "/etc/", "/var/log/") && !strings.Contains(e.Target, "/..")
}

// idle marks the rights of a command that with them changes, stops and starts nothing, if what it
// does was added from an index on.
func (r *report) idle(from int, by string) {
	for i := from; i < len(r.res.Effects); i++ {
		if e := &r.res.Effects[i]; e.Kind == effect.Privilege && e.By == by {
			e.What = "idle"
		}
	}
}

func (r *report) addEffect(e effect.Effect) {
	r.acts = r.acts || !isInert(&e)
	if len(r.res.Effects) >= r.lim.Effects {
		r.over("effects")
		return
	}
	// Finding out what a pattern may name takes a search of many places.
	if strings.Count(e.Target, "*") > 1 {
		r.steps += 96
	} else if strings.ContainsAny(e.Target, "*?[{\x00") {
		r.steps += 16
	}
	e.Bits |= r.bits
	e.Step = r.step
	for i := len(r.res.Effects) - 1; i >= max(0, len(r.res.Effects)-sameTail); i-- {
		if have := r.res.Effects[i]; have.Kind == e.Kind {
			if have.Step = e.Step; have == e {
				return
			}
		}
	}
	r.res.Effects = append(r.res.Effects, e)
}

// emptied notes that the effects from an index on write nothing into files.
func (r *report) emptied(from int) {
	for i := from; i < len(r.res.Effects); i++ {
		if e := &r.res.Effects[i]; e.Kind == effect.Write && e.What == "" {
			e.What = effect.Emptied
		}
	}
}

// markFrom sets bits on the effects from an index on.
func (r *report) markFrom(from int, bits effect.Bits) {
	for i := from; i < len(r.res.Effects); i++ {
		r.res.Effects[i].Bits |= bits
	}
}

// markRooted sets [effect.Rooted] on the effects in new whose target is the target of an effect
// in old without its leading unknown directory. An empty "$DESTDIR" in "$DESTDIR/usr/bin/x" does
// not show an intent to change the system, since that is how packages are built. The rules decide
// where this matters. If the call may have chosen the directory itself, only the root is marked:
// an agent can make X=$(cat f) empty.
func markRooted(old, new []effect.Effect, below []string, chosen bool) {
	for i := range new {
		e := &new[i]
		if e.Target == "" || e.Target[0] != '/' || e.Bits&effect.Remote != 0 {
			continue
		}
		target := path.Clean(e.Target)
		if bare := strings.Trim(target, "/*."); bare != "" &&
			(chosen || !slices.Contains(below, target) && !slices.Contains(below, path.Dir(target))) {
			continue
		}
		if slices.ContainsFunc(old, func(h effect.Effect) bool {
			return h.Kind == e.Kind && h.By == e.By && strings.HasPrefix(h.Target, effect.Unknown+"/") &&
				!strings.Contains(h.Target, "/..") &&
				path.Clean(strings.ReplaceAll(h.Target, effect.Unknown, "")) == target
		}) {
			e.Bits |= effect.Rooted
		}
	}
}

// keepFresh moves the effects of list that are not in have to the front of list, and returns
// their number.
func keepFresh(have, list []effect.Effect) (n int) {
	var set map[effect.Effect]bool
	if len(have) > 16 && len(list) > 16 {
		set = make(map[effect.Effect]bool, len(have))
		for _, e := range have {
			e.Step = 0
			set[e] = true
		}
	}
	for _, e := range list {
		bare := e
		bare.Step = 0
		is := set[bare]
		if set == nil {
			is = slices.ContainsFunc(have, func(h effect.Effect) bool {
				h.Step = 0
				return h == bare
			})
		}
		if !is {
			list[n] = e
			n++
		}
	}
	return n
}
