package logging

import (
	"crypto/sha256"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"approver.example/audit"
)

// Bounds of what is logged.
const (
	// Quiet is how long the same trouble is not logged again.
	Quiet = time.Minute
	// maxCauses bounds how many different troubles are logged within that time, and
	// maxCausesOf those of one user's calls. Beyond that, one line says that there are more.
	maxCauses   = 256
	maxCausesOf = 16
	// maxLinesOf and maxLines bound the lines per second about the calls of one user, and of
	// all users: the journal drops lines beyond some 300, whatever they say.
	maxLinesOf = 20
	maxLines   = 100
)

// A logTopic is what a line is about.
type logTopic struct {
	key     causeKey
	level   slog.Level
	trouble bool   // something failed
	event   bool   // it says what was noticed ("what"), or who did something ("by")
	request bool   // it is about a request that people were asked about
	uid     string // the user whose call it is about; empty if none
}

// A causeKey is the hash of a text of any length.
type causeKey [sha256.Size]byte

// topic returns what a line is about: everything in it except the call that met it, and except
// numbers in errors, such as the port of a connection that failed.
func (h onceEach) topic(r slog.Record) (t logTopic) {
	t.level = r.Level
	parts := []string{h.with, r.Level.String(), r.Message}
	auditFailed := false
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "request":
			t.request = true
		case "call", "use", "pid", "wait", "try":
		case "error", "err":
			t.trouble = true
			parts = append(parts, withoutNumbers(a.Value.String()))
			err, _ := a.Value.Any().(error)
			auditFailed = errors.Is(err, audit.ErrFailed)
		case "what", "by":
			t.event = true
		case "uid":
			t.uid = a.Value.String()
			parts = append(parts, a.String())
		default:
			parts = append(parts, a.String())
		}
		return true
	})
	t.trouble = t.trouble && !t.event && r.Level >= slog.LevelWarn
	if t.trouble && auditFailed { // one trouble for all users: the audit logs it first
		t.level, t.uid, parts = slog.LevelError, "", []string{audit.ErrFailed.Error()}
	}
	t.key = sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return t
}

// often reports whether a user's calls can cause this line as often as they like. Errors,
// events and the results of requests are not such lines.
func (t logTopic) often() bool {
	return t.uid != "" && !t.request && t.level < slog.LevelError && (!t.event || t.level < slog.LevelWarn)
}

// withoutNumbers replaces each number in a text with #.
func withoutNumbers(s string) string {
	var b strings.Builder
	digits := false
	for _, c := range s {
		is := c >= '0' && c <= '9'
		if !is {
			b.WriteRune(c)
		} else if !digits {
			b.WriteByte('#')
		}
		digits = is
	}
	return b.String()
}

// causes are what was logged recently. Each user's calls have their own share, which takes
// nothing from another user's or from the daemon's own troubles. Errors are counted apart from
// the rest.
type causes struct {
	mu             sync.Mutex
	errors, others troubles
	more           map[string]*occurrence
	second         int64
	lines          map[string]int // in this second, by user; "" is all users together
}

func newCauses() *causes {
	return &causes{errors: newTroubles(), others: newTroubles(), more: map[string]*occurrence{}, lines: map[string]int{}}
}

// troubles are a set of causes, and the number of them by user; "" is those of no user.
type troubles struct {
	last map[causeKey]*occurrence
	of   map[string]int
}

func newTroubles() troubles {
	return troubles{map[causeKey]*occurrence{}, map[string]int{}}
}

type occurrence struct {
	told  time.Time
	uid   string
	since int // lines held back since told
}

// again reports whether to log it again, and how many lines were held back since the last
// time.
func (o *occurrence) again(now time.Time) (held int, yes bool) {
	if !o.told.IsZero() && now.Sub(o.told) < Quiet {
		o.since++
		return 0, false
	}
	held, o.since, o.told = o.since, 0, now
	return held, true
}

// full reports whether there is no room for one more cause of a user.
func (t troubles) full(uid string) bool {
	if uid == "" {
		return t.of[""] >= maxCauses
	}
	return t.of[uid] >= maxCausesOf || len(t.last)-t.of[""] >= maxCauses
}

// clean forgets what was logged longer than Quiet ago.
func (t troubles) clean(now time.Time) {
	for key, last := range t.last {
		if now.Sub(last.told) < Quiet {
			continue
		}
		delete(t.last, key)
		if t.of[last.uid]--; t.of[last.uid] == 0 {
			delete(t.of, last.uid)
		}
	}
}

// A telling says what to do with a line.
type telling uint8

const (
	untold telling = iota
	tellMore
	tellIt
)

// tell says whether to log a trouble now, and how many lines were held back since it was last
// logged. tellMore means to log one line that stands for this trouble and others; an error is
// always logged itself.
func (c *causes) tell(t logTopic, now time.Time) (held int, how telling) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := c.others
	if t.level >= slog.LevelError {
		room = c.errors
	}
	if last := room.last[t.key]; last != nil {
		held, again := last.again(now)
		if !again {
			return 0, untold
		}
		return held, tellIt
	}
	if room.full(t.uid) {
		room.clean(now)
	}
	switch {
	case !room.full(t.uid):
		room.last[t.key] = &occurrence{told: now, uid: t.uid}
		room.of[t.uid]++
	case t.level < slog.LevelError:
		return c.another("causes "+t.uid, now)
	}
	return 0, tellIt
}

// pace says whether a line about a user's call is logged in this second.
func (c *causes) pace(uid string, now time.Time) (held int, how telling) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if second := now.Unix(); second != c.second {
		c.second, c.lines = second, map[string]int{}
	}
	if c.lines[uid] < maxLinesOf && c.lines[""] < maxLines {
		c.lines[uid]++
		c.lines[""]++
		return 0, tellIt
	}
	return c.another("lines "+uid, now)
}

// another counts a line that is not logged. Once per minute and kind it returns tellMore, and
// how many lines there were since the last time. If there are too many kinds, the rest share
// one.
func (c *causes) another(kind string, now time.Time) (held int, how telling) {
	if c.more[kind] == nil && len(c.more) >= maxCauses {
		maps.DeleteFunc(c.more, func(_ string, last *occurrence) bool { return now.Sub(last.told) >= Quiet })
		if len(c.more) >= maxCauses {
			kind = "others"
		}
	}
	last := c.more[kind]
	if last == nil {
		last = &occurrence{}
		c.more[kind] = last
	}
	held, again := last.again(now)
	if !again {
		return 0, untold
	}
	return held, tellMore
}
