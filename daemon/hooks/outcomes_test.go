package hooks

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/store/sqlitestore"
)

// fullStore keeps nothing more once it is full.
type fullStore struct {
	approver.KV
	full error
}

func (s *fullStore) Put(
	ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	if s.full != nil {
		return s.full
	}
	return s.KV.Put(ctx, key, value, prev, next, due, keep)
}

// The story: the store could not keep that a call had run. The error was dropped, so that
// nobody heard why the same report, sent twice, was later taken for a second run. It is told
// now, and what the agent was told is known all the same.
func TestAStoreThatCannotKeepThatACallRanIsTold(t *testing.T) {
	kv, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "db")}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kv.Close() })
	store := &fullStore{KV: kv}
	ev := agents.Event{Agent: "claude", UseID: "toolu_1"}
	told := use{outcome: permitted, content: agents.Content{1}, lasting: true}
	first := &Outcomes{Store: store}
	if err := first.keep(t.Context(), ev, approver.Peer{}, told); err != nil {
		t.Fatal(err)
	}
	first.note(ev, approver.Peer{}, told)
	store.full = errors.New("no space left on device")
	for name, o := range map[string]*Outcomes{"the daemon that answered": first,
		"another, or after a start": {Store: store}} {
		got, err := o.take(t.Context(), ev, approver.Peer{}, "report")
		if !errors.Is(err, store.full) || got.outcome != permitted || got.content != told.content {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	store.full = nil
	if got, err := (&Outcomes{Store: store}).take(t.Context(), ev, approver.Peer{}, "report"); err != nil ||
		got.outcome != permitted {
		t.Errorf("later: %+v, %v", got, err)
	}
	if got, err := (&Outcomes{Store: store}).take(t.Context(), ev, approver.Peer{}, "report"); err != nil ||
		got.outcome != taken {
		t.Errorf("a second time: %+v, %v", got, err)
	}
}
