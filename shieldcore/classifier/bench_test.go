package classifier

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// words returns n words of the own cases.
func words(tb testing.TB, n int) string {
	tb.Helper()
	var b strings.Builder
	for _, name := range []string{"mentions", "attacks"} {
		file, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			tb.Fatal(err)
		}
		b.Write(file)
	}
	text := b.String()
	r := reader{text: text}
	for range n {
		if _, ok := r.next(); !ok {
			tb.Fatalf("the cases have fewer than %d words", n)
		}
	}
	return text[:r.at]
}

// BenchmarkScore measures texts of 512 words. Besides the mean it reports the
// median and the 99th percentile of single calls.
func BenchmarkScore(b *testing.B) {
	m := mustLoad(b)
	other := strings.NewReplacer("a", "а", "o", "о", " ", "\u00a0").Replace(words(b, 512)) // Cyrillic letters
	for _, bb := range []struct{ name, text string }{{"prose", words(b, 512)}, {"look-alikes", other}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.text)))
			times := make([]time.Duration, 0, 1<<20)
			for b.Loop() {
				began := time.Now()
				if s, err := m.Score(bb.text); err != nil || s.Tokens != 512 {
					b.Fatal(s, err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1000, "p99-µs")
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		mustLoad(b)
	}
}
