package reflexcore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"approver.example/reflexcore/effect"
)

// An indexed list finds what one finds that is looked at as a whole: with patterns of all forms, and
// with targets of few letters, so that many match.
func TestIndexedListFindsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"/srv/", "service", "cache", "é", "*", "a", "/b/", "LOG", ".txt", "aaaa"}
	text := func(n int) (s string) {
		for range n {
			s += words[r.IntN(len(words))]
		}
		return s
	}
	var indexed, whole list
	for i := range 3 * manyConditions {
		c := Condition{Effects: []effect.Kind{effect.Delete}}
		switch i % 4 {
		case 0, 1:
			c.Targets = []string{text(1 + r.IntN(4)), text(1 + r.IntN(4))}
		case 2:
			c.By = []string{fmt.Sprintf("tool %d", r.IntN(9))}
		case 3:
			c.By = []string{"tool *"}
		}
		compiled, err := c.compile()
		if err != nil {
			t.Fatal(err)
		}
		compiled.rule = &Rule{ID: fmt.Sprint(i)}
		indexed.all, whole.all = append(indexed.all, compiled), append(whole.all, compiled)
	}
	indexed.index()
	if indexed.parts == nil || len(indexed.rest) == 0 || len(indexed.names) == 0 {
		t.Fatal("it is not indexed")
	}
	hits := 0
	for range 3000 {
		call := &facts{effects: []effect.Effect{{Kind: effect.Delete, Target: text(r.IntN(8)),
			By: []string{"tool 3", "TOOL 3", "rm", ""}[r.IntN(4)]}}}
		e := &call.effects[0]
		has := effectFacts{lettersOf(e.Target), lettersOf(e.By), lettersOf(e.What), e.Bits | e.Amount()}
		found := func(l *list) (ids []string) {
			for _, f := range l.find(nil, 0, 0, call, &has, 0) {
				ids = append(ids, f.rule.ID)
			}
			slices.Sort(ids)
			return ids
		}
		want, got := found(&whole), found(&indexed)
		hits += len(want)
		if !slices.Equal(want, got) {
			t.Fatalf("%+v: %v, want %v", *e, got, want)
		}
	}
	if hits == 0 {
		t.Error("nothing was found at all")
	}
}
