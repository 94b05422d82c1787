package quota

import (
	"context"
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
	// maxUnsure bounds the remembered changes with an unknown outcome. All that wait for one slow
	// write may become unsure at once, and any of them may have noted an alarm.
	maxUnsure = 1024
)

// A day is the record of one day's budget.
type day struct {
	Version int         `json:"v"`
	Day     string      `json:"day"`
	Charged int64       `json:"charged"`
	Told    []announced `json:"told,omitempty"`
}

// announced is a share whose alarm is due, and the change that noted it. The process that
// made the change gives the alarm, even if it learns of its success only later.
type announced struct {
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

// daily is the budget of the day.
type daily struct {
	budget  int64
	alarmAt []int
	log     *slog.Logger

	mu     sync.Mutex
	last   string         // the latest day so far
	behind bool           // the clock is before the last day
	unsure []approver.Rev // the latest changes with an unknown outcome
}

// schema is the schema of the current day's record. The day never goes back to an earlier one,
// whose record may be gone: a clock that goes back must not give new budget.
func (d *daily) schema() schema[day] {
	return schema[day]{
		name: "day",
		key: func(now time.Time) string {
			d.mu.Lock()
			defer d.mu.Unlock()
			return dayKey(max(d.last, dayOf(now)))
		},
		check: checkDay,
		times: func(s *day, _ time.Time) times {
			end := endOf(s.Day)
			return times{before: end, keep: end.Add(keepDay)}
		},
	}
}

// today notes the store's day, and returns the latest one.
func (d *daily) today(now time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	today := dayOf(now)
	d.last = max(d.last, today)
	if behind := today < d.last; behind != d.behind {
		if d.behind = behind; behind {
			d.log.Warn("the store's clock went back; the budget of the later day counts", "day", d.last, "clock", now)
		}
	}
	return d.last
}

// take takes n evaluations, and returns the alarms that this process must give.
func (d *daily) take(ctx context.Context, u *updater[day], n int64) ([]Alarm, error) {
	if n > d.budget {
		return nil, &RefusedError{Kind: ErrBudget, Text: fmt.Sprintf(
			"%d Tier 2 evaluations are more than the budget of a whole day (%d): ask a person to raise daily_budget, since "+
				"no day has room for it", n, d.budget)}
	}
	o, err := u.change(ctx, d.schema(), func(s *day, now time.Time, id approver.Rev) (bool, error) {
		s.Version, s.Day = recordVersion, d.today(now)
		if s.Charged+n > d.budget {
			return false, d.refusal(s, n)
		}
		s.Charged += n
		for _, share := range d.alarmAt {
			known := slices.ContainsFunc(s.Told, func(t announced) bool { return t.Share == share })
			if !known && s.Charged*100 >= d.budget*int64(share) {
				s.Told = append(s.Told, announced{share, id})
			}
		}
		return true, nil
	})
	alarms := d.due(o, err == nil)
	if err != nil {
		return alarms, unknown(err)
	}
	return alarms, o.result
}

// refusal is the error if fewer than n are left.
func (d *daily) refusal(s *day, n int64) *RefusedError {
	again := endOf(s.Day)
	what := fmt.Sprintf("the %d Tier 2 evaluations of %s are spent", d.budget, s.Day)
	if n > 1 && s.Charged < d.budget {
		what = fmt.Sprintf("fewer than %d of the %d Tier 2 evaluations of %s are left", n, d.budget, s.Day)
	}
	return &RefusedError{
		Kind: ErrBudget, Again: again,
		Text: what + ": run the call again after " + again.Format("2006-01-02 15:04 UTC") +
			", or ask a person to raise daily_budget",
	}
}

// due returns the alarms that changes of this process have noted. If the outcome of the
// change is unknown, there are none yet.
func (d *daily) due(o outcome[day], known bool) (alarms []Alarm) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !known {
		if o.unsure {
			d.unsure = append(d.unsure, o.id)
			d.unsure = d.unsure[max(0, len(d.unsure)-maxUnsure):]
		}
		return nil
	}
	s := o.state
	for _, t := range s.Told {
		if t.By == o.id || slices.Contains(d.unsure, t.By) {
			alarms = append(alarms, Alarm{Day: s.Day, Share: t.Share, Charged: s.Charged, Budget: d.budget})
		}
	}
	d.unsure = slices.DeleteFunc(d.unsure, func(r approver.Rev) bool {
		return slices.ContainsFunc(s.Told, func(t announced) bool { return t.By == r })
	})
	return alarms
}
