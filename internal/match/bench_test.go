package match

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

var benchTexts = []struct{ name, text string }{
	{"105B", command105[:105]},
	{"532B", command532},
	{"10KB-source", source10k()},
	{"10KB-near-miss", nearMiss10k()},
}

var benchSizes = []int{300, 10_000}

// BenchmarkMatch is the same text again and again.
func BenchmarkMatch(b *testing.B) {
	for _, n := range benchSizes {
		s := mustNew(b, guardExprs(n), Limits{})
		for _, text := range benchTexts {
			b.Run(fmt.Sprintf("%d/%s", n, text.name), func(b *testing.B) {
				ids := make([]int, 0, n)
				complete := false
				for range 200 { // until all of it is remembered
					ids, complete = s.Match(ids[:0], text.text)
				}
				b.SetBytes(int64(len(text.text)))
				b.ReportAllocs()
				for b.Loop() {
					ids, complete = s.Match(ids[:0], text.text)
				}
				if !complete {
					b.Fatal("not complete")
				}
			})
		}
	}
}

// BenchmarkCommands is a day of different commands: most of what they ask for
// is remembered.
func BenchmarkCommands(b *testing.B) {
	texts := commands(20_000)
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := mustNew(b, guardExprs(n), Limits{})
			ids := make([]int, 0, n)
			incomplete, i := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				_, complete := s.Match(ids, texts[i%len(texts)])
				if i++; !complete {
					incomplete++
				}
			}
			b.ReportMetric(float64(incomplete)/float64(i), "incomplete/op")
			b.ReportMetric(float64(s.dfa.newest.Load().cache.bytes)/1e6, "cache-MB")
		})
	}
}

// BenchmarkHostile is a new text each time, made to ask for new states.
func BenchmarkHostile(b *testing.B) {
	var texts []string
	for seed := range uint64(200) {
		texts = append(texts, hostile10k(seed))
	}
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := mustNew(b, guardExprs(n), Limits{})
			ids := make([]int, 0, n)
			incomplete, i := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				_, complete := s.Match(ids, texts[i%len(texts)])
				if i++; !complete {
					incomplete++
				}
			}
			b.ReportMetric(float64(incomplete)/float64(i), "incomplete/op")
		})
	}
}

// BenchmarkFirst is a text that the automaton has not seen.
func BenchmarkFirst(b *testing.B) {
	for _, n := range benchSizes {
		s := mustNew(b, guardExprs(n), Limits{})
		for _, text := range benchTexts {
			b.Run(fmt.Sprintf("%d/%s", n, text.name), func(b *testing.B) {
				ids := make([]int, 0, n)
				for b.Loop() {
					s.dfa.flush()
					s.Match(ids, text.text)
				}
			})
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range benchSizes {
		exprs := patterns(guardExprs(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New(exprs, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
			before := heap()
			s, err := New(exprs, Limits{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(heap()-before)/1e6, "heap-MB")
			runtime.KeepAlive(s)
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkFold(b *testing.B) {
	for _, text := range append(benchTexts, struct{ name, text string }{"532B-full-width", fullWidth(command532)}) {
		b.Run(text.name, func(b *testing.B) {
			var buf []byte
			b.SetBytes(int64(len(text.text)))
			b.ReportAllocs()
			for b.Loop() {
				buf = Fold(buf[:0], text.text)
			}
		})
	}
}

func fullWidth(text string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r <= '~' {
			return r + 0xff01 - '!'
		}
		return r
	}, text)
}
