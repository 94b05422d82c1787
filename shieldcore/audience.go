package shieldcore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"approver.example/internal/strictyaml"
)

// An Audience lists whom an installation can ask: for each channel that shows cards,
// the people who may answer there. A person has one id on all channels.
type Audience map[string][]Listener

// A Listener is one person on one channel.
type Listener struct {
	Person   string // the id that rules use
	Identity string // channel:ID on the platform, which rules may use by mistake
}

// checkAudience reports channels and people of a rule that do not exist, and a rule that
// nobody could approve.
func (c *compiler) checkAudience(at string, rf ruleFile) {
	channels := slices.Sorted(maps.Keys(c.audience))
	good := true
	for i, name := range rf.Channels {
		if _, there := c.audience[name]; !there {
			if good = false; !wordName().MatchString(name) {
				continue // people has reported it
			}
			c.badItem(at+".channels", i, "%s", unknownName("channel", name, "which is not configured", channels))
		}
	}
	var people []string
	for _, channel := range channels {
		for _, l := range c.audience[channel] {
			people = append(people, l.Person)
		}
	}
	for i, name := range rf.Approvers {
		if !slices.Contains(people, name) {
			if good = false; !personName().MatchString(name) {
				continue
			}
			c.badItem(at+".approvers", i, "%s", c.unknownPerson(name, people))
		}
	}
	if good && len(rf.Approvers) > 0 && !c.hasAnswerer(rf) {
		c.ReportKey(at+".approvers",
			fmt.Sprintf("none of %s is on the approver list of %s, so nobody could ever approve this: name somebody who is, "+
				"or another channel",
				strings.Join(rf.Approvers, ", "), strings.Join(rf.Channels, " or ")))
	}
}

func (c *compiler) hasAnswerer(rf ruleFile) bool {
	for channel, listeners := range c.audience {
		if len(rf.Channels) > 0 && !slices.Contains(rf.Channels, channel) {
			continue
		}
		if slices.ContainsFunc(listeners, func(l Listener) bool { return slices.Contains(rf.Approvers, l.Person) }) {
			return true
		}
	}
	return false
}

// unknownPerson reports an unknown person, and whom the name may mean.
func (c *compiler) unknownPerson(name string, people []string) string {
	for _, listeners := range c.audience {
		for _, l := range listeners {
			if l.Identity == name {
				return fmt.Sprintf("%s is the person %q of the configuration, also on other channels: write %[2]s", name, l.Person)
			}
		}
	}
	return unknownName("person", name, "who is on no approver list", people)
}

func unknownName(what, name, why string, names []string) string {
	if near := strictyaml.Nearest(name, names); near != "" {
		return fmt.Sprintf("the rule asks the %s %q, %s: did you mean %q?", what, name, why, near)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return fmt.Sprintf("the rule asks the %s %q, %s: no channel is", what, name, why)
	}
	return fmt.Sprintf("the rule asks the %s %q, %s: one of %s", what, name, why,
		strings.Join(names[:min(len(names), 20)], ", "))
}
