package quota

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"approver.example"
)

const (
	// keepDay is how long the record of a day is kept after its end.
	keepDay = 48 * time.Hour
	// leaseFor is how long a process trusts its last reading of the store's clock: it
	// bounds how long leased evaluations are spent while the store is away.
	leaseFor = 5 * time.Second
	// nearEnd is the time before midnight in which nothing is leased and every
	// evaluation is judged by the store's clock.
	nearEnd = time.Second
	// askAgain is how long a budget that was found spent counts as spent without
	// another look: a replica that ends gives back what it leased.
	askAgain = time.Second
	// maxLease and leaseShare bound a lease: at most 256 evaluations, and a sixteenth
	// of what is left.
	maxLease   = 256
	leaseShare = 16
	// busy and idle are the times between two writes that make leases grow, and end.
	busy = 50 * time.Millisecond
	idle = time.Second
	// maxUnsure bounds the writes whose outcome is still looked for.
	maxUnsure = 8
)

// A day is what was taken of the budget of one day.
type day struct {
	Version int    `json:"v"`
	Day     string `json:"day"`
	Charged int64  `json:"charged"` // leases included
	Told    []told `json:"told,omitempty"`
}

// told is a share whose alarm was given, and by which write: whoever wrote it gives
// the alarm, also if it learns only later that the write was made.
type told struct {
	Share int          `json:"share"`
	By    approver.Rev `json:"by"`
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func dayKey(d string) string { return approver.Key("quota", "day/"+d) }

// endOf is the midnight at which a day ends.
func endOf(d string) time.Time {
	t, err := time.Parse(time.DateOnly, d)
	if err != nil {
		return time.Time{} // dayOf made it
	}
	return t.AddDate(0, 0, 1)
}

func checkDay(s *day, key string) error {
	switch {
	case s.Version != recordVersion:
		return fmt.Errorf("its version is %d, not %d", s.Version, recordVersion)
	case dayKey(s.Day) != key:
		return fmt.Errorf("it is of the day %.20q", s.Day)
	case s.Charged < 0 || s.Charged > MaxBudget:
		return fmt.Errorf("%d evaluations were taken", s.Charged)
	case len(s.Told) > 100:
		return fmt.Errorf("%d shares were told", len(s.Told))
	}
	return nil
}

// A daily is the budget of the day.
type daily struct {
	budget  int64
	alarmAt []int
	alarm   func([]Alarm)
	log     *slog.Logger
	cell    *cell[day]

	mu    sync.Mutex
	lease lease
	spent *RefusedError // what to say until spentFor is over
	// spentFor is by this process's clock.
	spentFor time.Time

	// Of the cell's goroutine.
	last   string // the latest day that was seen
	carry  lease  // the lease while a write is under way
	left   int64  // of it, in this try
	extra  int64  // newly leased, in this try
	size   int64  // of the next lease
	wrote  time.Time
	next   approver.Rev   // of the write that is under way
	unsure []approver.Rev // of writes that may have been made, the latest maxUnsure
	behind bool           // the clock is on a day before the last
}

// A lease are evaluations of one day that are taken and not spent.
type lease struct {
	day  string
	left int64
	now  time.Time // the store's clock …
	read time.Time // … at this time of ours
}

// elapsed is the time since a reading, by whichever of our clocks went further: the
// monotonic one stands still while a machine sleeps.
func elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// holds reports whether the lease may be spent without a look at the store.
func (l lease) holds(n int64, now time.Time) bool {
	if l.left < n {
		return false
	}
	passed := elapsed(l.read, now)
	return passed <= leaseFor && l.now.Add(passed).Before(endOf(l.day).Add(-nearEnd))
}

func newDaily(store approver.KV, group *sync.WaitGroup, c Config, alarm func([]Alarm), log *slog.Logger) *daily {
	d := &daily{budget: c.DailyBudget, alarmAt: slices.Clone(c.AlarmAt), alarm: alarm, log: log}
	d.cell = &cell[day]{store: store, group: group, book: book[day]{
		key: d.key, check: checkDay, begin: d.begin, finish: d.finish, ended: d.ended,
		times: func(s *day, _ time.Time) (before, keep time.Time) {
			end := endOf(s.Day)
			return end, end.Add(keepDay)
		},
	}}
	return d
}

// key is the record of the day that counts. A day that was seen is not left for an
// earlier one, whose record may be gone: a clock that goes back brings no budget.
func (d *daily) key(now time.Time) string {
	today := dayOf(now)
	d.last = max(d.last, today)
	if behind := today < d.last; behind != d.behind {
		if d.behind = behind; behind {
			d.log.Warn("the store's clock went back; the budget of the later day counts", "day", d.last, "clock", now)
		}
	}
	return dayKey(d.last)
}

// take takes n evaluations.
func (d *daily) take(ctx context.Context, n int64) error {
	if n > d.budget {
		return &RefusedError{Kind: ErrBudget, Text: fmt.Sprintf(
			"%d Tier 2 evaluations are more than the budget of a whole day (%d): ask a person to raise daily_budget, since no day has room for it", n, d.budget)}
	}
	d.mu.Lock()
	now := time.Now()
	if d.lease.holds(n, now) {
		d.lease.left -= n
		d.mu.Unlock()
		return nil
	}
	if d.spent != nil && now.Before(d.spentFor) {
		defer d.mu.Unlock()
		return d.spent
	}
	d.mu.Unlock()
	return d.cell.do(ctx, func(s *day, now time.Time) (bool, error) {
		if d.left >= n {
			d.left -= n
			return false, nil
		}
		short := n - d.left
		if s.Charged+short > d.budget {
			return false, d.refusal(s, n)
		}
		d.left = 0
		s.Charged += short
		return true, nil
	})
}

// refusal says that n are not to be had any more today.
func (d *daily) refusal(s *day, n int64) *RefusedError {
	again := endOf(s.Day)
	what := fmt.Sprintf("the %d Tier 2 evaluations of %s are spent", d.budget, s.Day)
	if n > 1 && s.Charged < d.budget {
		what = fmt.Sprintf("fewer than %d of the %d Tier 2 evaluations of %s are left", n, d.budget, s.Day)
	}
	return &RefusedError{
		Kind: ErrBudget, Again: again,
		Text: what + ": run the call again after " + again.Format("2006-01-02 15:04 UTC") + ", or ask a person to raise daily_budget",
	}
}

// begin takes the lease out of reach of other callers while the record is changed.
func (d *daily) begin(s *day, _ time.Time) {
	d.mu.Lock()
	if d.lease.left > 0 {
		d.carry, d.lease = d.lease, lease{}
	}
	d.mu.Unlock()
	s.Version, s.Day = recordVersion, d.last
	d.left, d.extra = 0, 0
	if d.carry.day == s.Day {
		d.left = d.carry.left
	}
}

// finish leases more if evaluations are spent fast, and notes which alarms this
// write gives.
func (d *daily) finish(s *day, now time.Time, next approver.Rev) (changed bool) {
	d.next = next
	if s.Charged == 0 { // nothing was taken yet today
		return false
	}
	if d.left == 0 && now.Before(endOf(s.Day).Add(-nearEnd)) {
		size := d.size
		switch since := time.Since(d.wrote); {
		case since > idle:
			size = 0
		case since < busy:
			size = min(max(1, 2*size), maxLease)
		}
		d.extra = max(0, min(size, (d.budget-s.Charged)/leaseShare))
		s.Charged += d.extra
	}
	for _, share := range d.alarmAt {
		reached := s.Charged*100 >= d.budget*int64(share)
		if reached && !slices.ContainsFunc(s.Told, func(t told) bool { return t.Share == share }) {
			s.Told = append(s.Told, told{share, next})
			changed = true
		}
	}
	return changed || d.extra > 0
}

// ended keeps what is left of the lease, and gives the alarms.
func (d *daily) ended(s *day, now time.Time, wrote bool, unsure []approver.Rev, err error) {
	d.unsure = append(d.unsure, unsure...)
	d.unsure = d.unsure[max(0, len(d.unsure)-maxUnsure):]
	d.mu.Lock()
	defer d.mu.Unlock()
	carry := d.carry
	d.carry = lease{}
	if err != nil {
		if carry.left > 0 { // nobody was given any of it
			d.lease = carry
		}
		return
	}
	read := time.Now()
	if wrote {
		d.size, d.wrote = d.extra, read
	}
	d.lease = lease{day: s.Day, left: d.left + d.extra, now: now, read: read}
	if s.Charged >= d.budget && d.lease.left == 0 {
		d.spent, d.spentFor = d.refusal(s, 1), read.Add(min(askAgain, endOf(s.Day).Sub(now)))
	}
	d.tell(s, wrote)
}

// tell gives the alarms that writes of this process have noted.
func (d *daily) tell(s *day, wrote bool) {
	var alarms []Alarm
	for _, t := range s.Told {
		late := slices.Index(d.unsure, t.By)
		if late < 0 && (!wrote || t.By != d.next) {
			continue
		}
		alarms = append(alarms, Alarm{Day: s.Day, Share: t.Share, Charged: s.Charged, Budget: d.budget})
	}
	d.alarm(alarms)
	d.unsure = slices.DeleteFunc(d.unsure, func(r approver.Rev) bool {
		return slices.ContainsFunc(s.Told, func(t told) bool { return t.By == r })
	})
}

// giveBack returns what is leased and not spent. Nothing else may use the cell any
// more. A write whose outcome is not known is not repeated under another revision:
// giving back twice would loosen the budget.
func (d *daily) giveBack(ctx context.Context) error {
	d.mu.Lock()
	l := d.lease
	d.lease = lease{}
	d.mu.Unlock()
	for l.left > 0 {
		s, key, now, err := d.cell.read(ctx)
		if err != nil || s.Day != l.day || s.Charged < l.left {
			return err
		}
		s.Charged -= l.left
		ambiguous, err := d.cell.write(ctx, key, &s, now, approver.NewRev())
		if ambiguous || !errors.Is(err, approver.ErrConflict) {
			return err
		}
	}
	return nil
}
