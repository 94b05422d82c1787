package telegram

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"approver.example"
)

// limits are how much of the lines around the command is shown, each in UTF-16
// code units; agent, session, directory and host have who each. What is left
// out is counted on the card, which then takes no tap: people judge a call by all
// of them, and a directory's end tells staging from production.
type limits struct{ why, rule, claimed, who, notice, env int }

// A talkative agent cannot push its command off the card: what does not fit
// beside the wide lines stands beside the tight ones.
var (
	wide  = limits{why: 400, rule: 250, claimed: 400, who: 200, notice: 250, env: 600}
	tight = limits{why: 200, rule: 100, claimed: 120, who: 60, notice: 150, env: 250}
)

// trim brings the texts around the command to their limits, and reports whether
// any of them had to be cut.
func (l limits) trim(card approver.Card) (approver.Card, bool) {
	short := false
	for _, f := range []struct {
		text  *string
		limit int
	}{
		{&card.Why, l.why},
		{&card.Rule, l.rule},
		{&card.Claimed, l.claimed},
		{&card.Agent, l.who},
		{&card.Session, l.who},
		{&card.Dir, l.who},
		{&card.Host, l.who},
		{&card.Notice, l.notice},
		{&card.Environment, l.env},
	} {
		var hidden int
		*f.text, hidden = clip(*f.text, f.limit)
		short = short || hidden > 0
	}
	return card, short
}

// oneLine keeps a text from imitating the lines around it.
func oneLine(text string) string {
	return strings.NewReplacer("\r", "", "\n", " ⏎ ", "\t", " ").Replace(text)
}

// clip brings a text to one line of at most limit UTF-16 code units (at least
// 40). It cuts in the middle, because a path differs from others at its end as
// often as at its beginning, and says there how many bytes it hides.
func clip(text string, limit int) (shown string, hiddenBytes int) {
	text = oneLine(text)
	if units(text) <= limit {
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
		if n -= units(string(r)); n < 0 {
			return s[:i]
		}
	}
	return s
}

// lastUnits is the longest end of s that has at most n UTF-16 code units.
func lastUnits(s string, n int) string {
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if n -= units(string(r)); n < 0 {
			return s[i:]
		}
		i -= size
	}
	return s
}

// units counts UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
