package approver

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"approver.example/display"
)

func TestReception(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m ReceptionMeter
		if got := m.Reception(); got != (Reception{}) {
			t.Fatalf("before the first try: %+v", got)
		}
		start := time.Now()
		at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
		for _, step := range []struct {
			fail string
			want Reception
		}{
			{"no route", Reception{Since: at(1), Bad: at(1), Problem: "no route"}},
			{"no\nroute", Reception{Since: at(1), Bad: at(2), Problem: display.OneLine("no\nroute")}},
			{"", Reception{Up: true, Since: at(3), Good: at(3), Bad: at(2), Problem: display.OneLine("no\nroute")}},
			{"", Reception{Up: true, Since: at(3), Good: at(4), Bad: at(2), Problem: display.OneLine("no\nroute")}},
			{"409", Reception{Since: at(5), Good: at(4), Bad: at(5), Problem: "409"}},
		} {
			time.Sleep(time.Second)
			if step.fail == "" {
				m.Succeeded()
			} else {
				m.Failed(errors.New(step.fail))
			}
			if got := m.Reception(); got != step.want {
				t.Errorf("after %q: %+v, want %+v", step.fail, got, step.want)
			}
		}
	})
}

// Another program with the same bot is told with since when, and is forgotten an hour after its last sign. Answers
// arrive all the same.
func TestContest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m ReceptionMeter
		m.Succeeded()
		began := time.Now()
		m.Contested("another daemon\nhas it")
		time.Sleep(ContestFor - time.Minute)
		m.Contested("another daemon has it")
		time.Sleep(ContestFor - time.Minute)
		if got := m.Reception(); !got.Up || got.Contest != "another daemon has it" || !got.ContestSince.Equal(began) {
			t.Errorf("%+v", got)
		}
		time.Sleep(time.Minute)
		if got := m.Reception(); got.Contest != "" || !got.ContestSince.IsZero() {
			t.Errorf("later: %+v", got)
		}
		m.Contested("another daemon has it")
		if got := m.Reception(); got.Contest == "" || !got.ContestSince.Equal(time.Now()) {
			t.Errorf("anew: %+v", got)
		}
	})
}
