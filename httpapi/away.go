package httpapi

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// An idle set has the connections on which nothing is asked now, by uid, the oldest
// first. The zero value is empty.
type idle struct {
	mu sync.Mutex
	of map[uint32][]*counted
}

func (i *idle) add(c *counted) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if c.closed {
		return
	}
	if i.of == nil {
		i.of = map[uint32][]*counted{}
	}
	i.of[c.peer.UID] = append(i.of[c.peer.UID], c)
}

// end removes a connection for good.
func (i *idle) end(c *counted) {
	i.mu.Lock()
	c.closed = true
	i.mu.Unlock()
	i.remove(c)
}

// remove reports whether the connection was there.
func (i *idle) remove(c *counted) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := i.of[c.peer.UID]
	at := slices.Index(all, c)
	if at < 0 {
		return false
	}
	if i.of[c.peer.UID] = slices.Delete(all, at, at+1); len(all) == 1 {
		delete(i.of, c.peer.UID)
	}
	return true
}

// displace closes the oldest one of a uid, which gives its place back. It reports
// whether there was one. A courier whose connection is cut comes back.
func (i *idle) displace(uid uint32) bool {
	i.mu.Lock()
	var oldest *counted
	if all := i.of[uid]; len(all) > 0 {
		oldest = all[0]
	}
	i.mu.Unlock()
	if oldest == nil || !i.remove(oldest) {
		return false
	}
	_ = oldest.Close()
	return true
}

// Bounds of what is told of connections that are turned away.
const (
	awayQuiet = time.Minute
	awayUIDs  = 64 // whose are named within that time
)

// An awayLog tells of connections that are turned away, once a minute of each uid: a
// stranger must not fill the log. The zero value has told nothing.
type awayLog struct {
	mu    sync.Mutex
	began time.Time
	told  map[awayKey]bool
	more  bool
}

type awayKey struct {
	uid  uint32
	what string
}

// refuse logs a connection of whom the socket does not admit. Root and the daemon's own
// user are no strangers: approver doctor knocks with their uid.
func (a *awayLog) refuse(log *slog.Logger, peer approver.Peer, socket string, err error) {
	level := slog.LevelWarn
	if peer.Known && (peer.UID == 0 || peer.UID == uint32(os.Geteuid())) {
		level = slog.LevelDebug
	}
	a.say(log, level, peer, "refused on the "+socket+" socket", err)
}

// tell logs a connection that is turned away, unless it did so within this minute.
func (a *awayLog) tell(log *slog.Logger, peer approver.Peer, what string, err error) {
	a.say(log, slog.LevelWarn, peer, what, err)
}

func (a *awayLog) say(log *slog.Logger, level slog.Level, peer approver.Peer, what string, err error) {
	if a.first(awayKey{peer.UID, what}, time.Now()) {
		log.Log(context.Background(), level, what, "uid", peer.UID, "pid", peer.PID, "err", err)
	}
}

// first reports whether to tell of a uid. Of more uids than are told of apart, it does so
// for one.
func (a *awayLog) first(key awayKey, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.told == nil || now.Sub(a.began) >= awayQuiet {
		a.began, a.told, a.more = now, map[awayKey]bool{}, false
	}
	switch {
	case a.told[key]:
		return false
	case len(a.told) < awayUIDs:
		a.told[key] = true
		return true
	}
	more := a.more
	a.more = true
	return !more
}
