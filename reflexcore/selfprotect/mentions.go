package selfprotect

import (
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/protected"
)

// namesOwn returns a file by which agents ask that a command names where no effect tells
// what becomes of it; empty: there is none. A program that nobody described may write
// what it names: as an operand, behind a flag, or in a command of its own language.
func (c *Check) namesOwn() string {
	for i := range c.Mentions {
		ef := effect.Effect{Kind: effect.Write, Target: c.Mentions[i].Path, By: c.Mentions[i].By}
		if c.isOwn(&ef) {
			return ef.Target
		}
		for _, name := range c.Names.Others(&ef) {
			other := ef
			if other.Target = name; c.isOwn(&other) {
				return name
			}
		}
	}
	return ""
}

// isOwn reports whether an effect is on settings or hooks of an agent, or on approver's own files.
func (c *Check) isOwn(ef *effect.Effect) bool {
	if ef.Target == "" || ef.Target[0] == 0 {
		return false
	}
	if protected.IsSettings(ef.Target, c.Paths) {
		return true
	}
	return c.Around.Of(ef, c.Paths)&(places.Content<<content.Own) != 0 && !protected.OnlyPerhaps(ef.Target)
}
