package ladder

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"approver.example"
)

// Lines describe a ladder for whoever configured it, with who is on duty at a time. It is empty without one.
// waits says for how long the questions of a severity wait.
func (c Config) Lines(
	places []Place, waits func(approver.Severity) time.Duration, now time.Time,
) (lines []string) {
	plan, problems := c.Plan(places)
	if plan.IsZero() || len(problems) > 0 {
		return nil
	}
	for _, s := range c.Steps {
		when := "at once"
		if s.After > 0 {
			when = "after " + short(s.After)
		}
		line := when + only(s.When) + ": " + strings.Join(s.To, ", ")
		if longest := longestWait(s, waits); s.After >= longest {
			line += " (a question waits " + short(longest) + ", so only one that was given more time gets there)"
		}
		lines = append(lines, line)
	}
	if len(c.Steps) == 0 {
		lines = append(lines, "at once: every chat")
	}
	if c.Remind > 0 {
		lines = append(lines, "a reminder each "+short(c.Remind)+", three at most")
	}
	for i, s := range c.Schedules {
		d := (&maker{Config: c, places: places}).duty(fmt.Sprint(i), s)
		turn := s.People[d.turn(now)]
		lines = append(lines, fmt.Sprintf("schedule:%s is now %s, turns of %d days from %s", s.Name,
			cmp.Or(turn.Name, strings.Join(turn.Chats, ", ")), s.Days, d.start.clock))
	}
	for _, q := range c.Quiet {
		line := fmt.Sprintf("quiet from %s to %s %s: %s", q.From, q.To, cmp.Or(q.Zone, "of this machine"),
			strings.Join(q.Chats, ", "))
		switch {
		case q.Except == nil:
			line += ", but not for CATASTROPHIC"
		case len(q.Except) > 0:
			line += ", but not for " + severities(q.Except)
		}
		lines = append(lines, line)
	}
	return lines
}

// longestWait is how long a question waits at most that a step is for.
func longestWait(s Step, waits func(approver.Severity) time.Duration) (longest time.Duration) {
	for _, severity := range []approver.Severity{approver.High, approver.Catastrophic} {
		if (rung{when: s.When}).is(severity) {
			longest = max(longest, waits(severity))
		}
	}
	return longest
}

func only(when []approver.Severity) string {
	if len(when) == 0 {
		return ""
	}
	return ", for " + severities(when)
}

func severities(all []approver.Severity) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = s.String()
	}
	return strings.Join(words, " and ")
}

// short formats a duration without its zero parts.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
