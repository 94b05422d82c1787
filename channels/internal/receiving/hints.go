package receiving

import (
	"errors"
	"time"

	"approver.example/channels/internal/calls"
	"approver.example/display"
	"approver.example/tokens"
)

// What approvers are told of messages that do not count.
//
//approver:texts
const (
	LeakedText = "This chat gets no cards, so a code does not count here. Nothing was changed. Everybody here can read " +
		"the code now: if it was not you who sent it, deny the request."
	lastText = "More messages like this may meet no answer for a minute."
)

// HasCode reports whether a text has a code, whatever else it says.
func HasCode(text string) bool {
	_, err := tokens.Find(text)
	return err == nil || errors.Is(err, tokens.ErrMany)
}

// HintsEvery is the time in which somebody is given a few hints at most.
const HintsEvery = time.Minute

// mostHints is how many hints somebody is given in that time.
const mostHints = 5

// Hints limits what approvers are told of messages that do not count: each such message gets its word, but
// whoever talks on cannot make the bot talk on. The zero value is ready.
type Hints[K comparable] struct {
	given calls.Pauses[turn[K]]
}

// A turn is one of the hints that may be given.
type turn[K comparable] struct {
	about K
	n     int
}

// Take reports whether one more hint may be given about something, such as a person in a chat, and how many are
// left after it for the time.
func (h *Hints[K]) Take(about K, every time.Duration) (left int, ok bool) {
	for n := range mostHints {
		if h.given.Begin(turn[K]{about, n}, every) {
			return mostHints - 1 - n, true
		}
	}
	return 0, false
}

// Hint is what somebody is told by a hint: the last one says that it is the last.
func Hint(says display.Message, left int) display.Message {
	if left == 0 {
		return display.Msg("%s %s", says, display.Msg(lastText))
	}
	return says
}
