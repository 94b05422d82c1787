package configs

import (
	"time"

	"approver.example"
	"approver.example/broadcaster/ladder"
)

// Plan is the ladder, with its chats and time zones looked up. A configuration that is valid has one, as long
// as the machine knows its time zones.
func (c Config) Plan() ladder.Plan {
	plan, _ := c.plan()
	return plan
}

// LadderLines describe the ladder in words, with who is on duty at a time; none without one.
func (c Config) LadderLines(now time.Time) []string {
	waits := c.Wait.Of()
	return c.ladder().Lines(c.places(), func(s approver.Severity) time.Duration { return max(c.TTL, waits[s]) }, now)
}

func (c Config) plan() (ladder.Plan, []ladder.Problem) { return c.ladder().Plan(c.places()) }

func (c Config) ladder() ladder.Config {
	return ladder.Config{Steps: c.Ladder, Remind: c.Remind, Quiet: c.Quiet, Schedules: c.Schedules}
}

// places are all that can get cards.
func (c Config) places() (places []ladder.Place) {
	for _, d := range c.Destinations() {
		places = append(places, ladder.Place{
			Destination: d, Pages: c.Channels.Pages(d.Channel), Local: c.Channels.IsLocal(d.Channel),
		})
	}
	return places
}

// ladderProblems finds what the ladder names and is not there.
func (c Config) ladderProblems() (out []problem) {
	_, all := c.plan()
	for _, p := range all {
		out = append(out, problem{p.Path, p.Text})
	}
	return out
}

// chats are the destinations on which people can answer, or at least see a card.
func (c Config) chats() (all []approver.Destination) {
	for _, d := range c.Destinations() {
		if !c.Channels.Pages(d.Channel) {
			all = append(all, d)
		}
	}
	return all
}

// pageProblems finds channels that call people although there is nothing to call them to.
func (c Config) pageProblems() (out []problem) {
	for _, ch := range c.Channels.InUse() {
		if path := "channels." + ch.Name; c.Channels.Pages(ch.Name) && len(c.chats()) == 0 {
			out = append(out, problem{path, path + ": it only calls people, and there is no channel on which they could " +
				"answer: configure one beside it"})
		}
	}
	return out
}
