package redisstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/storetest/redistest"
)

// swift are timeouts for tests in which servers go away.
func swift(c Config) Config {
	c.DialTimeout, c.ReadTimeout = 500*time.Millisecond, 500*time.Millisecond
	return c
}

// openSwift opens a store that tests its subscription often.
func openSwift(t *testing.T, c Config) *Store {
	t.Helper()
	c.HubKeyFile = hubKeyFile(t, "k")
	s, err := open(t.Context(), swift(c), quiet(), 100*time.Millisecond, lookEvery)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// within waits until f returns no error.
func within(t *testing.T, limit time.Duration, f func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatalf("still, after %v: %v", limit, err)
}

// wantHint waits for a hint.
func wantHint(t *testing.T, hints <-chan struct{}) {
	t.Helper()
	select {
	case _, ok := <-hints:
		if !ok {
			t.Fatal("the watch ended")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no hint")
	}
}

// settle empties a watch of hints that earlier events left.
func settle(hints <-chan struct{}) {
	for {
		select {
		case <-hints:
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}

// Writers add names to one list while Redis is killed and restarted under them.
// Each sends a write with an ambiguous error again, until it knows. Then every
// success is in the list once, and nothing is in it that was refused.
//
// One case stays open by the nature of a compare-and-set: a write with an
// ambiguous error that was done, and whose record has changed again before it
// is sent again, is a conflict. Only the record itself can tell then.
func TestNothingIsLostOrDoneTwiceWhileRedisCrashes(t *testing.T) {
	t.Parallel()
	const writers, crashes, atMost = 4, 3, 30
	server := startFor(t, redistest.Options{Config: []string{"appendfsync always"}})
	s, key := openSwift(t, Config{Addrs: []string{server.Addr}}), approver.Key("test", "list")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	write(t, s, key, "", "")
	results := make([]map[string]outcome, writers)
	var sentAgain atomic.Int32
	var all sync.WaitGroup
	for w := range writers {
		results[w] = make(map[string]outcome)
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				name := fmt.Sprintf("%d-%d", w, n)
				o := add(t.Context(), s, key, name)
				if results[w][name] = o; o.again {
					sentAgain.Add(1)
				}
			}
		})
	}
	for n := 0; n < crashes || sentAgain.Load() == 0 && n < atMost; n++ {
		time.Sleep(150 * time.Millisecond)
		server.Kill()
		time.Sleep(150 * time.Millisecond)
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(150 * time.Millisecond)
	stop()
	all.Wait()
	var value []byte
	within(t, 30*time.Second, func() (err error) { // the client waits a little before it dials again
		value, _, err = s.Get(t.Context(), key)
		return err
	})
	times := make(map[string]int)
	for _, name := range strings.Fields(string(value)) {
		times[name]++
	}
	successes := 0
	for _, result := range results {
		for name, o := range result {
			if n := times[name]; n > 1 || o.done && n != 1 || o.refused && !o.again && n != 0 ||
				!o.done && !o.refused && n != 0 {
				t.Errorf("%s is in the list %d times: %+v", name, n, o)
			}
			if o.done {
				successes++
			}
		}
	}
	if successes == 0 || sentAgain.Load() == 0 {
		t.Errorf("%d successes and %d writes sent again: the test shows nothing", successes, sentAgain.Load())
	}
}

// An outcome is what a writer knows of one write. The zero value is a write that
// was never sent.
type outcome struct {
	done, refused bool
	again         bool // it was sent more than once
}

// add appends a name to the list, and sends it again until it knows.
func add(ctx context.Context, s *Store, key, name string) (o outcome) {
	value, rev, err := s.Get(ctx, key)
	if err != nil {
		time.Sleep(5 * time.Millisecond)
		return o
	}
	next := approver.NewRev()
	for {
		err := s.Put(ctx, key, fmt.Appendf(value, " %s", name), rev, next, time.Time{}, time.Time{})
		switch {
		case err == nil:
			o.done = true
			return o
		case errors.Is(err, approver.ErrConflict):
			o.refused = true
			return o
		}
		o.again = true
		time.Sleep(5 * time.Millisecond)
	}
}

func TestCallsEndWhileRedisHangs(t *testing.T) {
	t.Parallel()
	server := startFor(t, redistest.Options{})
	// Without the bound on the whole call, the client would try again.
	s, err := Open(t.Context(), Config{
		Addrs: []string{server.Addr}, HubKeyFile: hubKeyFile(t, "k"), DialTimeout: 200 * time.Millisecond,
		ReadTimeout: 2 * time.Second,
	}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	key := approver.Key("test", "hang")
	rev := write(t, s, key, "before", "")
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(clockFor + time.Millisecond) // else its last word on the time still counts
	next := approver.NewRev()
	put := func() error {
		return s.Put(t.Context(), key, []byte("after"), rev, next, time.Time{}, time.Time{})
	}
	calls := map[string]func() error{
		"Get":   func() error { _, _, err := s.Get(t.Context(), key); return err },
		"Put":   put,
		"Due":   func() error { _, err := s.Due(t.Context(), 0, 1); return err },
		"Lease": func() error { _, err := s.Lease(t.Context(), "x", time.Second); return err },
		"Now":   func() error { _, err := s.Now(t.Context()); return err },
	}
	var all sync.WaitGroup
	for name, call := range calls {
		all.Go(func() {
			began := time.Now()
			err := call()
			if d := time.Since(began); d > 10*time.Second {
				t.Errorf("%s took %v", name, d)
			}
			for _, certain := range []error{nil, approver.ErrConflict, approver.ErrNotFound, approver.ErrHeld,
				approver.ErrTampered} {
				if errors.Is(err, certain) {
					t.Errorf("%s of a Redis that hangs: got %v, want an ambiguous error", name, err)
				}
			}
		})
	}
	all.Wait()
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	within(t, 30*time.Second, put)
	if value, got, err := s.Get(t.Context(), key); err != nil || string(value) != "after" || got != next {
		t.Errorf("after the thaw: got %q, %v", value, err)
	}
}

func TestWatchersAreHintedAfterEveryReconnection(t *testing.T) {
	t.Parallel()
	server := startFor(t, redistest.Options{})
	s, key := openSwift(t, Config{Addrs: []string{server.Addr}}), approver.Key("test", "watched")
	hints, err := s.Watch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	settle(hints)
	losses := map[string]func() error{
		"the connection is cut": func() error {
			return server.Admin().ClientKillByFilter(t.Context(), "TYPE", "pubsub").Err()
		},
		"Redis restarts": func() error { return errors.Join(server.Stop(), server.Restart(t.Context())) },
		"Redis crashes":  func() error { server.Kill(); return server.Restart(t.Context()) },
	}
	for name, lose := range losses {
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		wantHint(t, hints)
		settle(hints)
		var rev approver.Rev
		within(t, 30*time.Second, func() (err error) {
			if _, rev, err = s.Get(t.Context(), key); errors.Is(err, approver.ErrNotFound) {
				return nil
			}
			return err
		})
		write(t, s, key, name, rev)
		wantHint(t, hints)
		settle(hints)
	}
}

// A router stands before two servers: what is connected stays, what connects
// anew is sent on to the present target. So a subscription can be left behind at
// a server that nobody writes to any more, with its connection in best health.
type router struct {
	net.Listener
	target atomic.Value // string
	cut    atomic.Bool  // the next reply of a script's 1 is lost, with its connection
	wg     sync.WaitGroup
}

func startRouter(t *testing.T, target string) *router {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &router{Listener: l}
	r.target.Store(target)
	r.wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", r.target.Load().(string))
			if err != nil {
				_ = in.Close()
				continue
			}
			r.wg.Go(func() { r.carry(out, in, func([]byte) bool { return false }) })
			r.wg.Go(func() {
				r.carry(in, out, func(reply []byte) bool {
					return bytes.HasPrefix(reply, []byte(":1\r\n")) && r.cut.CompareAndSwap(true, false)
				})
			})
		}
	})
	return r
}

// carry copies one direction of a connection until its end, or a cut.
func (r *router) carry(to, from net.Conn, cut func([]byte) bool) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || cut(buf[:n]) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A write whose reply is lost is not sent again behind the caller's back: they
// would not learn that a conflict may be their own success.
func TestAWriteIsSentOnce(t *testing.T) {
	t.Parallel()
	server := startFor(t, redistest.Options{})
	replica, err := redistest.StartReplica(t.Context(), server, redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = replica.Close() })
	for replicas := range 2 {
		r := startRouter(t, server.Addr)
		s, err := open(t.Context(), Config{
			Addrs: []string{r.Addr().String()}, HubKeyFile: hubKeyFile(t, "k"), Replicas: replicas,
			WaitTimeout: 10 * time.Second,
		}, quiet(), time.Hour, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		key, rev := approver.Key("test", fmt.Sprint("once", replicas)), approver.NewRev()
		put := func() error {
			return s.Put(t.Context(), key, []byte("v"), "", rev, time.Time{}, time.Time{})
		}
		if err := server.Admin().ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		r.cut.Store(true)
		if err := put(); err == nil || errors.Is(err, approver.ErrConflict) {
			t.Errorf("with %d replicas, the reply lost: got %v, want an ambiguous error", replicas, err)
		}
		stats := server.Admin().Info(t.Context(), "commandstats").Val()
		if !strings.Contains(stats, "cmdstat_evalsha:calls=1,") {
			t.Errorf("with %d replicas, the write was not sent once:\n%s", replicas, stats)
		}
		if err := put(); err != nil {
			t.Errorf("with %d replicas, sent again: %v", replicas, err)
		}
		_, _ = s.Close(), r.Close()
		r.wg.Wait()
	}
}

func TestASubscriptionLeftBehindIsNoticed(t *testing.T) {
	t.Parallel()
	old, present := startFor(t, redistest.Options{}), startFor(t, redistest.Options{})
	r := startRouter(t, old.Addr)
	s, key := openSwift(t, Config{Addrs: []string{r.Addr().String()}}), approver.Key("test", "left behind")
	t.Cleanup(func() {
		_ = s.Close()
		_ = r.Close()
		r.wg.Wait()
	})
	hints, err := s.Watch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	settle(hints)
	r.target.Store(present.Addr)
	if err := old.Admin().ClientKillByFilter(t.Context(), "TYPE", "normal").Err(); err != nil {
		t.Fatal(err)
	}
	if n := old.Admin().PubSubNumSub(t.Context(), wakeChannel).Val()[wakeChannel]; n != 1 {
		t.Fatalf("the old server has %d subscribers, want the one left behind", n)
	}
	// It still hears others who were left behind like itself.
	others, stop := context.WithCancel(t.Context())
	r.wg.Go(func() {
		for others.Err() == nil {
			_ = old.Admin().Publish(others, wakeChannel, "another hub").Err()
			time.Sleep(20 * time.Millisecond)
		}
	})
	defer stop()
	wantHint(t, hints)
	settle(hints)
	write(t, s, key, "v", "")
	wantHint(t, hints)
	if n := present.Admin().PubSubNumSub(t.Context(), wakeChannel).Val()[wakeChannel]; n != 1 {
		t.Errorf("the present server has %d subscribers, want 1", n)
	}
}

func TestConnectionsDoNotGrowWithWatchers(t *testing.T) {
	t.Parallel()
	server := startFor(t, redistest.Options{})
	s := openFor(t, Config{Addrs: []string{server.Addr}})
	clients := func() int {
		return strings.Count(server.Admin().ClientList(t.Context()).Val(), "\n")
	}
	few := clients()
	goroutines := runtime.NumGoroutine()
	for i := range 2000 {
		if _, err := s.Watch(t.Context(), approver.Key("test", strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	if n := clients(); n != few {
		t.Errorf("%d connections with 2,000 watchers, %d before", n, few)
	}
	if n := runtime.NumGoroutine(); n > goroutines+1000 {
		t.Errorf("%d goroutines with 2,000 watchers, %d before", n, goroutines)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	within(t, 30*time.Second, func() error {
		if n := server.Admin().PubSubNumSub(t.Context(), wakeChannel).Val()[wakeChannel]; n != 0 {
			return fmt.Errorf("%d subscribers after Close", n)
		}
		return nil
	})
}
