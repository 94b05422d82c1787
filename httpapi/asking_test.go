package httpapi

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The story: the daemon turns a user away before it has read what that user asks. On a
// busy machine its answer came before the question was written: `approver ask` said
// "server closed idle connection" in place of the reason, and doctor said that nobody
// answers on the socket. Whenever the answer comes, its reason is told now.
func TestTurnedAwayBeforeAsking(t *testing.T) {
	for name, size := range map[string]int{"a short question": 2, "more than a socket holds": 4 << 20} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(tempDir(t), "s.sock")
			l := listen(t, socket, 0o600)
			away := make(chan struct{})
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					turnAway(c, http.StatusForbidden, errors.New("uid 7 may not use this socket"))
					away <- struct{}{}
				}
			}()
			trust := func(uint32) error { <-away; return nil } // it is asked before a byte is sent
			question := strings.Repeat("x", size)
			for who, ask := range map[string]func() error{
				"ask":     func() error { return SubmitClient{socket, trust}.Ask(t.Context(), question, nil) },
				"appeal":  func() error { return SubmitClient{socket, trust}.Appeal(t.Context(), question, nil) },
				"operate": func() error { return ResolveClient{socket, trust}.Operate(t.Context(), "x", question, nil) },
			} {
				if err := ask(); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "uid 7 may not use this socket") {
					t.Errorf("%s: %v", who, err)
				}
			}
		})
	}
}

// A daemon that says nothing is no answer, and a client that gives up is not held.
func TestAskingASilentDaemon(t *testing.T) {
	socket := filepath.Join(tempDir(t), "s.sock")
	l := listen(t, socket, 0o600)
	conns := make(chan net.Conn, 2)
	go func() {
		for range 2 {
			if c, err := l.Accept(); err == nil {
				conns <- c
			}
		}
	}()
	trust := func(uint32) error { return nil }
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := (SubmitClient{socket, trust}).Ask(ctx, "x", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a daemon that hangs: %v", err)
	}
	_ = (<-conns).Close()
	gone := func(uint32) error { return (<-conns).Close() }
	if err := (SubmitClient{socket, gone}).Ask(t.Context(), "x", nil); !errors.Is(err, io.EOF) ||
		errors.Is(err, ErrRefused) {
		t.Errorf("a daemon that died: %v", err)
	}
}
