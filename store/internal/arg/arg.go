// Package arg refuses what no store may be asked for, so that all stores refuse
// the same things in the same words.
package arg

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"approver.example"
)

// Limits that every store keeps.
const (
	MaxKey   = 1024     // bytes of a key or a lease's name
	MaxValue = 16 << 20 // bytes of a value
	MaxDue   = 1000     // keys that one call of Due returns
)

// MaxLease bounds how long a lease may be taken for: leases are meant to be renewed.
const MaxLease = 24 * time.Hour

// ErrClosed is what every method of a closed store returns.
var ErrClosed = errors.New("the store is closed")

// latest is the last time that fits both in 64 bits of nanoseconds and in the
// stores' own time fields.
var latest = time.Date(2250, 1, 1, 0, 0, 0, 0, time.UTC)

// Key refuses a key that [approver.Key] does not make, that is longer than MaxKey, or that
// contains a character that does not print.
func Key(key string) error {
	if _, err := approver.ShardOfKey(key); err != nil {
		return err
	}
	if err := name("key", key); err != nil {
		return err
	}
	kind, id, found := strings.Cut(key[len("ap:{NN}:"):], ":")
	if !found || kind == "" || id == "" {
		return fmt.Errorf("key %q is not of the form ap:{NN}:kind:id: kind and id must not be empty", key)
	}
	return nil
}

// Put refuses a write whose key, value, revisions or times cannot be right. A
// zero due or keepUntil means never.
func Put(key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time) error {
	if err := Key(key); err != nil {
		return err
	}
	switch {
	case len(value) > MaxValue:
		return fmt.Errorf("put %s: the value has %d bytes, more than the %d that a store takes", key, len(value), MaxValue)
	case !revision(next):
		return fmt.Errorf("put %s: the new revision %q is not one that NewRev makes", key, next)
	case prev != "" && !revision(prev):
		return fmt.Errorf("put %s: the previous revision %q is not one that NewRev makes", key, prev)
	case prev == next:
		return fmt.Errorf("put %s: the new revision is the previous one: call NewRev for each write", key)
	case !storable(due):
		return fmt.Errorf("put %s: the due time %v is before 1970 or after 2249", key, due)
	case !storable(keepUntil):
		return fmt.Errorf("put %s: the time to keep it until, %v, is before 1970 or after 2249", key, keepUntil)
	case !keepUntil.IsZero() && keepUntil.Before(due):
		return fmt.Errorf("put %s: it would be forgotten at %v, before it is due at %v", key, keepUntil, due)
	}
	return nil
}

// Write refuses a write that cannot be right, and one whose records are not of one shard.
func Write(w approver.Write) error {
	all := w.All()
	for i, part := range all {
		if err := Put(part.Key, part.Value, part.Prev, part.Next, part.Due, part.KeepUntil); err != nil {
			return err
		}
		switch {
		case len(part.With) > 0:
			return fmt.Errorf("put %s: a record that is written with another has none of its own", part.Key)
		case part.Key[:len("ap:{NN}")] != w.Key[:len("ap:{NN}")]:
			return fmt.Errorf("put %s: %s is of another shard, so the two cannot be written together", w.Key, part.Key)
		case slices.ContainsFunc(all[:i], func(other approver.Write) bool { return other.Key == part.Key }):
			return fmt.Errorf("put %s: it is written twice at once", part.Key)
		}
	}
	return nil
}

// Due refuses a shard or limit that cannot be right and returns the limit,
// lowered to MaxDue.
func Due(shard, limit int) (int, error) {
	switch {
	case shard < 0 || shard >= approver.Shards:
		return 0, fmt.Errorf("due: there is no shard %d: 0 to %d", shard, approver.Shards-1)
	case limit <= 0:
		return 0, fmt.Errorf("due: the limit must be at least 1, not %d", limit)
	}
	return min(limit, MaxDue), nil
}

// Lease refuses a name or duration that cannot be right.
func Lease(lease string, ttl time.Duration) error {
	if err := name("lease name", lease); err != nil {
		return err
	}
	if ttl < time.Millisecond || ttl > MaxLease {
		return fmt.Errorf("lease %s: the time to live must be 1ms to %v, not %v", lease, MaxLease, ttl)
	}
	return nil
}

// name refuses texts that could be confused in a log or a shell.
func name(what, s string) error {
	switch {
	case s == "":
		return fmt.Errorf("a %s must not be empty", what)
	case len(s) > MaxKey:
		return fmt.Errorf("the %s %.32q… has %d bytes, more than %d", what, s, len(s), MaxKey)
	case !utf8.ValidString(s):
		return fmt.Errorf("the %s %q is not UTF-8", what, s)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the %s %q holds %U, which does not print", what, s, r)
		}
	}
	return nil
}

// revision reports whether r is a UUIDv4 in its one canonical form. Stores give
// it a field of fixed width.
func revision(r approver.Rev) bool {
	id, err := uuid.Parse(string(r))
	return err == nil && id.Version() == 4 && id.String() == string(r)
}

func storable(t time.Time) bool {
	return t.IsZero() || (t.Unix() > 0 && t.Before(latest))
}
