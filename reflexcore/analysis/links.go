package analysis

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// throughLinks adds the effects of a call on what links lead to, those of the disk and those that
// the call makes itself. Reading, writing and sending a link does so with its target.
func (a *Call) throughLinks() {
	made := a.madeLinks()
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Kind != effect.Read && e.Kind != effect.Write && e.Kind != effect.Permission || e.What == "link" ||
			e.Bits&effect.Remote != 0 {
			continue
		}
		if !strings.HasPrefix(e.Target, "/") {
			a.throughFound(*e)
			continue
		}
		if a.meansLink(i) || e.Kind == effect.Write && isLink(a.Effects, i) ||
			strings.HasPrefix(e.Target, "/proc/") || strings.HasPrefix(e.Target, "/dev/") { // other ones for each process
			continue
		}
		if e.Kind == effect.Read && e.Bits&effect.Recursive != 0 && e.Bits&effect.Follows != 0 && effect.IsPlain(e.Target) {
			a.throughTree(*e, path.Clean(e.Target), "")
		}
		if !effect.IsPlain(e.Target) {
			a.throughPattern(*e)
			continue
		}
		named := path.Clean(e.Target)
		if !a.movesLink(i) {
			named = follow(made, named)
		}
		to, ok := a.leadsTo(named)
		if !ok || to == path.Clean(e.Target) {
			continue
		}
		a.addLinked(*e, to)
	}
}

// addLinked adds the effect on what a link leads to.
func (a *Call) addLinked(e effect.Effect, to string) {
	e.Target = to
	if e.Kind == effect.Read && a.Analyzer.Paths.Secret(to) {
		e.Taint |= effect.Secret
		a.carrySecret(e.By)
	}
	a.Effects = append(a.Effects, e)
}

// meansLink reports whether an effect is on a link itself: a flag says so, or the link is moved or
// given to git, which stores only where it leads.
func (a *Call) meansLink(i int) bool {
	e := &a.Effects[i]
	switch {
	case e.Bits&effect.Itself != 0 && e.Bits&effect.Follows == 0:
		return e.Kind == effect.Read || e.Kind == effect.Permission
	case e.Kind == effect.Read:
		return e.By == "git add" || isMove(e.By)
	case e.Kind == effect.Write && isMove(e.By): // what it is taken from
		return slices.ContainsFunc(a.Effects, func(r effect.Effect) bool {
			return r.Kind == effect.Read && r.By == e.By && r.Target == e.Target
		})
	}
	return false
}

// movesLink reports whether an effect writes what may be a link as one.
func (a *Call) movesLink(i int) bool {
	e := &a.Effects[i]
	return e.Kind == effect.Write && (isMove(e.By) || e.Bits&effect.Itself != 0 && e.Bits&effect.Follows == 0) &&
		!a.meansLink(i)
}

// isMove reports whether a program gives a file another name.
func isMove(by string) bool { return by == "mv" || by == "gmv" || by == "git mv" }

// leadsTo follows the links of the disk.
func (a *Call) leadsTo(named string) (to string, ok bool) {
	to, ok = a.Links.Real(a.Analyzer.Files, named)
	if to == named && strings.HasPrefix(to, a.Around.Dir+"/") {
		return to, ok // no part is a link, nor of the project's path
	}
	if dir, seen := a.Links.Real(a.Analyzer.Files, a.Around.Dir); ok && seen && a.Around.Dir != "" &&
		strings.HasPrefix(to+"/", dir+"/") {
		to = a.Around.Dir + to[len(dir):] // the project itself may be behind a link
	}
	return to, ok
}

// isLink reports whether an effect writes a link: it says so, or the same program reads what the link
// leads to as one.
func isLink(effects []effect.Effect, i int) bool {
	e := &effects[i]
	return e.Kind == effect.Write && (effect.Links(e) || i > 0 && effects[i-1].What == "link" && effects[i-1].By == e.By)
}

const (
	// maxLinked is how far the effect that names the target of a link is from the one that writes it,
	// and how many links are followed one after another.
	maxLinked = 40
	maxPath   = 4096 // the bytes of a path that a kernel takes
)

// madeLinks returns the links that the call makes, and where they lead: to what the same program
// reads beside it.
func (a *Call) madeLinks() map[string]string {
	var made map[string]string
	for i := range a.Effects {
		moved := a.movesLink(i)
		if !moved && !isLink(a.Effects, i) {
			continue
		}
		if to := a.linked(i); to != "" {
			if moved {
				real, ok := a.leadsTo(path.Clean(to))
				if !ok || real == path.Clean(to) {
					continue // it is no link
				}
				to = real
			}
			if made == nil {
				made = map[string]string{}
			}
			made[path.Clean(a.Effects[i].Target)] = path.Clean(to)
		}
	}
	return made
}

// linked returns the target of the link that an effect writes. Of several the one of the same name
// counts, and else the nearest.
func (a *Call) linked(i int) (to string) {
	e := &a.Effects[i]
	for n := range maxLinked {
		for _, k := range [...]int{i - n - 1, i + n + 1} {
			if k < 0 || k >= len(a.Effects) || a.Effects[k].Kind != effect.Read || a.Effects[k].By != e.By ||
				a.Effects[k].Target == e.Target {
				continue
			}
			if path.Base(a.Effects[k].Target) == path.Base(e.Target) {
				return a.Effects[k].Target
			}
			if to == "" {
				to = a.Effects[k].Target
			}
		}
	}
	return to
}

// follow follows links that the call made. The last name of a path may be one, or a folder above it.
func follow(made map[string]string, p string) string {
	for range maxLinked {
		if len(made) == 0 {
			return p
		}
		at := p
		for ; len(at) > 1; at = path.Dir(at) {
			if to, ok := made[at]; ok && to != at {
				p = path.Clean(to + p[len(at):])
				break
			}
		}
		if len(at) <= 1 || len(p) > maxPath {
			break
		}
	}
	return p
}

// carrySecret marks what a call sends as secret: it read a credential through a link. What goes
// through a pipe has another program.
func (a *Call) carrySecret(by string) {
	copied := slices.ContainsFunc(a.Effects, func(e effect.Effect) bool {
		return e.By == by && (e.Kind == effect.NetOut || e.Kind == effect.Write)
	})
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Kind == effect.NetOut && (e.By == by || !copied && e.Taint&effect.File != 0) {
			e.Taint |= effect.Secret | effect.File
		}
	}
}
