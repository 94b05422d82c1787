package broadcaster

import (
	"maps"
	"slices"
	"sync"
	"time"

	"approver.example"
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
	rev  approver.Rev
	past []approver.Rev // revisions that it replaced
	at   time.Time
}

// Bounds of what is remembered.
const (
	maxStruck = 4096
	pastRevs  = 16
)

// note remembers what was written. Where there is room for no more, what was over
// goes first, and then what was written longest ago: of that the store alone tells.
func (k *struck) note(key string, s strikes, prev, next approver.Rev, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.of[key]; !known && len(k.of) >= maxStruck {
		k.prune(now)
	}
	if k.of == nil {
		k.of = map[string]knownStrikes{}
	}
	past := append(slices.Clone(k.of[key].past), prev)
	k.of[key] = knownStrikes{s, next, past[max(0, len(past)-pastRevs):], now}
}

// prune makes room: in one go for many, because it looks at all.
func (k *struck) prune(now time.Time) {
	maps.DeleteFunc(k.of, func(_ string, old knownStrikes) bool { return old.over(now) })
	if len(k.of) < maxStruck {
		return
	}
	keys := slices.SortedFunc(maps.Keys(k.of), func(a, b string) int { return k.of[a].at.Compare(k.of[b].at) })
	for _, key := range keys[:maxStruck/8] {
		delete(k.of, key)
	}
}

// over reports that no try counts any more, and no lock.
func (k knownStrikes) over(now time.Time) bool {
	return !now.Before(k.at.Add(max(StrikeWindow, LockFor)))
}

// lost returns the strikes that the store has lost, ok if there are any: the store has
// no record of them, or one that this process has replaced since. long means that they
// were written too long ago for a fail-over to explain it.
func (k *struck) lost(key string, rev approver.Rev, now time.Time) (s strikes, long, ok bool) {
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
