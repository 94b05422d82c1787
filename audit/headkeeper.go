package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// This file brings the head in the store up to date.

// A headKeeper brings the head in the store up to date, behind the commits and
// never in their way.
type headKeeper struct {
	kv  approver.KV
	log string
	// controls is Options.Controls.
	controls func() uint64
	has      func(Head) (bool, error) // whether the log has this line
	rev      approver.Rev             // of what is in the store

	stored uint64 // the last seq that is known to be in the store
	// A Put that ended in an ambiguous error is sent again as it was, so that
	// our own write is never taken for somebody else's.
	value []byte
	next  approver.Rev
	seq   uint64
	// mine are the revisions that this log wrote lately. A fail-over brings back
	// one of them: the store has lost writes, and nobody else was there.
	mine  []written
	older error // of adopt, until it is told

	err     error     // why the store does not take it, until that is over
	foreign time.Time // the last alarm about a head of somebody else
}

// A written is one writing of the head.
type written struct {
	rev approver.Rev
	at  time.Time // when it was begun
}

// ownRevisions is how many revisions are remembered: some minutes of writing.
const ownRevisions = 1024

// errForeign means that somebody else wrote the head.
var errForeign = errors.New("the audit's head in the store was changed by somebody else: " +
	"two logs share one id, or the store was changed by hand")

// errOlder means that the store was replaced by an older one under our hands.
var errOlder = errors.New("the store is older than the audit")

// put stores head, and first what an earlier put left open.
func (k *headKeeper) put(ctx context.Context, head Head) error {
	for k.next != "" || head.Seq > k.stored {
		if k.next == "" {
			if k.controls != nil {
				head.Controls = k.controls()
			}
			value, err := json.Marshal(head)
			if err != nil {
				return fmt.Errorf("the audit's head: %w", err)
			}
			k.value, k.next, k.seq = value, approver.NewRev(), head.Seq
			if len(k.mine) == 0 && k.rev != "" {
				k.mine = append(k.mine, written{k.rev, time.Now()}) // the last of the process before
			}
			k.mine = append(k.mine[max(0, len(k.mine)-ownRevisions):], written{k.next, time.Now()})
		}
		key := approver.Key(headKind, k.log)
		err := k.kv.Put(ctx, key, k.value, k.rev, k.next, time.Time{}, time.Now().Add(headKeep))
		switch {
		case err == nil:
			k.rev, k.stored, k.next = k.next, k.seq, ""
		case errors.Is(err, approver.ErrConflict):
			k.next = ""
			if err := k.takeOver(ctx); err != nil && !errors.Is(err, errOlder) {
				return err
			} else if err != nil {
				k.older = err
			}
			k.stored = 0 // what is there is our own and too old: write the head again
		default:
			return fmt.Errorf("the audit's head in the store: %w", err)
		}
	}
	return nil
}

// takeOver takes over the revision that is in the store, to write over it. Unless
// it is the log's own it returns errForeign: a fail-over brings back a head that
// this process wrote, and the last write of a process that was killed can arrive
// after the next one has read the head, but it names a line of this log.
func (k *headKeeper) takeOver(ctx context.Context) error {
	head, rev, err := readHead(ctx, k.kv, k.log)
	known := errors.Is(err, approver.ErrNotFound) || errors.Is(err, approver.ErrTampered)
	if err != nil && !known {
		return err
	}
	k.rev = rev
	i := slices.IndexFunc(k.mine, func(w written) bool { return w.rev == rev })
	if i < 0 {
		if known {
			return errForeign
		}
		if ours, err := k.has(head); err != nil {
			return err
		} else if !ours {
			return errForeign
		}
	}
	return k.lostTooMuch(i)
}

// lostTooMuch says whether a store that has our own writing i, or one of before all of
// them, has lost more than a fail-over takes along.
func (k *headKeeper) lostTooMuch(i int) error {
	taken := k.mine[:max(0, len(k.mine)-1)] // what the store took: all but the one that it refuses now
	if i+1 >= len(taken) {
		return nil
	}
	if d := taken[len(taken)-1].at.Sub(taken[i+1].at); d > MaxLag {
		return fmt.Errorf("%w: what it took for %s is not in it any more", errOlder, d.Round(time.Second))
	}
	return nil
}

// writeFirst makes a head for a log that has no line yet, so that a store which knows
// none of a log with lines has lost it.
func (k *headKeeper) writeFirst(ctx context.Context) error {
	return k.write(ctx, Head{Hash: genesis().String()})
}

// reopen takes back, before the first line is written, that the log was closed: a crash
// leaves lines behind the store's head.
func (k *headKeeper) reopen(ctx context.Context, head Head) error {
	head.Closed = false
	return k.write(ctx, head)
}

// write stores a head under the log's id in the place of the one that was read.
func (k *headKeeper) write(ctx context.Context, head Head) error {
	head.Log = k.log
	value, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("the audit's head: %w", err)
	}
	rev := approver.NewRev()
	err = k.kv.Put(ctx, approver.Key(headKind, k.log), value, k.rev, rev, time.Time{}, time.Now().Add(headKeep))
	if err != nil {
		return fmt.Errorf("the audit's head in the store: %w", err)
	}
	k.rev = rev
	return nil
}

// A Head is where a log ends. The store keeps one beside the log, so that a log
// that was cut short shows.
type Head struct {
	Log  string `json:"log"`
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"` // of the line Seq
	// Controls is the newest version of the store's record of freezes that the
	// writer of the log knew then; zero is of a log that knew none.
	Controls uint64 `json:"controls,omitempty"`
	// First is the first line of the file that the line Seq is in; zero is not known.
	First uint64 `json:"first,omitempty"`
	// Closed means that the writer stopped in order: there is nothing behind Seq.
	Closed bool `json:"closed,omitempty"`
}

// ReadHead returns what the store knows of the end of the log with this id. An
// unknown log is approver.ErrNotFound. To verify a log that is being written,
// read its head first.
func ReadHead(ctx context.Context, kv approver.KV, log string) (Head, error) {
	head, _, err := readHead(ctx, kv, log)
	return head, err
}

func readHead(ctx context.Context, kv approver.KV, log string) (Head, approver.Rev, error) {
	value, rev, err := kv.Get(ctx, approver.Key(headKind, log))
	if err != nil {
		return Head{}, "", fmt.Errorf("the audit's head in the store: %w", err)
	}
	var h Head
	if err := json.Unmarshal(value, &h); err != nil || h.Log != log || len(h.Hash) != hashLength {
		return Head{}, rev, fmt.Errorf("the audit's head in the store: %w", approver.ErrTampered)
	}
	return h, rev, nil
}

const (
	headKind    = "audit"
	headKeep    = 10 * 365 * 24 * time.Hour
	headTimeout = 5 * time.Second
)
