package classifier

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The windows that are kept have the maximum of all.
func TestWindowsFindTheMaximumOfAllRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var ws windows
		var words [][reach + 1]int32
		for n := range 90 {
			var upTo [reach + 1]int32
			for b := range upTo {
				upTo[b] = r.Int32N(41) - 22
			}
			words = append(words, upTo)
			want := int32(math.MinInt32)
			for first := max(0, n-Window+1); first <= n; first++ {
				sum := int32(0)
				for j := first; j <= n; j++ {
					sum += words[j][min(j-first, reach)]
				}
				want = max(want, sum)
			}
			got, first := ws.add(n, &upTo)
			if got != want || first > n || first <= n-Window {
				t.Fatalf("word %d: %d from %d, want %d", n, got, first, want)
			}
		}
	}
}
