package broadcaster_test

import (
	"context"
	"fmt"
	"log/slog"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/redisstore"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
)

// frozenCalls are the calls of one round: all are approved while everything is frozen.
const frozenCalls = 20

// freezeRounds is the number of rounds: so many calls as APPROVER_RACES says, or 400.
func freezeRounds(t *testing.T) int {
	t.Helper()
	races := 400
	if text := os.Getenv("APPROVER_RACES"); text != "" {
		var err error
		if races, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	return max(1, races/frozenCalls)
}

// A freeze that somebody was told of holds: no call is released after that, whichever replica
// took the yes, the freeze and the call.
func TestNothingIsReleasedAfterAFreeze(t *testing.T) {
	t.Run("redis", func(t *testing.T) {
		server, err := redistest.Start(t.Context(), redistest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		key := hubKey(t)
		open := func() *redisstore.Store { return openRedisWith(t, server, key) }
		freezeRace(t, open(), slowStore{open()}, slowStore{open()})
	})
	t.Run("embedded", func(t *testing.T) {
		store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "approver.db")},
			slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		freezeRace(t, store, store)
	})
}

// A slowStore is a store whose answers to writes are now and then on their way for long, as those of a
// replica that is far away.
type slowStore struct{ *redisstore.Store }

func (s slowStore) PutBefore(ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev,
	due, keepUntil time.Time) error {
	err := s.Store.PutBefore(ctx, before, key, value, prev, next, due, keepUntil)
	if mrand.N(3) == 0 {
		time.Sleep(mrand.N(200 * time.Millisecond))
	}
	return err
}

// freezeRace freezes everything on the first store while calls are approved on the others.
func freezeRace(t *testing.T, first approver.KV, others ...approver.KV) {
	freezer := startReplica(t, first).b
	var replicas []replica
	for _, store := range others {
		replicas = append(replicas, startReplica(t, store))
	}
	var released, stopped, late atomic.Int64
	var worst atomic.Int64
	for round := range freezeRounds(t) {
		var calls, answers sync.WaitGroup
		var acknowledged atomic.Int64 // when, since began; zero before
		began := time.Now()
		start := make(chan struct{})
		for n := range frozenCalls {
			at, by := replicas[mrand.N(len(replicas))], replicas[mrand.N(len(replicas))]
			session, wait := fmt.Sprintf("r%d-%d", round, n), mrand.N(20*time.Millisecond)
			here := make(chan approver.Ref, 1)
			at.m.mu.Lock()
			at.m.seen[session] = here
			at.m.mu.Unlock()
			calls.Go(func() {
				v := at.b.Ask(t.Context(), approver.ToolCall{
					ID: fmt.Sprintf("%016x%016x", round+1, n+1), Agent: "claude", Session: session, Tool: "Bash",
					Command: "make " + session, At: time.Now(),
				}, approver.Verdict{Decision: approver.Ask, Severity: approver.High, TTL: time.Minute})
				told := time.Since(began)
				switch ack := acknowledged.Load(); {
				case v.Decision != approver.Allow:
					stopped.Add(1)
				case ack != 0 && int64(told) > ack:
					late.Add(1)
					worst.Store(max(worst.Load(), int64(told)-ack))
				default:
					released.Add(1)
				}
			})
			ref := <-here
			answers.Go(func() {
				<-start
				time.Sleep(wait)
				by.m.reply(t.Context(), approver.Reply{Channel: "memory", Conversation: "room", Sender: "1", Approve: true,
					Method: approver.ByTap, Request: ref.Message, Message: ref.Message})
			})
		}
		close(start)
		time.Sleep(mrand.N(25 * time.Millisecond))
		if _, err := freezer.Controls.Freeze(t.Context(), "root", "stop"); err != nil {
			t.Fatal(err)
		}
		acknowledged.Store(int64(time.Since(began)))
		answers.Wait()
		calls.Wait()
		if err := freezer.Controls.Unfreeze(t.Context(), "root"); err != nil {
			t.Fatal(err)
		}
	}
	if released.Load() == 0 || stopped.Load() == 0 {
		t.Errorf("no race: %d released, %d stopped", released.Load(), stopped.Load())
	}
	if n := late.Load(); n > 0 {
		t.Errorf("%d calls were released after the freeze, up to %v after it", n, time.Duration(worst.Load()))
	}
	t.Logf("%d released before the freeze was acknowledged, %d stopped, %d released after it", released.Load(),
		stopped.Load(), late.Load())
}
