package broadcaster

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// Bounds of people, as an approver list and a removal name them.
const (
	// MaxName is how many bytes the id of a person may have, and that of an account.
	MaxName = 256
	// MaxAccounts is how many accounts one person may have on the lists of one daemon.
	MaxAccounts = 64
)

// Bounds of the record, in bytes. JSON writes one byte of a text as six at most.
const (
	maxBy = 256
	// maxControls is the size of a record that every store takes.
	maxControls = 16 << 20
	// freezeRoom is kept free for a freeze of everything.
	freezeRoom = 64 << 10
	// holdRoom is more than the freeze of one agent takes.
	holdRoom = 6*(maxProject+maxSession+maxReason+maxBy) + 4<<10
	// mostHolds bounds the holds, in force and lifted.
	mostHolds = 2 * maxHolds
	// backRoom is how much a removal grows when the person is brought back.
	backRoom = 64
	// maxGoneAccounts is how many accounts a removal keeps. Further accounts of the person
	// do not count either, because of the person's id.
	maxGoneAccounts = 2 * MaxAccounts
	// maxUnlisted is how many people may be removed who are on no approver list here, if
	// nobody trusted removed them.
	maxUnlisted = 16
)

// Errors of bounds.
var (
	errFullControls = errors.New("the record of freezes and removals is full, " +
		"and what is left of it is kept for freezes: " +
		"take people out of the approver lists of every daemon and restart them, or freeze")
	errManyGone = fmt.Errorf("%d people are removed already whom no approver list here has: "+
		"remove this one on the daemon "+
		"that lists them, or as root (%s), or bring some back: approver people list", maxUnlisted,
		display.AsRoot("people remove"))
)

// Bounds of what is kept of a freeze, in bytes. All freezes are one record, which the
// store takes up to a size, and agents name their sessions and folders themselves.
const (
	maxSession = 256
	maxProject = 4096 // no folder has a longer path
	maxReason  = 1024
)

// Bounds of holds that stand. A user's agent with more than maxHoldsEach is frozen
// everywhere, because projects and sessions are what it claims. Beyond maxHolds, everything
// is frozen. As many that were lifted less than holdKeep ago are kept; see merge.
const (
	maxHolds     = 64
	maxHoldsEach = 6
	// holdKeep is longer than any yes waits.
	holdKeep = 48 * time.Hour
)

// maxNamed is how many freezes one line names.
const maxNamed = 5

// cutText shortens a text to a number of bytes, and marks the cut.
func cutText(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	const mark = "…"
	return strings.ToValidUTF8(s[:most-len(mark)], "") + mark
}

// shortName is the id of a person or an account. An id that is longer than a list may have is
// replaced by its hash.
func shortName(s string) string {
	if len(s) <= MaxName {
		return s
	}
	return shortSession(s)
}

// shortSession is a session, or the hash of a long one.
func shortSession(s string) string {
	if len(s) <= maxSession {
		return s
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(s)))
}

func boundedIdentity(id approver.Identity) approver.Identity {
	return approver.Identity{Channel: shortName(id.Channel), ID: shortName(id.ID)}
}
