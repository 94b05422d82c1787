package discord

import (
	"strings"
	"unicode/utf16"

	"approver.example"
	"approver.example/display"
)

// Room on a card, in UTF-16 units, which are never fewer than what Discord
// counts. All embeds of a message may hold 6000 together, a description 4096, a
// field's value 1024; the sum of these is below 6000.
const (
	commandRoom = 2600 // less envRoom where the environment is shown
	whyRoom     = 600
	ruleRoom    = 200
	claimRoom   = 700
	nameRoom    = 200 // agent, session and host, each
	dirRoom     = 300
	noticeRoom  = 300
	envRoom     = 600
	resultRoom  = 800
	tellRoom    = 1800 // a text for one person; a message may hold 2000
)

// A file is attached to a card that does not show everything as it is. The
// command's holds it exactly; the card's holds that and all other texts.
type file struct{ name, content string }

const (
	commandFile = "command.txt"
	cardFile    = "card.txt"
)

// trim makes the texts around the command safe to show, each on one line and in
// its room, and reports whether any had to be cut: people judge a call by all of
// them.
func trim(card approver.Card) (around approver.Card, short bool) {
	for _, f := range []struct {
		text *string
		room int
	}{
		{&card.Why, whyRoom},
		{&card.Rule, ruleRoom},
		{&card.Claimed, claimRoom},
		{&card.Agent, nameRoom},
		{&card.Session, nameRoom},
		{&card.Dir, dirRoom},
		{&card.Host, nameRoom},
		{&card.Notice, noticeRoom},
		{&card.Environment, envRoom},
	} {
		var hidden int
		*f.text, hidden = fitted(*f.text, f.room)
		short = short || hidden > 0
	}
	return card, short
}

// fit cuts text so that dress(text) takes at most room UTF-16 units, and
// returns it dressed. Room must be at least 100, for the note of the cut.
func fit(text string, room int, dress func(string) string) (shown string, hiddenBytes int) {
	if units(text) <= room { // dressing never makes a text shorter
		if shown = dress(text); units(shown) <= room {
			return shown, 0
		}
	}
	for limit := room; ; limit = limit * 3 / 4 {
		cut, n := display.Cut(text, limit)
		if shown = dress(cut); n > 0 && units(shown) <= room || limit == 0 {
			return shown, n
		}
	}
}

// fitted escapes a text, brings it to one line, so that it cannot imitate the
// lines around it, and cuts it to room.
func fitted(text string, room int) (shown string, hiddenBytes int) {
	return fit(oneLine(text), room, func(s string) string {
		return escape(strings.ReplaceAll(s, "\n", " ")) // the note of the cut has lines of its own
	})
}

func oneLine(text string) string {
	return strings.NewReplacer("\r\n", " ⏎ ", "\n", " ⏎ ", "\t", " ").Replace(text)
}

func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}
