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

// A standard is one state of what only people may loosen: the policy, or the rule
// set of the reflex engine.
type standard interface{ Version() string }

// An inForce keeps the standard in force in the store, so that a restart is no way
// around the people who have to approve a looser one. The record is sealed under
// a key that is not in the store.
type inForce[V standard] struct {
	sealed
	kind  kind[V]
	live  live[V]
	audit approver.Recorder
	older bool                             // the audit has records of before this start, so it is not the first
	doubt func(format string, args ...any) // of the store
	log   *slog.Logger
	apart *apart // whether the files say something else
}

// A live is where a standard is in force. Its version is empty before there is one.
type live[V standard] interface {
	Set(V)
	Version() string
}

// A kind is what has to be known of a standard.
type kind[V standard] struct {
	noun    string                // such as policy
	tool    string                // what people are asked about, such as change_policy
	rule    string                // and by which rule
	current func() V              // the one in force
	keep    func(V) (kept, error) // for the store
	load    func(kept) (V, error)
	compare func(old, next V) shieldcore.Change
	// first is what counts where the store has nothing. Nil is what the file says.
	first func() (V, error)
}

// A kept is a standard as it is stored.
type kept struct {
	Version string `json:"version"`
	Name    string `json:"name"` // of its file
	Text    []byte `json:"text"`
}

// holdPolicy keeps the policy.
func holdPolicy(record sealed, live *shieldcore.Live, audit approver.Recorder, log *slog.Logger) *inForce[*shieldcore.Policy] {
	return &inForce[*shieldcore.Policy]{sealed: record, live: live, audit: audit, log: log, apart: new(apart), kind: kind[*shieldcore.Policy]{
		noun: "policy", tool: "change_policy", rule: "policy_loosened", current: live.Policy, compare: shieldcore.Compare,
		keep: func(p *shieldcore.Policy) (kept, error) {
			name, text := p.Source()
			return kept{p.Version(), name, text}, nil
		},
		load: func(k kept) (*shieldcore.Policy, error) { return shieldcore.Load(k.Name, k.Text) },
	}}
}

// brief names a version for people.
func brief(version string) string {
	if version == "" {
		return "built-in"
	}
	return version[:min(12, len(version))]
}

// start puts a standard in force: the one of the file, unless that loosens the one
// that was in force last. Then that one goes on, and the reloader asks people.
func (f *inForce[V]) start(ctx context.Context, file V) error {
	var was kept
	err := f.load(ctx, &was)
	switch {
	case errors.Is(err, approver.ErrNotFound) && f.kind.first != nil:
		first, err := f.kind.first()
		if err != nil {
			return err
		}
		return f.unless(ctx, first, file)
	case errors.Is(err, approver.ErrNotFound) && f.older:
		f.doubt("the store has no %s any more that was in force before, so look whether the %[1]s file is as you want it%[2]s", f.kind.noun, f.cure())
		f.log.Error("the store has no "+f.kind.noun+" that was in force before, although the audit is older: the "+f.kind.noun+" file is taken as it stands, so look whether it is as you want it",
			"version", brief(file.Version()), "lost_from", f.where)
		return f.put(ctx, file, "NO FORMER "+strings.ToUpper(f.kind.noun)+" is in the store, although the audit is older: the "+f.kind.noun+" file is taken as it stands")
	case errors.Is(err, approver.ErrNotFound):
		return f.put(ctx, file, "the first "+f.kind.noun+" of this installation")
	case err != nil:
		return f.unreadable(err)
	case was.Version == file.Version():
		f.live.Set(file)
		return nil
	}
	last, err := f.kind.load(was)
	if err == nil && last.Version() != was.Version {
		err = approver.ErrTampered
	}
	if err != nil {
		return f.unreadable(err)
	}
	return f.unless(ctx, last, file)
}

// unless puts what the file says in force unless that loosens the last one.
func (f *inForce[V]) unless(ctx context.Context, last, file V) error {
	change := f.kind.compare(last, file)
	switch {
	case change.Loosens():
		f.live.Set(last)
		f.apart.set("they loosen what is in force, which stays in force until people approve the change: " + strings.Join(change.Why, "; "))
		f.log.Warn("the "+f.kind.noun+" file loosens the "+f.kind.noun+" that was in force, which stays in force until people approve the change",
			"in_force", brief(last.Version()), "file", brief(file.Version()), "why", strings.Join(change.Why, "; "))
		return nil
	case last.Version() == file.Version():
		f.live.Set(file)
		return nil
	}
	return f.put(ctx, file, "tightens, or changes no verdict; changed while approver did not run")
}

func (f *inForce[V]) unreadable(err error) error {
	return fmt.Errorf("the %[1]s that was in force last cannot be read, so it is not known whether the %[1]s file loosens it: %[2]w: "+
		"if a key was replaced, list the old one behind the new one; otherwise look for who changed %[3]s, and remove it only if the %[1]s file is as you want it: "+
		"the next start takes that as the first (with the file, open requests, grants and a freeze are lost too)", f.kind.noun, err, f.where)
}

// tighten puts one in force that does not loosen: at once, even if it cannot
// be recorded.
func (f *inForce[V]) tighten(ctx context.Context, p V) error {
	f.live.Set(p)
	f.apart.set("")
	return f.put(ctx, p, "tightens, or changes no verdict")
}

// put records one, in the audit first, and then puts it in force.
func (f *inForce[V]) put(ctx context.Context, p V, how string) error {
	ctx = context.WithoutCancel(ctx)
	was := f.live.Version()
	note := fmt.Sprintf("%s %s is in force: %s", f.kind.noun, brief(p.Version()), how)
	if was != "" {
		note += "; before: " + brief(was)
	}
	if _, err := f.audit.Record(ctx, approver.Record{Event: approver.EventPolicy, At: time.Now(), Note: note}); err != nil {
		return fmt.Errorf("a change of the %s could not be recorded: %w", f.kind.noun, err)
	}
	text, err := f.kind.keep(p)
	if err == nil {
		err = f.replace(ctx, f.audit, text)
	}
	if err != nil {
		return fmt.Errorf("the %s could not be stored: %w", f.kind.noun, err)
	}
	f.live.Set(p)
	f.apart.set("")
	return nil
}
