package bench

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// verdicts measures calls that pass, from as many agents as there are workers.
func (b *bench) verdicts(ctx context.Context, d *daemon) (VerdictFigures, error) {
	f := VerdictFigures{Workers: b.workers}
	took := make([][]time.Duration, b.workers)
	var each bill
	var all time.Duration
	body := payload("ls -l", 0)
	err := each.charge(ctx, d, func() (int, error) {
		var n atomic.Int64
		start := time.Now()
		err := inParallel(b.workers, func(worker int) error {
			for time.Since(start) < b.parallel {
				began := time.Now()
				c, err := submit(ctx, d, body, time.Minute)
				if err != nil {
					return err
				}
				if _, err := c.answer(); err != nil {
					return err
				}
				took[worker] = append(took[worker], time.Since(began))
				n.Add(1)
			}
			return nil
		})
		all = time.Since(start)
		return int(n.Load()), err
	})
	if err != nil {
		return f, err
	}
	laps := slices.Concat(took...)
	f.PerS, f.Each = float64(each.n)/all.Seconds(), each.cost()
	f.P50US, f.P99US = microseconds(quantile(laps, 0.5)), microseconds(quantile(laps, 0.99))
	return f, nil
}
