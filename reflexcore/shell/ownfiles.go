package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
)

// OwnFiles is the What of rights of root that are used for nothing but files of the user: they get
// their owner back, or are deleted as the user could delete them. Where they lie is for others to see.
const OwnFiles = "own-files"

// marksOwn marks the rights that a command such as sudo gives if what it runs only gives files to the
// user, or deletes some. What it does was added from an index on.
func (a *applied) marksOwn(from int) {
	effects := a.in.rep.res.Effects[from:]
	rights := -1
	for i := range effects {
		switch e := &effects[i]; {
		case e.Kind == effect.Privilege && rights < 0 && e.What == "":
			rights = i
		case e.Bits&(effect.Remote|effect.Later|effect.Splits|effect.Partial) != 0 || !strings.HasPrefix(e.Target, "/"):
			return
		case e.Kind == effect.Permission && e.By == "chown" && e.What == "owner" && a.givesToUser():
		case e.Kind == effect.Delete && e.By == "rm":
		default:
			return
		}
	}
	if rights >= 0 && len(effects) > 1 {
		effects[rights].What = OwnFiles
	}
}

// givesToUser reports whether the words of sudo chown name the user as the owner: $USER or the name of
// the home, with a group of the same name or none, and no option but -R, -v and -f before the owner.
func (a *applied) givesToUser() bool {
	words := a.in.exp.fields[a.mark:]
	if len(words) < 4 || words[1].text != "chown" {
		return false
	}
	words = words[2:]
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		if strings.Trim(words[0].text[1:], "Rvf") != "" || words[0].text == "-" {
			return false
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	for _, w := range words[1:] { // chown takes options behind the owner too, and a pattern may stand for one
		if w.text == "" || strings.ContainsAny(w.text[:1], "-*?[") || !w.known() {
			return false
		}
	}
	owner := words[0]
	user, group, both := strings.Cut(owner.text, ":")
	name := path.Base(a.in.ctx.Env["HOME"])
	return owner.known() && user == name && name != "root" && (!both || group == name || group == "")
}
