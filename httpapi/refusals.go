package httpapi

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"approver.example"
)

// Bounds of what is told of connections that are turned away.
const (
	refusalQuiet = time.Minute
	refusalUIDs  = 64 // whose are named within that time
)

// A refusalLog tells of connections that are turned away, once a minute of each uid: a
// stranger must not fill the log. The zero value has told nothing.
type refusalLog struct {
	mu    sync.Mutex
	began time.Time
	told  map[refusalKey]bool
	more  bool
}

type refusalKey struct {
	uid  uint32
	what string
}

// refuse logs a connection of whom the socket does not admit. Root and the daemon's own
// user are no strangers: approver doctor knocks with their uid.
func (a *refusalLog) refuse(log *slog.Logger, peer approver.Peer, socket string, err error) {
	level := slog.LevelWarn
	if peer.Known && (peer.UID == 0 || peer.UID == uint32(os.Geteuid())) {
		level = slog.LevelDebug
	}
	a.say(log, level, peer, "refused on the "+socket+" socket", err)
}

// tell logs a connection that is turned away, unless it did so within this minute.
func (a *refusalLog) tell(log *slog.Logger, peer approver.Peer, what string, err error) {
	a.say(log, slog.LevelWarn, peer, what, err)
}

func (a *refusalLog) say(log *slog.Logger, level slog.Level, peer approver.Peer, what string, err error) {
	if a.first(refusalKey{peer.UID, what}, time.Now()) {
		log.Log(context.Background(), level, what, "uid", peer.UID, "pid", peer.PID, "err", err)
	}
}

// first reports whether to tell of a uid. Of more uids than are told of apart, it does so
// for one.
func (a *refusalLog) first(key refusalKey, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.told == nil || now.Sub(a.began) >= refusalQuiet {
		a.began, a.told, a.more = now, map[refusalKey]bool{}, false
	}
	switch {
	case a.told[key]:
		return false
	case len(a.told) < refusalUIDs:
		a.told[key] = true
		return true
	}
	more := a.more
	a.more = true
	return !more
}
