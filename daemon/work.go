package daemon

import (
	"context"
	"runtime/metrics"
	"syscall"
	"time"

	"approver.example"
	"approver.example/daemon/adminapi"
)

// work counts what the daemon has done since its start.
func (d *Admin) work(context.Context) (w adminapi.Work, err error) {
	w.Work = d.audit.Work()
	if store, ok := d.People.Store.(approver.Meter); ok {
		more := store.Work()
		w.Syncs, w.Trips = w.Syncs+more.Syncs, w.Trips+more.Trips
	}
	used, err := cpuTime()
	if err != nil {
		return w, err
	}
	w.CPUMS = float64(used) / float64(time.Millisecond)
	counts := map[string]*uint64{
		"/gc/heap/allocs:bytes": &w.Allocated, "/gc/heap/allocs:objects": &w.Allocations,
		"/gc/heap/live:bytes": &w.Live, "/sched/goroutines:goroutines": &w.Goroutines,
	}
	for name, to := range counts {
		sample := []metrics.Sample{{Name: name}}
		metrics.Read(sample)
		*to = sample[0].Value.Uint64()
	}
	return w, nil
}

// cpuTime is what the process has used of the processors.
func cpuTime() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
