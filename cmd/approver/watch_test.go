package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/httpapi"
)

// refusing is a daemon that lets nobody watch, and counts who tried.
type refusing struct {
	mu    sync.Mutex
	tries int
}

func (r *refusing) Watch(context.Context, approver.Peer, func(json.RawMessage) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries++
	return errors.New("you are not on the terminal's approver list")
}

func (*refusing) Answer(context.Context, approver.Peer, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("no")
}

// Somebody who was on no approver list left a watch running. It connected twice a second
// for ever, and the daemon's log had a warning of each. Now a watch that is refused waits
// longer each time.
func TestARefusedWatchBacksOff(t *testing.T) {
	dir, err := os.MkdirTemp("", "w") // short: a socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "run", "r.sock")
	l, err := httpapi.Listen(at, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	daemon := &refusing{}
	server := httpapi.Resolve{Resolver: daemon, Log: slog.New(slog.DiscardHandler),
		Admit: func(approver.Peer) error { return nil }}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ctx, l) })
	defer serving.Wait()
	defer cancel()
	watching, stop := context.WithTimeout(t.Context(), 6*time.Second)
	defer stop()
	follow(watching, httpapi.ResolveClient{Socket: at}, make(chan json.RawMessage))
	daemon.mu.Lock()
	defer daemon.mu.Unlock()
	if daemon.tries < 2 || daemon.tries > 3 { // at once, after 1 s, after 3 s; 12 without
		t.Errorf("in six seconds it tried %d times", daemon.tries)
	}
}
