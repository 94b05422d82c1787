package selfprotect

import (
	"approver.example"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
)

// Judge looks for attempts on approver, on the settings through which agents ask
// it, and on other guards: by what the call would do, however it is written, and
// under each name that a file has on the disk. It returns the decision (Pass:
// nothing) and what was seen.
func (c *Check) Judge() (worst approver.Decision, what string) {
	worst = approver.Pass
	for i := range c.Effects {
		ef := &c.Effects[i]
		d, text := c.attempt(ef, c.Places[i])
		where := ef.Target
		if where == "agent-start" {
			where = ef.What
		}
		for _, name := range c.Names.Others(ef) {
			if d == approver.Deny {
				break
			}
			other := *ef
			other.Target = name
			if d2, text2 := c.attemptElsewhere(&other); d2 < d {
				d, text, where = d2, text2, name
			}
		}
		if d < worst {
			worst, what = d, text
			if where != "" && ef.Taint&effect.Secret == 0 {
				what += " (" + effect.Short(effect.Show(where)) + ")"
			}
		}
	}
	if worst != approver.Deny && c.stopsByLookup() {
		return approver.Deny, "it looks up approver's process to stop it or to get into it"
	}
	if worst != approver.Deny {
		if d, text := c.programsOnDisk(); d < worst {
			worst, what = d, text
		}
		if d, text := c.renamesProgram(); d < worst {
			worst, what = d, text
		}
		if d, text := c.startsProcess(); d < worst {
			worst, what = d, text
		}
	}
	if p := c.namesOwn(); worst > approver.Ask && p != "" {
		return approver.Ask, "it names a file by which agents ask, and nothing says that it only reads it (" + effect.Short(effect.Show(p)) + ")"
	}
	if p := c.Patches.OwnFile(); worst > approver.Ask && p != "" {
		return approver.Ask, "it applies a difference that changes a file by which agents ask (" + effect.Short(effect.Show(p)) + ")"
	}
	if worst == approver.Pass && c.changesByLookup() {
		return approver.Ask, "it looks up files of approver or of an agent's settings to change them"
	}
	if worst == approver.Pass && c.stopsEveryone() {
		return approver.Ask, "it stops all processes that it finds, and approver may be among them"
	}
	if worst == approver.Pass && c.Names.TooMany {
		return approver.Ask, "it changes more files than are looked up, and some of them may be those by which agents ask"
	}
	return worst, what
}

// attemptElsewhere judges an effect under another name than the one that is written.
// The rules have seen only that one, so what they ask about is a question here.
func (c *Check) attemptElsewhere(ef *effect.Effect) (approver.Decision, string) {
	at := c.Around.Of(ef, c.Paths)
	d, text := c.attempt(ef, at)
	if own := places.Content<<content.Own | places.Content<<content.Agent; d == approver.Pass && at&own != 0 && (ef.Kind == effect.Write || ef.Kind == effect.Delete) && !effect.MakesFolder(ef) {
		return approver.Ask, "it changes the settings of an agent or of approver"
	}
	return d, text
}
