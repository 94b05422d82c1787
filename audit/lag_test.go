package audit

import (
	"errors"
	"testing"
	"time"

	"approver.example"
)

// A store that comes back with an older head has lost writings. How much they span
// tells a fail-over, which takes the last seconds along, from a dump that somebody
// put back. Time in which nothing was written says nothing.
func TestAStoreThatIsReplacedUnderOurHands(t *testing.T) {
	for name, tt := range map[string]struct {
		at    []time.Duration // when heads were written; the last is refused now
		back  int             // which of them the store has again; -1 is one of before
		older bool
	}{
		"nothing lost":                     {at: []time.Duration{0, 1, 2}, back: 1},
		"the last second":                  {at: []time.Duration{0, 3600, 3601, 3602}, back: 1},
		"one write after an idle hour":     {at: []time.Duration{0, 3600, 3601}, back: 0},
		"ten seconds":                      {at: []time.Duration{0, 1, 11, 12}, back: 0},
		"eleven seconds":                   {at: []time.Duration{0, 1, 12, 13}, back: 0, older: true},
		"an hour":                          {at: []time.Duration{0, 1, 1800, 3600, 3601}, back: 0, older: true},
		"all of this process, short":       {at: []time.Duration{0, 1, 2}, back: -1},
		"all of this process, long":        {at: []time.Duration{0, 60, 3600, 3601}, back: -1, older: true},
		"nothing was written by this life": {at: []time.Duration{0}, back: -1},
	} {
		k := headKeeper{}
		for _, at := range tt.at {
			k.mine = append(k.mine, written{approver.NewRev(), time.Unix(0, 0).Add(at * time.Second)})
		}
		if err := k.lost(tt.back); errors.Is(err, errOlder) != tt.older {
			t.Errorf("%s: %v", name, err)
		}
	}
}
