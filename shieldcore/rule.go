package shieldcore

import (
	"approver.example"
)

// A rule is one compiled rule. All of its conditions must hold; one that is
// absent holds always.
type rule struct {
	source   entry // as written
	tools    []toolGlob
	actions  []string // nil: any
	command  *pattern
	paths    []pathGlob
	notPaths []pathGlob // of a rule that allows
	args     *pattern
	content  []*pattern // any of them
	when     *when
	verdict  approver.Verdict
}

// allows reports whether the rule loosens, so that it has to be sure.
func (r *rule) allows() bool { return r.verdict.Decision == approver.Allow }

// inert are the arguments that file tools take beside their paths and that name
// nothing: text to write or to look for, and how.
var inert = map[string]bool{
	"content": true, "old_string": true, "new_string": true, "new_source": true, "pattern": true, "glob": true,
	"type":        true,
	"output_mode": true, "encoding": true, "cell_id": true, "cell_type": true, "edit_mode": true, "pages": true,
}

// matchesAny reports whether a path, in any of its forms, is one of those that
// are stopped.
func matchesAny(globs []pathGlob, l location) bool {
	for _, form := range l.folded {
		for _, g := range globs {
			if g.folded.Match(form) {
				return true
			}
		}
	}
	return false
}
