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

// A headKeeper writes the log's head to the store. It follows the commits and never
// blocks them.
type headKeeper struct {
	kv  approver.KV
	log string
	// controls is Options.Controls.
	controls   func() uint64
	lineExists func(Head) (bool, error) // whether the log has this line
	rev        approver.Rev             // of what is in the store

	stored uint64 // the last seq that is known to be in the store
	// After an ambiguous error the same Put is sent again, so that our own write is
	// never taken for somebody else's.
	value []byte
	next  approver.Rev
	seq   uint64
	// recent are the last revisions that this log wrote. If the store is back at one
	// of them, a fail-over lost the later writes, and nobody else wrote.
	recent     []headWrite
	storeOlder error // of adoptRev, until keepHead reports it

	err       error     // of the last put
	foreignAt time.Time // the last alarm about a head of somebody else
}

// A headWrite is one writing of the head.
type headWrite struct {
	rev approver.Rev
	at  time.Time // when it was begun
}

// maxRecent bounds recent: it covers some minutes of writing.
const maxRecent = 1024

// errForeign means that somebody else wrote the head.
var errForeign = errors.New("the audit's head in the store was changed by somebody else: " +
	"two logs share one id, or the store was changed by hand")

// errOlder means that an older store replaced the current one while the log was open.
var errOlder = errors.New("the store is older than the audit")

// put completes a pending Put, if there is one, and then stores head.
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
			if len(k.recent) == 0 && k.rev != "" {
				k.recent = append(k.recent, headWrite{k.rev, time.Now()}) // the last one of the previous process
			}
			k.recent = append(k.recent[max(0, len(k.recent)-maxRecent):], headWrite{k.next, time.Now()})
		}
		key := approver.Key(headKind, k.log)
		err := k.kv.Put(ctx, key, k.value, k.rev, k.next, time.Time{}, time.Now().Add(headKeep))
		switch {
		case err == nil:
			k.rev, k.stored, k.next = k.next, k.seq, ""
		case errors.Is(err, approver.ErrConflict):
			k.next = ""
			if err := k.adoptRev(ctx); err != nil && !errors.Is(err, errOlder) {
				return err
			} else if err != nil {
				k.storeOlder = err
			}
			k.stored = 0 // what is there is our own and too old: write the head again
		default:
			return fmt.Errorf("the audit's head in the store: %w", err)
		}
	}
	return nil
}

// adoptRev makes the revision in the store the one to overwrite, if the head there is
// the log's own; otherwise it returns errForeign. Our own head can be unexpected in two
// ways: a fail-over restores one that this process wrote, or the last write of a killed
// process arrives after the next process has read the head. The latter names a line of
// this log.
func (k *headKeeper) adoptRev(ctx context.Context) error {
	head, rev, err := readHead(ctx, k.kv, k.log)
	known := errors.Is(err, approver.ErrNotFound) || errors.Is(err, approver.ErrTampered)
	if err != nil && !known {
		return err
	}
	k.rev = rev
	i := slices.IndexFunc(k.recent, func(w headWrite) bool { return w.rev == rev })
	if i < 0 {
		if known {
			return errForeign
		}
		if ours, err := k.lineExists(head); err != nil {
			return err
		} else if !ours {
			return errForeign
		}
	}
	return k.checkRollback(i)
}

// checkRollback returns errOlder if the store has lost more writes than a fail-over can.
// i is the index in recent of the write that the store has; below 0, it is older than all.
func (k *headKeeper) checkRollback(i int) error {
	accepted := k.recent[:max(0, len(k.recent)-1)] // all but the write that it refuses now
	if i+1 >= len(accepted) {
		return nil
	}
	if d := accepted[len(accepted)-1].at.Sub(accepted[i+1].at); d > MaxLag {
		return fmt.Errorf("%w: what it took for %s is not in it any more", errOlder, d.Round(time.Second))
	}
	return nil
}

// write replaces the stored head that was read.
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

// A Head is the end of a log. The store has a copy, which shows if a log was
// truncated.
type Head struct {
	Log  string `json:"log"`
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"` // of the line Seq
	// Controls is the newest version of the store's record of freezes that the
	// writer knew then; zero means none.
	Controls uint64 `json:"controls,omitempty"`
	// First is the first line of the file that has the line Seq; zero means unknown.
	First uint64 `json:"first,omitempty"`
	// Closed means that the writer closed the log: no line follows Seq.
	Closed bool `json:"closed,omitempty"`
}

// ReadHead returns the stored head of the log with this id, or approver.ErrNotFound.
// To verify a log that is being written, read its head first.
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
