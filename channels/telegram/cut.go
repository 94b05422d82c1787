package telegram

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"approver.example/channels/internal/cards"
)

// A wordy agent cannot push its command off the card: if the command does not fit beside texts
// cut to the wide limits, they are cut to the tight ones. The card counts what is left out, and
// then takes no tap.
var (
	wide = cards.Limits{Why: 400, Rule: 250, Claimed: 400, Agent: 200, Session: 200, Dir: 200, Host: 200,
		Notice: 250, Environment: 600}
	tight = cards.Limits{Why: 200, Rule: 100, Claimed: 120, Agent: 60, Session: 60, Dir: 60, Host: 60,
		Notice: 150, Environment: 250}
)

// oneLine keeps a text from imitating the lines around it.
func oneLine(text string) string {
	return strings.NewReplacer("\r", "", "\n", " ⏎ ", "\t", " ").Replace(text)
}

// clip brings a text to one line of at most limit UTF-16 code units (at least 40). It cuts in
// the middle, because paths differ at their ends as often as at their beginnings, and says
// there how many bytes it hides.
func clip(text string, limit int) (shown string, hiddenBytes int) {
	text = oneLine(text)
	if cards.Units(text) <= limit {
		return text, 0
	}
	room := limit - 32 // the note is shorter than that
	head, tail := firstUnits(text, room/2), lastUnits(text, room-room/2)
	hiddenBytes = len(text) - len(head) - len(tail)
	return fmt.Sprintf("%s… %d bytes hidden …%s", head, hiddenBytes, tail), hiddenBytes
}

// firstUnits is the longest beginning of s that has at most n UTF-16 code
// units.
func firstUnits(s string, n int) string {
	for i, r := range s {
		if n -= cards.Units(string(r)); n < 0 {
			return s[:i]
		}
	}
	return s
}

// lastUnits is the longest end of s that has at most n UTF-16 code units.
func lastUnits(s string, n int) string {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if n -= cards.Units(string(r)); n < 0 {
			return s[i:]
		}
		i -= size
	}
	return s
}
