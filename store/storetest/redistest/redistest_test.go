package redistest

import (
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func startFor(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
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

func TestStopKillRestartKeepData(t *testing.T) {
	s := startFor(t, Options{Config: []string{"appendfsync always"}})
	addr := s.Addr
	if err := s.Restart(t.Context()); err == nil {
		t.Error("a running server was started again")
	}
	if err := s.Admin().Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	end := map[string]func() error{
		"stop": s.Stop,
		"kill": func() error { s.Kill(); return nil },
	}
	for name, f := range end {
		pid := s.PID()
		if err := f(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s: the process is still there: %v", name, err)
		}
		if s.PID() != 0 {
			t.Errorf("%s: PID is not 0", name)
		}
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			t.Errorf("%s: somebody still listens", name)
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.Admin().Get(t.Context(), "k").Val(); got != "v" || s.Addr != addr {
			t.Errorf("after %s: got %q at %s, want v at %s", name, got, s.Addr, addr)
		}
	}
}

func TestFreezeHangsAndThaws(t *testing.T) {
	s := startFor(t, Options{})
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Admin().Ping(t.Context()).Err() }()
	select {
	case err := <-done:
		t.Errorf("a frozen server answered: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := s.Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCloseRemovesOnlyItsOwnDirectory(t *testing.T) {
	own := startFor(t, Options{Password: "secret"})
	given := startFor(t, Options{Dir: t.TempDir()})
	for _, s := range []*Server{own, given} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(own.Dir); !os.IsNotExist(err) {
		t.Errorf("its own directory is still there: %v", err)
	}
	if _, err := os.Stat(given.Dir); err != nil {
		t.Errorf("a directory that was given is gone: %v", err)
	}
}

func TestReplicaFollowsAndIsPromoted(t *testing.T) {
	o := Options{Password: "secret"}
	primary := startFor(t, o)
	replica, err := StartReplica(t.Context(), primary, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = replica.Close() })
	if err := replica.Admin().Set(t.Context(), "k", "v", 0).Err(); err == nil ||
		!strings.Contains(err.Error(), "READONLY") {
		t.Errorf("a replica took a write: %v", err)
	}
	if err := replica.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := replica.Admin().Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Errorf("a promoted replica does not take writes: %v", err)
	}
}

func TestMissingProgramIsSaid(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), Options{})
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("got %v", err)
	}
}

func TestBadConfigurationIsSaid(t *testing.T) {
	_, err := Start(t.Context(), Options{Config: []string{"no-such-setting 1"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-setting") {
		t.Errorf("got %v", err)
	}
}

func TestClusterSharesTheSlots(t *testing.T) {
	c, err := StartCluster(t.Context(), 3, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	shards, err := c.Nodes[2].Admin().ClusterShards(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	var starts []int64
	for _, shard := range shards {
		for _, r := range shard.Slots {
			starts = append(starts, r.Start)
		}
	}
	slices.Sort(starts)
	if want := []int64{0, 5461, 10922}; !slices.Equal(starts, want) {
		t.Errorf("got slots that start at %v, want %v", starts, want)
	}
}
