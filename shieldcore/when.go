package shieldcore

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"approver.example/agents/facts"
)

// whenFile is the circumstances of a rule as written.
type whenFile struct {
	Agents       []string `yaml:"agents"`
	UIDs         []uint32 `yaml:"uids"`
	Dirs         []string `yaml:"dirs"`
	Time         timeFile `yaml:"time"`
	Branches     []string `yaml:"branches"`
	Environments []string `yaml:"environments"`
}

type timeFile struct {
	From string   `yaml:"from"`
	To   string   `yaml:"to"`
	Days []string `yaml:"days"`
	Zone string   `yaml:"zone"`
}

// A when is the circumstances under which a rule counts. All must hold.
//
// An unknown fact never loosens: the circumstance holds for a rule that asks or denies,
// and does not hold for one that allows.
type when struct {
	agents       []string
	uids         []uint32
	dirs         []string
	hours        *hours
	branches     []toolGlob
	environments []string
}

// hold reports whether the circumstances hold for a rule that allows, or for one
// that does not.
func (w *when) hold(s *subject, allows bool) bool {
	dir, at := s.call.Dir, s.call.At
	return listed(w.agents, s.call.Agent, s.call.Agent != "", allows) &&
		listed(w.uids, s.call.Peer.UID, s.call.Peer.Known, allows) &&
		listed(w.dirs, dir, dir != "", allows) &&
		(w.hours == nil || certain(!at.IsZero(), w.hours.hold(at), allows)) &&
		w.holdsBranch(s, allows) &&
		(w.environments == nil || meet(s.environments(), allows, func(e string) bool {
			return slices.Contains(w.environments, e)
		}))
}

// certain is what holds, and for an unknown fact what does not loosen.
func certain(known, holds, allows bool) bool {
	if !known {
		return !allows
	}
	return holds
}

// listed reports whether a list has a value. The nil list has all.
func listed[T comparable](list []T, value T, known, allows bool) bool {
	return list == nil || certain(known, slices.Contains(list, value), allows)
}

// holdsBranch checks every branch that the call may be about.
func (w *when) holdsBranch(s *subject, allows bool) bool {
	if w.branches == nil {
		return true
	}
	branches, sure := s.gitBranches()
	return certain(sure, meet(branches, allows, func(b string) bool { return anyTool(w.branches, b) }), allows)
}

// hours are a part of the day on some days of the week.
type hours struct {
	from, to int // minutes; if to is before from, they go over midnight
	days     []time.Weekday
	zone     *time.Location
}

// hold reports whether a time is within the hours. Hours after midnight belong to the
// day on which they began.
func (h *hours) hold(at time.Time) bool {
	at = at.In(h.zone)
	minute, day := at.Hour()*60+at.Minute(), at.Weekday()
	in := minute >= h.from && minute < h.to
	if h.to <= h.from {
		in = minute >= h.from || minute < h.to
		if minute < h.to {
			day = (day + 6) % 7
		}
	}
	return in && (h.days == nil || slices.Contains(h.days, day))
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// when compiles the circumstances of a rule, nil if it has none.
func (c *compiler) when(at string, w whenFile) *when {
	if !c.Has(at) {
		return nil
	}
	out := &when{agents: w.Agents, uids: w.UIDs, dirs: w.Dirs, hours: c.hours(at+".time", w.Time),
		branches: c.toolGlobs(at+".branches", w.Branches), environments: w.Environments}
	any := c.Has(at + ".time")
	for key, n := range map[string]int{"agents": len(w.Agents), "uids": len(w.UIDs), "dirs": len(w.Dirs),
		"branches": len(w.Branches), "environments": len(w.Environments)} {
		any = any || c.Has(at+"."+key)
		c.notEmpty(at+"."+key, n, ", or name some")
	}
	if !any && c.Good(at) {
		c.ReportKey(at, "when is empty: remove the line, or write agents, uids, dirs, time, branches or environments")
	}
	for i, name := range w.Agents {
		if !wordName().MatchString(name) {
			c.badItem(at+".agents", i, "agent %q is not a name: write it as for the hook, such as %s", name,
				facts.Example())
		}
	}
	for i, dir := range w.Dirs {
		if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
			c.badItem(at+".dirs", i, "%q is not a whole path without . and .. in it: write it like /home/ada/project", dir)
		}
	}
	for i, name := range w.Environments {
		if !slices.Contains(environmentNames, name) {
			c.badItem(at+".environments", i, "%s", unknownWord("environment", name, environmentNames))
		}
	}
	return out
}

func (c *compiler) hours(at string, t timeFile) *hours {
	if !c.Has(at) {
		return nil
	}
	h := &hours{from: c.minute(at+".from", t.From), to: c.minute(at+".to", t.To), zone: time.UTC}
	if h.from == h.to && c.Good(at+".from") && c.Good(at+".to") {
		c.Report(at+".to", "from and to are the same, which is no time at all: remove time for the whole day")
	}
	for i, day := range t.Days {
		n := slices.Index(weekdays, strings.ToLower(day))
		if n < 0 {
			c.badItem(at+".days", i, "%s", unknownWord("day", day, weekdays))
		}
		h.days = append(h.days, time.Weekday(n))
	}
	c.notEmpty(at+".days", len(t.Days), " for every day, or name some")
	if !c.Has(at + ".zone") {
		c.ReportKey(at, "time has no zone: add a line such as zone: Europe/Berlin, or zone: UTC")
	} else if c.Good(at + ".zone") {
		zone, err := time.LoadLocation(t.Zone)
		if err != nil || t.Zone == "" || t.Zone == "Local" {
			c.report(at+".zone", "the time zone %q is not known here: write one like Europe/Berlin or UTC", t.Zone)
		} else {
			h.zone = zone
		}
	}
	return h
}

func (c *compiler) minute(at, text string) int {
	t, err := time.Parse("15:04", text)
	if err != nil && (!c.Has(at) || c.Good(at)) {
		c.Report(at, "a time of day is needed in both from and to: write it like \"22:00\"")
	}
	return t.Hour()*60 + t.Minute()
}
