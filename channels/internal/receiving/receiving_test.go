package receiving

import (
	"fmt"
	"testing"
)

func TestSeenForgetsTheOldest(t *testing.T) {
	s := NewSeen[int](3)
	for _, k := range []int{1, 2, 3, 2, 4, 5} {
		s.First(k)
	}
	for k, want := range map[int]bool{1: false, 2: false, 3: true, 4: true, 5: true} {
		if s.Has(k) != want {
			t.Errorf("Has(%d) is %v", k, !want)
		}
	}
	if len(s.ids) != 3 || s.First(5) || !s.First(1) || s.Has(3) {
		t.Errorf("%d ids are remembered, or an id is new twice", len(s.ids))
	}
}

func TestSeenTakesSeveralIDsOfOneEvent(t *testing.T) {
	s := NewSeen[string](8)
	if !s.First("a", "b") || s.First("a") || s.First("b") || s.First("x", "b") || s.First("x") {
		t.Error("an id that came twice counts twice")
	}
	for i := range 100 {
		if !s.First(fmt.Sprint(i)) {
			t.Errorf("%d is taken for seen", i)
		}
	}
	if len(s.ids) > 8 {
		t.Errorf("%d ids are remembered, want at most 8", len(s.ids))
	}
	if s.First("99") || !s.First("a") {
		t.Error("the newest id must be remembered, the oldest forgotten")
	}
}
