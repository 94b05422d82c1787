package approver

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/google/uuid"
)

// Errors of a KV. Every other error is ambiguous: the write may or may not have
// happened, and the same Put may be sent again.
var (
	ErrNotFound = errors.New("no such key")
	ErrConflict = errors.New("the record has changed since it was read")
	ErrHeld     = errors.New("the lease is held by another process")
	ErrTampered = errors.New("the record's signature does not fit: it was changed outside approver")
	// ErrAway is in the chain of an ambiguous error of a store that did not answer, or not
	// correctly.
	ErrAway = errors.New("the store does not answer")
)

// A Rev names one version of a record. It is a UUIDv4 made by the writer, so
// that a writer can recognize its own write. The empty Rev means that the
// record does not exist.
type Rev string

// NewRev returns a new revision.
func NewRev() Rev { return Rev(uuid.NewString()) }

// A Fence numbers the holders of one lease. It grows with every change of holder. No write
// carries it: a late write of a former holder fails like any other, because the record's
// revision has changed. See docs/decisions.md.
type Fence uint64

// KV is the only storage contract. Everything that lasts (requests, codes,
// lock-outs, leases, the audit's head) is written once, in Go, on top of it.
//
// Keys are made by [Key]. All methods are safe for concurrent use.
type KV interface {
	// Get returns the record and its revision, or ErrNotFound. It returns ErrTampered for a
	// record whose signature does not match.
	Get(ctx context.Context, key string) (value []byte, rev Rev, err error)

	// Put writes the record if its revision is still prev (empty: it must not
	// exist), and gives it the revision next. ErrConflict means that the record
	// has another revision. Put is idempotent: if the record already has the
	// revision next, it succeeds, so a Put with an ambiguous error is simply
	// sent again. It returns when the write is as durable as the store is
	// configured to make it.
	//
	// due is when the record next wants attention (zero: never). keepUntil is
	// when the store may forget it: garbage collection, never a deadline.
	Put(ctx context.Context, key string, value []byte, prev, next Rev, due, keepUntil time.Time) error

	// PutBefore is Put under a deadline: once the store's clock has reached
	// before, it writes nothing and returns ErrOverdue, however long the call was
	// on its way. A repeat of a write that was in time succeeds. The zero time is
	// no deadline.
	PutBefore(ctx context.Context, before time.Time, key string, value []byte, prev, next Rev, due,
		keepUntil time.Time) error

	// Due returns up to limit keys of one shard whose due time has passed by
	// the store's clock, the longest overdue first.
	Due(ctx context.Context, shard, limit int) ([]string, error)

	// Watch returns a channel that gets a value when the record may have
	// changed, and once at the start and after every reconnection: a hint. It
	// may coalesce; the reader always calls Get. The channel is closed soon
	// after ctx ends.
	Watch(ctx context.Context, key string) (<-chan struct{}, error)

	// Lease takes or renews the named lease for ttl. It returns the same Fence
	// as long as this process holds the lease, a greater one after any other
	// did, and ErrHeld while another process holds it.
	Lease(ctx context.Context, name string, ttl time.Duration) (Fence, error)

	// Now is the store's clock. It never goes back.
	Now(ctx context.Context) (time.Time, error)
}

// A ClosableKV is a KV that its opener closes.
type ClosableKV interface {
	KV
	Close() error
}

// A Confirmer is a KV that can return records which are not yet as durable as it is configured
// to make them: the primary has them, but its replicas may not. A record that is not confirmed
// may be lost in a fail-over.
type Confirmer interface {
	// Confirm returns when the record, as Get returned it, is durable. An error means that its
	// durability is not known.
	Confirm(ctx context.Context, key string, value []byte, rev Rev) error
}

// A Write is the arguments of one Put.
type Write struct {
	Key            string
	Value          []byte
	Prev, Next     Rev
	Due, KeepUntil time.Time
	// With are further records of the same shard. All of them are written, or none: if one has
	// another revision, the whole write is a conflict. If this record has its new revision
	// already, the whole write was done before, whatever became of the others since.
	With []Write
}

// All returns the write without With, and those in With.
func (w Write) All() []Write {
	first := w
	first.With = nil
	return append([]Write{first}, w.With...)
}

// A Batcher is a KV that makes several writes durable at the price of one: they
// share a sync, or a round trip.
type Batcher interface {
	// PutAll does a Put of each write, all at once. Each succeeds or fails by itself, with its
	// With, and the errors are in the order of the writes. After a crash, any write that was not
	// acknowledged may still have happened. No two writes may have the same key.
	PutAll(ctx context.Context, writes []Write) []error
}

// A Discarder is a KV that can remove a record that is ErrTampered, so that a valid one can be
// written in its place.
type Discarder interface {
	// Discard removes such a record. ErrConflict means that there is no record, or a valid one.
	Discard(ctx context.Context, key string) error
}

// A ClockReader is a KV that reads a record and its clock at the price of one
// round trip.
type ClockReader interface {
	// GetNow is Get and then Now. It returns the time with ErrNotFound too, but not with any
	// other error.
	GetNow(ctx context.Context, key string) (value []byte, rev Rev, now time.Time, err error)
}

// GetNow reads a record and then the clock, in one call where the store can.
func GetNow(ctx context.Context, store KV, key string) (value []byte, rev Rev, now time.Time, err error) {
	if r, ok := store.(ClockReader); ok {
		return r.GetNow(ctx, key)
	}
	if value, rev, err = store.Get(ctx, key); err != nil && !errors.Is(err, ErrNotFound) {
		return nil, "", now, err
	}
	now, clockErr := store.Now(ctx)
	if clockErr != nil {
		return nil, "", time.Time{}, clockErr
	}
	return value, rev, now, err
}

// A RevReader is a KV that can say that a record is still the one which its reader has, at less
// than the price of reading it.
type RevReader interface {
	// GetUnless is Get. If the record has the revision that the caller knows, the value is nil.
	GetUnless(ctx context.Context, key string, known Rev) (value []byte, rev Rev, err error)
}

// An AheadReader is a KV that reads records before they are asked for, at the price of one.
type AheadReader interface {
	// ReadAhead begins to read the records, and returns a context in which the first Get, or
	// GetNow, of each may return what that reading finds. It began after the call of ReadAhead,
	// and is at most MaxAhead old; a later Get of the same record reads it again.
	ReadAhead(ctx context.Context, keys ...string) context.Context
}

// MaxAhead is how long a reading ahead may be used.
const MaxAhead = time.Second

// ReadAhead begins to read records that are soon needed, where the store can.
func ReadAhead(ctx context.Context, store KV, keys ...string) context.Context {
	if r, ok := store.(AheadReader); ok {
		return r.ReadAhead(ctx, keys...)
	}
	return ctx
}

// A Sweeper is a KV that can look through all shards at the cost of one.
type Sweeper interface {
	// DueAll returns what Due returns for every shard, up to limit keys of each. If some shards
	// fail, it returns an error and what is due in the others. [errors.ErrUnsupported] means
	// that the shards are on several servers; each must then be asked separately, so that a
	// server that hangs does not hold up the others.
	DueAll(ctx context.Context, limit int) ([]string, error)
}

// A Lister is a KV that can say which records wait for something: open requests
// and grants do, because they have an end.
type Lister interface {
	// Scheduled returns up to limit keys of one shard that have a due time,
	// passed or not, the soonest first.
	Scheduled(ctx context.Context, shard, limit int) ([]string, error)
}

// An Inspected is a KV that notices what others do to it while it is in use: that its server is set to
// drop or lose records, that its file is removed.
type Inspected interface {
	// Fitness returns why nothing new may be entrusted to the store, and why it loses more in a crash than
	// it did when it was opened; nil where there is no such reason. It waits for nobody.
	Fitness() (unfit, lossy error)
}

// Work counts what takes time beside computing, since a store or a log was opened.
type Work struct {
	Syncs uint64 `json:"syncs"` // of files on this machine
	Trips uint64 `json:"trips"` // to a server and back
}

// A Meter is a KV that counts its work.
type Meter interface{ Work() Work }

// Shards is the number of groups that keys are divided into. All that belongs to a key lies in
// one slot of a Redis Cluster, because the shard is its hash tag.
const Shards = 64

// Key returns the key of a record: "ap:{NN}:kind:id" with NN = hash(id) mod
// Shards in two digits.
func Key(kind, id string) string {
	n := byte(ShardOf(id))
	return "ap:{" + string([]byte{'0' + n/10, '0' + n%10}) + "}:" + kind + ":" + id
}

// ShardOf returns the shard of an id.
func ShardOf(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32() % Shards)
}

// ShardOfKey returns the shard that a key made by Key carries, or an error for
// any other string.
func ShardOfKey(key string) (int, error) {
	if len(key) < 8 || key[:4] != "ap:{" || key[6:8] != "}:" {
		return 0, fmt.Errorf("key %q is not of the form ap:{NN}:kind:id", key)
	}
	d1, d2 := key[4]-'0', key[5]-'0'
	n := int(d1)*10 + int(d2)
	if d1 > 9 || d2 > 9 || n >= Shards {
		return 0, fmt.Errorf("key %q: the shard must be 00 to %d", key, Shards-1)
	}
	return n, nil
}

// MinKeepFor and DefaultKeepFor are how long a request stays in the store after its deadline,
// at least and by default.
const (
	MinKeepFor     = 24 * time.Hour
	DefaultKeepFor = 25 * time.Hour
)
