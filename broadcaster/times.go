package broadcaster

import (
	"time"
)

// Times of the approval path.
const (
	// DefaultTTL is how long people have when nothing else is configured.
	DefaultTTL = 2 * time.Minute
	// DefaultRunAgain is how long a channel that ended by itself is left alone at first when
	// nothing else is configured.
	DefaultRunAgain = 30 * time.Second
	// DefaultOutageAfter is how long a channel must have been of no use before people are told on the
	// others, when nothing else is configured.
	DefaultOutageAfter = time.Minute
	// WithdrawGrace is how long a request waits for a courier whose connection
	// ended.
	WithdrawGrace = 3 * time.Second
	// PostTimeout bounds the posting, and each update, of one card.
	PostTimeout = 8 * time.Second
	// ReplyWait bounds how long a person's yes waits for the agent to take it
	// before the person is told that it is recorded but not yet taken.
	ReplyWait = 5 * time.Second
	// parkedWait is the same where the agent was told to come back.
	parkedWait = time.Second
	// AnswerMargin is kept free before the courier's deadline, so that the
	// answer arrives in time.
	AnswerMargin = time.Second
	// StorePatience is how long a new call waits for a store that does not
	// answer before it is denied.
	StorePatience = 15 * time.Second
	sweepEvery    = 500 * time.Millisecond
	retryEvery    = 50 * time.Millisecond
	pollEvery     = 500 * time.Millisecond // without hints of changes
	hintedPoll    = 2 * time.Second        // with hints

	// vanishedAfter is how long a record must be missing before it is taken for
	// lost: a former primary may answer for a moment.
	vanishedAfter = 3 * time.Second
)

// settleGrace is the time that others leave to the process that settled a request to finish
// it.
const settleGrace = 2 * time.Second

// RepeatFor is how long a courier that comes back may read a yes again, unless it
// has acknowledged it: from the release on or, if the daemon or its store went
// away before that time was over, from when they are back.
const RepeatFor = 15 * time.Second

// GrantMargin is how long after its deadline a parked request still answers the
// call that comes back: with the yes, once, or with the no.
const GrantMargin = 10 * time.Minute

// sendingFor is how long the note that a card is on its way keeps other processes from posting
// it. The sender renews the note in time.
const sendingFor = PostTimeout + time.Second

// givenUntil is the end of the time in which a yes may be taken. at is when it was released.
// back is since when the daemon and its store have been available.
func givenUntil(at, back time.Time) time.Time {
	if back.After(at) {
		return back.Add(RepeatFor)
	}
	return at.Add(RepeatFor)
}
