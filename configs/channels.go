package configs

import (
	"log/slog"
	"slices"

	"approver.example"
	"approver.example/channels/discord"
	"approver.example/channels/oncall"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
	"approver.example/channels/terminal"
	"approver.example/display"
	"approver.example/internal/secret"
	"approver.example/internal/section"
)

// Channels has a field for each channel that exists. A nil field is a channel that is not in
// use. A channel's name is its YAML key.
type Channels struct {
	Telegram *telegram.Config `yaml:"telegram"`
	Discord  *discord.Config  `yaml:"discord"`
	Slack    *slack.Config    `yaml:"slack"`
	Oncall   *oncall.Config   `yaml:"oncall"`
	Terminal *terminal.Config `yaml:"terminal"`
}

// A Channel is one of [Channels] with its name.
type Channel struct {
	Name string
	ChannelSection
}

// A ChannelSection is the configuration of a channel: a pointer to a struct. What a
// configuration file adds to it counts only once people have approved it. Exceptions are
// fields with the tag `held:"no"`, and the approver list, whose entries are approved one by
// one.
type ChannelSection interface {
	// Validate returns all problems, joined, or nil. It reads no file.
	Validate() error
	// People returns the approver list, and Destinations where cards go.
	People() []approver.Approver
	Destinations() []approver.Destination
	// Languages returns the languages of conversations that have one of their own.
	Languages() map[string]display.Lang
	// Secrets returns the settings that hold a secret.
	Secrets() []secret.Setting
	// Open makes the channel.
	Open(in section.Installation, log *slog.Logger) (approver.Channel, error)
}

// A PlatformSection is the section of a chat platform, on which people can be paired.
type PlatformSection interface {
	ChannelSection
	// Platform describes the platform, where it is, and how people pair on it.
	Platform() section.Platform
	// ForPairing makes a channel that can only pair. It needs no destinations and
	// no approvers.
	ForPairing(log *slog.Logger) (approver.Pairer, error)
}

// A LocalSection is the section of a channel whose people are users of this machine.
type LocalSection interface {
	ChannelSection
	// Answers reports whether the channel takes answers.
	Answers() bool
}

// A PagingSection is the section of a channel that only calls people to the others.
type PagingSection interface {
	ChannelSection
	// Pages does nothing: it says that nobody can answer there.
	Pages()
}

// InUse returns the channels in use, in the order of the fields.
func (c *Channels) InUse() (used []Channel) {
	for name, s := range sections[ChannelSection](c) {
		used = append(used, Channel{name, s})
	}
	return used
}

// AllPlatforms returns every chat platform, in the order of the fields. Those that are not in
// use have an empty section. The sections are copies.
func (c Channels) AllPlatforms() (all []Channel) {
	fill(&c)
	return slices.DeleteFunc(c.InUse(), func(ch Channel) bool { _, is := ch.ChannelSection.(PlatformSection); return !is })
}

// Local returns the channel in use whose people are users of this machine; nil without one.
func (c *Channels) Local() LocalSection {
	for _, ch := range c.InUse() {
		if local, is := ch.ChannelSection.(LocalSection); is {
			return local
		}
	}
	return nil
}

// AnswersHere reports whether answers are taken on this machine.
func (c *Channels) AnswersHere() bool {
	local := c.Local()
	return local != nil && local.Answers()
}

// IsLocal reports whether the people of a channel in use are users of this machine.
func (c *Channels) IsLocal(name string) bool {
	return slices.ContainsFunc(c.InUse(), func(ch Channel) bool {
		_, local := ch.ChannelSection.(LocalSection)
		return local && ch.Name == name
	})
}

// Pages reports whether a channel in use only calls people to the others.
func (c *Channels) Pages(name string) bool {
	return slices.ContainsFunc(c.InUse(), func(ch Channel) bool {
		_, pages := ch.ChannelSection.(PagingSection)
		return pages && ch.Name == name
	})
}

// IsRemote reports whether people are reached over a network.
func (c *Channels) IsRemote() bool {
	return slices.ContainsFunc(c.InUse(), func(ch Channel) bool { return !c.IsLocal(ch.Name) })
}
