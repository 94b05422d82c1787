package redistest

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Each fault is what it says, and it is over when it is ended.
func TestProxyFaults(t *testing.T) {
	s := startFor(t, Options{})
	p, err := StartProxy(s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	db := redis.NewClient(&redis.Options{Addr: p.Addr, MaxRetries: -1, ReadTimeout: 200 * time.Millisecond,
		DialTimeout: 200 * time.Millisecond, DialerRetries: 1, PoolSize: 1})
	t.Cleanup(func() { _ = db.Close() })
	set := func(value string) error { return db.Set(t.Context(), "k", value, 0).Err() }
	for _, c := range []struct {
		name  string
		begin func()
		done  bool // the server did what it was told
	}{
		{"refuse", func() { p.Set(Refuse); p.Cut() }, false},
		{"swallow", func() { p.Set(Swallow) }, false},
		{"stall", func() { p.Set(Stall) }, false},
		{"the answer is lost", func() { p.LoseAnswer("lost", 0) }, true},
	} {
		if err := set("before"); err != nil {
			t.Fatal(err)
		}
		c.begin()
		if err := set(c.name + " lost"); err == nil {
			t.Errorf("%s: it has an answer", c.name)
		}
		if got := s.Admin().Get(t.Context(), "k").Val(); (got != "before") != c.done {
			t.Errorf("%s: the server has %q", c.name, got)
		}
		p.Set(NoFault)
		deadline := time.Now().Add(10 * time.Second)
		for set("after") != nil && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		if got := s.Admin().Get(t.Context(), "k").Val(); got != "after" {
			t.Errorf("%s: afterwards the server has %q", c.name, got)
		}
	}
	if p.Lost() != 1 {
		t.Errorf("%d answers were lost", p.Lost())
	}
}

// A connection of a time in which bytes were swallowed is half-open for good; a new one is not.
func TestProxyHalfOpen(t *testing.T) {
	s := startFor(t, Options{})
	p, err := StartProxy(s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	open := func() *redis.Client {
		db := redis.NewClient(&redis.Options{Addr: p.Addr, MaxRetries: -1, ReadTimeout: 200 * time.Millisecond, PoolSize: 1})
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	old := open()
	if err := old.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	p.Set(Swallow)
	p.Set(NoFault)
	if old.Ping(t.Context()).Err() == nil {
		t.Error("a connection from before works")
	}
	if err := open().Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}
