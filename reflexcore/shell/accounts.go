package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// account adds the rights that sudo -u, su and others like them give. To run as oneself gives none, and
// what the name of an account may be is not known could be root.
func (a *applied) account(u *grammar.Use, name string, taint effect.Taint) {
	switch {
	case !effect.IsKnown(name), wordset.Has("root toor #0 0 +0", name), name == "":
		plain := *u
		plain.Arg = ""
		a.add(effect.Privilege, &plain, "root", taint)
	case a.in.isUser(name) && !a.line.asksGroup():
	default:
		a.add(effect.Privilege, u, name, taint)
	}
}

// isUser reports whether a name is that of the account which runs the call. The home of a user has the same
// name.
func (in *interp) isUser(name string) bool {
	return name != "root" && !in.vars.clobbered && (name == path.Base(in.ctx.Env["HOME"]) || name == in.ctx.Env["USER"])
}

// asksGroup reports whether the words of sudo or su ask for a group, which may give more rights.
func (l *commandLine) asksGroup() bool {
	for _, w := range l.argv[1:] {
		if strings.HasPrefix(w, "--g") || strings.HasPrefix(w, "--supp") ||
			len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "gG") {
			return true
		}
	}
	return false
}

// mayHaveOptions adds what an installer may run because a word of it is not quoted and not known: it may be
// an option for that.
func (a *applied) mayHaveOptions() {
	if p := a.line.p.Program; p == nil || !strings.HasPrefix(p.Name, "apt install") && !wordset.Has("dnf yum", p.Name) {
		return
	}
	for _, w := range a.words()[1:] {
		if w.splits && !w.known() {
			a.in.add(effect.Effect{Kind: effect.Exec, Target: w.text, What: "package", Bits: effect.Splits, By: a.line.by})
			return
		}
	}
}
