package match

import (
	"math/rand/v2"
	"slices"
	"testing"

	re2 "github.com/wasilibs/go-re2/experimental"
)

// RE2 itself, translated to Go by way of WebAssembly, is a second judge that has no
// code in common with regexp. In its UTF-8 mode a byte that is no character
// hides what stands around it from a set, so it reads bytes, in Latin-1 mode.
// The texts are ASCII and \xff, which is one byte to one and one character to
// the other.
func TestMatchIsRE2(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	exprs := guardExprs(300)
	sets := map[string]*Set{"remembered": mustNew(t, exprs, Limits{}),
		"nothing built": mustNew(t, exprs, Limits{BuildWork: -1})}
	oracle, err := re2.CompileSetWithOptions(exprs, re2.CompileOptions{Latin1: true})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(12, 13))
	texts := append(commands(500), command105, command532, source10k(), nearMiss10k(), hostile10k(1))
	for _, e := range exprs {
		for range 5 {
			text := []byte(sampleOf(r, e) + [2]string{" ", "; "}[r.IntN(2)] + sampleOf(r, exprs[r.IntN(len(exprs))]))
			for i, c := range text {
				if c >= 0x80 {
					text[i] = 0xff
				}
			}
			texts = append(texts, string(text), "\xff"+string(text))
		}
	}
	found := 0
	for _, text := range texts {
		want, err := oracle.FindAllStringWithError(text, len(exprs))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		found += len(want)
		for name, s := range sets {
			if got, complete := s.Match(nil, text); !complete || !slices.Equal(got, want) {
				t.Errorf("%s: %q: got %v, RE2 %v, complete %v", name, text, got, want, complete)
			}
		}
	}
	if found < 3000 {
		t.Errorf("only %d matches in %d texts", found, len(texts))
	}
}
