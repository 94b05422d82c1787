package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
)

// A howLong is a time on the command line, such as 90s, 5m or 1h.
type howLong time.Duration

// Decode reads it. A number alone says no unit, so it is refused with the words that
// may have been meant.
func (h *howLong) Decode(ctx *kong.DecodeContext) error {
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
	*h = howLong(d)
	return nil
}

// String is as time.Duration's.
func (h howLong) String() string { return time.Duration(h).String() }
