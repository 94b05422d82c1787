package storetest

import (
	"runtime"
	"testing"
	"time"

	"approver.example"
)

// Bench measures a store: one writer, many writers, a reader, and the way from a
// write to a woken reader.
func Bench(b *testing.B, open func(b *testing.B) Store) {
	value := make([]byte, 700) // about a pending request
	write := func(b *testing.B, s Store, key string, prev approver.Rev) approver.Rev {
		next := approver.NewRev()
		if err := s.Put(b.Context(), key, value, prev, next, later(), later()); err != nil {
			b.Error(err)
		}
		return next
	}
	b.Run("Put", func(b *testing.B) {
		s, key := open(b), newKey()
		var rev approver.Rev
		b.ReportAllocs()
		for b.Loop() {
			rev = write(b, s, key, rev)
		}
	})
	b.Run("PutParallel64", func(b *testing.B) {
		s := open(b)
		b.ReportAllocs()
		b.SetParallelism(max(1, 64/runtime.GOMAXPROCS(0)))
		b.RunParallel(func(pb *testing.PB) {
			key := newKey()
			var rev approver.Rev
			for pb.Next() {
				rev = write(b, s, key, rev)
			}
		})
	})
	b.Run("Get", func(b *testing.B) {
		s, key := open(b), newKey()
		write(b, s, key, "")
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := s.Get(b.Context(), key); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Wake", func(b *testing.B) {
		s, key := open(b), newKey()
		hints, err := s.Watch(b.Context(), key)
		if err != nil {
			b.Fatal(err)
		}
		<-hints
		var rev approver.Rev
		var woken time.Duration
		b.ReportAllocs()
		for b.Loop() {
			rev = write(b, s, key, rev)
			written := time.Now()
			<-hints
			woken += time.Since(written)
		}
		b.ReportMetric(float64(woken.Nanoseconds())/float64(b.N), "ns-after-Put/op")
	})
}
