package demo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/store/storetest/redistest"
)

// hubKey writes a key for records in Redis.
func hubKey(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hub.key")
	if err := os.WriteFile(path, []byte(strings.Repeat("test-key", 6)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Redis itself is killed at a random moment of each request's life and comes
// back with what it had.
func TestRedisIsKilled(t *testing.T) {
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	w := staged(t, Options{store: fmt.Sprintf("  redis: {addrs: [%q], hub_key_file: %q}\n", server.Addr, hubKey(t))})
	strike := func(time.Duration) error {
		server.Kill()
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
		return server.Restart(t.Context())
	}
	var c tally
	n := rounds(t, 3)
	for i := range n {
		one(t, w, i, time.Duration(rand.IntN(250))*time.Millisecond, strike, &c)
	}
	finish(t, w, n, c)
}

// The primary of three is killed at a random moment of each request's life, and
// a Sentinel promotes another. A write counts when a replica has it too, so no
// answer is lost with the primary.
func TestRedisFailsOver(t *testing.T) {
	var nodes []*redistest.Server
	primary, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { primary.Close() })
	nodes = append(nodes, primary)
	for range 2 {
		replica, err := redistest.StartReplica(t.Context(), primary, redistest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { replica.Close() })
		nodes = append(nodes, replica)
	}
	sentinel, err := redistest.StartSentinel(t.Context(), primary, "approver")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sentinel.Close() })
	w := staged(t, Options{store: fmt.Sprintf("  redis: {addrs: [%q], master_name: approver, hub_key_file: %q, "+
		"replicas: 1}\n", sentinel.Addr, hubKey(t))})
	strike := func(time.Duration) error {
		old, err := leader(t, w, nodes)
		if err != nil {
			return err
		}
		old.Kill()
		err = w.wait(30*time.Second, "another node is the primary", func() bool {
			now, err := leaderNow(t, nodes)
			return err == nil && now != old
		})
		if err != nil {
			return err
		}
		return old.Restart(t.Context()) // the Sentinel makes it a replica
	}
	var c tally
	n := min(rounds(t, 2), 50) // each takes the Sentinel several seconds
	for i := range n {
		one(t, w, i, time.Duration(rand.IntN(250))*time.Millisecond, strike, &c)
		if err := w.wait(30*time.Second, "two replicas are in step",
			func() bool { return inStep(t, nodes) == 2 }); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, w, n, c)
}

// leader waits for the one node that is the primary.
func leader(t *testing.T, w *world, nodes []*redistest.Server) (found *redistest.Server, err error) {
	t.Helper()
	err = w.wait(30*time.Second, "one node is the primary", func() bool {
		var err error
		found, err = leaderNow(t, nodes)
		return err == nil
	})
	return found, err
}

func leaderNow(t *testing.T, nodes []*redistest.Server) (*redistest.Server, error) {
	var found *redistest.Server
	for _, n := range nodes {
		info, err := n.Admin().Info(t.Context(), "replication").Result()
		if err == nil && strings.Contains(info, "role:master") {
			if found != nil {
				return nil, fmt.Errorf("two primaries")
			}
			found = n
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no primary")
	}
	return found, nil
}

func inStep(t *testing.T, nodes []*redistest.Server) (n int) {
	for _, node := range nodes {
		info, err := node.Admin().Info(t.Context(), "replication").Result()
		if err == nil && strings.Contains(info, "role:slave") && strings.Contains(info, "master_link_status:up") {
			n++
		}
	}
	return n
}
