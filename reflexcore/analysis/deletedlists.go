package analysis

import (
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// deletesListed gives the deletes of a loop over the names in a folder their targets: code takes one
// name after the other from a list, of which nothing is known but the folder.
func (a *Call) deletesListed() {
	from := ""
	for i := range a.Effects {
		switch e := &a.Effects[i]; {
		case e.Kind == effect.Delete && strings.HasPrefix(e.Target, "/") &&
			strings.Index(e.Target, effect.Unknown) == len(e.Target)-1:
			if listedNames().MatchString(a.Text) {
				e.Bits |= effect.Splits
			}
		case e.Kind == effect.Read && lists(e.By) && strings.HasPrefix(e.Target, "/") && effect.IsKnown(e.Target):
			from = e.Target
		case from == "" || e.Kind != effect.Delete || e.Target != effect.Unknown || e.Taint&effect.File == 0 ||
			e.Bits&effect.Remote != 0:
		case strings.ContainsAny(from, "*?["):
			e.Target, e.Bits = from, e.Bits|effect.Glob
		case wordset.ContainsAny(a.Text, "filter", "if ", "if(", "select", "match", "test(", "grep", "reject"):
			e.Target = strings.TrimSuffix(from, "/") + "/" + effect.Unknown // some of them
		default:
			e.Target, e.Bits = strings.TrimSuffix(from, "/")+"/*", e.Bits|effect.Glob
		}
	}
}

// listedNames matches an ls whose output is used: what is deleted of it is all that it prints.
var listedNames = lazyregexp.New(`(?:^|[\s;&|(\x60])ls(?:\s[^|;&)\x60]*)?(?:\|\s*(?:xargs|parallel|while)|[)\x60])`)

// lists reports whether a function of code lists a folder, or what a pattern matches.
func lists(by string) bool {
	name := strings.ToLower(by[strings.LastIndexAny(by, ".:>")+1:])
	return wordset.Has("glob iglob rglob globsync readdir readdirsync scandir listdir iterdir children entries "+
		"each_child dir opendir", name)
}
