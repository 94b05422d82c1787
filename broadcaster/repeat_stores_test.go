package broadcaster_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/fingerprint"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
)

// shifted is a store whose clock can be put forward.
type shifted struct {
	approver.KV
	by *atomic.Int64
}

func (s shifted) Scheduled(ctx context.Context, shard, limit int) ([]string, error) {
	return s.KV.(approver.Lister).Scheduled(ctx, shard, limit)
}

func (s shifted) Now(ctx context.Context) (time.Time, error) {
	now, err := s.KV.Now(ctx)
	return now.Add(time.Duration(s.by.Load())), err
}

// What a yes that is read again depends on is the store's clock and its
// compare-and-set: the real stores have both, for two daemons on one of them too.
func TestAYesIsReadAgainOnTheRealStores(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) approver.KV{
		"embedded": func(t *testing.T) approver.KV {
			store, err := sqlitestore.Open(sqlitestore.Config{
				Path: filepath.Join(t.TempDir(), "approver.db"),
			}, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			return store
		},
		"redis": func(t *testing.T) approver.KV {
			server, err := redistest.Start(t.Context(), redistest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { server.Close() })
			return openRedis(t, server)
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := shifted{open(t), new(atomic.Int64)}
			first, other := startReplica(t, store), startReplica(t, store)
			released := func(id string) {
				t.Helper()
				here := make(chan approver.Ref, 1)
				for _, m := range []*memory{first.m, other.m} {
					m.mu.Lock()
					m.seen[id] = here
					m.mu.Unlock()
				}
				told := make(chan approver.Verdict, 1)
				go func() { told <- first.ask(t.Context(), id) }()
				ref := <-here
				first.m.reply(t.Context(), approver.Reply{
					Channel: "memory", Conversation: "room", Sender: "1", Approve: true, Method: approver.ByTap, Request: ref.Message,
					Message: ref.Message,
				})
				if v := <-told; v.Decision != approver.Allow {
					t.Fatalf("%+v", v)
				}
			}
			want := func(what string, v approver.Verdict, want approver.Decision) {
				t.Helper()
				if v.Decision != want {
					t.Errorf("%s: told %v, want %v (%s)", what, v.Decision, want, v.Reason)
				}
			}
			released("a")
			want("at once", first.ask(t.Context(), "a"), approver.Allow)
			want("by another daemon", other.ask(t.Context(), "a"), approver.Allow)
			store.by.Add(int64(13 * time.Second))
			want("after 13 s", first.ask(t.Context(), "a"), approver.Allow)
			store.by.Add(int64(3 * time.Second))
			want("after 16 s", first.ask(t.Context(), "a"), approver.Deny)
			store.by.Add(int64(24 * time.Hour))
			want("after a day", other.ask(t.Context(), "a"), approver.Deny)

			released("b")
			if err := other.b.Reports.Acknowledge(t.Context(), approver.Peer{}, "b"); err != nil {
				t.Error(err)
			}
			want("acknowledged to another daemon", first.ask(t.Context(), "b"), approver.Deny)
			want("acknowledged, by a third", startReplica(t, store).ask(t.Context(), "b"), approver.Deny)

			released("c")
			if _, err := other.b.Controls.Freeze(t.Context(), "Ada", ""); err != nil {
				t.Error(err)
			}
			want("during a freeze", first.ask(t.Context(), "c"), approver.Deny)
			if err := first.b.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
				t.Error(err)
			}
			want("after a freeze", first.ask(t.Context(), "c"), approver.Deny)
			want("after a freeze, by a new daemon", startReplica(t, store).ask(t.Context(), "c"), approver.Deny)
		})
	}
}

// A replica is a daemon of several on one store.
type replica struct {
	b *broadcaster.Broadcaster
	m *memory
}

// startReplica starts one, until the test ends. Without others, Ada with the id 1 may answer.
func startReplica(t *testing.T, store approver.KV, others ...approver.Approver) replica {
	t.Helper()
	if err := broadcaster.BeginControls(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	m := newMemory()
	people := approver.People{}
	if len(others) == 0 {
		others = []approver.Approver{{ID: "1", Name: "Ada"}}
	}
	people.Add("memory", others)
	b, err := broadcaster.NewBroadcaster(broadcaster.Options{
		Store: store, Audit: m, People: people, Channels: []approver.Channel{m},
		Destinations: []approver.Destination{{Channel: "memory", Conversation: "room"}},
		Fingerprint: func(_ context.Context, c approver.ToolCall) (approver.Binding, error) {
			return fingerprint.Bind(c, "", nil, nil)
		},
		Limit: func(context.Context, string, approver.ToolCall) error { return nil }, CodeKey: make([]byte, 32),
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = b.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	<-m.ready
	return replica{b, m}
}

// ask asks with a courier's deadline that is far away.
func (r replica) ask(ctx context.Context, id string) approver.Verdict {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	return r.b.Ask(ctx, approver.ToolCall{
		ID: id, Agent: "claude", Session: id, Tool: "Bash", Command: "git push --force", Dir: "/repo", At: time.Now(),
	},
		approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High})
}
