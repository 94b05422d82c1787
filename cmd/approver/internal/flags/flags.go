// Package flags has types of flags that several commands use.
package flags

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"approver.example/daemon/words"
)

// A HowLong is a duration on the command line, such as 90s, 5m or 1h.
type HowLong time.Duration

// Decode reads the duration. It rejects a number without a unit, and suggests what may have
// been meant.
func (h *HowLong) Decode(ctx *kong.DecodeContext) error {
	var word string
	if err := ctx.Scan.PopValueInto("time", &word); err != nil {
		return err
	}
	d, err := time.ParseDuration(word)
	switch n, numberErr := strconv.ParseUint(word, 10, 32); {
	case err != nil && numberErr == nil:
		return fmt.Errorf("%q has no unit: write %dm for minutes or %ds for seconds", word, n, n)
	case err != nil:
		return fmt.Errorf("%q is not a time: write 90s, 5m or 1h", word)
	case d < 0:
		return fmt.Errorf("%q is negative: write 90s, 5m or 1h", word)
	}
	*h = HowLong(d)
	return nil
}

// String formats the value as time.Duration does.
func (h HowLong) String() string { return time.Duration(h).String() }

// A Span is a duration that may be written in days: 7d, 36h, 90m.
type Span time.Duration

// Decode reads the duration.
func (s *Span) Decode(ctx *kong.DecodeContext) error {
	word := ctx.Scan.Pop().String()
	d, err := time.ParseDuration(word)
	if days, in := strings.CutSuffix(word, "d"); in {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 || d > 10*365*24*time.Hour {
		return fmt.Errorf("%q is no length of time: write 7d, 36h or 90m", word)
	}
	*s = Span(d)
	return nil
}

// String writes a whole number of days in days.
func (s Span) String() string { return words.Days(time.Duration(s)) }
