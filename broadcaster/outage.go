package broadcaster

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// A trouble is why a channel is of no use. The zero value is none.
type trouble struct {
	Since time.Time `json:"since,omitzero"`
	Why   string    `json:"why,omitempty"` // in one line for people, with the cure if the channel knows it
	// Chat is the one that gets no cards. If it is zero, no answers arrive from the channel.
	Chat approver.Destination `json:"chat,omitzero"`
}

func (t trouble) none() bool { return t.Why == "" }

// trouble is what is wrong with a channel now, as far as this process knows.
func (h *Channels) trouble(name string) trouble {
	s := h.State(name)
	if why := s.Hearing().Why; why != "" {
		since := s.Since
		if !s.EndedAt.IsZero() && (since.IsZero() || s.EndedAt.Before(since)) {
			since = s.EndedAt
		}
		return trouble{Since: since, Why: display.SafeLine(why)}
	}
	var worst trouble
	for _, c := range s.Cards {
		if c.lasting(h.OutageAfter) && (worst.none() || c.NoneSince.Before(worst.Since)) {
			worst = trouble{c.NoneSince, display.SafeLine(c.Problem), c.To}
		}
	}
	return worst
}

// over reports that a trouble is known to be over: answers arrive, or a card went out since. What is only
// unknown, as after a restart, is not over.
func (h *Channels) over(name string, t trouble) bool {
	s := h.State(name)
	if t.Chat == (approver.Destination{}) {
		return s.Hearing().Why == ""
	}
	return !slices.Contains(h.Destinations, t.Chat) || slices.ContainsFunc(s.Cards, func(c CardsState) bool {
		return c.To == t.Chat && c.NoneSince.IsZero() && c.LastPost.After(t.Since)
	})
}

// An outage is a record of the store, one for each channel: the last trouble of it that people were told, so
// that one of several daemons tells it, once.
type outage struct {
	trouble

	ID      string    `json:"id"`              // of the cards
	Process string    `json:"process"`         // which looks after it
	At      time.Time `json:"at"`              // when that one last said so
	Told    time.Time `json:"told"`            // when people began to be told
	Said    time.Time `json:"said,omitzero"`   // when they were last told of another reason
	Over    time.Time `json:"over,omitzero"`   // when the channel was back
	Cards   []notice  `json:"cards,omitempty"` // that say how it is, or was
	// Owed are the chats that have to be told how it is now.
	Owed []approver.Destination `json:"owed,omitempty"`
}

// A notice is a card about an outage, and what it says: see outage.says.
type notice struct {
	Ref  approver.Ref `json:"ref"`
	Says string       `json:"says"`
}

// says is what the cards are to say now: why the channel is of no use, or that it is back.
func (o outage) says() string {
	if !o.Over.IsZero() {
		return "back"
	}
	return o.Why
}

// open reports that the channel is not back yet, as far as the record says.
func (o outage) open() bool { return o.ID != "" && o.Over.IsZero() }

// unfinished reports that some chats or cards do not say yet how it is.
func (o outage) unfinished() bool {
	return len(o.Owed) > 0 || slices.ContainsFunc(o.Cards, func(c notice) bool { return c.Says != o.says() })
}

// changed reports that the same is wrong for another reason now.
func (o outage) changed(t trouble) bool { return !t.none() && t.Chat == o.Chat && t.Why != o.Why }

// differs reports that two records do not say the same of the cards.
func (o outage) differs(other outage) bool {
	return !slices.Equal(o.Cards, other.Cards) || !slices.Equal(o.Owed, other.Owed)
}

// ended is the outage once the channel is back. Who was never told of it need not be told that it is over.
func (o outage) ended(now time.Time) outage {
	o.Over, o.Owed = now, nil
	return o
}

func decodeOutage(value []byte) (o outage) {
	if json.Unmarshal(value, &o) != nil {
		return outage{} // of another version: it is told anew
	}
	return o
}

// card says on the other channels how a channel is.
func (o outage) card(channel, host string, t display.Texts) approver.Card {
	const clock = "2006-01-02 15:04 UTC"
	c := approver.Card{Request: o.ID, State: approver.Denied, Severity: approver.High, Texts: t, Created: o.Told}
	platform, from, to := display.Platform(channel), o.Since.UTC().Format(clock), o.Over.UTC().Format(clock)
	chat := strings.TrimSuffix(o.Chat.Conversation+" "+o.Chat.Thread, " ")
	switch back := !o.Over.IsZero(); {
	case chat == "" && !back:
		c.Push = t.Text("No answers arrive from %s", platform)
		c.Result = t.Text("No answers arrive from %s since %s: %s", platform, from, o.Why)
	case chat == "":
		c.Push = t.Text("%s is back", platform)
		c.Result = t.Text("%s is back. No answers arrived from there from %s to %s.", platform, from, to)
	case !back:
		c.Push = t.Text("No cards reach %s", platform)
		c.Result = t.Text("No cards reach %s (%s) since %s: %s", platform, chat, from, o.Why)
	default:
		c.Push = t.Text("%s is back", platform)
		c.Result = t.Text("%s is back. No cards reached it (%s) from %s to %s.", platform, chat, from, to)
	}
	if o.Over.IsZero() {
		c.Result = "⚠️ " + c.Result
		c.Why = []string{t.Text("Questions go to the other channels meanwhile. On the machine, approver doctor " +
			"says what to do.")}
	} else {
		c.State, c.Result = approver.Consumed, "✅ "+c.Result
	}
	if host != "" {
		c.Context = "@ " + display.SafeLine(host)
	}
	return c
}
