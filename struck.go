package approver

import (
	"slices"
	"sync"
	"time"
)

// struck remembers the tries of this process, so that whoever can write to the
// store cannot take them back. The zero value remembers nothing. All methods are
// safe for concurrent use.
type struck struct {
	mu sync.Mutex
	of map[string]knownStrikes // by key of the record
}

type knownStrikes struct {
	strikes
	rev  Rev
	past []Rev // of what it replaced
	at   time.Time
}

// Bounds of what is remembered.
const (
	maxStruck = 4096
	pastRevs  = 16
)

// note remembers what was written.
func (k *struck) note(key string, s strikes, prev, next Rev, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, old := range k.of {
		if len(k.of) < maxStruck {
			break
		}
		if old.over(now) {
			delete(k.of, key)
		}
	}
	if k.of == nil {
		k.of = map[string]knownStrikes{}
	}
	past := append(slices.Clone(k.of[key].past), prev)
	k.of[key] = knownStrikes{s, next, past[max(0, len(past)-pastRevs):], now}
}

// over reports that no try counts any more, and no lock.
func (k knownStrikes) over(now time.Time) bool {
	return !now.Before(k.at.Add(max(StrikeWindow, LockFor)))
}

// lost returns what the store should have where it has none of it, or what this
// process has replaced since. long says that no fail-over explains it.
func (k *struck) lost(key string, rev Rev, now time.Time) (s strikes, long, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was, ok := k.of[key]
	if !ok || was.over(now) || rev == was.rev || !slices.Contains(was.past, rev) && rev != "" {
		return strikes{}, false, false
	}
	if long = now.Sub(was.at) > strikesLag; long {
		was.at = now // said once
		k.of[key] = was
	}
	return was.strikes, long, true
}

// strikesLag is what a fail-over may take along.
const strikesLag = 10 * time.Second
