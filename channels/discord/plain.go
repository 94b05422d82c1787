package discord

import (
	"strings"

	"github.com/bwmarrin/discordgo"

	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// This file writes cards for a Discord that refuses the embed or the buttons of the usual ones. A plain card has the
// same texts in the same order and markup, and cuts by the same rules; it only has less room.

// A form is how a card is written. Each form asks less of Discord than the one before it.
type form uint8

const (
	embedded   form = iota // an embed, and buttons
	bare                   // all of it in the message's own text, and buttons
	asText                 // the text alone: the answer is typed
	toCommands             // the same where no messages arrive: a command answers
)

// refusesForm reports whether Discord refused a card for what it is made of, so that another form of it may be
// accepted.
func refusesForm(err error) bool { return isAPI(err, discordgo.ErrCodeInvalidFormBody) }

// maxContent is how long the text of a message may be, in UTF-16 units.
const maxContent = 2000

// dialect is how Discord counts a card in this form.
func (f form) dialect() cards.Dialect {
	d := dialect()
	if f == embedded {
		return d
	}
	// Beside the elements there are the headline, whose characters may become two, and the reference.
	d.Room = maxContent - 2*(display.PushLength+2) - 50
	d.Size = func(e cards.Element) int { return cards.Units(line(e)) }
	if f >= asText {
		d.Typing = func(t display.Texts, code string) []cards.Word {
			return []cards.Word{{Text: t.Text("To approve, send ")}, {Text: "/approve code:" + code, Typed: true}, {Text: "."}}
		}
		d.Refusing = func(t display.Texts, code string) []cards.Word {
			if code == "" {
				return []cards.Word{{Text: t.Text("To refuse, reply no to this message.")}}
			}
			return []cards.Word{{Text: t.Text("To refuse, send ")}, {Text: "/deny code:" + code, Typed: true},
				{Text: t.Text(", or reply no to this message.")}}
		}
	}
	if f == toCommands {
		d.Refusing = func(t display.Texts, code string) []cards.Word {
			if code == "" {
				return []cards.Word{{Text: t.Text("To refuse, let it wait: silence is a no.")}}
			}
			return []cards.Word{{Text: t.Text("To refuse, send ")}, {Text: "/deny code:" + code, Typed: true}, {Text: "."}}
		}
	}
	return d
}

// line writes an element in Discord's markup as it stands in the message's own text, with its line end.
func line(e cards.Element) string {
	switch e.Kind {
	case cards.Result:
		return escape(e.Text) + "\n"
	case cards.Clock:
		return clock(e) + "\n"
	case cards.Field, cards.Argument, cards.Code, cards.Diff, cards.Note, cards.Answer:
	}
	return markdown(e)
}

// inMessage writes a card in the message's own text.
func inMessage(laid cards.Page) message {
	m := message{Embeds: []*discordgo.MessageEmbed{}, Flags: discordgo.MessageFlagsSuppressEmbeds}
	m.Content = escape(laid.Headline) + "\n"
	for _, e := range laid.Elements {
		m.Content += line(e)
	}
	m.Content = strings.TrimSuffix(m.Content+laid.Reference, "\n")
	return m
}
