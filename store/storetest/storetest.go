// Package storetest is the conformance suite of approver.KV. It cannot tell one
// store from another: what it asks for is all that the rest of approver may
// rely on.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
)

// A Store is an approver.KV that can be closed.
type Store interface {
	approver.KV
	Close() error
}

// A Place is where the records of one test lie. It is empty at first.
type Place struct {
	// Open opens the records the way a new process would.
	Open func() (Store, error)
	// Shared says that several processes may have the records open at once. A
	// place that is not shared is opened again only after it was closed.
	Shared bool
}

// patience bounds every wait for something that is to happen.
const patience = 30 * time.Second

// Run puts a store through the suite. Each test gets a new place.
func Run(t *testing.T, newPlace func(t *testing.T) Place) {
	groups := []struct {
		name  string
		tests []test
	}{
		{"records", recordTests}, {"due", dueTests}, {"watch", watchTests},
		{"lease", leaseTests}, {"clock", clockTests}, {"model", modelTests},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, test := range g.tests {
				t.Run(test.name, func(t *testing.T) {
					test.run(t, &fixture{t: t, place: newPlace(t)})
				})
			}
		})
	}
}

type test struct {
	name string
	run  func(t *testing.T, f *fixture)
}

// A fixture is one test's place and the stores that are open on it.
type fixture struct {
	t     *testing.T
	place Place
}

// open opens the place, until the test ends.
func (f *fixture) open() Store {
	f.t.Helper()
	s, err := f.place.Open()
	if err != nil {
		f.t.Fatalf("open: %v", err)
	}
	f.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.t.Errorf("close: %v", err)
		}
	})
	return s
}

// other opens the place as another process. Where only one may have it, s is
// closed first.
func (f *fixture) other(s Store) Store {
	f.t.Helper()
	if !f.place.Shared {
		if err := s.Close(); err != nil {
			f.t.Fatalf("close: %v", err)
		}
	}
	return f.open()
}

// newKey returns a key that nobody has used.
func newKey() string { return approver.Key("test", uuid.NewString()) }

// newKeyIn returns a new key of one shard.
func newKeyIn(shard int) string {
	for {
		if id := uuid.NewString(); approver.ShardOf(id) == shard {
			return approver.Key("test", id)
		}
	}
}

// later is a time that does not come in any test.
func later() time.Time { return time.Now().Add(48 * time.Hour) }

// put writes a record that is never due, and must succeed.
func put(t *testing.T, s Store, key string, value string, prev approver.Rev) approver.Rev {
	t.Helper()
	return putDue(t, s, key, value, prev, time.Time{})
}

func putDue(t *testing.T, s Store, key string, value string, prev approver.Rev, due time.Time) approver.Rev {
	t.Helper()
	next := approver.NewRev()
	if err := s.Put(t.Context(), key, []byte(value), prev, next, due, later()); err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
	return next
}

// wantRecord reads a record and compares it.
func wantRecord(t *testing.T, s Store, key string, value string, rev approver.Rev) {
	t.Helper()
	got, gotRev, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	if !bytes.Equal(got, []byte(value)) || gotRev != rev {
		t.Fatalf("got %.40q of %d bytes at %s, want %.40q of %d bytes at %s", got, len(got), gotRev, value, len(value), rev)
	}
}

// wantGone makes sure that there is no record.
func wantGone(t *testing.T, s Store, key string) {
	t.Helper()
	if v, rev, err := s.Get(t.Context(), key); !errors.Is(err, approver.ErrNotFound) || v != nil || rev != "" {
		t.Fatalf("got %q, %q, %v, want ErrNotFound and nothing else", v, rev, err)
	}
}

// wantConflict compares the error of a write that another one was to have excluded.
func wantConflict(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, approver.ErrConflict) {
		t.Errorf("%s: got %v, want ErrConflict", what, err)
	}
}

// now reads the store's clock.
func now(t *testing.T, s Store) time.Time {
	t.Helper()
	now, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// eventually waits until f returns no error.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatalf("still, after %v: %v", patience, err)
}

// hinted waits for a hint.
func hinted(t *testing.T, hints <-chan struct{}) {
	t.Helper()
	select {
	case _, ok := <-hints:
		if !ok {
			t.Fatal("the watch ended, want a hint")
		}
	case <-time.After(patience):
		t.Fatalf("no hint within %v", patience)
	}
}

// ended waits until a watch's channel is closed; a last hint may be in it.
func ended(t *testing.T, hints <-chan struct{}) {
	t.Helper()
	end := time.After(patience)
	for {
		select {
		case _, ok := <-hints:
			if !ok {
				return
			}
		case <-end:
			t.Fatalf("the watch did not end within %v", patience)
		}
	}
}

// calls are all methods of a KV, with arguments that are right.
var calls = []struct {
	name string
	call func(ctx context.Context, s Store) error
}{
	{"Get", func(ctx context.Context, s Store) error { _, _, err := s.Get(ctx, newKey()); return err }},
	{"Put", func(ctx context.Context, s Store) error {
		return s.Put(ctx, newKey(), nil, "", approver.NewRev(), time.Time{}, later())
	}},
	{"Due", func(ctx context.Context, s Store) error { _, err := s.Due(ctx, 0, 1); return err }},
	{"Watch", func(ctx context.Context, s Store) error { _, err := s.Watch(ctx, newKey()); return err }},
	{"Lease", func(ctx context.Context, s Store) error { _, err := s.Lease(ctx, "test", time.Second); return err }},
	{"Now", func(ctx context.Context, s Store) error { _, err := s.Now(ctx); return err }},
}

// numbered names values so that they differ.
func numbered(n int) string { return fmt.Sprintf("value %d", n) }
