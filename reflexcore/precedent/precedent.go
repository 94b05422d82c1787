package precedent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"approver.example"
)

// KV is the part of [approver.KV] that precedents need.
type KV interface {
	Get(ctx context.Context, key string) (value []byte, rev approver.Rev, err error)
	Put(ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time) error
}

// Limits say what counts as a precedent.
type Limits struct {
	// Keep is how long people's answers count.
	Keep time.Duration `yaml:"keep"`
	// Similarity, 0 to 1: a call must be more similar than this to another.
	Similarity float64 `yaml:"similarity"`
	// Most limits the answers of one user in one project; the oldest are dropped.
	Most int `yaml:"most"`
}

// DefaultLimits are used where nothing is configured.
var DefaultLimits = Limits{Keep: 30 * 24 * time.Hour, Similarity: 0.7, Most: 200}

// Faults lists the problems by their keys. Calls of which only half is the same are not similar.
func (l Limits) Faults() []error {
	var errs []error
	if l.Keep < time.Hour || l.Keep > 365*24*time.Hour {
		errs = append(errs, errors.New("precedents.keep must be 1h to 8760h"))
	}
	if !(l.Similarity >= 0.5 && l.Similarity < 1) {
		errs = append(errs, errors.New("precedents.similarity must be 0.5 to below 1"))
	}
	if l.Most < 1 || l.Most > 1000 {
		errs = append(errs, errors.New("precedents.most must be 1 to 1000"))
	}
	return errs
}

// A Key says whose precedents they are: those of a user, whose uid the kernel reports, in a project,
// which the agent claims.
type Key struct {
	Peer    approver.Peer
	Project string
}

// name returns the hashed name of the record, which does not show what it is about.
func (k Key) name() string {
	who := "unknown"
	if k.Peer.Known {
		who = strconv.FormatUint(uint64(k.Peer.UID), 10)
	}
	sum := sha256.Sum256([]byte(strconv.Itoa(len(who)) + ":" + who + k.Project))
	return approver.Key("precedents", hex.EncodeToString(sum[:16]))
}

const (
	maxCached = 256 // records that are kept decoded
	attempts  = 5
)

// Precedents are people's answers in a store. Create them with [New]. They are safe for concurrent
// use.
type Precedents struct {
	store  KV
	limits Limits

	mu    sync.Mutex
	cache map[string]cachedRecord
}

type cachedRecord struct {
	rev  approver.Rev
	list []Answer // never changed in place
}

// New returns the precedents in a store.
func New(store KV, limits Limits) *Precedents {
	return &Precedents{store: store, limits: limits, cache: map[string]cachedRecord{}}
}

// Near returns the denial of the call that this call is most similar to, and the similarity. It
// returns 0 if there is none. An error means that the precedents cannot be read.
func (p *Precedents) Near(ctx context.Context, k Key, call approver.ToolCall) (Answer, float64, error) {
	list, _, err := p.load(ctx, k.name())
	if err != nil || len(list) == 0 {
		return Answer{}, 0, err
	}
	a, s := near(list, TextOf(call.Tool, call.Command, call.Args), Of(call.Tool, call.Command, call.Args),
		call.At.Add(-p.limits.Keep), p.limits.Similarity)
	return a, s, nil
}

// Answered stores a person's answer to a call, and returns when that is durable. Of the answer only
// At, Yes, By, Rule and Category are used. A record that cannot be read is replaced.
func (p *Precedents) Answered(ctx context.Context, k Key, call approver.ToolCall, a Answer) error {
	a = Answer{
		At: a.At.Truncate(time.Second), Yes: a.Yes, By: cut(a.By), Rule: cut(a.Rule), Category: cut(a.Category),
		Text: TextOf(call.Tool, call.Command, call.Args),
	}
	sketch := Of(call.Tool, call.Command, call.Args)
	if len(sketch.Dims) == 0 {
		return nil
	}
	name := k.name()
	for range attempts {
		list, rev, err := p.load(ctx, name)
		if err != nil && !errors.Is(err, errUnreadable) {
			return err
		}
		list, changed := with(list, a, sketch, a.At.Add(-p.limits.Keep), p.limits.Similarity)
		if !changed && err == nil {
			return nil
		}
		b, list, err := encode(list, p.limits.Most)
		if err != nil {
			return err
		}
		next := approver.NewRev()
		put := func() error {
			return p.store.Put(ctx, name, b, rev, next, time.Time{}, a.At.Add(p.limits.Keep))
		}
		if err = put(); err != nil && !errors.Is(err, approver.ErrConflict) && ctx.Err() == nil {
			err = put() // it is not known whether the write succeeded
		}
		if errors.Is(err, approver.ErrConflict) {
			continue // somebody else answered
		}
		if err != nil {
			return fmt.Errorf("remember a person's answer: %w", err)
		}
		p.remember(name, cachedRecord{next, list})
		return nil
	}
	return errors.New("remember a person's answer: others change the record all the time")
}

// cut shortens a text for storage.
func cut(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxWord)], "")
}

var errUnreadable = errors.New("not readable")

// load reads a record, and decodes it only if it has changed.
func (p *Precedents) load(ctx context.Context, name string) ([]Answer, approver.Rev, error) {
	b, rev, err := p.store.Get(ctx, name)
	if errors.Is(err, approver.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read what people said no to: %w", err)
	}
	p.mu.Lock()
	known, ok := p.cache[name]
	p.mu.Unlock()
	if ok && known.rev == rev {
		return known.list, rev, nil
	}
	list, err := decode(b)
	if err != nil {
		return nil, rev, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	p.remember(name, cachedRecord{rev, list})
	return list, rev, nil
}

func (p *Precedents) remember(name string, k cachedRecord) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.cache[name]; !ok && len(p.cache) >= maxCached {
		clear(p.cache) // they can be read again
	}
	p.cache[name] = k
}
