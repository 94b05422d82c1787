package analysis

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// throughLinks adds the effects of a command on what the links of the disk lead to. Reading, writing
// and sending a link does so with its target.
func (a *Call) throughLinks() {
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Kind != effect.Read && e.Kind != effect.Write && e.Kind != effect.Permission || e.What == "link" ||
			e.Bits&effect.Remote != 0 || !strings.HasPrefix(e.Target, "/") || !effect.IsPlain(e.Target) ||
			e.Kind == effect.Write && effect.Links(e) ||
			strings.HasPrefix(e.Target, "/proc/") || strings.HasPrefix(e.Target, "/dev/") { // other ones for each process
			continue
		}
		named := path.Clean(e.Target)
		to, ok := a.Links.Real(a.Analyzer.Files, named)
		if dir, seen := a.Links.Real(a.Analyzer.Files, a.Around.Dir); ok && seen && a.Around.Dir != "" &&
			strings.HasPrefix(to+"/", dir+"/") {
			to = a.Around.Dir + to[len(dir):] // the project itself may be behind a link
		}
		if !ok || to == named {
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
