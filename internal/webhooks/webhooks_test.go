package webhooks

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestSecret(t *testing.T) {
	s := NewSecret("abcdef")
	for text, want := range map[string]bool{"abcdef": true, "": false, "abcde": false, "abcdefg": false, "Abcdef": false} {
		if s.Matches(text) != want {
			t.Errorf("%q matches: %v", text, !want)
		}
	}
	for _, none := range []Secret{{}, NewSecret("")} {
		if none.Matches("") || none.Matches("x") {
			t.Error("no secret matches")
		}
	}
}

func TestFresh(t *testing.T) {
	now := time.Date(2026, 5, 4, 14, 30, 0, 0, time.UTC)
	at := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	for stamp, want := range map[string]string{
		at(0): "", at(-time.Minute): "", at(time.Minute): "",
		at(-61 * time.Second): "1m1s away", at(61 * time.Second): "1m1s away", at(-240 * time.Hour): "away",
		"": "not one", "x": "not one", "+1777905000": "not one", " 1777905000": "not one", "0001777905000": "not one",
		"1777905000.0": "not one", "-5": "not of this age", "9223372036854775807": "not of this age",
		"92233720368547758070": "not one",
	} {
		err := Fresh(stamp, now, time.Minute)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", stamp, err, want)
		}
	}
}

// A gate that is shut lets nobody in, and shutting an earlier one does not shut what was opened since.
func TestGate(t *testing.T) {
	var g Gate[int]
	if g.Enter(func(*int) { t.Error("a gate that was never opened lets in") }) {
		t.Error("it says so, too")
	}
	one, two := 1, 2
	shutOne := g.Open(&one)
	shutTwo := g.Open(&two)
	shutOne()
	got := 0
	if !g.Enter(func(n *int) { got = *n }) || got != 2 {
		t.Errorf("led to %d", got)
	}
	shutTwo()
	if g.Enter(func(*int) {}) {
		t.Error("a shut gate lets in")
	}
}

// When shut has returned, nobody is inside.
func TestGateWaits(t *testing.T) {
	var g Gate[int]
	n, inside, leave := 0, make(chan struct{}), make(chan struct{})
	shut := g.Open(&n)
	go g.Enter(func(n *int) { close(inside); <-leave; *n = 1 })
	<-inside
	done := make(chan struct{})
	go func() { shut(); close(done) }()
	close(leave)
	<-done
	if n != 1 {
		t.Error("somebody was inside")
	}
}

// Fresh takes texts of strangers.
func FuzzFresh(f *testing.F) {
	f.Add("1777905000")
	f.Add("-1")
	f.Add("9223372036854775807")
	now := time.Unix(1777905000, 0)
	f.Fuzz(func(t *testing.T, stamp string) {
		if Fresh(stamp, now, time.Minute) != nil {
			return
		}
		n, err := strconv.ParseInt(stamp, 10, 64)
		if err != nil || n < now.Unix()-60 || n > now.Unix()+60 {
			t.Errorf("%q is fresh", stamp)
		}
	})
}
