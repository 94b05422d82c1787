package judges

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/daemon/sealed"
	"approver.example/display"
	"approver.example/shieldcore"
)

// A versioned is one version of a standard that only people may loosen: the policy, the rule
// set of the reflex engine, or the information flow.
type versioned interface{ Version() string }

// An inForce keeps the version in force in the store, so that a restart cannot bypass the
// people who have to approve a looser one. The record is sealed with a key that is not in the
// store.
type inForce[V versioned] struct {
	sealed.Record
	spec   spec[V]
	active *active[V]
	audit  approver.Recorder
	older  bool                             // the audit has records from before this start, so it is not the first
	doubt  func(format string, args ...any) // reports a reason to distrust the store
	log    *slog.Logger
	unused *unusedReason // why the files are not in force, if they are not
}

// An active holds the version that judges. It is empty before the first Set.
type active[V versioned] struct {
	use func(V) // makes the judge use a version
	now atomic.Pointer[V]
}

// Set puts a version in force.
func (a *active[V]) Set(v V) {
	a.use(v)
	a.now.Store(&v)
}

// current returns the version in force, or the zero V if there is none.
func (a *active[V]) current() (v V) {
	if now := a.now.Load(); now != nil {
		v = *now
	}
	return v
}

// Version returns the name of the version in force; empty if there is none, or only what is
// built in.
func (a *active[V]) Version() string {
	if now := a.now.Load(); now != nil {
		return (*now).Version()
	}
	return ""
}

// A spec describes a standard: how people are asked about it, how it is stored and how
// versions are compared.
type spec[V versioned] struct {
	noun    string                  // such as policy
	title   string                  // of the question whether it may be looser
	tool    string                  // the tool in the question to people, such as change_policy
	rule    string                  // the rule in that question
	keep    func(V) (stored, error) // for the store
	load    func(stored) (V, error)
	compare func(old, next V) shieldcore.Change
	// first returns what was in force if the store has no record. If it is nil, the file is
	// taken as it is.
	first func() (V, error)
}

// hold returns the state of a standard that is kept in the record of that name. use makes the
// judge use a version.
func hold[V versioned](base Deps, name string, s spec[V], use func(V), log *slog.Logger) (*inForce[V], error) {
	record, err := sealed.New(base.Config, base.Store, name, base.Mark)
	return &inForce[V]{Record: record, spec: s, active: &active[V]{use: use}, audit: base.Audit, log: log,
		unused: new(unusedReason)}, err
}

// A stored is a version in the form in which it is stored.
type stored struct {
	Version string `json:"version"`
	Name    string `json:"name"` // the name of its file
	Text    []byte `json:"text"`
}

// brief shortens a version for people.
func brief(version string) string {
	if version == "" {
		return "built-in"
	}
	return version[:min(12, len(version))]
}

// start puts a version in force: that of the file, unless it loosens the last one in force.
// Then the last one stays, and the reloader asks people.
func (f *inForce[V]) start(ctx context.Context, file V) error {
	var was stored
	err := f.Load(ctx, &was)
	switch {
	case errors.Is(err, approver.ErrNotFound) && f.spec.first != nil:
		first, err := f.spec.first()
		if err != nil {
			return err
		}
		return f.unless(ctx, first, file)
	case errors.Is(err, approver.ErrNotFound) && f.older:
		f.doubt("the store has no %s any more that was in force before, so look whether the %[1]s file is as you want "+
			"it%[2]s", f.spec.noun, f.Cure())
		f.log.Error("the store has no "+f.spec.noun+" that was in force before, although the audit is older: the "+
			f.spec.noun+" file is taken as it stands, so look whether it is as you want it",
			"version", brief(file.Version()), "lost_from", f.Where)
		return f.put(ctx, file,
			"NO FORMER "+strings.ToUpper(f.spec.noun)+" is in the store, although the audit is older: the "+f.spec.noun+
				" file is taken as it stands")
	case errors.Is(err, approver.ErrNotFound):
		return f.put(ctx, file, "the first "+f.spec.noun+" of this installation")
	case err != nil:
		return f.unreadable(err)
	case was.Version == file.Version():
		f.active.Set(file)
		return nil
	}
	last, err := f.spec.load(was)
	if err == nil && last.Version() != was.Version {
		err = approver.ErrTampered
	}
	if err != nil {
		return f.unreadable(err)
	}
	return f.unless(ctx, last, file)
}

// unless puts the file's version in force, unless it loosens the last one.
func (f *inForce[V]) unless(ctx context.Context, last, file V) error {
	change := f.spec.compare(last, file)
	switch {
	case change.Loosens():
		f.active.Set(last)
		f.unused.set("they loosen what is in force, which stays in force until people approve the change: " +
			strings.Join(change.Why, "; "))
		f.log.Warn("the "+f.spec.noun+" file loosens the "+f.spec.noun+
			" that was in force, which stays in force until people approve the change",
			"in_force", brief(last.Version()), "file", brief(file.Version()), "why", strings.Join(change.Why, "; "))
		return nil
	case last.Version() == file.Version():
		f.active.Set(file)
		return nil
	}
	return f.put(ctx, file, "tightens, or changes no verdict; changed while approver did not run")
}

func (f *inForce[V]) unreadable(err error) error {
	if errors.Is(err, approver.ErrAway) { // its error has the cure
		return fmt.Errorf("the %s that was in force last cannot be read: %w", f.spec.noun, err)
	}
	return fmt.Errorf("the %[1]s that was in force last cannot be read, so it is not known whether the %[1]s file "+
		"loosens it: %[2]w: "+
		"if a key was replaced, list the old one behind the new one; otherwise look for who changed %[3]s, and remove it "+
		"only if the %[1]s file is as you want it: "+
		"the next start takes that as the first (with the file, open requests, grants and a freeze are lost too)",
		f.spec.noun, err, f.Where)
}

// tighten puts a version in force that does not loosen: at once, even if it cannot be
// recorded.
func (f *inForce[V]) tighten(ctx context.Context, p V) error {
	f.active.Set(p)
	f.unused.set("")
	return f.put(ctx, p, "tightens, or changes no verdict")
}

// put writes a version to the audit and then to the store, and then puts it in force.
func (f *inForce[V]) put(ctx context.Context, p V, how string) error {
	ctx = context.WithoutCancel(ctx)
	was := f.active.Version()
	note := fmt.Sprintf("%s %s is in force: %s", f.spec.noun, brief(p.Version()), how)
	if was != "" {
		note += "; before: " + brief(was)
	}
	if _, err := f.audit.Record(ctx,
		approver.Record{Event: approver.EventPolicy, At: time.Now(), Note: note}); err != nil {
		return fmt.Errorf("a change of the %s could not be recorded: %w", f.spec.noun, err)
	}
	text, err := f.spec.keep(p)
	if err == nil {
		err = f.Replace(ctx, f.audit, text)
	}
	if err != nil {
		return fmt.Errorf("the %s could not be stored: %w", f.spec.noun, err)
	}
	f.active.Set(p)
	f.unused.set("")
	return nil
}

// An unusedReason is why files are not in force: they are broken, or they loosen and wait for
// people. The zero value means that they are in force.
type unusedReason struct{ why atomic.Pointer[string] }

// set sets the reason; empty means that they are in force.
func (a *unusedReason) set(why string) { a.why.Store(&why) }

func (a *unusedReason) text() string {
	if why := a.why.Load(); why != nil {
		return display.OneLine(*why)
	}
	return ""
}
