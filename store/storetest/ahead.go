package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"approver.example"
)

// readAhead: what is read ahead is used once, by its own context, and never for longer than it may be.
func readAhead(t *testing.T, f *fixture) {
	s := f.open()
	if _, ok := s.(approver.AheadReader); !ok {
		t.Skip("this store reads nothing ahead")
	}
	key, other, none := newKey(), newKey(), newKey()
	first := put(t, s, key, "old", "")
	put(t, s, other, "other", "")
	ctx := approver.ReadAhead(t.Context(), s, key, none, "no key of ours")
	ctx = approver.ReadAhead(ctx, s, other)
	// Until it is taken, nobody knows whether it was read before this write.
	second := put(t, s, key, "new", first)
	got, rev, err := s.Get(ctx, key)
	if old := string(got) == "old" && rev == first; err != nil || !old && (string(got) != "new" || rev != second) {
		t.Errorf("read ahead: %q at %s, %v", got, rev, err)
	}
	for name, ctx := range map[string]context.Context{"again": ctx, "without": t.Context()} {
		if got, rev, err := s.Get(ctx, key); err != nil || string(got) != "new" || rev != second {
			t.Errorf("%s: %q at %s, %v", name, got, rev, err)
		}
	}
	if got, _, now, err := approver.GetNow(ctx, s, other); err != nil || string(got) != "other" || now.IsZero() {
		t.Errorf("the second reading: %q at %v, %v", got, now, err)
	}
	for range 2 {
		if got, rev, err := s.Get(ctx, none); !errors.Is(err, approver.ErrNotFound) || got != nil || rev != "" {
			t.Errorf("no record: %q at %s, %v", got, rev, err)
		}
	}
	if _, _, err := s.Get(ctx, "no key of ours"); err == nil || errors.Is(err, approver.ErrNotFound) {
		t.Errorf("no key of ours: %v", err)
	}

	ctx = approver.ReadAhead(t.Context(), s, key)
	third := put(t, s, key, "newer", second)
	time.Sleep(approver.MaxAhead + 50*time.Millisecond)
	if got, rev, err := s.Get(ctx, key); err != nil || string(got) != "newer" || rev != third {
		t.Errorf("too old: %q at %s, %v", got, rev, err)
	}

	ended, cancel := context.WithCancel(approver.ReadAhead(t.Context(), s, key))
	cancel()
	if _, _, err := s.Get(ended, key); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	ctx = approver.ReadAhead(t.Context(), s, key)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _, err := s.Get(ctx, key); err == nil {
		t.Errorf("a closed store answers %q", got)
	}
	ctx = approver.ReadAhead(t.Context(), s, key)
	if got, _, err := s.Get(ctx, key); err == nil {
		t.Errorf("a closed store answers %q", got)
	}
}
