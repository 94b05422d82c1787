package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"approver.example"
)

// This file reads where a log ends by the store's word.

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
