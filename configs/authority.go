package configs

import (
	"fmt"
	"net/url"
	"slices"

	"approver.example"
)

// An authority is one thing in the configuration by which an answer counts, or which
// takes a protection away, as a line for people, and what takes it out of a
// configuration.
type authority struct {
	line string
	drop func()
}

// Authority returns what in the configuration decides whose answers count, one
// sorted line each: everybody on an approver list with the person they stand for,
// each setting that lets answers count which otherwise would not, or that takes a
// protection away, and what may let a call go in their place: the evaluator, and an
// open fail mode. More lines loosen, fewer tighten. No line has a secret in it.
func (c Config) Authority() []string {
	var lines []string
	for id, who := range c.People() {
		lines = append(lines, ApproverLine(id.Channel, id.ID, who.ID))
	}
	for _, a := range append(c.Channels.authorities(), c.shieldAuthorities()...) {
		lines = append(lines, a.line)
	}
	slices.Sort(lines)
	return lines
}

// ApproverLine is the line of [Config.Authority] for somebody on the approver list
// of a channel; without a person they stand for themselves.
func ApproverLine(channel, id, person string) string {
	if person == "" {
		person = approver.SelfPerson(channel, id)
	}
	return fmt.Sprintf("channels.%s.approvers: %s, person %q", channel, id, person)
}

// HeldTo returns the configuration without the settings of which the line of
// [Config.Authority] is not granted: each is then as if it were not set. The
// approver lists stay; see [Config.PeopleHeldTo].
func (c Config) HeldTo(granted []string) Config {
	c.Channels.own()
	held(c.Channels.authorities(), granted)
	held(c.shieldAuthorities(), granted)
	return c
}

// PeopleHeldTo returns the approver list of all channels without those whose line
// of [Config.Authority] is not granted.
func (c Config) PeopleHeldTo(granted []string) approver.People {
	people := c.People()
	for id, who := range people {
		if !slices.Contains(granted, ApproverLine(id.Channel, id.ID, who.ID)) {
			delete(people, id)
		}
	}
	return people
}

// authorities are the settings that are on.
func (c *Channels) authorities() (on []authority) {
	add := func(key, value string, drop func()) {
		on = append(on, authority{"channels." + key + ": " + value, drop})
	}
	flag := func(key string, setting *bool) {
		if *setting {
			add(key, "true", func() { *setting = false })
		}
	}
	// Whoever runs the server says who pressed.
	server := func(key string, setting *string) {
		if *setting != "" {
			add(key, withoutPassword(*setting), func() { *setting = "" })
		}
	}
	if s := c.Telegram; s != nil {
		server("telegram.api_url", &s.APIURL)
	}
	if s := c.Discord; s != nil {
		server("discord.api_url", &s.APIURL)
		flag("discord.text_approvals", &s.TextApprovals)
	}
	if s := c.Slack; s != nil {
		server("slack.api_url", &s.APIURL)
		flag("slack.text_approvals", &s.TextApprovals)
		for _, team := range s.Teams {
			add("slack.teams", team, func() {
				s.Teams = slices.DeleteFunc(slices.Clone(s.Teams), func(t string) bool { return t == team })
			})
		}
	}
	if s := c.Terminal; s != nil {
		flag("terminal.allow_answers", &s.AllowAnswers)
	}
	return on
}

func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Redacted()
}
