package bench

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A SoakReport is what --json prints of soaks.
type SoakReport struct {
	CPUs  int           `json:"cpus"`
	OS    string        `json:"os"`
	Arch  string        `json:"arch"`
	Go    string        `json:"go"`
	ForS  float64       `json:"for_s"` // each
	Soaks []SoakFigures `json:"soaks"`
}

// SoakFigures are about one soak.
type SoakFigures struct {
	Store      string   `json:"store"`
	Verdicts   SoakLaps `json:"verdicts"`
	Approvals  SoakLaps `json:"approvals"`
	CPUPercent float64  `json:"cpu_percent"` // of one CPU, which the daemon took
	Growth     []Growth `json:"growth"`
	Samples    []Sample `json:"samples"`
	Errors     []string `json:"errors,omitempty"` // that the daemon logged, if calls failed: its log goes with its folder
}

// SoakLaps are the calls of one kind. Their times count from when each was due.
type SoakLaps struct {
	Calls      int     `json:"calls"`
	PerS       float64 `json:"per_s"`
	Failed     int     `json:"failed"`
	FirstError string  `json:"first_error,omitempty"`
	P50MS      float64 `json:"p50_ms"`
	P99MS      float64 `json:"p99_ms"`
	MaxMS      float64 `json:"max_ms"`
}

// A Growth is what became of one quantity. The rates are the slopes of straight lines through the samples of
// each half.
type Growth struct {
	Of       string  `json:"of"`
	First    float64 `json:"first"`
	Last     float64 `json:"last"`
	Before   float64 `json:"per_1000_calls_first_half"`
	After    float64 `json:"per_1000_calls_second_half"`
	Adds     bool    `json:"adds"` // each call leaves something by design
	Grows    bool    `json:"grows"`
	TooShort bool    `json:"too_short"` // to say whether it grows
}

// A quantity is something that a soak looks at. What adds is to add as much for each call in the second half as in the
// first. All else is to stay where it is.
type quantity struct {
	name  string
	adds  bool
	least float64 // a rise of less is none
	of    func(s Sample) float64
}

var quantities = []quantity{
	{"RSS, MiB", false, 2, func(s Sample) float64 { return s.RSSMiB }},
	{"anonymous RSS, MiB", false, 2, func(s Sample) float64 { return s.AnonymMiB }},
	{"live heap, MiB", false, 2, func(s Sample) float64 { return s.LiveMiB }},
	{"goroutines", false, 4, func(s Sample) float64 { return s.Goroutines }},
	{"descriptors", false, 4, func(s Sample) float64 { return s.Descriptors }},
	{"files beside the audit", false, 1, func(s Sample) float64 { return s.Files }},
	{"other files, KiB", false, 64, func(s Sample) float64 { return s.OtherKiB }},
	{"store's log, KiB", false, 1024, func(s Sample) float64 { return s.LogKiB }},
	{"store, KiB", true, 16, func(s Sample) float64 { return s.StoreKiB }},
	{"audit, KiB", true, 16, func(s Sample) float64 { return s.AuditKiB }},
	{"Redis memory, KiB", true, 16, func(s Sample) float64 { return s.RedisMemoryKiB }},
	{"Redis AOF, KiB", true, 16, func(s Sample) float64 { return s.RedisAOFKiB }},
	{"Redis keys", true, 4, func(s Sample) float64 { return s.RedisKeys }},
}

// The rule by which something grows, and how long a soak must be to say so. For some six minutes of this load the
// daemon fills what it remembers of calls, up to a bound; its halves then go up and down by 2 MiB in three minutes.
const (
	moreForACall = 1.10 // what adds: the rate of the second half over that of the first
	moreOfAll    = 1.05 // all else: the end of the second half over its beginning
	tellsS       = 1200
)

// growthOf says of each quantity that there is whether it grows.
func growthOf(samples []Sample) (out []Growth) {
	half := samples[len(samples)/2:]
	for _, q := range quantities {
		g := Growth{Of: q.name, First: q.of(samples[0]), Last: q.of(samples[len(samples)-1]), Adds: q.adds,
			TooShort: samples[len(samples)-1].AtS < tellsS}
		if g.First == 0 && g.Last == 0 {
			continue // this store or machine has none
		}
		g.Before, _ = line(samples[:len(samples)/2+1], q.of)
		var mean float64
		g.After, mean = line(half, q.of)
		rise := g.After * float64(half[len(half)-1].Calls-half[0].Calls) / 1000
		if q.adds {
			g.Grows = g.After > moreForACall*max(g.Before, 0) && rise > q.least
		} else {
			g.Grows = rise > max(q.least, (moreOfAll-1)*(mean-rise/2))
		}
		out = append(out, g)
	}
	return out
}

// line lays a straight line through samples by least squares: how much it rises with 1,000 calls, and its middle.
func line(samples []Sample, of func(s Sample) float64) (slope, mean float64) {
	var x, y float64
	for _, s := range samples {
		x, y = x+float64(s.Calls)/1000, y+of(s)
	}
	n := float64(len(samples))
	x, y = x/n, y/n
	var xx, xy float64
	for _, s := range samples {
		dx := float64(s.Calls)/1000 - x
		xx, xy = xx+dx*dx, xy+dx*(of(s)-y)
	}
	return over(xy, xx), y
}

// verdict is the last word of a row.
func (g Growth) verdict() string {
	switch {
	case g.TooShort:
		return "too short to say"
	case g.Grows:
		return "grows"
	case g.Adds:
		return "flat for each call"
	}
	return "flat"
}

// failure is the error of a soak in which calls failed.
func (r *SoakReport) failure() error {
	var errs []error
	for _, s := range r.Soaks {
		for _, of := range []SoakLaps{s.Verdicts, s.Approvals} {
			if of.Failed > 0 {
				errs = append(errs, fmt.Errorf("store %s: %d of %d calls failed, at first: %s", s.Store, of.Failed, of.Calls,
					of.FirstError))
			}
		}
	}
	return errors.Join(errs...)
}

// print writes the report as tables.
func (r *SoakReport) print(out io.Writer) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "approver bench --soak · %d CPUs · %s/%s · %s · %.0f s\n", r.CPUs, r.OS, r.Arch, r.Go, r.ForS)
	for _, s := range r.Soaks {
		fmt.Fprintf(w, "\nstore %s: the daemon took %.1f %% of one CPU\n", s.Store, s.CPUPercent)
		fmt.Fprintf(w, "  calls\tdone\tfailed\tper second\tp50 ms\tp99 ms\tmax ms\n")
		s.Verdicts.print(w, "verdicts")
		s.Approvals.print(w, "approvals")
		fmt.Fprintf(w, "\n  what\tat first\tat last\tper 1,000 calls, first half\tsecond half\tverdict\n")
		for _, g := range s.Growth {
			fmt.Fprintf(w, "  %s\t%.1f\t%.1f\t%.2f\t%.2f\t%s\n", g.Of, g.First, g.Last, g.Before, g.After, g.verdict())
		}
	}
	fmt.Fprintf(w, "\nflat: over the second half it rises by at most %.0f %%; what each call adds to, by at most %.0f %% "+
		"more for a call than in the first\n", (moreOfAll-1)*100, (moreForACall-1)*100)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (l SoakLaps) print(w io.Writer, of string) {
	fmt.Fprintf(w, "  %s\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.1f\n", of, l.Calls, l.Failed, l.PerS, l.P50MS, l.P99MS, l.MaxMS)
}
