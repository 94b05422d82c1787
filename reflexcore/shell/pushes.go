package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// This file finds out where git pushes go, if the same text says so: a remote that it adds or changes is
// in no file yet.

// A newRemote is a remote that the text adds or changes.
type newRemote struct{ name, url string }

// setsRemote notes the address of a remote: git remote add NAME URL, git config remote.NAME.url URL, and
// git -c remote.NAME.url=URL.
func (a *applied) setsRemote(u *grammar.Use, url string) {
	name := a.line.argv[u.Word-1]
	if key, _, ok := strings.Cut(a.line.argv[u.Word], "="); ok && strings.HasPrefix(key, "remote.") {
		name = key
	}
	if rest, ok := strings.CutPrefix(name, "remote."); ok {
		name = rest[:max(strings.LastIndexByte(rest, '.'), 0)]
	}
	if len(a.in.rep.remotes) < maxRemotes {
		a.in.rep.remotes = append(a.in.rep.remotes, newRemote{name, url})
	}
}

// maxRemotes is how many remotes of a text are remembered.
const maxRemotes = 32

// pushes adds what a push sends to a remote that the text set: all of the history. A push that names no
// remote may go to any of them.
func (a *applied) pushes(u *grammar.Use, to string) {
	if a.line.p.Program.Name != "git push" {
		return
	}
	for _, r := range a.in.rep.remotes {
		if u.Word < 0 || r.name == to || !effect.IsKnown(to) || !effect.IsKnown(r.name) {
			a.in.add(effect.Effect{Kind: effect.NetOut, Target: r.url, Taint: effect.Gathered, Bits: a.bitsOf(u),
				By: a.line.by})
		}
	}
}
