package broadcaster

import (
	"errors"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// The story: on an install where the agent has the daemon's own uid it removed terminal:0,
// and root's way out was closed. A removal of anybody else's leaves root's account out, also
// where root had removed, and brought back, a person of whom that account is one.
func TestARemovalSparesRoot(t *testing.T) {
	id, root := Owner()
	other := approver.Identity{Channel: "telegram", ID: "1"}
	at := time.Unix(1_700_000_000, 0)
	type step struct {
		gone Removal
		back string
		want error
	}
	ada := func(byRoot bool) step {
		return step{gone: Removal{Person: "ada", Identities: []approver.Identity{id, other}, By: "x", ByRoot: byRoot}}
	}
	for name, c := range map[string]struct {
		steps     []step
		root, ada bool // who is away
	}{
		"root's person": {
			[]step{{gone: Removal{Person: root.ID}, want: ErrOnlyRoot}}, false, false,
		},
		"root's person with root's account": {
			[]step{
				{gone: Removal{Person: root.ID, Identities: []approver.Identity{id}, Unlisted: true}, want: ErrOnlyRoot},
			}, false, false,
		},
		"root's account as another's": {
			[]step{{gone: Removal{Person: "ada", Identities: []approver.Identity{id}}}}, false, true,
		},
		"twice":                        {[]step{ada(false), ada(false)}, false, true},
		"by root":                      {[]step{ada(true)}, true, true},
		"by root, and anew by another": {[]step{ada(true), ada(false)}, true, true},
		"by another, and anew by root": {[]step{ada(false), ada(true)}, true, true},
		"by root, back":                {[]step{ada(true), {back: "ada"}}, false, false},
		"by root, back, by another":    {[]step{ada(true), {back: "ada"}, ada(false)}, false, true},
		"by root, back, by another, back": {
			[]step{ada(true), {back: "ada"}, ada(false), {back: "ada"}}, false, false,
		},
		"by root, back, by another, root": {[]step{ada(true), {back: "ada"}, ada(false), ada(true)}, true, true},
		"by root, back, by another, root, back": {
			[]step{ada(true), {back: "ada"}, ada(false), ada(true), {back: "ada"}}, false, false,
		},
		"by root, back, by another, back, by him": {
			[]step{ada(true), {back: "ada"}, ada(false), {back: "ada"}, ada(false)}, false, true,
		},
		"root itself by root": {[]step{{gone: Removal{Person: root.ID, ByRoot: true}}}, true, false},
		"root itself by root, anew by another": {
			[]step{
				{gone: Removal{Person: root.ID, ByRoot: true}}, {gone: Removal{Person: root.ID}, want: ErrOnlyRoot},
			}, true, false,
		},
		"root itself by root, back, by another": {
			[]step{
				{
					gone: Removal{Person: root.ID, ByRoot: true},
				}, {back: root.ID}, {gone: Removal{Person: root.ID}, want: ErrOnlyRoot},
			}, false, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var controls Controls
			for i, s := range c.steps {
				now := at.Add(time.Duration(i) * time.Minute)
				var err error
				if s.back == "" {
					err = controls.remove(s.gone, now)
				} else {
					away := controls.Removed.InForce()
					if len(away) != 1 {
						t.Fatalf("%d are away", len(away))
					}
					err = controls.restore(away[0], now)
				}
				if !errors.Is(err, s.want) {
					t.Fatalf("step %d: %v", i, err)
				}
			}
			if _, away := controls.Removed.Of(id, root); away != c.root {
				t.Errorf("root is away: %v: %+v", away, controls.Removed)
			}
			_, byName := controls.Removed.Of(id, approver.Person{ID: "ada"})
			_, byAccount := controls.Removed.Of(other, approver.Person{ID: "carol"})
			if byName != c.ada || byAccount && !c.ada {
				t.Errorf("ada is away: by name %v, by account %v: %+v", byName, byAccount, controls.Removed)
			}
			// What root removed once keeps void what it voided.
			if c.steps[0].gone.ByRoot && !controls.Removed.takesBack(approver.Resolution{
				Approve: true, Cause: approver.ByPerson, Person: root, Identity: id, At: at.Add(-time.Minute),
			}) {
				t.Errorf("a yes of before counts again: %+v", controls.Removed)
			}
		})
	}
}

// The story: root's sudo approver approve ID said that root was removed, and not what to do.
// It names the command that brings root back, with the name that it was removed by.
func TestRootIsToldHowToComeBack(t *testing.T) {
	for person, word := range map[string]string{
		"terminal:0": "terminal:0", "ada": "ada", "Ada Low": "'Ada Low'", "o'neil; ls": `'o'\''neil; ls'`,
	} {
		x := newBench(t, newMemKV())
		id, _ := Owner()
		if _, err := x.Removals.Remove(t.Context(), Removal{
			Person: person, Identities: []approver.Identity{id}, By: "uid 0", Reason: "left", ByRoot: true,
		}); err != nil {
			t.Fatal(err)
		}
		why := x.Approvers.OwnerMay(t.Context(), Request{})
		if !strings.Contains(why, "was removed by uid 0") ||
			!strings.HasSuffix(why, "sudo approver people restore "+word+" brings root back") {
			t.Errorf("%s: %s", person, why)
		}
	}
}
