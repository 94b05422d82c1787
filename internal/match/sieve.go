package match

import (
	"slices"
	"sync"
)

// A Sieve selects the expressions that may match a text by the literals that they require.
// It reads the text once, however many expressions there are. It is safe for concurrent
// use.
type Sieve struct {
	literals *literals
	searches sync.Pool // of *search
}

// NewSieve returns a sieve of expressions, each with the groups that [Required] returns.
func NewSieve(required [][][]string) *Sieve {
	s := &Sieve{literals: newLiterals(required)}
	s.searches.New = func() any { return s.literals.newSearch() }
	return s
}

// Candidates returns the indexes of the expressions that may match the text, in order.
func (s *Sieve) Candidates(text string) []int {
	w := s.searches.Get().(*search)
	defer s.searches.Put(w)
	found := s.literals.find(text, w)
	out := make([]int, len(found))
	for i, id := range found {
		out[i] = int(id)
	}
	slices.Sort(out)
	return out
}
