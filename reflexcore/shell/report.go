package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// sameTail is how many effects an effect is compared with, so that it is not added twice.
const sameTail = 4

const (
	maxPrograms = 128 // of one text that are handed on
	maxLists    = 64  // of words of one of them
	maxWords    = 32  // of one list
)

// maxDotted bounds the folders of one text that are written with "..".
const maxDotted = 256

// The limits that a lean walk does not meet where the first walk did.
const (
	overDepth        = "depth"
	overAlternatives = "alternatives"
)

// handsOn notes a program, and a list of words that it is started with. A loop may start
// one program many times: those are one program.
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

// noteProgram adds to the trace what the present command is: a program of the tables, or one
// of the shell itself.
func (r *report) noteProgram(program string, shell bool) {
	if !r.ctx.Explain || r.step < 0 {
		return
	}
	if s := &r.res.Steps[r.step]; s.Program == "" && !s.Shell { // what it is tried as comes later
		s.Program, s.Shell = program, shell
	}
}

// connected adds to the trace what the present command may read.
func (r *report) connected(std *input) {
	if r.ctx.Explain && r.step >= 0 && std.present {
		s := &r.res.Steps[r.step]
		s.Fed, s.Input = true, std.text
	}
}

// dotted notes the folder of a path in which ".." is written.
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

// noteOddity notes an oddity of a command and what the command's name turned out to be.
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

// over ends the analysis: what comes after is not known.
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

// deeper walks what lies in what is walked. Where too much lies in one another, the analysis ends.
func (r *report) deeper(walk func()) {
	if r.level++; r.level > r.lim.Nesting {
		r.over(overDepth)
	} else {
		walk()
	}
	r.level--
}

// spend takes one step.
func (r *report) spend() bool {
	if r.steps++; r.steps > r.lim.Steps {
		r.over("steps")
	}
	return !r.stopped()
}

// work takes the steps that looking for a pattern in so many bytes is worth.
func (r *report) work(bytes int) bool {
	r.steps += bytes / 8
	return r.spend()
}

// made counts bytes that an expansion made.
func (r *report) made(n int) bool {
	if r.expanded += n; r.expanded > r.lim.Expanded {
		r.over("expansion")
	}
	return !r.stopped()
}

func (r *report) addEffect(e effect.Effect) {
	if len(r.res.Effects) >= r.lim.Effects {
		r.over("effects")
		return
	}
	// What a pattern may name is found out by looking through many places.
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

// markFrom sets bits of the effects from an index on.
func (r *report) markFrom(from int, bits effect.Bits) {
	for i := from; i < len(r.res.Effects); i++ {
		r.res.Effects[i].Bits |= bits
	}
}

// markRooted marks those of new whose target is one of old below the root: what begins with an
// unknown folder is no folder of the system by itself, since that is how packages are put
// together ("$DESTDIR/usr/bin/x"). Rules say for which that makes a difference. Of folders
// that the call may have chosen itself only the root is marked: X=$(cat f) is nothing at
// the agent's will.
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

// keepFresh moves what is not in have to the beginning of a list, and returns how many
// that are.
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
