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

// KV is the part of [approver.KV] that is used.
type KV interface {
	Get(ctx context.Context, key string) (value []byte, rev approver.Rev, err error)
	Put(ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time) error
}

// Limits say what a precedent is.
type Limits struct {
	// Keep is how long people's answers count.
	Keep time.Duration `yaml:"keep"`
	// Similarity, 0 to 1, is what a call must exceed to be like another.
	Similarity float64 `yaml:"similarity"`
	// Most is how many answers of one user in one project are kept; the oldest go.
	Most int `yaml:"most"`
}

// DefaultLimits are what counts where nothing is configured.
var DefaultLimits = Limits{Keep: 30 * 24 * time.Hour, Similarity: 0.7, Most: 200}

// Faults says what is wrong, by the keys of the configuration. A call of which half is the same is not like another.
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

// A Key says whose precedents they are: those of a user, by the kernel's word, in
// a project, which the agent claims.
type Key struct {
	Peer    approver.Peer
	Project string
}

// name is that of the record. It does not say what it is about.
func (k Key) name() string {
	who := "unknown"
	if k.Peer.Known {
		who = strconv.FormatUint(uint64(k.Peer.UID), 10)
	}
	sum := sha256.Sum256([]byte(strconv.Itoa(len(who)) + ":" + who + k.Project))
	return approver.Key("precedents", hex.EncodeToString(sum[:16]))
}

const (
	maxKept  = 256 // records that are kept decoded
	attempts = 5
)

// Precedents are people's answers on a store. Use [New]; they can be shared.
type Precedents struct {
	store  KV
	limits Limits

	mu   sync.Mutex
	kept map[string]kept
}

type kept struct {
	rev  approver.Rev
	list []Answer // never changed in place
}

// New returns what is on a store.
func New(store KV, limits Limits) *Precedents {
	return &Precedents{store: store, limits: limits, kept: map[string]kept{}}
}

// Near returns the no of a person to the call that this one is most like, and how
// much, or a similarity of 0. An error means that it is not known.
func (p *Precedents) Near(ctx context.Context, k Key, call approver.ToolCall) (Answer, float64, error) {
	list, _, err := p.load(ctx, k.name())
	if err != nil || len(list) == 0 {
		return Answer{}, 0, err
	}
	a, s := near(list, TextOf(call.Tool, call.Command, call.Args), Of(call.Tool, call.Command, call.Args),
		call.At.Add(-p.limits.Keep), p.limits.Similarity)
	return a, s, nil
}

// Answered remembers what a person said to a call, and returns once that is
// durable. Only At, Yes, By, Rule and Category of the answer are looked at. A
// record that is not readable begins anew with it.
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
			err = put() // it is not known whether it was written
		}
		if errors.Is(err, approver.ErrConflict) {
			continue // somebody else answered
		}
		if err != nil {
			return fmt.Errorf("remember a person's answer: %w", err)
		}
		p.keep(name, kept{next, list})
		return nil
	}
	return errors.New("remember a person's answer: others change the record all the time")
}

// cut makes a text short enough to be kept.
func cut(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxWord)], "")
}

var errUnreadable = errors.New("not readable")

// load reads a record. Only if it has changed is it decoded.
func (p *Precedents) load(ctx context.Context, name string) ([]Answer, approver.Rev, error) {
	b, rev, err := p.store.Get(ctx, name)
	if errors.Is(err, approver.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read what people said no to: %w", err)
	}
	p.mu.Lock()
	known, ok := p.kept[name]
	p.mu.Unlock()
	if ok && known.rev == rev {
		return known.list, rev, nil
	}
	list, err := decode(b)
	if err != nil {
		return nil, rev, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	p.keep(name, kept{rev, list})
	return list, rev, nil
}

func (p *Precedents) keep(name string, k kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.kept[name]; !ok && len(p.kept) >= maxKept {
		clear(p.kept) // they are read again
	}
	p.kept[name] = k
}
