package quota

import (
	"runtime"
	"testing"
	"time"
)

// BenchmarkSpend takes Tier 2 evaluations, by one caller and by 64, over each store.
func BenchmarkSpend(b *testing.B) {
	bench(b, func(b *testing.B, q *Quota) error { return q.Spend(b.Context(), 1) })
}

// BenchmarkEvaluate takes tokens.
func BenchmarkEvaluate(b *testing.B) {
	bench(b, func(b *testing.B, q *Quota) error { return q.Evaluate(b.Context(), agent(1, "a")) })
}

func bench(b *testing.B, call func(b *testing.B, q *Quota) error) {
	for _, p := range places(b) {
		b.Run(p.name, func(b *testing.B) {
			kv := shifted{p.open(b), atNoon()}
			c := large(MaxBudget)
			c.AlarmAt = nil
			b.Run("1", func(b *testing.B) {
				q := newFor(b, kv, c)
				b.ReportAllocs()
				for b.Loop() {
					want(b, call(b, q), nil)
				}
			})
			b.Run("64", func(b *testing.B) {
				q := newFor(b, kv, c)
				b.ReportAllocs()
				b.SetParallelism(max(1, 64/runtime.GOMAXPROCS(0)))
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := call(b, q); err != nil {
							b.Error(err)
						}
					}
				})
			})
		})
	}
}

// BenchmarkRefused refuses what is known to be refused.
func BenchmarkRefused(b *testing.B) {
	c := small()
	c.Agent = Rate{Count: 1, Per: time.Minute, Burst: 1}
	q := newFor(b, shifted{embeddedPlace(b).open(b), atNoon()}, c)
	want(b, q.Evaluate(b.Context(), agent(1, "a")), nil)
	b.ReportAllocs()
	for b.Loop() {
		if q.Evaluate(b.Context(), agent(1, "a")) == nil {
			b.Log("a minute has passed")
		}
	}
}

// BenchmarkContended takes evaluations through replicas that each have their own
// connection to one Redis.
func BenchmarkContended(b *testing.B) {
	p, ahead := redisPlace(b), atNoon()
	for _, replicas := range []int{2, 8} {
		b.Run(map[int]string{2: "2", 8: "8"}[replicas], func(b *testing.B) {
			var qs []*Quota
			for range replicas {
				qs = append(qs, newFor(b, shifted{p.open(b), ahead}, large(MaxBudget)))
			}
			b.ReportAllocs()
			done := make(chan int, replicas)
			b.ResetTimer()
			for i, q := range qs {
				go func() {
					n := 0
					for j := i; j < b.N; j += replicas {
						if err := q.Evaluate(b.Context(), agent(uint32(i), "a")); err != nil {
							b.Error(err)
						}
						n++
					}
					done <- n
				}()
			}
			for range replicas {
				<-done
			}
		})
	}
}
