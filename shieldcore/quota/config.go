package quota

import (
	"errors"
	"fmt"
	"time"
)

// Limits of the settings.
const (
	MaxCount  = 100_000       // evaluations of one rate
	MaxBurst  = 100_000       // evaluations at once
	MaxNames  = 64            // names of one uid
	MaxBudget = 1_000_000_000 // Tier 2 evaluations on one day
	MaxShares = 16            // alarms on one day
)

// A Rate is how often something may happen: Count times in each Per, and up to
// Burst times at once after a pause. The zero value is refused.
type Rate struct {
	Count int           `yaml:"count"` // 1 to MaxCount
	Per   time.Duration `yaml:"per"`   // 1s or 1m
	Burst int           `yaml:"burst"` // 1 to MaxBurst
}

func (r Rate) validate(what string) (errs []error) {
	if r.Count < 1 || r.Count > MaxCount {
		errs = append(errs, fmt.Errorf("%s.count: %d evaluations: must be 1 to %d", what, r.Count, MaxCount))
	}
	if r.Per != time.Second && r.Per != time.Minute {
		errs = append(errs, fmt.Errorf("%s.per: %v: must be 1s or 1m", what, r.Per))
	}
	if r.Burst < 1 || r.Burst > MaxBurst {
		errs = append(errs, fmt.Errorf("%s.burst: %d evaluations: must be 1 to %d", what, r.Burst, MaxBurst))
	}
	return errs
}

// String says the rate in words.
func (r Rate) String() string {
	per := "minute"
	if r.Per == time.Second {
		per = "second"
	}
	return fmt.Sprintf("%d a %s and %d at once", r.Count, per, r.Burst)
}

// interval is the time that one token takes to come back. It is rounded up: the
// rate is never exceeded.
func (r Rate) interval() time.Duration {
	return (r.Per + time.Duration(r.Count) - 1) / time.Duration(r.Count)
}

// An Alarm says that a share of the day's budget is used.
type Alarm struct {
	Day     string // the day in UTC, as 2006-01-02
	Share   int    // percent, one of Config.AlarmAt
	Charged int64  // Tier 2 evaluations taken on that day by all replicas
	Budget  int64  // Tier 2 evaluations on one day
}

// Config are the limits. The zero value is refused; start from [DefaultConfig].
// Replicas that share a store should have the same: each keeps to its own.
type Config struct {
	Agent   Rate `yaml:"agent"`   // of one claimed name under one uid
	User    Rate `yaml:"user"`    // of one uid, whatever names it claims
	Overall Rate `yaml:"overall"` // of all together

	// Names is how many names of one uid have a bucket of their own at a time, 1 to
	// MaxNames. A further one is refused until the bucket of another is full again.
	Names int `yaml:"names"`

	// DailyBudget is the number of Tier 2 evaluations on one day, which begins at
	// 00:00 UTC by the store's clock: 1 to MaxBudget.
	DailyBudget int64 `yaml:"daily_budget"`

	// AlarmAt are the shares of the budget in percent, 1 to 100 and ascending, at
	// which OnAlarm is called. One of all replicas does it, once a day. If that
	// replica stops at this moment, the alarm can be lost.
	AlarmAt []int `yaml:"alarm_at"`

	// OnAlarm is called on a goroutine of its own, for which Close waits, and maybe on
	// several at once. Nil only logs.
	OnAlarm func(Alarm) `yaml:"-"`
}

// DefaultConfig returns limits that normal interactive use does not reach.
func DefaultConfig() Config {
	return Config{
		Agent:       Rate{Count: 60, Per: time.Minute, Burst: 30},
		User:        Rate{Count: 120, Per: time.Minute, Burst: 60},
		Overall:     Rate{Count: 20, Per: time.Second, Burst: 200},
		Names:       16,
		DailyBudget: 2000,
		AlarmAt:     []int{50, 80, 95},
	}
}

// Validate returns every mistake.
func (c Config) Validate() error {
	errs := c.Agent.validate("agent")
	errs = append(errs, c.User.validate("user")...)
	errs = append(errs, c.Overall.validate("overall")...)
	if c.Names < 1 || c.Names > MaxNames {
		errs = append(errs, fmt.Errorf("names: %d: must be 1 to %d", c.Names, MaxNames))
	}
	if c.DailyBudget < 1 || c.DailyBudget > MaxBudget {
		errs = append(errs,
			fmt.Errorf("daily_budget: %d evaluations: must be 1 to %d; to spend nothing on Tier 2, configure no evaluator",
				c.DailyBudget, MaxBudget))
	}
	if len(c.AlarmAt) > MaxShares {
		errs = append(errs, fmt.Errorf("alarm_at: %d shares: at most %d", len(c.AlarmAt), MaxShares))
	}
	for i, share := range c.AlarmAt {
		if share < 1 || share > 100 || i > 0 && share <= c.AlarmAt[i-1] {
			errs = append(errs, fmt.Errorf("alarm_at[%d]: %d percent: must be 1 to 100, each greater than the one before", i,
				share))
		}
	}
	return errors.Join(errs...)
}
