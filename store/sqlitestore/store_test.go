package sqlitestore

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"approver.example/store/storetest"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// openWith opens a store with a rhythm and a clock of the test's own.
func openWith(path string, gcEvery time.Duration, wall func() time.Time) (*Store, error) {
	o := usual()
	o.gcEvery, o.wall = gcEvery, wall
	return open(Config{Path: path}, quiet(), o)
}

func openFor(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(Config{Path: path}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Place {
		path := filepath.Join(t.TempDir(), "approver.db")
		return storetest.Place{Open: func() (storetest.Store, error) {
			return openWith(path, 20*time.Millisecond, time.Now)
		}}
	})
}

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) storetest.Store {
		return openFor(b, filepath.Join(b.TempDir(), "approver.db"))
	})
}
