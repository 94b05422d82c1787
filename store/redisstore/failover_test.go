package redisstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/storetest/redistest"
)

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
		if !errors.Is(err, errTooFew) || errors.Is(err, approver.ErrConflict) ||
			!strings.Contains(err.Error(), "0 of 1 within 200ms") {
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
	within(t, 30*time.Second, put)
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
	within(t, 30*time.Second, func() error {
		replicas, err := sentinel.Admin().Do(t.Context(), "SENTINEL", "REPLICAS", "team").Slice()
		if err == nil && len(replicas) != 1 {
			err = fmt.Errorf("the Sentinel knows %d replicas", len(replicas))
		}
		return err
	})
	s := openSwift(t, Config{Addrs: []string{sentinel.Addr}, MasterName: "team", PasswordFile: fileWith(t, "secret")})
	key := approver.Key("test", "failed over")
	rev := write(t, s, key, "1", "")
	within(t, 30*time.Second, func() error {
		if replica.Admin().Exists(t.Context(), key).Val() != 1 {
			return errors.New("the replica does not have the record")
		}
		return nil
	})
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

func TestWritesFollowASlotThatMoves(t *testing.T) {
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

	// The slot holds no key yet, so nothing has to be carried over.
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
}

func TestClusterNodesCrash(t *testing.T) {
	t.Parallel()
	c, err := redistest.StartCluster(t.Context(), 3, redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s, key := openSwift(t, Config{Addrs: c.Addrs()}), approver.Key("test", "crash")
	next := write(t, s, key, "v", "")
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
		within(t, 30*time.Second, func() error {
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
