package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// Limits on wrong codes.
const (
	MaxWrongCodes   = 5                // wrong codes by one person in one conversation …
	WrongCodeWindow = 10 * time.Minute // … within this time …
	LockFor         = 10 * time.Minute // … lock that person there for this long
)

// wrongCodes are the tries of one person in one conversation: those that were wrong, and those
// that are still being checked.
type wrongCodes struct {
	At     []time.Time `json:"at"`
	Locked time.Time   `json:"locked,omitzero"`
	// Events are the events that brought the tries, as far as they are known.
	Events map[string]time.Time `json:"events,omitempty"`
}

func lockKey(who approver.Person, rep approver.Reply) string {
	return approver.Key("strikes", fmt.Sprintf("%q/%q/%q", who.ID, rep.Channel, rep.Conversation))
}

// until is when the lock ends; zero means that there is none.
func (s wrongCodes) until(now time.Time) time.Time {
	switch {
	case now.Before(s.Locked):
		return s.Locked
	case len(s.At) >= MaxWrongCodes:
		return now.Add(LockFor)
	}
	return time.Time{}
}

// recent removes tries that are too old to count.
func (s wrongCodes) recent(now time.Time) wrongCodes {
	s.At = slices.DeleteFunc(slices.Clone(s.At), func(t time.Time) bool { return now.Sub(t) >= WrongCodeWindow })
	return s.named()
}

// named keeps the events of the tries that count.
func (s wrongCodes) named() wrongCodes {
	s.Events = maps.Clone(s.Events)
	maps.DeleteFunc(s.Events, func(_ string, at time.Time) bool { return !slices.ContainsFunc(s.At, at.Equal) })
	return s
}

// A lockout counts wrong codes, and locks out whoever typed too many.
type lockout struct {
	*Options
	controls *Controller
	records  *records

	memory lockoutMemory
}

// until is when a person's lock in a conversation ends; zero means that there is none.
func (l *lockout) until(ctx context.Context, key string) (time.Time, error) {
	s, _, now, err := l.load(ctx, key)
	return s.until(now), err
}

// try counts a try before its code is checked. A person who is locked out, or whose tries
// under way may use up the limit, gets no try. An event that is delivered again is the same try, which counts
// once.
func (l *lockout) try(ctx context.Context, key, event string) (try, locked time.Time, err error) {
	err = l.change(ctx, key, func(s *wrongCodes, now time.Time) bool {
		if at, again := s.Events[event]; again && !now.Before(s.Locked) {
			try = at
			return false
		}
		if locked = s.until(now); !locked.IsZero() {
			return false
		}
		for try = now; slices.ContainsFunc(s.At, try.Equal); {
			try = try.Add(1)
		}
		if s.At = append(s.At, try); event != "" {
			if s.Events == nil {
				s.Events = map[string]time.Time{}
			}
			s.Events[event] = try
		}
		return true
	})
	return try, locked, err
}

// tried takes a right try back, and locks the person out after the last wrong one. left is how
// many wrong ones are left.
func (l *lockout) tried(ctx context.Context, key string, try time.Time, right bool) (left int, err error) {
	err = l.change(ctx, key, func(s *wrongCodes, now time.Time) bool {
		if right {
			s.At = slices.DeleteFunc(s.At, try.Equal)
			*s = s.named()
			return true
		}
		if now.Before(s.Locked) {
			left = 0 // a try at the same time used up the limit
			return false
		}
		if left = MaxWrongCodes - len(s.At); left > 0 {
			return false
		}
		left, s.Locked, s.At, s.Events = 0, now.Add(LockFor), nil, nil
		return true
	})
	return left, err
}

func (l *lockout) load(ctx context.Context, key string) (s wrongCodes, rev approver.Rev, now time.Time, err error) {
	value, rev, now, err := approver.GetNow(ctx, l.Store, key)
	switch {
	case err == nil:
		err = json.Unmarshal(value, &s)
	case errors.Is(err, approver.ErrNotFound):
		err = nil
	}
	if err != nil {
		return wrongCodes{}, "", now, err
	}
	if was, long, ok := l.memory.lost(key, rev, now); ok {
		s = was // they still count
		if long {
			err = l.controls.Distrust(context.WithoutCancel(ctx), approver.AlarmStore,
				"the store has lost wrong codes that were typed a moment ago")
		}
	}
	return s.recent(now), rev, now, err
}

func (l *lockout) change(ctx context.Context, key string, step func(s *wrongCodes, now time.Time) bool) error {
	for {
		s, rev, now, err := l.load(ctx, key)
		if err != nil || !step(&s, now) {
			return err
		}
		value, err := json.Marshal(s)
		if err != nil {
			return err
		}
		next := approver.NewRev()
		err = l.records.put(ctx, key, value, rev, next, time.Time{}, now.Add(approver.DefaultKeepFor))
		if err == nil {
			l.memory.note(key, s, rev, next, now)
		}
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
	}
}

// lockoutMemory remembers the tries that this process stored, so that nobody who can write to
// the store can take them back. The zero value remembers nothing. All methods are safe for
// concurrent use.
type lockoutMemory struct {
	mu sync.Mutex
	of map[string]rememberedCodes // by key of the record
}

type rememberedCodes struct {
	wrongCodes
	rev  approver.Rev
	past []approver.Rev // revisions that it replaced
	at   time.Time
}

// Bounds of what is remembered.
const (
	maxRemembered = 4096
	pastRevs      = 16
)

// note remembers what was written. If the memory is full, it forgets what is over, and then
// what was written longest ago: for that, only the store counts.
func (k *lockoutMemory) note(key string, s wrongCodes, prev, next approver.Rev, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.of[key]; !known && len(k.of) >= maxRemembered {
		k.prune(now)
	}
	if k.of == nil {
		k.of = map[string]rememberedCodes{}
	}
	past := append(slices.Clone(k.of[key].past), prev)
	k.of[key] = rememberedCodes{s, next, past[max(0, len(past)-pastRevs):], now}
}

// prune makes room for many, because it looks at all of them.
func (k *lockoutMemory) prune(now time.Time) {
	maps.DeleteFunc(k.of, func(_ string, old rememberedCodes) bool { return old.over(now) })
	if len(k.of) < maxRemembered {
		return
	}
	keys := slices.SortedFunc(maps.Keys(k.of), func(a, b string) int { return k.of[a].at.Compare(k.of[b].at) })
	for _, key := range keys[:maxRemembered/8] {
		delete(k.of, key)
	}
}

// over reports that no try counts any more, and no lock.
func (k rememberedCodes) over(now time.Time) bool {
	return !now.Before(k.at.Add(max(WrongCodeWindow, LockFor)))
}

// lost returns the wrong codes that the store has lost: it has no record of them, or one that
// this process has replaced since. ok is false if there are none. long means that they were
// written too long ago for a fail-over to explain the loss.
func (k *lockoutMemory) lost(key string, rev approver.Rev, now time.Time) (s wrongCodes, long, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was, ok := k.of[key]
	if !ok || was.over(now) || rev == was.rev || !slices.Contains(was.past, rev) && rev != "" {
		return wrongCodes{}, false, false
	}
	if long = now.Sub(was.at) > failoverLag; long {
		was.at = now // report it once
		k.of[key] = was
	}
	return was.wrongCodes, long, true
}

// failoverLag is how much of the last writes a fail-over may lose.
const failoverLag = 10 * time.Second
