package shieldcore

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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

// A fact is the state of one circumstance. The zero value is unknown.
type fact uint8

const (
	unknown fact = iota
	holds
	fails
)

func factOf(b bool) fact {
	if b {
		return holds
	}
	return fails
}

// hold reports whether the circumstances hold for a rule that allows, or for one
// that does not.
func (w *when) hold(s *subject, allows bool) bool {
	for _, check := range []func(*subject, bool) fact{w.agent, w.holdsUID, w.holdsDir, w.holdsTime,
		w.branch, w.environment} {
		if k := check(s, allows); k == fails || k == unknown && allows {
			return false
		}
	}
	return true
}

func (w *when) agent(s *subject, _ bool) fact {
	switch {
	case w.agents == nil:
		return holds
	case s.call.Agent == "":
		return unknown
	}
	return factOf(slices.Contains(w.agents, s.call.Agent))
}

func (w *when) holdsUID(s *subject, _ bool) fact {
	switch {
	case w.uids == nil:
		return holds
	case !s.call.Peer.Known:
		return unknown
	}
	return factOf(slices.Contains(w.uids, s.call.Peer.UID))
}

func (w *when) holdsDir(s *subject, _ bool) fact {
	switch {
	case w.dirs == nil:
		return holds
	case s.call.Dir == "":
		return unknown
	}
	return factOf(slices.Contains(w.dirs, s.call.Dir))
}

func (w *when) holdsTime(s *subject, _ bool) fact {
	switch {
	case w.hours == nil:
		return holds
	case s.call.At.IsZero():
		return unknown
	}
	return factOf(w.hours.hold(s.call.At))
}

// branch checks every branch that the call may be about. For a rule that asks or denies
// one must match, for one that allows all must.
func (w *when) branch(s *subject, allows bool) fact {
	if w.branches == nil {
		return holds
	}
	branches, sure := s.gitBranches()
	if !sure {
		return unknown
	}
	for _, b := range branches {
		if anyTool(w.branches, b) != allows {
			return factOf(!allows)
		}
	}
	return factOf(allows && len(branches) > 0)
}

// environment checks the call's environments as branch does. A call without marks is in
// none of them.
func (w *when) environment(s *subject, allows bool) fact {
	if w.environments == nil {
		return holds
	}
	found := s.environments()
	for _, e := range found {
		if slices.Contains(w.environments, e) != allows {
			return factOf(!allows)
		}
	}
	return factOf(allows && len(found) > 0)
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

var clock = regexp.MustCompile(`^([01]?\d|2[0-3]):([0-5]\d)$`)

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// when compiles the circumstances of a rule, nil if it has none.
func (c *compiler) when(at string, w whenFile) *when {
	if !c.Has(at) {
		return nil
	}
	out := &when{uids: w.UIDs, dirs: w.Dirs, hours: c.hours(at+".time", w.Time)}
	any := false
	for key, n := range map[string]int{"agents": len(w.Agents), "uids": len(w.UIDs), "dirs": len(w.Dirs),
		"branches": len(w.Branches), "environments": len(w.Environments), "time": 1} {
		place := at + "." + key
		any = any || c.Has(place)
		if c.Good(place) && n == 0 {
			c.Report(place, key+" is empty: remove the line, or name some")
		}
	}
	if !any && c.Good(at) {
		c.ReportKey(at, "when is empty: remove the line, or write agents, uids, dirs, time, branches or environments")
	}
	for i, name := range w.Agents {
		if !wordName.MatchString(name) {
			c.Report(fmt.Sprintf("%s.agents[%d]", at, i),
				fmt.Sprintf("agent %q is not a name: write it as for the hook, such as claude", name))
		}
	}
	out.agents = w.Agents
	for i, dir := range w.Dirs {
		if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
			c.Report(fmt.Sprintf("%s.dirs[%d]", at, i),
				fmt.Sprintf("%q is not a whole path without . and .. in it: write it like /home/ada/project", dir))
		}
	}
	if len(w.Branches) > 0 {
		out.branches = c.toolGlobs(at+".branches", w.Branches)
	}
	for i, name := range w.Environments {
		if !slices.Contains(environmentNames, name) {
			c.Report(fmt.Sprintf("%s.environments[%d]", at, i), unknownWord("environment", name, environmentNames))
		}
	}
	out.environments = w.Environments
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
			c.Report(fmt.Sprintf("%s.days[%d]", at, i), unknownWord("day", day, weekdays))
		}
		h.days = append(h.days, time.Weekday(n))
	}
	if c.Good(at+".days") && len(t.Days) == 0 {
		c.Report(at+".days", "days is empty: remove the line for every day, or name some")
	}
	if !c.Has(at + ".zone") {
		c.ReportKey(at, "time has no zone: add a line such as zone: Europe/Berlin, or zone: UTC")
	} else if c.Good(at + ".zone") {
		zone, err := time.LoadLocation(t.Zone)
		if err != nil || t.Zone == "" || t.Zone == "Local" {
			c.Report(at+".zone", fmt.Sprintf("the time zone %q is not known here: write one like Europe/Berlin or UTC", t.Zone))
		} else {
			h.zone = zone
		}
	}
	return h
}

func (c *compiler) minute(at, text string) int {
	m := clock.FindStringSubmatch(text)
	if m == nil {
		if !c.Has(at) || c.Good(at) {
			c.Report(at, "a time of day is needed in both from and to: write it like \"22:00\"")
		}
		return 0
	}
	hour, _ := strconv.Atoi(m[1]) // digits, by the expression
	minute, _ := strconv.Atoi(m[2])
	return hour*60 + minute
}
