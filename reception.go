package approver

import (
	"errors"
	"sync"
	"time"

	"approver.example/display"
)

// This file holds what channels say of their platform: whether answers arrive, and
// what an error means for the next try.

// ErrShowsLess is in the chain of the error of an Update that would hide a part of a card that waits and
// is shown whole. Nothing was changed.
var ErrShowsLess = errors.New("the message has no room for the change")

// ErrFinal is in the chain of an error of Post or Update that would recur with the same
// message: the platform understood it and refuses it, for example because the chat does not
// exist, the bot was removed from it, or the message was deleted. Any other error may be
// temporary, so the same message is tried again until the request's deadline.
var ErrFinal = errors.New("the platform refuses it")

// A Patience is an error in the chain of an error of Post or Update: the platform asks for a
// pause.
type Patience interface {
	error
	// RetryAfter is how long to pause, counted from when the error was returned.
	RetryAfter() time.Duration
}

// A Receiver is an extra ability of a channel that speaks with a platform: it says
// whether answers reach it now.
type Receiver interface {
	Reception() Reception
}

// A Reception says whether answers reach a channel. The zero value is a channel that
// has not tried yet.
type Reception struct {
	Up      bool      // answers arrive now
	Since   time.Time // since when Up has its value; zero before the first try
	Good    time.Time // when the platform last answered; zero if never
	Bad     time.Time // when it last failed; zero if never
	Problem string    // the last failure, in one line for people, also while Up
	// Contest says that another program takes answers of the same bot, and what helps; empty if none is
	// known. ContestSince is since when. That it has stopped is never seen, so it counts for
	// ContestFor after its last sign.
	Contest      string
	ContestSince time.Time

	// Of a channel whose platform brings answers to a webhook: when it last brought something, how many
	// requests there were not the platform's, and of the last of them when it came and why it was
	// refused. Zero for any other channel.
	Brought     time.Time
	Refused     uint64
	LastRefused time.Time
	Refusal     string
}

// ContestFor is how long another program with the same bot counts after it was last noticed.
const ContestFor = time.Hour

// A ReceptionMeter keeps the Reception of a channel. The zero value is ready; several
// goroutines may use it.
type ReceptionMeter struct {
	mu        sync.Mutex
	now       Reception
	contested time.Time // when Contest was last noticed
}

// Contested notes that another program takes answers of the same bot. why says so for people, with what
// helps.
func (m *ReceptionMeter) Contested(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); m.now.Contest == "" || now.Sub(m.contested) >= ContestFor {
		m.now.ContestSince = now
	}
	m.now.Contest, m.contested = display.OneLine(why), time.Now()
}

// Succeeded notes that answers arrive.
func (m *ReceptionMeter) Succeeded() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Good = time.Now()
	if !m.now.Up {
		m.now.Up, m.now.Since = true, m.now.Good
	}
}

// Failed notes that no answers arrive, and why.
func (m *ReceptionMeter) Failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Bad, m.now.Problem = time.Now(), display.OneLine(err.Error())
	if m.now.Up || m.now.Since.IsZero() {
		m.now.Up, m.now.Since = false, m.now.Bad
	}
}

// Judged notes a request to a webhook: refused is why it was not the platform's, and nil for one that
// was.
func (m *ReceptionMeter) Judged(refused error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if refused == nil {
		m.now.Brought = time.Now()
		return
	}
	m.now.Refused++
	m.now.LastRefused, m.now.Refusal = time.Now(), display.OneLine(refused.Error())
}

// Stopped notes that nothing is received here any more, for example because another process has
// the lease. It changes nothing while the channel is already down.
func (m *ReceptionMeter) Stopped() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now.Up {
		m.now.Up, m.now.Since, m.now.Problem = false, time.Now(), "it does not receive here any more"
	}
}

// Reception returns what was noted.
func (m *ReceptionMeter) Reception() Reception {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now
	if time.Since(m.contested) >= ContestFor {
		now.Contest, now.ContestSince = "", time.Time{}
	}
	return now
}
