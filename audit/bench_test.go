package audit

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/display"
)

func benchRecord(i int64) approver.Record {
	return approver.Record{
		Event: approver.EventVerdict, Call: shell(fmt.Sprintf("go test -race ./pkg%d/...", i)),
		Verdict: approver.Verdict{Decision: approver.Pass, By: "reflex", Rule: "none"}, Took: 30 * time.Microsecond,
	}
}

// BenchmarkRecord is the whole path to a durable record, by the log alone and
// with display.Mask over texts that it has not seen before. The rate of 64
// writers is to be at least 15 times that of one.
func BenchmarkRecord(b *testing.B) {
	for name, redact := range map[string]func(string) string{"alone": asIs, "mask": display.Mask} {
		for _, writers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				key, _ := testKey(b)
				l := open(b, Options{Dir: filepath.Join(b.TempDir(), "log"), ID: "bench", Key: key, Redact: redact})
				var left atomic.Int64
				left.Store(int64(b.N))
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for range writers {
					wg.Go(func() {
						for i := left.Add(-1); i >= 0; i = left.Add(-1) {
							record(b, l, benchRecord(i))
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

func BenchmarkLine(b *testing.B) {
	r := newRedactor(display.Mask)
	b.ReportAllocs()
	var n int64
	for b.Loop() {
		n++
		if _, err := display.EncodeJSON(r.lineOf(benchRecord(n), "host", testTime)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	body, err := display.EncodeJSON(newRedactor(asIs).lineOf(benchRecord(1), "host", testTime))
	if err != nil {
		b.Fatal(err)
	}
	at := place{hash: genesis()}
	var buf []byte
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		buf = seal(buf[:0], body, "bench", &at)
	}
}

func BenchmarkVerify(b *testing.B) {
	o, keys := options(b)
	o.CheckpointEvery = DefaultCheckpointEvery
	l := open(b, o)
	body, err := display.EncodeJSON(l.red.lineOf(benchRecord(1), "host", testTime))
	if err != nil {
		b.Fatal(err)
	}
	const records = 20_000
	for range records {
		if _, _, err := l.add(body, time.Time{}, atOnce); err != nil {
			b.Fatal(err)
		}
	}
	closeLog(b, l)
	b.ReportAllocs()
	for b.Loop() {
		mustVerify(b, o, keys, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}
