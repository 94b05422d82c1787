package bench

import (
	"context"
	"time"

	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
)

// A Cost is what one approval or verdict costs the daemon.
type Cost struct {
	Syncs        float64 `json:"syncs"` // of the store's file and of the audit
	Trips        float64 `json:"trips"` // to Redis and back
	CPUUS        float64 `json:"cpu_us"`
	AllocatedKiB float64 `json:"allocated_kib"`
	Allocations  float64 `json:"allocations"`
}

// A bill adds up what a daemon did, and for how many calls.
type bill struct {
	work adminapi.Work
	n    int
}

// settled is the time in which a daemon ends what nobody waits for, such as editing a card.
const settled = 30 * time.Millisecond

// charge adds what the daemon does while f runs. f returns its number of calls.
func (b *bill) charge(ctx context.Context, d *daemon, f func() (n int, err error)) error {
	before, err := d.work(ctx)
	if err != nil {
		return err
	}
	n, err := f()
	if err != nil {
		return err
	}
	if err := pause(ctx, settled); err != nil {
		return err
	}
	after, err := d.work(ctx)
	if err != nil {
		return err
	}
	b.n += n
	b.work.Syncs += after.Syncs - before.Syncs
	b.work.Trips += after.Trips - before.Trips
	b.work.CPUMS += after.CPUMS - before.CPUMS
	b.work.Allocated += after.Allocated - before.Allocated
	b.work.Allocations += after.Allocations - before.Allocations
	return nil
}

// cost returns the cost of one call.
func (b *bill) cost() Cost {
	each := func(sum float64) float64 { return over(sum, float64(b.n)) }
	return Cost{
		Syncs: each(float64(b.work.Syncs)), Trips: each(float64(b.work.Trips)), CPUUS: each(b.work.CPUMS * 1000),
		AllocatedKiB: each(float64(b.work.Allocated) / 1024), Allocations: each(float64(b.work.Allocations)),
	}
}

// work asks the daemon what it has done since its start.
func (d *daemon) work(ctx context.Context) (w adminapi.Work, err error) {
	return w, httpapi.ResolveClient{Socket: d.Resolve()}.Operate(ctx, adminapi.OpWork, struct{}{}, &w)
}
