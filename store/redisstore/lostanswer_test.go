package redisstore

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/storetest/redistest"
)

// openThrough opens a store on a Redis behind a proxy.
func openThrough(t *testing.T) (*Store, *redistest.Proxy, *redistest.Server) {
	t.Helper()
	server := startFor(t, redistest.Options{})
	proxy, err := redistest.StartProxy(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return openSwift(t, Config{Addrs: []string{proxy.Addr}}), proxy, server
}

// The answer to each script is lost, and what it did stays done. Whoever writes hears that they cannot know, and
// when they ask again, what is so: nothing is done twice, and nobody takes their own success for a refusal. What
// only reads is asked again by the client.
func TestTheAnswerOfEachScriptIsLost(t *testing.T) {
	t.Parallel()
	s, proxy, server := openThrough(t)
	db := server.Admin()
	name := func(id string) string { return approver.Key("test", id) }
	rev, batch := approver.NewRev(), make([]approver.Write, 3)
	for i := range batch {
		batch[i] = approver.Write{Key: name(fmt.Sprint("batch", i)), Value: []byte("v"), Next: approver.NewRev()}
	}
	write(t, s, name("first"), "v", "")
	if err := s.Put(t.Context(), name("due"), []byte("v"), "", approver.NewRev(), time.Now().Add(-time.Second),
		time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Set(t.Context(), name("foreign"), "not ours", 0).Err(); err != nil {
		t.Fatal(err)
	}
	stored := func(keys ...string) func() string {
		return func() (all string) {
			for _, key := range keys {
				all += db.Get(t.Context(), key).Val()
			}
			return all
		}
	}
	fenceKey := fmt.Sprintf("ap:{%02d}/fence:own", approver.ShardOf("own"))
	for _, c := range []struct {
		name   string
		script *script
		reads  bool
		do     func() error
		again  error         // of the second try; nil: it knows its own success
		is     func() string // what Redis has
		not    string        // what it had before
	}{
		{name: "put", script: s.scripts.put, is: stored(name("put")), do: func() error {
			return s.Put(t.Context(), name("put"), []byte("v"), "", rev, time.Time{}, time.Time{})
		}},
		{name: "put of several", script: s.scripts.put, is: stored(batch[0].Key, batch[1].Key, batch[2].Key),
			do: func() error { return errors.Join(s.PutAll(t.Context(), batch)...) }},
		{name: "lease", script: s.scripts.lease, is: stored(fenceKey), do: func() error {
			fence, err := s.Lease(t.Context(), "own", time.Minute)
			if err == nil && fmt.Sprint(fence) != stored(fenceKey)() {
				t.Errorf("the fence is %v", fence)
			}
			return err
		}},
		// That the record is gone is what the caller wanted.
		{name: "discard", script: s.scripts.discard, is: stored(name("foreign")), not: "not ours",
			again: approver.ErrConflict, do: func() error { return s.Discard(t.Context(), name("foreign")) }},
		{name: "now", script: s.scripts.now, reads: true, is: stored(name("first")), do: func() error {
			_, err := s.Now(t.Context())
			return err
		}},
		{name: "due", script: s.scripts.due, reads: true, is: stored(name("due")), do: func() error {
			keys, err := s.Due(t.Context(), approver.ShardOf("due"), 10)
			if err == nil && strings.Join(keys, " ") != name("due") {
				err = fmt.Errorf("due is %v", keys)
			}
			return err
		}},
	} {
		if err := db.ScriptLoad(t.Context(), c.script.source).Err(); err != nil { // else another answer is lost
			t.Fatal(err)
		}
		time.Sleep(clockFor + time.Millisecond) // so that the time is asked for
		before := proxy.Lost()
		proxy.LoseAnswer(c.script.Hash(), 0)
		err := c.do()
		certain := err == nil || errors.Is(err, approver.ErrConflict) || errors.Is(err, approver.ErrHeld)
		if certain != c.reads {
			t.Errorf("%s: its answer was lost: %v", c.name, err)
		}
		if proxy.Lost() != before+1 {
			t.Errorf("%s: %d answers were lost", c.name, proxy.Lost()-before)
		}
		is := c.is()
		if is == c.not {
			t.Errorf("%s: Redis has %q", c.name, is)
		}
		if err := c.do(); !errors.Is(err, c.again) {
			t.Errorf("%s, again: %v", c.name, err)
		}
		if now := c.is(); now != is {
			t.Errorf("%s: Redis has %q, and %q after the second try", c.name, is, now)
		}
	}
}

// The story: a router forgot its connections, as after a restart of its own. Redis was there, and each connection
// of a busy daemon looked well and never answered. A yes that was given in that moment tried one after the other,
// each for as long as an answer may take. On a machine with eight processors that was 48 seconds, and the agent
// heard that nobody had answered. After the first that does not answer, none of the others is tried.
func TestConnectionsThatWereForgotten(t *testing.T) {
	t.Parallel()
	s, proxy, _ := openThrough(t)
	var busy sync.WaitGroup
	for range 100 {
		busy.Go(func() { _, _, _ = s.Get(t.Context(), approver.Key("test", "none")) })
	}
	busy.Wait()
	if n := s.rdb.PoolStats().IdleConns; n < 10 {
		t.Fatalf("%d connections: the test shows nothing", n)
	}
	proxy.Set(redistest.Swallow)
	proxy.Set(redistest.NoFault)
	began, rev, tries := time.Now(), approver.NewRev(), 0
	within(t, 30*time.Second, func() error {
		tries++
		return s.Put(t.Context(), approver.Key("test", "yes"), []byte("v"), "", rev, time.Time{}, time.Time{})
	})
	if took := time.Since(began); tries > 3 {
		t.Errorf("it took %v and %d tries", took, tries)
	}
}
