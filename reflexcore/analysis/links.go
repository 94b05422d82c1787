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
			e.Bits&effect.Remote != 0 || !strings.HasPrefix(e.Target, "/") || !effect.IsPlain(e.Target) ||
			e.Kind == effect.Write && isLink(a.Effects, i) ||
			strings.HasPrefix(e.Target, "/proc/") || strings.HasPrefix(e.Target, "/dev/") { // other ones for each process
			continue
		}
		to, ok := a.leadsTo(follow(made, path.Clean(e.Target)))
		if !ok || to == path.Clean(e.Target) {
			continue
		}
		other := *e
		other.Target = to
		if e.Kind == effect.Read && a.Analyzer.Paths.Secret(to) {
			other.Taint |= effect.Secret
			a.carrySecret(e.By)
		}
		a.Effects = append(a.Effects, other)
	}
}

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
		if !isLink(a.Effects, i) {
			continue
		}
		if to := a.linked(i); to != "" {
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
