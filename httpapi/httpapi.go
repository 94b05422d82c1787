// Package httpapi is both ends of the wire between approver's daemon and the
// programs beside it: HTTP over Unix sockets.
//
// There are two sockets with different rights. On the submit socket a courier
// asks whether a call may run ([Submit]; its client is the courier itself,
// see package wire for the format). On the resolve socket people's programs watch
// requests and answer them ([Resolve], [ResolveClient]). Who may connect is
// decided by the peer's credentials from the kernel, and a server that is not told whom
// to admit admits nobody.
//
// [Listen] makes the sockets. Both servers answer GET /v1/health
// with [Health].
package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"approver.example"
	"approver.example/httpapi/peercred"
)

// Why the context of a request ended, as [context.Cause] returns it. For a passed
// deadline that is [context.DeadlineExceeded].
var (
	// ErrShuttingDown means that the daemon is stopping. The request is not answered:
	// its connection is cut, and the courier comes back to the next daemon.
	ErrShuttingDown = approver.ErrShuttingDown
	// ErrCourierGone means that the courier disconnected. It may come back.
	ErrCourierGone = errors.New("the courier has gone")
	// ErrGone means that the client disconnected for good.
	ErrGone = approver.ErrGone
)

const (
	healthPath = "/v1/health"
	headTime   = 5 * time.Second  // to send the headers of a request
	bodyTime   = 10 * time.Second // to send its body, and to read the answer
	idleTime   = time.Minute      // between two requests
	maxHeaders = 16 << 10         // bytes
)

// An Admit function says whether a peer may use a socket. An error refuses the peer, who is
// sent its text. A nil function admits nobody.
type Admit func(approver.Peer) error

// AdmitUIDs returns an Admit for the listed user ids and no others.
func AdmitUIDs(uids ...uint32) Admit {
	uids = slices.Clone(uids)
	return func(p approver.Peer) error {
		if !p.Known || !slices.Contains(uids, p.UID) {
			return fmt.Errorf("uid %d may not use this socket", p.UID)
		}
		return nil
	}
}

// check is the only admission check, before every connection and request.
func (admit Admit) check(p approver.Peer) error {
	switch {
	case !p.Known:
		return errors.New("the kernel does not say who is connected")
	case admit == nil:
		return errors.New("this socket admits nobody")
	}
	return admit(p)
}

type peerKey struct{}

// peerOf returns who sent a request; the zero Peer if the kernel did not say.
func peerOf(ctx context.Context) approver.Peer {
	p, _ := ctx.Value(peerKey{}).(approver.Peer)
	return p
}

// withPeer adds the peer of a connection to the context.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	peer := peerBehind(c)
	if counted, ok := c.(*counted); ok {
		peer = counted.peer
	}
	if !peer.Known {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, peer)
}

// peerBehind asks the kernel who connected; the zero Peer if it does not say.
func peerBehind(c net.Conn) approver.Peer {
	uc, ok := c.(*net.UnixConn)
	if !ok {
		return approver.Peer{}
	}
	raw, err := uc.SyscallConn()
	if err != nil {
		return approver.Peer{}
	}
	var cred peercred.Cred
	var credErr error
	if err := raw.Control(func(fd uintptr) { cred, credErr = peercred.Of(int(fd)) }); err != nil || credErr != nil {
		return approver.Peer{}
	}
	return approver.Peer{Known: true, UID: cred.UID, GID: cred.GID, PID: cred.PID}
}

// serve runs h on l until ctx ends, then ends every request's context with
// ErrShuttingDown, cuts the connections, and returns when the last handler has.
// It closes l. The error is nil after a shutdown that ctx asked for. before, if set, makes what
// serves the connections before net/http does.
func serve(
	ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger,
	before func(base context.Context, l net.Listener) *plainDoor,
) error {
	base, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(ErrShuttingDown)
	var conns sync.WaitGroup
	srv := &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       withPeer,
		ReadHeaderTimeout: headTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnState: func(c net.Conn, s http.ConnState) {
			if counted, ok := c.(*counted); ok {
				counted.state(s)
			}
			if s == http.StateNew {
				conns.Add(1)
			}
			if s == http.StateClosed || s == http.StateHijacked {
				conns.Done()
			}
		},
	}
	var handed sync.WaitGroup
	cut := func() {}
	if before != nil {
		door := before(base, l)
		l, cut = door, door.cut
		handed.Go(func() { _ = srv.Serve(door.rest) }) // it ends with the server, or is cut
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		// The cause first: whoever sees its connection cut must know why.
		cancel(ErrShuttingDown)
		_ = srv.Close()
	})
	err := srv.Serve(l)
	if stop() { // ctx has not ended, so the listener failed
		cancel(ErrShuttingDown)
		_ = srv.Close()
	} else {
		<-stopped
		err = nil
	}
	cut()
	handed.Wait()
	conns.Wait()
	return err
}

// Health is the answer of GET /v1/health.
type Health struct {
	Status string `json:"status"` // "ok"
	Socket string `json:"socket"` // "submit" or "resolve"
	PID    int    `json:"pid"`    // the daemon's
}

// writeJSON answers with one JSON document and its length.
func writeJSON(w http.ResponseWriter, status int, doc any) {
	body, err := json.Marshal(doc)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer could not be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// errorBody is the document of writeError.
func errorBody(text string) []byte {
	body, _ := json.Marshal(errorDoc{text}) // a string always encodes
	return append(body, '\n')
}

type errorDoc struct {
	Error string `json:"error"`
}

func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, errorDoc{text})
}
