package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"approver.example"
	"approver.example/shieldcore"
)

// An inForce keeps the policy in force in the store, so that a restart is no way
// around the people who have to approve a looser one. The record is sealed under
// a key that is not in the store.
type inForce struct {
	sealed
	live  *shieldcore.Live
	audit approver.Recorder
	older bool // the audit has records of before this start, so it is not the first
	log   *slog.Logger
}

// A keptPolicy is a policy as it is stored.
type keptPolicy struct {
	Version string `json:"version"`
	Name    string `json:"name"` // of its file
	Text    []byte `json:"text"`
}

func newInForce(record sealed, audit approver.Recorder, log *slog.Logger) *inForce {
	return &inForce{sealed: record, live: &shieldcore.Live{Tiers: highestTier}, audit: audit, log: log}
}

// start puts a policy in force: the one of the file, unless that loosens the one
// that was in force last. Then that one goes on, and the reloader asks people.
func (f *inForce) start(ctx context.Context, file *shieldcore.Policy) error {
	var kept keptPolicy
	err := f.load(ctx, &kept)
	switch {
	case errors.Is(err, approver.ErrNotFound) && f.older:
		f.log.Error("the store has no policy that was in force before, although the audit is older: the policy file is taken as it stands, so look whether it is as you want it",
			"version", file.Version()[:12], "lost_from", f.where)
		return f.put(ctx, file, "NO FORMER POLICY is in the store, although the audit is older: the policy file is taken as it stands")
	case errors.Is(err, approver.ErrNotFound):
		return f.put(ctx, file, "the first policy of this installation")
	case err != nil:
		return f.unreadable(err)
	case kept.Version == file.Version():
		f.live.Set(file)
		return nil
	}
	last, err := shieldcore.Load(kept.Name, kept.Text)
	if err == nil && last.Version() != kept.Version {
		err = approver.ErrTampered
	}
	if err != nil {
		return f.unreadable(err)
	}
	if change := shieldcore.Compare(last, file); change.Loosens() {
		f.live.Set(last)
		f.log.Warn("the policy file loosens the policy that was in force, which stays in force until people approve the change",
			"in_force", last.Version()[:12], "file", file.Version()[:12], "why", strings.Join(change.Why, "; "))
		return nil
	}
	return f.put(ctx, file, "tightens, or changes no verdict; changed while approver did not run")
}

func (f *inForce) unreadable(err error) error {
	return fmt.Errorf("the policy that was in force last cannot be read, so it is not known whether the policy file loosens it: %w: "+
		"if a key was replaced, list the old one behind the new one; otherwise look for who changed %s, and remove it only if the policy file is as you want it: "+
		"the next start takes that as the first (with the file, open requests, grants and a freeze are lost too)", err, f.where)
}

// tighten puts a policy in force that does not loosen: at once, even if it cannot
// be recorded.
func (f *inForce) tighten(ctx context.Context, p *shieldcore.Policy) error {
	f.live.Set(p)
	return f.put(ctx, p, "tightens, or changes no verdict")
}

// put records a policy, in the audit first, and then puts it in force.
func (f *inForce) put(ctx context.Context, p *shieldcore.Policy, how string) error {
	ctx = context.WithoutCancel(ctx)
	was := f.live.Version()
	note := fmt.Sprintf("policy %s is in force: %s", p.Version()[:12], how)
	if was != "" {
		note += "; before: " + was[:12]
	}
	if _, err := f.audit.Record(ctx, approver.Record{Event: approver.EventPolicy, At: time.Now(), Note: note}); err != nil {
		return fmt.Errorf("a change of the policy could not be recorded: %w", err)
	}
	name, text := p.Source()
	if err := f.save(ctx, keptPolicy{Version: p.Version(), Name: name, Text: text}); err != nil {
		return fmt.Errorf("the policy could not be stored: %w", err)
	}
	f.live.Set(p)
	return nil
}
