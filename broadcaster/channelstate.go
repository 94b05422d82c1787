package broadcaster

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/display"
)

// notReached is the problem of a channel that has not finished its first try to connect.
const notReached = "it has not reached its platform yet"

// A Receiving is the state that the process with a channel's lease publishes to the others
// that share the store.
type Receiving struct {
	Process string    `json:"process"` // which one; another after each start
	At      time.Time `json:"at"`      // when it said so, by the store's clock
	Up      bool      `json:"up"`
	Since   time.Time `json:"since,omitzero"`
	Problem string    `json:"problem,omitempty"`
	// Places are the conversations in which it takes answers. People are the accounts whose
	// answers count there, without removed people. Both are sorted.
	Places []string `json:"places"`
	People []string `json:"people"`
}

// equal reports that two notes say the same, at whatever time.
func (r Receiving) equal(o Receiving) bool {
	return r.Process == o.Process && r.Up == o.Up && r.Since.Equal(o.Since) && r.Problem == o.Problem &&
		slices.Equal(r.Places, o.Places) && slices.Equal(r.People, o.People)
}

// trouble says why answers to cards of this process may not count at the process that receives
// them.
func (r Receiving) trouble(mine Receiving) string {
	missing := func(have, want []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(want), func(s string) bool {
			return slices.Contains(have, s)
		}), ", ")
	}
	const cure = ": give all daemons that share the store the same chats and approvers"
	switch places, people := missing(r.Places, mine.Places), missing(r.People, mine.People); {
	case !r.Up && r.Problem == "":
		r.Problem = notReached
		fallthrough
	case !r.Up:
		return "the daemon that receives for all that share the store does not: " + r.Problem
	case places != "":
		return "the daemon that receives for all that share the store takes no answers in " + places + cure
	case people != "":
		return "the daemon that receives for all that share the store does not know the approvers " + people + cure
	}
	return ""
}

// A ChannelState is what is known of one channel in this process. The zero value is a channel
// that has not begun.
type ChannelState struct {
	// Reception is what the channel itself says of whether answers arrive, if it is a
	// Receiver. Of other channels only Ended says so.
	approver.Reception
	Receiver bool
	// Pages reports a channel that only calls people to the others: no answers arrive from it.
	Pages bool
	// Solo reports a channel that receives in one process only, and Leads that this
	// process is the one. A channel that is not Solo receives in each process.
	Solo, Leads bool
	// There is the state that another process has published, if that one receives. Apart is
	// why answers to cards of this process may not count there.
	There *Receiving
	Apart string
	// was is the reception when this process last gave up the lease because no answers came;
	// zero if some have come since. A new run under the lease forgets it.
	was approver.Reception
	// Cards are the results of the last cards, for each destination that had any, in the
	// order of the configuration.
	Cards []CardsState
	// Crowds are what waits for its turn in this process, where the platform takes only so many messages.
	Crowds []Crowd
	// Ended is why the channel ended by itself, and EndedAt when it first did; nil and zero while it
	// works. It is run again, see [Broadcaster.Run].
	Ended   error
	EndedAt time.Time

	heardThere time.Time // when the process that receives last said that it does
	// began is when the channel was last run, and ended the same of the last run that ended by itself.
	began, ended time.Time
}

// since is what keeps a channel that ended from coming back now, if that is something else than what it ended for:
// a network may be away when the token works again. It is empty if only people can bring the channel back, as far
// as is known.
func (s ChannelState) since() string {
	runs := s.Ended != nil && s.began.After(s.ended)
	switch {
	case runs && s.Solo && !s.Leads && s.Apart != "":
		return s.Apart
	case runs && s.Receiver && !s.Up && !s.Bad.Before(s.began) && s.Problem != display.OneLine(s.Ended.Error()):
		return s.Problem
	}
	return ""
}

// shutOut reports that a channel has ended for something that only people can mend.
func (s ChannelState) shutOut() bool { return s.Ended != nil && s.since() == "" }

// A Hearing says where answers to a channel's cards arrive now. The zero value is nowhere.
type Hearing struct {
	Here      bool   // in this process
	Elsewhere bool   // in another one that shares the store, as it says itself
	Why       string // why they arrive nowhere, in one line for people
}

// Hearing is the one judgment of whether answers arrive: what people are told of a channel,
// and whether anybody can approve, are both made of it. A channel that has not tried yet
// hears nothing.
func (s ChannelState) Hearing() Hearing {
	away := s.Solo && !s.Leads
	switch {
	case s.Ended != nil:
		return Hearing{Why: cmp.Or(s.since(), display.OneLine(s.Ended.Error()))}
	case away && s.Apart != "":
		return Hearing{Why: s.Apart}
	case s.Solo && (!s.Leads || !s.Up) && s.There != nil && s.There.Up: // a process with another seat, if it leads
		return Hearing{Elsewhere: true}
	case !away && (s.Up || !s.Receiver): // a channel that cannot say counts as up
		return Hearing{Here: true}
	case s.Problem != "":
		return Hearing{Why: s.Problem}
	}
	return Hearing{Why: notReached}
}

// A CardsState is the result of the last cards in one destination, as far as this process
// knows. Posts and edits are separate, because a bot that may no longer post may still edit.
type CardsState struct {
	To       approver.Destination
	LastPost time.Time // when a card was last posted; zero is never
	// NoneSince is since when no card is posted: the first failure after LastPost. It is
	// zero after a success, and before the first result. Problem is the last error, in one
	// line for people. It stays after a success.
	NoneSince time.Time
	Problem   string
	// StaleSince is the same for edits. A card that the platform refuses to edit for good,
	// for example because somebody deleted it, says nothing about the destination.
	StaleSince  time.Time
	EditProblem string

	failed  time.Time // when posting last failed
	refused bool      // the platform refused it for good
}

// lasting reports that no card has reached the destination for longer than a moment: nobody tries again what is
// no longer needed, so one failure that may be over says little.
func (c CardsState) lasting(moment time.Duration) bool {
	return !c.NoneSince.IsZero() && (c.refused || c.failed.Sub(c.NoneSince) >= moment)
}

// states are the states of channels, by name. The zero value is ready for concurrent use.
type states struct {
	mu     sync.Mutex
	byName map[string]ChannelState
	cards  map[approver.Destination]CardsState
}

func (s *states) cardsOf(name string, all []approver.Destination) (cards []CardsState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, to := range all {
		if c, ok := s.cards[to]; ok && to.Channel == name {
			cards = append(cards, c)
		}
	}
	return cards
}

func (s *states) of(name string) ChannelState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name]
}

func (s *states) change(name string, f func(*ChannelState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = map[string]ChannelState{}
	}
	state := s.byName[name]
	f(&state)
	s.byName[name] = state
}

// leads notes whether a channel receives in this process.
func (s *states) leads(name string, yes bool) {
	s.change(name, func(c *ChannelState) { c.Leads = yes })
}

// deaf notes the reception when no answers came for too long, or the zero value when some
// come. A problem that goes on keeps its beginning.
func (s *states) deaf(name string, was approver.Reception) {
	s.change(name, func(c *ChannelState) {
		if !was.Since.IsZero() && !c.was.Since.IsZero() {
			was.Since = c.was.Since
		}
		c.was = was
	})
}

// elsewhere notes the state at the process that receives; nil if that is not known.
func (s *states) elsewhere(name string, there *Receiving, apart string) {
	s.change(name, func(c *ChannelState) {
		if c.There, c.Apart = there, apart; there != nil && there.Up {
			c.heardThere = time.Now()
		}
	})
}

// runs notes that a channel is run.
func (s *states) runs(name string) {
	s.change(name, func(c *ChannelState) { c.began = time.Now() })
}

// ended notes why a channel ended, or nil once it is back.
func (s *states) ended(name string, err error) {
	s.change(name, func(c *ChannelState) {
		switch {
		case err == nil:
			c.EndedAt = time.Time{}
		case c.EndedAt.IsZero():
			c.EndedAt = time.Now()
		}
		if c.Ended = err; err != nil {
			c.ended = c.began
		}
	})
}

// changeCards changes the state of the cards in a destination.
func (s *states) changeCards(to approver.Destination, f func(c *CardsState, now time.Time)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cards == nil {
		s.cards = map[approver.Destination]CardsState{}
	}
	c := s.cards[to]
	c.To = to
	f(&c, time.Now())
	s.cards[to] = c
}

// posted notes the result of posting a card.
func (s *states) posted(to approver.Destination, err error) {
	s.changeCards(to, func(c *CardsState, now time.Time) {
		switch {
		case err == nil: // a platform that takes cards takes edits
			c.LastPost, c.NoneSince, c.StaleSince = now, time.Time{}, time.Time{}
			return
		case c.NoneSince.IsZero():
			c.NoneSince = now
		}
		c.Problem, c.failed, c.refused = display.OneLine(err.Error()), now, errors.Is(err, approver.ErrFinal)
	})
}

// edited notes the result of editing a card.
func (s *states) edited(to approver.Destination, err error) {
	s.changeCards(to, func(c *CardsState, now time.Time) {
		switch {
		case err == nil, errors.Is(err, approver.ErrFinal): // nothing is left to try
			c.StaleSince = time.Time{}
			return
		case c.StaleSince.IsZero():
			c.StaleSince = now
		}
		c.EditProblem = display.OneLine(err.Error())
	})
}
