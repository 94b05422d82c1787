package shieldcore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"approver.example"
)

// Tools are the tools that were used in each project, in a store: one record for each user, whose uid
// the kernel reports, and project, which the agent claims. Own tools of agents are not in it.
type Tools struct {
	Store approver.KV
	// Project returns the project that a folder is in.
	Project func(dir string) string

	mu    sync.Mutex
	known map[string]toolRecord // by key, as last read
}

// A toolRecord is the tools that were used, as the beginnings of their hashes, the oldest first.
type toolRecord struct {
	Version int      `json:"v"`
	Tools   []string `json:"tools"`

	rev approver.Rev
}

const (
	maxTools     = 1000 // of a project; the oldest are forgotten
	maxToolKeys  = 256  // records that are kept in memory
	toolAttempts = 5
	toolsKeep    = 10 * 365 * 24 * time.Hour
)

// Used reports whether the call's tool was used in its project. A tool that was used stays so, and
// the store is not asked about it again.
func (t *Tools) Used(ctx context.Context, call approver.ToolCall) (bool, error) {
	if t == nil || t.Store == nil {
		return true, nil // nobody counts
	}
	key, tool := t.key(call), hashed(call.Tool)
	t.mu.Lock()
	used := slices.Contains(t.known[key].Tools, tool)
	t.mu.Unlock()
	if used {
		return true, nil
	}
	r, err := t.read(ctx, key)
	return slices.Contains(r.Tools, tool), err
}

// Use notes that the tool was used, and returns when that is durable.
func (t *Tools) Use(ctx context.Context, call approver.ToolCall) error {
	key, tool := t.key(call), hashed(call.Tool)
	for range toolAttempts {
		r, err := t.read(ctx, key)
		if err != nil || slices.Contains(r.Tools, tool) {
			return err
		}
		prev := r.rev
		r.Tools = append(slices.Clone(r.Tools), tool)
		r.Tools, r.Version, r.rev = r.Tools[max(0, len(r.Tools)-maxTools):], 1, approver.NewRev()
		value, err := json.Marshal(r)
		if err != nil {
			return err
		}
		err = t.Store.Put(ctx, key, value, prev, r.rev, time.Time{}, time.Now().Add(toolsKeep))
		switch {
		case err == nil:
			t.keep(key, r)
			return nil
		case !errors.Is(err, approver.ErrConflict):
			return err
		}
	}
	return fmt.Errorf("the tools of the project were changed %d times meanwhile", toolAttempts)
}

// Answered notes the use of a tool of which people said yes.
func (t *Tools) Answered(ctx context.Context, r approver.Record) error {
	if t == nil || t.Store == nil || r.Event != approver.EventApproved || !r.Resolution.Approve ||
		r.Call.AboutApprover() || ownTool(r.Call) {
		return nil
	}
	return t.Use(ctx, r.Call)
}

func (t *Tools) read(ctx context.Context, key string) (r toolRecord, err error) {
	value, rev, err := t.Store.Get(ctx, key)
	switch {
	case errors.Is(err, approver.ErrNotFound):
		return r, nil
	case err != nil:
		return r, err
	}
	if err := json.Unmarshal(value, &r); err != nil {
		return toolRecord{}, fmt.Errorf("the record of the tools of the project cannot be read: %w", err)
	}
	if r.Version != 1 {
		return toolRecord{}, fmt.Errorf("the record of the tools of the project has the unknown version %d", r.Version)
	}
	r.rev = rev
	t.keep(key, r)
	return r, nil
}

func (t *Tools) keep(key string, r toolRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxToolKeys {
		t.known = map[string]toolRecord{}
	}
	t.known[key] = r
}

func (t *Tools) key(call approver.ToolCall) string {
	who, project := "unknown", call.Dir
	if call.Peer.Known {
		who = strconv.FormatUint(uint64(call.Peer.UID), 10)
	}
	if t.Project != nil {
		project = t.Project(call.Dir)
	}
	return approver.Key("tools", hashed(strconv.Itoa(len(who))+":"+who+project))
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
