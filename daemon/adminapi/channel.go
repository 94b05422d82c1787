package adminapi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/words"
)

// A Channel says whether a channel receives answers, and what happened to its last cards,
// according to the last response of the platform.
type Channel struct {
	Name     string `json:"name"`
	Receives bool   `json:"receives"`
	// Pages says that the channel only calls people to the others: it receives nothing.
	Pages bool `json:"pages,omitempty"`
	// Elsewhere says that another daemon that shares the store receives for this channel.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Watchers is the number of terminals that watch and belong to people whose answers count;
	// nil for a channel that is not local.
	Watchers *int `json:"watchers,omitempty"`
	// Others is the number of watching terminals that belong to people whose answers do not
	// count.
	Others int `json:"watchers_who_do_not_count,omitempty"`
	// Since is the time since which it receives, or does not; zero before the first attempt.
	Since       time.Time `json:"since,omitzero"`
	LastSuccess time.Time `json:"last_success,omitzero"`
	LastFailure time.Time `json:"last_failure,omitzero"`
	Error       string    `json:"error,omitempty"`    // why it does not receive
	LastPost    time.Time `json:"last_post,omitzero"` // of a card, in any of its chats
	// Contest says that another daemon takes answers of the same bot, with what helps, and ContestSince
	// since when that is known.
	Contest      string    `json:"contest,omitempty"`
	ContestSince time.Time `json:"contest_since,omitzero"`
	// LastRequest is when its platform last brought something to its webhook. Refused is how many requests
	// there were not the platform's, LastRefused when the last of them came, and Refusal why it was refused.
	LastRequest time.Time `json:"last_request,omitzero"`
	Refused     uint64    `json:"refused,omitempty"`
	LastRefused time.Time `json:"last_refused,omitzero"`
	Refusal     string    `json:"refusal,omitempty"`
	// Waiting is what waits in this daemon because the platform takes only so many messages, the longest wait
	// first.
	Waiting []chatWaiting `json:"waiting,omitempty"`
	// Off lists its chats that get no cards, and then those whose cards are not updated, in
	// each group the longest first.
	Off []chatOff `json:"off,omitempty"`
}

// A chatOff is a chat with a problem. Exactly one of the two times is set.
type chatOff struct {
	Chat        string    `json:"chat"`
	NoCardSince time.Time `json:"no_card_since,omitzero"` // no card went out
	StaleSince  time.Time `json:"stale_since,omitzero"`   // no card could be updated
	Error       string    `json:"error"`                  // the last error
}

// A chatWaiting is what waits for room in a chat.
type chatWaiting struct {
	Chat  string    `json:"chat"`
	Cards int       `json:"cards"`           // of requests
	Other int       `json:"other,omitempty"` // edits, and other messages
	Since time.Time `json:"since"`           // when the oldest card began to wait, or else the oldest of the others
}

func chatsWaiting(all []broadcaster.Crowd) (waiting []chatWaiting) {
	for _, c := range all {
		waiting = append(waiting, chatWaiting{Chat: chatOf(c.To), Cards: c.Cards, Other: c.Other, Since: c.Since.UTC()})
	}
	slices.SortStableFunc(waiting, func(a, b chatWaiting) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Chat, b.Chat))
	})
	return waiting
}

// chatOf names a place for people.
func chatOf(to approver.Destination) string {
	if to.Thread != "" {
		return "chat " + to.Conversation + ", thread " + to.Thread
	}
	return "chat " + to.Conversation
}

// chatsOff lists the chats of a channel that have a problem.
func chatsOff(all []broadcaster.CardsState) (off []chatOff) {
	for _, c := range all {
		chat := chatOf(c.To)
		switch {
		case !c.NoneSince.IsZero():
			off = append(off, chatOff{Chat: chat, NoCardSince: c.NoneSince.UTC(), Error: c.Problem})
		case !c.StaleSince.IsZero():
			off = append(off, chatOff{Chat: chat, StaleSince: c.StaleSince.UTC(), Error: c.EditProblem})
		}
	}
	slices.SortStableFunc(off, func(a, b chatOff) int {
		if a.NoCardSince.IsZero() != b.NoCardSince.IsZero() {
			return b.NoCardSince.Compare(a.NoCardSince)
		}
		return cmp.Or(a.NoCardSince.Compare(b.NoCardSince), a.StaleSince.Compare(b.StaleSince))
	})
	return off
}

// text describes the problem in a sentence.
func (c chatOff) text() string {
	if c.NoCardSince.IsZero() {
		return "CARDS IN " + c.Chat + " ARE NOT BROUGHT UP TO DATE since " + c.StaleSince.Format(time.DateTime+" UTC") +
			": " + c.Error
	}
	return "NO CARD WENT OUT to " + c.Chat + " since " + c.NoCardSince.Format(time.DateTime+" UTC") + ": " + c.Error
}

// ChannelOf returns the status of a channel. A channel that never reached its platform does
// not receive, nor does a terminal that nobody watches.
func ChannelOf(name string, c broadcaster.ChannelState, watchers *int) Channel {
	s := Channel{
		Name: name, Watchers: watchers, Since: c.Since.UTC(), LastSuccess: c.Good.UTC(), LastFailure: c.Bad.UTC(),
		Waiting: chatsWaiting(c.Crowds), Off: chatsOff(c.Cards), Contest: c.Contest, ContestSince: c.ContestSince.UTC(),
		LastRequest: c.Brought.UTC(), Refused: c.Refused, LastRefused: c.LastRefused.UTC(), Refusal: c.Refusal,
	}
	for _, to := range c.Cards {
		if to.LastPost.After(s.LastPost) {
			s.LastPost = to.LastPost.UTC()
		}
	}
	now := c.Hearing()
	s.Receives, s.Elsewhere, s.Error = now.Here, now.Elsewhere, now.Why
	if s.Pages = c.Pages; s.Pages {
		s.Receives = false
	}
	if now.Here && watchers != nil {
		s.Receives = *watchers > 0
	}
	if c.There != nil { // the time is that of this daemon
		s.Since = time.Time{}
	}
	return s
}

// WithStoreTrouble corrects a status by what is known of the store: while trouble, the store's
// error, is set, it is not known that another daemon receives. shared says whether daemons
// share the store.
func WithStoreTrouble(s Channel, now broadcaster.ChannelState, trouble string, shared bool) Channel {
	switch away := now.Solo && !now.Leads && now.Ended == nil; {
	case away && trouble != "":
		s.Elsewhere, s.Error = false, "the store does not say which daemon receives"
	case away && shared && now.There == nil:
		s.Error += "; and no other daemon that shares the store says that it receives"
	}
	return s
}

// Fails reports whether a channel brings no answers, or loses some to another daemon, or one of its chats gets
// no cards or outdated ones. A terminal that nobody watches is normal.
func (s Channel) Fails() bool {
	return s.Error != "" || s.Contest != "" || s.Watchers == nil && len(s.Off) > 0
}

// Receiving describes in a sentence whether the channel receives.
func (s Channel) Receiving() string {
	since := ""
	if !s.Since.IsZero() {
		since = " since " + s.Since.Format(time.DateTime+" UTC")
	}
	switch {
	case s.Error != "":
		text := s.Name + " DOES NOT RECEIVE" + since + ": " + s.Error
		if !s.LastSuccess.IsZero() {
			text += "; it last did at " + s.LastSuccess.Format(time.DateTime+" UTC")
		}
		return text + " (approver doctor tells more)"
	case s.Pages && s.LastPost.IsZero():
		return s.Name + " calls people, and nobody can answer there: not used since the daemon started, so not checked"
	case s.Pages:
		return s.Name + " calls people, and nobody can answer there: the last time at " +
			s.LastPost.Format(time.DateTime+" UTC")
	case s.Watchers != nil && *s.Watchers == 0 && s.Others > 0:
		return s.Name + " is watched by nobody whose answers count (approver watch), and by " +
			words.Count(uint64(s.Others), "other terminal")
	case s.Watchers != nil && *s.Watchers == 0:
		return s.Name + " shows nobody anything: nobody watches (approver watch)"
	case s.Watchers != nil:
		return s.Name + " is watched by " + words.Count(uint64(*s.Watchers), "terminal")
	case s.Elsewhere:
		return s.Name + " receives in another daemon that shares the store, not in this one"
	}
	return s.Name + " receives" + since
}

// Says is all that there is to say of the channel, in a line each.
func (s Channel) Says() string {
	lines := []string{s.Receiving(), s.Contested(), s.Posting(), s.Queue()}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}

// Contested says in a sentence that another daemon takes answers of the same bot; it is empty if none is known.
func (s Channel) Contested() string {
	if s.Contest == "" {
		return ""
	}
	return s.Name + " LOSES ANSWERS since " + s.ContestSince.Format(time.DateTime+" UTC") + ": " + s.Contest
}

// Asked describes what came to the channel's webhook; empty if nothing did.
func (s Channel) Asked() string {
	text := ""
	if !s.LastRequest.IsZero() {
		text = "its platform last brought something at " + s.LastRequest.Format(time.DateTime+" UTC")
	}
	if s.Refused == 0 {
		return text
	}
	if text != "" {
		text += "; "
	}
	return text + words.Count(s.Refused, "request") + " refused, the last at " +
		s.LastRefused.Format(time.DateTime+" UTC") + ": " + s.Refusal
}

// Queue says in a sentence what waits for room in the chats, because the platform takes only so many messages; it is
// empty if nothing does.
func (s Channel) Queue() string {
	cards, other := 0, 0
	var since time.Time
	for _, w := range s.Waiting {
		cards, other = cards+w.Cards, other+w.Other
		if w.Cards > 0 && since.IsZero() {
			since = w.Since
		}
	}
	if cards == 0 {
		return ""
	}
	text := s.Name + " keeps " + words.Count(uint64(cards), "card") + " back until there is room in the chat, since " +
		since.Format(time.DateTime+" UTC")
	if other > 0 {
		text += ", and " + words.Count(uint64(other), "other message")
	}
	return text
}

// Posting describes the chat that has had a problem for longest, and counts the others; it is
// empty if there is no problem.
func (s Channel) Posting() string {
	if len(s.Off) == 0 || s.Watchers != nil {
		return ""
	}
	text := s.Off[0].text()
	if more := len(s.Off) - 1; more > 0 {
		text += "; something is off in " + words.Count(uint64(more), "other chat") + " too (approver status --json lists all)"
	}
	return text
}
