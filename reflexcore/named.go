package reflexcore

import (
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/protected"
)

// namesOwn returns a file by which agents ask that a command names where no effect tells
// what becomes of it; empty: there is none. A program that nobody described may write
// what it names: as an operand, behind a flag, or in a command of its own language.
func (e *Engine) namesOwn(w *work) string {
	for i := range w.mentions {
		ef := effect.Effect{Kind: effect.Write, Target: w.mentions[i].Path, By: w.mentions[i].By}
		if e.isOwn(w, &ef) {
			return ef.Target
		}
		for _, name := range w.names.Others(&ef) {
			other := ef
			if other.Target = name; e.isOwn(w, &other) {
				return name
			}
		}
	}
	return ""
}

// isOwn reports whether an effect is on settings or hooks of an agent, or on approver's own files.
func (e *Engine) isOwn(w *work, ef *effect.Effect) bool {
	if ef.Target == "" || ef.Target[0] == 0 {
		return false
	}
	if protected.IsSettings(ef.Target, e.paths) {
		return true
	}
	return w.around.Of(ef, e.paths)&(places.Content<<content.Own) != 0 && !protected.OnlyPerhaps(ef.Target)
}
