package ladder

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"approver.example"
)

// Config is what a configuration says of the ladder. The zero value is no ladder.
type Config struct {
	Steps     []Step
	Remind    time.Duration
	Quiet     []Quiet
	Schedules []Schedule
}

// A Step is one step of a ladder.
type Step struct {
	// After is when the step is taken, counted from the question; zero is at once.
	After time.Duration `yaml:"after"`
	// To names the channels and chats that get a card then: telegram is each chat of a channel,
	// telegram:10042567 one of them, and schedule:NAME the chats of whoever is on duty.
	To []string `yaml:"to"`
	// When are the severities that the step is for; empty means all.
	When []approver.Severity `yaml:"when"`
}

// Quiet are quiet hours of some chats.
type Quiet struct {
	// Chats are named as in Step.To.
	Chats []string `yaml:"chats"`
	// From and To are times of the day on the wall in Zone. To may be on the next day.
	From Clock `yaml:"from"`
	To   Clock `yaml:"to"`
	// Zone is the name of a time zone, such as Europe/Berlin; empty means that of the machine.
	Zone string `yaml:"zone"`
	// Except are the severities that are shown all the same; nil means CATASTROPHIC, and an empty list none.
	Except []approver.Severity `yaml:"except"`
}

// A Schedule says who is on duty.
type Schedule struct {
	// Name is what a step calls it: schedule:NAME.
	Name string `yaml:"name"`
	// Start is when the first turn of the first person begins, on the wall in Zone.
	Start Start `yaml:"start"`
	// Days is the length of a turn.
	Days int `yaml:"days"`
	// Zone is the name of a time zone; empty means that of the machine.
	Zone string `yaml:"zone"`
	// People are those who take turns.
	People []Turn `yaml:"people"`
}

// A Turn is one of the people who take turns.
type Turn struct {
	Name  string   `yaml:"name"`  // only for display
	Chats []string `yaml:"chats"` // named as in Step.To
}

// A Place is one of the places that can get cards.
type Place struct {
	approver.Destination
	Pages bool // it only calls people to the others
	Local bool // it is on this machine's screens, which disturb nobody
}

// A Problem is what is wrong with the setting at Path.
type Problem struct{ Path, Text string }

// Bounds of a configuration.
const (
	maxAfter  = time.Hour
	minRemind = 10 * time.Second
	maxDays   = 366
	schedule  = "schedule"
)

// A maker makes a plan and collects the problems.
type maker struct {
	Config
	places   []Place
	problems []Problem
	duties   map[string]duty
}

// Plan looks up what the configuration names. places are all that can get cards.
func (c Config) Plan(places []Place) (Plan, []Problem) {
	if len(c.Steps) == 0 && len(c.Quiet) == 0 && c.Remind == 0 && len(c.Schedules) == 0 {
		return Plan{}, nil
	}
	m := &maker{Config: c, places: places, duties: map[string]duty{}}
	plan := Plan{remind: c.Remind}
	m.bad(c.Remind != 0 && (c.Remind < minRemind || c.Remind > maxAfter), "remind",
		"remind must be %v to %v, or left out",
		minRemind, maxAfter)
	for i, s := range c.Schedules {
		path := fmt.Sprintf("schedules[%d]", i)
		_, twice := m.duties[s.Name]
		m.bad(s.Name == "", path, "%s: name is missing: a step of the ladder needs it, as in schedule:NAME", path)
		m.bad(twice, path+".name", "%s.name: there are two schedules %q: give each its own name", path, s.Name)
		m.duties[s.Name] = m.duty(path, s)
	}
	for _, place := range places {
		if place.Local {
			plan.always = append(plan.always, place.Destination)
		}
	}
	plan.steps = m.steps()
	for i, q := range c.Quiet {
		plan.hours = append(plan.hours, m.hours(fmt.Sprintf("quiet[%d]", i), q))
	}
	if len(m.problems) > 0 {
		return Plan{}, m.problems
	}
	return plan, nil
}

func (m *maker) bad(is bool, path, format string, args ...any) {
	problem := Problem{path, fmt.Sprintf(format, args...)}
	if is && !slices.Contains(m.problems, problem) {
		m.problems = append(m.problems, problem)
	}
}

// steps looks up the steps, and checks that everybody is asked at some time. Without any there is one: every
// chat at once.
func (m *maker) steps() (all []rung) {
	if len(m.Steps) == 0 {
		one := rung{}
		for _, place := range m.places {
			if !place.Local {
				one.to = append(one.to, place.Destination)
			}
		}
		return []rung{one}
	}
	for i, s := range m.Steps {
		path := fmt.Sprintf("ladder[%d]", i)
		m.bad(len(s.To) == 0, path, "%s: to is empty: name at least one channel or chat", path)
		m.bad(s.After < 0 || s.After > maxAfter, path+".after", "%s.after must be 0s to %v, counted from the question",
			path,
			maxAfter)
		r := rung{after: s.After, when: s.When}
		for n, word := range s.To {
			to, on, ok := m.chats(fmt.Sprintf("%s.to[%d]", path, n), word)
			if r.to = append(r.to, to...); ok && on != nil {
				r.duty = append(r.duty, *on)
			}
		}
		all = append(all, r)
	}
	for _, severity := range []approver.Severity{approver.High, approver.Catastrophic} {
		m.checkSteps(all, severity)
	}
	m.checkNamed()
	return all
}

// checkSteps checks the steps for one severity.
func (m *maker) checkSteps(all []rung, severity approver.Severity) {
	last, chat := time.Duration(-1), false
	for i, s := range all {
		if !s.is(severity) {
			continue
		}
		path := fmt.Sprintf("ladder[%d]", i)
		m.bad(last < 0 && s.after != 0, path+".after",
			"%s.after: it is the first step for %s requests, so they would be put "+
				"before nobody for %v: leave after out", path, severity, s.after)
		m.bad(s.after < last, path+".after",
			"%s.after is shorter than that of a step before it: put the steps in the order "+
				"of time", path)
		last = s.after
		pages := len(s.duty) == 0 && len(s.to) > 0 && !slices.ContainsFunc(s.to, func(d approver.Destination) bool {
			return !m.pages(d)
		})
		m.bad(!chat && pages, path+".to",
			"%s.to: it calls people about %s requests before any chat has a card that they could "+
				"answer: add a chat, or a step with one before it", path, severity)
		chat = chat || !pages
	}
	m.bad(last < 0, "ladder",
		"ladder: no step is for %s requests, so nobody would be asked about them: add one, or leave "+
			"when out of one", severity)
}

// checkNamed finds chats that would never get a card.
func (m *maker) checkNamed() {
	var named []approver.Destination
	look := func(words []string) {
		for _, word := range words {
			named = append(named, m.named(word)...)
		}
	}
	for _, s := range m.Steps {
		look(s.To)
	}
	for _, s := range m.Schedules {
		for _, turn := range s.People {
			look(turn.Chats)
		}
	}
	for _, place := range m.places {
		m.bad(!place.Local && !slices.Contains(named, place.Destination), "ladder",
			"ladder: no step names %s, so it would "+
				"never get a card: add it to one, or take it out of channels", word(place.Destination))
	}
}

func (m *maker) pages(to approver.Destination) bool {
	return slices.ContainsFunc(m.places, func(p Place) bool { return p.Destination == to && p.Pages })
}

// word is how a destination is named.
func word(to approver.Destination) string { return to.Channel + ":" + to.Conversation }

// named are the chats that a word names; none for a schedule.
func (m *maker) named(name string) (all []approver.Destination) {
	for _, place := range m.places {
		if place.Channel == name || word(place.Destination) == name {
			all = append(all, place.Destination)
		}
	}
	return all
}

// chats are the chats that a word names, or the schedule. It notes a problem if there is none.
func (m *maker) chats(path, name string) (to []approver.Destination, on *duty, ok bool) {
	if of, is := strings.CutPrefix(name, schedule+":"); is {
		d, known := m.duties[of]
		m.bad(!known, path, "%s: there is no schedule %q: %s", path, of, oneOf(slices.Sorted(maps.Keys(m.duties)),
			"describe it under schedules"))
		return nil, &d, known
	}
	to = m.named(name)
	var words []string
	for _, place := range m.places {
		if !place.Local && !slices.Contains(words, place.Channel) {
			words = append(words, place.Channel)
		}
	}
	channel, _, one := strings.Cut(name, ":")
	if one && slices.Contains(words, channel) {
		words = nil
		for _, place := range m.places {
			if place.Channel == channel {
				words = append(words, word(place.Destination))
			}
		}
	}
	m.bad(len(to) == 0, path, "%s: no chat %q is configured: %s", path, name, oneOf(words, "configure a channel"))
	return to, nil, len(to) > 0
}

func oneOf(words []string, none string) string {
	if len(words) == 0 {
		return none
	}
	return "one of " + strings.Join(words, ", ")
}

// hours looks up quiet hours.
func (m *maker) hours(path string, q Quiet) hours {
	m.bad(len(q.Chats) == 0, path, "%s: chats is empty: name the channels and chats that are to be left alone", path)
	m.bad(q.From == q.To, path+".to", "%s.to is the same as from: quiet hours need a beginning and an end", path)
	h := hours{from: q.From, by: q.To, zone: m.zone(path, q.Zone), except: q.Except}
	if q.Except == nil {
		h.except = []approver.Severity{approver.Catastrophic}
	}
	for n, name := range q.Chats {
		at := fmt.Sprintf("%s.chats[%d]", path, n)
		m.bad(strings.HasPrefix(name, schedule+":"), at, "%s: a schedule has no quiet hours: name the chats themselves",
			at)
		if strings.HasPrefix(name, schedule+":") {
			continue
		}
		to, _, _ := m.chats(at, name)
		h.to = append(h.to, to...)
	}
	return h
}

// duty looks up a schedule.
func (m *maker) duty(path string, s Schedule) duty {
	m.bad(s.Start.IsZero(), path+".start",
		"%s: start is missing: write when the first turn begins, like \"2026-11-30 09:00\"", path)
	m.bad(s.Days < 1 || s.Days > maxDays, path+".days", "%s.days must be 1 to %d: how long a turn is", path, maxDays)
	m.bad(len(s.People) == 0, path, "%s: people is empty: name those who take turns", path)
	d := duty{start: s.Start, days: max(s.Days, 1), zone: m.zone(path, s.Zone)}
	for i, turn := range s.People {
		at := fmt.Sprintf("%s.people[%d]", path, i)
		m.bad(len(turn.Chats) == 0, at, "%s: chats is empty: name a chat of theirs", at)
		var to []approver.Destination
		for n, name := range turn.Chats {
			at := fmt.Sprintf("%s.chats[%d]", at, n)
			m.bad(strings.HasPrefix(name, schedule+":"), at, "%s: a schedule cannot take a turn: name a chat", at)
			if strings.HasPrefix(name, schedule+":") {
				continue
			}
			chats, _, _ := m.chats(at, name)
			to = append(to, chats...)
		}
		m.bad(len(to) > 0 && !slices.ContainsFunc(to, func(d approver.Destination) bool { return !m.pages(d) }), at,
			"%s: nobody can answer in these chats: name one where they can", at)
		d.turns = append(d.turns, to)
	}
	return d
}

// zone loads a time zone. Nothing is loaded that no setting names.
func (m *maker) zone(path, name string) *time.Location {
	if name == "" {
		return time.Local
	}
	zone, err := time.LoadLocation(name)
	m.bad(err != nil, path+".zone",
		"%s.zone: this machine knows no time zone %q: write it like Europe/Berlin or UTC; if it is "+
			"right, install the system's tzdata", path, name)
	return cmp.Or(zone, time.UTC)
}
