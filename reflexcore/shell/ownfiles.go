package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// OwnFiles is the What of rights of root that are used for nothing but files of the user: they get
// their owner back, or are deleted as the user could delete them. Where they lie is for others to see.
const OwnFiles = "own-files"

// SaidOwn is the same, if the new owner is only said by the text of the call: $(whoami), $(id -u).
const SaidOwn = "own-files-said"

// marksOwn marks the rights that a command such as sudo gives if what it runs only gives files to the
// user, or deletes some. What it does was added from an index on.
func (a *applied) marksOwn(from int) {
	effects := a.in.rep.res.Effects[from:]
	rights, said := -1, false
	for i := range effects {
		switch e := &effects[i]; {
		case e.Kind == effect.Privilege && rights < 0 && e.What == "":
			rights = i
		case e.Bits&(effect.Remote|effect.Later|effect.Splits) != 0 || !strings.HasPrefix(e.Target, "/"):
			return
		case e.Kind == effect.Permission && e.By == "chown" && (e.What == "owner" || e.What == "own") && a.givesSome():
			said = said || !a.givesToUser()
		case e.Bits&effect.Partial != 0:
			return
		case e.Kind == effect.Permission && e.By == "chmod" && wordset.Has("closed run readable", e.What):
		case e.Kind == effect.Delete && e.By == "rm":
		default:
			return
		}
	}
	if rights >= 0 && len(effects) > 1 {
		effects[rights].What = OwnFiles
		if said {
			effects[rights].What = SaidOwn
		}
	}
}

// givesToUser reports whether the words of sudo chown name the user as the owner, with a group of the same
// name or none.
func (a *applied) givesToUser() bool {
	owner := a.newOwner()
	user, group, both := strings.Cut(owner.text, ":")
	return owner.known() && a.in.isUser(user) && (!both || a.in.isUser(group) || group == "")
}

// givesSome reports whether sudo chown has no option but -R, -v and -f, and all of its words but the new
// owner are known.
func (a *applied) givesSome() bool { return a.newOwner().text != "" }

// newOwner is the word of sudo chown that names the owner.
func (a *applied) newOwner() field {
	words := a.in.exp.fields[a.mark:]
	if len(words) < 4 || words[1].text != "chown" {
		return field{}
	}
	words = words[2:]
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		if strings.Trim(words[0].text[1:], "Rvf") != "" || words[0].text == "-" {
			return field{}
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return field{}
	}
	for _, w := range words[1:] { // chown takes options behind the owner too, and a pattern may stand for one
		if w.text == "" || strings.ContainsAny(w.text[:1], "-*?[") || !w.known() {
			return field{}
		}
	}
	return words[0]
}
