package discord

import (
	"strings"

	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// Room on a card, in UTF-16 units; Discord never counts more than these. All embeds of a
// message may hold 6000 together, a description 4096, a field's value 1024; the sum of these is
// below 6000.
const (
	commandRoom = 2600 // less the room of the environment where it is shown
	resultRoom  = 800
	tellRoom    = 1800 // a text for one person; a message may hold 2000
)

// room is the room for the texts around the command.
var room = cards.Limits{Why: 600, Rule: 200, Claimed: 700, Agent: 200, Session: 200, Dir: 300, Host: 200, Notice: 300,
	Environment: 600}

// A file is attached to a card that does not show everything unchanged. It holds the exact
// command, or the command and all other texts.
type file struct{ name, content string }

const (
	commandFile = "command.txt"
	cardFile    = "card.txt"
)

// fit cuts text so that dress(text) takes at most room UTF-16 units, and returns the dressed
// text. room must be at least 100, to hold the note about the cut.
func fit(text string, room int, dress func(string) string) (shown string, hiddenBytes int) {
	if cards.Units(text) <= room { // dressing never makes a text shorter
		if shown = dress(text); cards.Units(shown) <= room {
			return shown, 0
		}
	}
	for limit := room; ; limit = limit * 3 / 4 {
		cut, n := display.Cut(text, limit)
		if shown = dress(cut); n > 0 && cards.Units(shown) <= room || limit == 0 {
			return shown, n
		}
	}
}

// fitted escapes a text, makes it one line so that it cannot imitate the lines around it, and
// cuts it to room.
func fitted(text string, room int) (shown string, hiddenBytes int) {
	return fit(oneLine(text), room, func(s string) string {
		return escape(strings.ReplaceAll(s, "\n", " ")) // the note has line breaks of its own
	})
}

func oneLine(text string) string {
	return strings.NewReplacer("\r\n", " ⏎ ", "\n", " ⏎ ", "\t", " ").Replace(text)
}
