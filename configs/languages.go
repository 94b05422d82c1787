package configs

import (
	"cmp"

	"approver.example"
	"approver.example/display"
)

// Languages are the languages in which people are written to. The zero value is English.
type Languages struct {
	all    display.Lang
	places map[place]display.Lang // of conversations that have one of their own
	people map[place]display.Lang // of approvers who have, by their id
}

// A place is a conversation or an id of a channel.
type place struct{ channel, id string }

// Languages returns the languages of the configuration as it is now.
func (c Config) Languages() Languages {
	l := Languages{all: c.Language, places: map[place]display.Lang{}, people: map[place]display.Lang{}}
	for _, ch := range c.Channels.InUse() {
		for conversation, lang := range ch.Languages() {
			l.places[place{ch.Name, conversation}] = lang
		}
		for _, a := range ch.People() {
			if at := (place{ch.Name, a.ID}); l.people[at] == "" {
				l.people[at] = a.Language
			}
		}
	}
	return l
}

// At returns what a card at a destination is written with: in the language of that conversation, or of
// the approver whose own chat it is, or of the whole configuration.
func (l Languages) At(to approver.Destination) display.Texts {
	at := place{to.Channel, to.Conversation}
	return cmp.Or(l.places[at], l.people[at], l.all).Texts()
}

// For returns what somebody is told with about their answer: in their own language, or in that of the
// cards there.
func (l Languages) For(channel, sender, conversation string) display.Texts {
	if own := l.people[place{channel, sender}]; own != "" {
		return own.Texts()
	}
	return l.At(approver.Destination{Channel: channel, Conversation: conversation})
}
