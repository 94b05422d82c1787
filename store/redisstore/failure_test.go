package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	s, err := open(t.Context(), swift(c), quiet(), 100*time.Millisecond)
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
	case <-time.After(15 * time.Second):
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

// Writers count together while Redis is killed and restarted under them. Each
// sends a write with an ambiguous error again, until it knows. Then every
// success, and nothing else, is counted.
func TestNothingIsLostOrDoneTwiceWhileRedisCrashes(t *testing.T) {
	t.Parallel()
	const writers, crashes = 4, 3
	server := startFor(t, redistest.Options{Config: []string{"appendfsync always"}})
	s, key := openSwift(t, Config{Addrs: []string{server.Addr}}), approver.Key("test", "counter")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	write(t, s, key, "0", "")
	var counted, ambiguous atomic.Int64
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for ctx.Err() == nil {
				if countOne(t.Context(), s, key, &ambiguous) {
					counted.Add(1)
				}
			}
		})
	}
	for range crashes {
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
	value, _, err := s.Get(t.Context(), key)
	if want := strconv.FormatInt(counted.Load(), 10); err != nil || string(value) != want {
		t.Errorf("the record holds %s, %v; the writers counted %s", value, err, want)
	}
	if counted.Load() == 0 || ambiguous.Load() == 0 {
		t.Errorf("%d successes and %d ambiguous errors: the test shows nothing", counted.Load(), ambiguous.Load())
	}
}

// countOne adds one, and reports whether it was this call that did.
func countOne(ctx context.Context, s *Store, key string, ambiguous *atomic.Int64) bool {
	value, rev, err := s.Get(ctx, key)
	if err != nil {
		time.Sleep(5 * time.Millisecond)
		return false
	}
	n, _ := strconv.Atoi(string(value))
	next := approver.NewRev()
	for {
		err := s.Put(ctx, key, []byte(strconv.Itoa(n+1)), rev, next, time.Time{}, time.Time{})
		switch {
		case err == nil:
			return true
		case errors.Is(err, approver.ErrConflict):
			return false
		}
		ambiguous.Add(1)
		time.Sleep(5 * time.Millisecond)
	}
}

func TestCallsEndWhileRedisHangs(t *testing.T) {
	t.Parallel()
	server := startFor(t, redistest.Options{})
	// Without the bound on the whole call, the client would try again.
	s, err := Open(t.Context(), Config{
		Addrs: []string{server.Addr}, HubKeyFile: hubKeyFile(t, "k"), DialTimeout: 200 * time.Millisecond, ReadTimeout: 2 * time.Second,
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
			if d := time.Since(began); d > 3500*time.Millisecond {
				t.Errorf("%s took %v", name, d)
			}
			for _, certain := range []error{nil, approver.ErrConflict, approver.ErrNotFound, approver.ErrHeld, approver.ErrTampered} {
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
	within(t, 10*time.Second, put)
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
		within(t, 10*time.Second, func() (err error) {
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
			for _, ends := range [][2]net.Conn{{in, out}, {out, in}} {
				r.wg.Go(func() {
					_, _ = io.Copy(ends[0], ends[1])
					_, _ = in.Close(), out.Close()
				})
			}
		}
	})
	return r
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
	within(t, 5*time.Second, func() error {
		if n := server.Admin().PubSubNumSub(t.Context(), wakeChannel).Val()[wakeChannel]; n != 0 {
			return fmt.Errorf("%d subscribers after Close", n)
		}
		return nil
	})
}

func TestPutWaitsForReplicas(t *testing.T) {
	t.Parallel()
	primary := startFor(t, redistest.Options{})
	replica, err := redistest.StartReplica(t.Context(), primary, redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = replica.Close() })
	s := openSwift(t, Config{Addrs: []string{primary.Addr}, Replicas: 1, WaitTimeout: 200 * time.Millisecond})
	key := approver.Key("test", "replicated")
	next := approver.NewRev()
	put := func() error {
		return s.Put(t.Context(), key, []byte("v"), "", next, time.Time{}, time.Time{})
	}
	if err := replica.Stop(); err != nil {
		t.Fatal(err)
	}
	// The second time, the record already has the revision: it must not count
	// before the replica has it.
	for range 2 {
		err := put()
		if !errors.Is(err, errTooFew) || errors.Is(err, approver.ErrConflict) || !strings.Contains(err.Error(), "0 of 1 within 200ms") {
			t.Fatalf("without the replica: got %v, want to hear of too few acknowledgements", err)
		}
	}
	if _, err := s.Lease(t.Context(), "leader", time.Minute); !errors.Is(err, errTooFew) {
		t.Errorf("a lease without the replica: got %v", err)
	}
	err = s.Put(t.Context(), key, []byte("v"), "", approver.NewRev(), time.Time{}, time.Time{})
	if !errors.Is(err, approver.ErrConflict) {
		t.Errorf("another write without the replica: got %v, want ErrConflict", err)
	}
	if err := replica.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, 15*time.Second, put)
	if err := replica.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := replica.Admin().Get(t.Context(), key).Bytes()
	if err != nil {
		t.Fatalf("the replica does not have the record: %v", err)
	}
	if _, rev, err := s.seal.open(key, raw); err != nil || rev != next {
		t.Errorf("the replica has revision %s, %v, want %s", rev, err, next)
	}
}

func TestSentinelFailOver(t *testing.T) {
	t.Parallel()
	o := redistest.Options{Password: "secret", Config: []string{"repl-diskless-load disabled"}}
	primary := startFor(t, o)
	replica, err := redistest.StartReplica(t.Context(), primary, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = replica.Close() })
	sentinel, err := redistest.StartSentinel(t.Context(), primary, "team")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sentinel.Close() })
	within(t, 15*time.Second, func() error {
		replicas, err := sentinel.Admin().Do(t.Context(), "SENTINEL", "REPLICAS", "team").Slice()
		if err == nil && len(replicas) != 1 {
			err = fmt.Errorf("the Sentinel knows %d replicas", len(replicas))
		}
		return err
	})
	s := openSwift(t, Config{Addrs: []string{sentinel.Addr}, MasterName: "team", PasswordFile: fileWith(t, "secret")})
	key := approver.Key("test", "failed over")
	rev := write(t, s, key, "1", "")
	if err := primary.Admin().Do(t.Context(), "WAIT", 1, 5000).Err(); err != nil {
		t.Fatal(err)
	}
	hints, err := s.Watch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	settle(hints)
	before, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	primary.Kill()
	next := approver.NewRev()
	within(t, 30*time.Second, func() error {
		return s.Put(t.Context(), key, []byte("2"), rev, next, time.Time{}, time.Time{})
	})
	if replica.Admin().Exists(t.Context(), key).Val() != 1 {
		t.Error("the write did not go to the promoted replica")
	}
	wantHint(t, hints)
	settle(hints)
	write(t, s, key, "3", next)
	wantHint(t, hints)
	if after, err := s.Now(t.Context()); err != nil || after.Before(before) {
		t.Errorf("the clock went from %v to %v, %v", before, after, err)
	}
}

func TestClusterNodeRestartsAndSlotsMove(t *testing.T) {
	t.Parallel()
	c, err := redistest.StartCluster(t.Context(), 3, redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	config := Config{Addrs: c.Addrs()[:1], Cluster: true}
	s := openSwift(t, config)
	config.Replicas, config.WaitTimeout = 1, 50*time.Millisecond
	waiting := openSwift(t, config) // no node has a replica

	// A slot of nothing but this key moves to another node. Both ways of writing
	// follow it.
	key := approver.Key("test", "moved")
	slot := c.Nodes[0].Admin().ClusterKeySlot(t.Context(), key).Val()
	to := c.Nodes[(int(slot)*3/16384+1)%3]
	id := to.Admin().Do(t.Context(), "CLUSTER", "MYID").String()
	id = id[strings.LastIndex(id, " ")+1:]
	for _, node := range append([]*redistest.Server{to}, c.Nodes...) {
		if err := node.Admin().Do(t.Context(), "CLUSTER", "SETSLOT", slot, "NODE", id).Err(); err != nil {
			t.Fatal(err)
		}
	}
	next := approver.NewRev()
	err = waiting.Put(t.Context(), key, []byte("v"), "", next, time.Time{}, time.Time{})
	if !errors.Is(err, errTooFew) {
		t.Errorf("a write to a slot that moved: got %v, want it written and not acknowledged", err)
	}
	if value, rev, err := s.Get(t.Context(), key); err != nil || string(value) != "v" || rev != next {
		t.Errorf("got %q, %v", value, err)
	}

	// The node with the subscription, and then the others, crash and come back.
	hints, err := s.Watch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range c.Nodes {
		settle(hints)
		node.Kill()
		if err := errors.Join(node.Restart(t.Context()), c.Stands(t.Context())); err != nil {
			t.Fatal(err)
		}
		within(t, 15*time.Second, func() error {
			rev := approver.NewRev()
			err := s.Put(t.Context(), key, []byte("w"), next, rev, time.Time{}, time.Time{})
			if err == nil {
				next = rev
			}
			if errors.Is(err, approver.ErrConflict) { // an ambiguous error of this loop had worked
				_, next, err = s.Get(t.Context(), key)
			}
			return err
		})
		wantHint(t, hints)
	}
}
