package httpapi

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"approver.example"
)

// Bounds of what is logged about refused connections.
const (
	refusalQuiet = time.Minute
	refusalUIDs  = 64 // uids that are named within that time
)

// A refusalLog logs refused connections, once a minute for each uid and reason, so that a
// stranger cannot fill the log. The zero value has logged nothing.
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

// refuse logs a peer whom the socket does not admit. For root and the daemon's own user it
// logs at level debug, because approver doctor tries to connect with their uid.
func (a *refusalLog) refuse(log *slog.Logger, peer approver.Peer, socket string, err error) {
	level := slog.LevelWarn
	if peer.Known && (peer.UID == 0 || peer.UID == uint32(os.Geteuid())) {
		level = slog.LevelDebug
	}
	a.say(log, level, peer, "refused on the "+socket+" socket", err)
}

// tell logs a refusal, unless the same uid and what were logged within this minute.
func (a *refusalLog) tell(log *slog.Logger, peer approver.Peer, what string, err error) {
	a.say(log, slog.LevelWarn, peer, what, err)
}

func (a *refusalLog) say(log *slog.Logger, level slog.Level, peer approver.Peer, what string, err error) {
	if a.first(refusalKey{peer.UID, what}, time.Now()) {
		log.Log(context.Background(), level, what, "uid", peer.UID, "pid", peer.PID, "err", err)
	}
}

// first reports whether to log a refusal. If there are more than refusalUIDs in a minute, it
// reports true for one of the rest.
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
