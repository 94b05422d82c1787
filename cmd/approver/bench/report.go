package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A Report is what --json prints. The names of fields end in the unit: approvals and starts are in
// milliseconds, the hook and judging in microseconds.
type Report struct {
	Short   bool    `json:"short"`
	CPUs    int     `json:"cpus"`
	OS      string  `json:"os"`
	Arch    string  `json:"arch"`
	Go      string  `json:"go"`
	Channel string  `json:"channel"` // how people answer
	TookS   float64 `json:"took_s"`

	Hook        HookFigures        `json:"hook"`
	Judge       []JudgeFigures     `json:"judge"`
	Fingerprint FingerprintFigures `json:"fingerprint"`
	Daemon      DaemonFigures      `json:"daemon"`
	Stores      []StoreFigures     `json:"stores"`
}

// HookFigures are about whole processes, whose runs alternate.
type HookFigures struct {
	Runs        int     `json:"runs"`
	Program     string  `json:"program"`
	TrueUS      float64 `json:"true_us"`     // median of /bin/true
	EmptyGoUS   float64 `json:"empty_go_us"` // of a Go program that does nothing; 0 without a Go toolchain
	HookUS      float64 `json:"hook_us"`     // of the hook, for a call that passes
	HookP99US   float64 `json:"hook_p99_us"`
	DaemonUS    float64 `json:"daemon_us"` // the daemon's share of it, with its audit record durable
	OverEmptyGo float64 `json:"over_empty_go"`
	OverTrue    float64 `json:"over_true"`
}

// JudgeFigures are about judging one kind of call with the default rules and policy.
type JudgeFigures struct {
	Kind     string  `json:"kind"`
	Bytes    int     `json:"bytes"`
	Decision string  `json:"decision"`
	P50US    float64 `json:"p50_us"`
	P99US    float64 `json:"p99_us"`
}

// FingerprintFigures are median times to bind an approval to a call. Each approval takes this time
// twice: when the call arrives and before it is released.
type FingerprintFigures struct {
	CanonicalUS float64 `json:"canonical_us"` // without files
	SmallUS     float64 `json:"small_us"`     // with a git of a few bytes, as in the approvals below
	SystemUS    float64 `json:"system_us"`    // with the system's git, which is hashed for every call as root
}

// DaemonFigures are about an idle daemon.
type DaemonFigures struct {
	Starts      int     `json:"starts"`
	FirstMS     float64 `json:"first_start_ms"` // which creates the keys and the store
	ReadyMS     float64 `json:"ready_ms"`       // median of the others, from the start of the process
	ReadyMaxMS  float64 `json:"ready_max_ms"`
	IdleRSSMiB  float64 `json:"idle_rss_mib"`
	ProgramMiB  float64 `json:"program_mib"` // size of the program file, a part of which is in memory
	AnonymMiB   float64 `json:"idle_anonymous_mib"`
	IdleSeconds float64 `json:"idle_after_s"`
}

// StoreFigures are about approvals on one store.
type StoreFigures struct {
	Store    string         `json:"store"`
	Levels   []LevelFigures `json:"levels"`
	Verdicts VerdictFigures `json:"verdicts"`
	Grouped  VerdictFigures `json:"verdicts_grouped"` // with audit.sync: group
	// BareEnginePerS counts create and compare-and-set on the same engine alone, with as many workers.
	BareEnginePerS float64 `json:"bare_engine_cycles_per_s"`
	OverBareEngine float64 `json:"over_bare_engine"` // for the level without other pending requests
	// BareRedisPerS is that of Redis, whatever the store; 0 without redis-server.
	BareRedisPerS   float64 `json:"bare_redis_cycles_per_s"`
	OverBareRedis   float64 `json:"over_bare_redis"`   // for the level without other pending requests
	ManyOverHundred float64 `json:"many_over_hundred"` // cycles/s with the most pending, divided by those with 100
}

// VerdictFigures are about calls that pass, from many agents at once, without the start of their hooks.
type VerdictFigures struct {
	Workers int     `json:"workers"`
	PerS    float64 `json:"per_s"`
	P50US   float64 `json:"p50_us"`
	P99US   float64 `json:"p99_us"`
	Each    Cost    `json:"each"`
}

// LevelFigures are about approvals with one number of pending requests.
type LevelFigures struct {
	Pending        int     `json:"pending"` // 1: only the measured one
	Held           int     `json:"held"`    // with a waiting courier
	Parked         int     `json:"parked"`  // only in the store
	Cycles         int     `json:"cycles"`
	RequestToCard  Span    `json:"request_to_card_ms"`
	ReplyToRelease Span    `json:"reply_to_release_ms"` // from the approval to the released hook
	Whole          Span    `json:"whole_ms"`            // request → card → reply → hook released
	Workers        int     `json:"workers"`
	CyclesPerS     float64 `json:"cycles_per_s"`
	ReadyMS        float64 `json:"ready_ms"`           // the start of a daemon whose store has the parked ones
	Alone          Cost    `json:"alone"`              // of an approval while there is no other
	Busy           Cost    `json:"busy"`               // of an approval beside those of the other workers
	HeldKiB        float64 `json:"held_rss_kib"`       // memory of the daemon for each held request
	StoredBytes    float64 `json:"parked_store_bytes"` // for each parked request, in the file or in the memory of Redis
}

// A Span has the median and the 99th percentile, in milliseconds.
type Span struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

func spanOf(took []time.Duration) Span {
	return Span{milliseconds(quantile(took, 0.50)), milliseconds(quantile(took, 0.99))}
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// quantile sorts took and returns its quantile q, or zero if took is empty.
func quantile(took []time.Duration, q float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[min(int(q*float64(len(took))), len(took)-1)]
}

// over returns a/b, or zero if b is zero.
func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// print writes one row.
func (c Cost) print(w io.Writer, of string) {
	fmt.Fprintf(w, "  %s\t%.1f\t%.1f\t%.0f µs\t%.0f KiB\t%.0f\n", of, c.Syncs, c.Trips, c.CPUUS, c.AllocatedKiB,
		c.Allocations)
}

// print writes the report as tables.
func (r *Report) print(out io.Writer) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "approver bench · %d CPUs · %s/%s · %s · %.0f s\n", r.CPUs, r.OS, r.Arch, r.Go, r.TookS)

	h := r.Hook
	fmt.Fprintf(w, "\nhook process (median of %d runs in turns, %s)\n", h.Runs, h.Program)
	fmt.Fprintf(w, "  /bin/true\tempty Go\thook\thook p99\tof it the daemon\t× empty Go\t× true\n")
	fmt.Fprintf(w, "  %.0f µs\t%.0f µs\t%.0f µs\t%.0f µs\t%.0f µs\t%.2f\t%.2f\n",
		h.TrueUS, h.EmptyGoUS, h.HookUS, h.HookP99US, h.DaemonUS, h.OverEmptyGo, h.OverTrue)

	fmt.Fprintf(w, "\njudge (default rules and policy)\n  call\tbytes\tdecision\tp50\tp99\n")
	for _, j := range r.Judge {
		fmt.Fprintf(w, "  %s\t%d\t%s\t%.1f µs\t%.1f µs\n", j.Kind, j.Bytes, j.Decision, j.P50US, j.P99US)
	}

	fmt.Fprintf(w, "\nfingerprint\n  canonical form\twith a small git\twith the system's git\n  %.0f µs\t%.0f "+
		"µs\t%.0f µs\n",
		r.Fingerprint.CanonicalUS, r.Fingerprint.SmallUS, r.Fingerprint.SystemUS)

	d := r.Daemon
	fmt.Fprintf(w, "\ndaemon (%d starts)\n  first start\tready\tslowest\tidle RSS\tof it anonymous\n", d.Starts)
	fmt.Fprintf(w, "  %.0f ms\t%.0f ms\t%.0f ms\t%.1f MiB\t%.1f MiB\n", d.FirstMS, d.ReadyMS, d.ReadyMaxMS, d.IdleRSSMiB,
		d.AnonymMiB)

	for _, s := range r.Stores {
		fmt.Fprintf(w, "\napprovals, store %s (%s; every step durable; ms)\n", s.Store, r.Channel)
		fmt.Fprintf(w, "  pending\theld\tto card p50\tp99\treply to release p50\tp99\twhole "+
			"p50\tp99\tcycles/s\tready\tKiB/held\tstore B/parked\n")
		for _, l := range s.Levels {
			fmt.Fprintf(w, "  %d\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.0f\t%.1f\t%.0f\n", l.Pending, l.Held,
				l.RequestToCard.P50, l.RequestToCard.P99, l.ReplyToRelease.P50, l.ReplyToRelease.P99, l.Whole.P50, l.Whole.P99,
				l.CyclesPerS, l.ReadyMS, l.HeldKiB, l.StoredBytes)
		}
		fmt.Fprintln(w)
		fmt.Fprintf(w, "  what one costs the daemon\tsyncs\ttrips\tCPU\tallocated\tallocations\n")
		for _, l := range s.Levels {
			l.Alone.print(w, fmt.Sprintf("approval, %d pending, alone", l.Pending))
			l.Busy.print(w, fmt.Sprintf("approval, %d pending, %d workers", l.Pending, l.Workers))
		}
		v, g := s.Verdicts, s.Grouped
		v.Each.print(w, fmt.Sprintf("verdict, %d agents", v.Workers))
		g.Each.print(w, fmt.Sprintf("verdict, %d agents, audit.sync: group", g.Workers))
		fmt.Fprintln(w)
		fmt.Fprintf(w, "  verdicts of %d agents: %.0f/s, p50 %.0f µs, p99 %.0f µs; with audit.sync: group %.0f/s, "+
			"p50 %.0f µs, p99 %.0f µs\n", v.Workers, v.PerS, v.P50US, v.P99US, g.PerS, g.P50US, g.P99US)
		fmt.Fprintf(w, "  bare engine create + compare-and-set: %.0f/s; approvals are %.2f of it\n", s.BareEnginePerS,
			s.OverBareEngine)
		fmt.Fprintf(w, "  bare Redis create + compare-and-set: %.0f/s; approvals are %.2f of it; most pending: %.2f of 100 "+
			"pending\n",
			s.BareRedisPerS, s.OverBareRedis, s.ManyOverHundred)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(out, b.String())
	return err
}
