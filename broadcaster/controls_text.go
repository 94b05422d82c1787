package broadcaster

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file says for people what the controls hold.

// Notice is what cards say while something is frozen, observed or paused.
func (c Controls) Notice(now time.Time) string {
	switch {
	case c.Missing:
		return "FROZEN because " + c.Freeze.Reason
	case c.Frozen():
		text := "FROZEN by " + display.SafeLine(c.Freeze.By) + " since " + c.Freeze.At.UTC().Format("15:04:05 UTC")
		if c.Here != "" {
			text += ", by this daemon alone until it is restarted or the store takes the freeze: " + display.OneLine(c.Here)
		}
		return text
	case len(c.Held()) > 0:
		return strings.Join(append([]string{"FROZEN: " + c.FrozenText()}, c.loosened(now)...), "; ")
	}
	return strings.Join(c.loosened(now), "")
}

// loosened says whether something is observed or paused.
func (c Controls) loosened(now time.Time) []string {
	var text string
	switch {
	case c.Observing(now):
		text = c.Observe.notice()
	case c.Paused(approver.Catastrophic, now):
		text = "PAUSED until " + c.Pause.Until.UTC().Format("15:04:05 UTC") + " by " + display.Safe(c.Pause.By) +
			": nobody is asked"
	case c.Paused(approver.High, now):
		text = "PAUSED until " + c.Pause.Until.UTC().Format("15:04:05 UTC") + " by " + display.Safe(c.Pause.By) +
			": HIGH calls are not asked"
	default:
		return nil
	}
	return []string{text}
}

// Loosened says which pause and observe mode are in force; empty if none is.
func (c Controls) Loosened(now time.Time) string { return c.endLoosened(now) }

// FrozenText says what is frozen, for people; empty if nothing is.
func (c Controls) FrozenText() string {
	var parts []string
	if c.Frozen() {
		parts = append(parts, "everything by "+display.SafeLine(c.Freeze.By))
	}
	for _, h := range c.Held() {
		parts = append(parts, h.Who.String()+" by "+display.SafeLine(h.By))
	}
	if n := len(parts); n > maxNamed {
		parts = append(parts[:maxNamed], fmt.Sprintf("and %d more", n-maxNamed))
	}
	return strings.Join(parts, "; ")
}

// FreezeLines say of each freeze that holds what it stops, by whom, since when and why.
func (c Controls) FreezeLines() (lines []string) {
	line := func(what string, f Freeze) {
		text := what + ": frozen by " + display.SafeLine(f.By)
		if !f.At.IsZero() { // of one that stands for a lost record nobody knows
			text += " at " + f.At.UTC().Format("2006-01-02 15:04:05 UTC")
		}
		lines = append(lines, text+", "+cmp.Or(display.SafeLine(f.Reason), "no reason given"))
	}
	if c.Frozen() {
		what := "everything"
		if c.Here != "" {
			what += ", by this daemon alone"
		}
		line(what, c.Freeze)
	}
	for _, h := range c.Held() {
		what := h.Who.String()
		if h.Who.Session != "" {
			what += ", and its session " + display.SafeLine(h.Who.Session) + " wherever it goes"
		}
		line(what, h.Freeze)
	}
	return lines
}
