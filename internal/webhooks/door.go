package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

// The bounds of a request.
const (
	// MaxBody is the most bytes that the body of a request may have. The largest of a platform, a press
	// on a card that is as long as cards get, has less than a third of it.
	MaxBody = 512 << 10
	// MaxConns is how many connections are open at once. With MaxBody it bounds the memory that
	// strangers can take.
	MaxConns = 128

	headTime   = 5 * time.Second  // to send the header
	bodyTime   = 10 * time.Second // to send all of a request
	answerTime = 30 * time.Second // from the header to the end of the answer
	idleTime   = time.Minute      // between two requests
	maxHeader  = 16 << 10         // bytes
	goodbye    = time.Second      // for requests in progress when the door closes
	tellEvery  = 10 * time.Minute // from one line in the log about strangers to the next
)

// A Door is one listener for all hooks. The hook of the name n is at the path /n.
type Door struct {
	hooks map[string]Hook
	log   *slog.Logger

	mu   sync.Mutex
	told map[string]time.Time // when a refusal was last logged, by hook
}

// NewDoor makes a door.
func NewDoor(hooks map[string]Hook, log *slog.Logger) *Door {
	return &Door{hooks: hooks, log: log, told: map[string]time.Time{}}
}

// Listen opens the address of a door.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("webhooks.listen: %w", err)
	}
	return l, nil
}

// Serve lets requests in until ctx ends, and closes l. The error is nil after an end that ctx
// asked for.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	srv := &http.Server{
		Handler: http.HandlerFunc(d.serve), BaseContext: func(net.Listener) context.Context { return base },
		ConnContext:       withConn,
		ReadHeaderTimeout: headTime, ReadTimeout: bodyTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		late, done := context.WithTimeout(base, goodbye)
		defer done()
		if srv.Shutdown(late) != nil {
			cancel()
			_ = srv.Close()
		}
	})
	err := srv.Serve(&bounded{Listener: l, room: &room{most: MaxConns}})
	if !stop() {
		<-ended
		return nil
	}
	_ = srv.Close()
	return fmt.Errorf("webhooks: %w", err)
}

// serve handles one request.
func (d *Door) serve(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name != "" {
		name = name[1:]
	}
	hook, known := d.hooks[name]
	switch {
	case !known:
		turnAway(w, http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		turnAway(w, http.StatusMethodNotAllowed)
		return
	}
	body, status, err := d.admit(hook, w, r)
	if err != nil {
		hook.Judged(err)
		d.tell(name, err)
		turnAway(w, status)
		return
	}
	defer busy(r.Context())()
	hook.Judged(nil)
	d.answer(w, d.take(r.Context(), name, hook, r.Header, body))
}

// admit reads and verifies a request.
func (d *Door) admit(hook Hook, w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	if err := hook.Head(r.Header); err != nil {
		return nil, http.StatusUnauthorized, err
	}
	if r.ContentLength > MaxBody {
		return nil, http.StatusRequestEntityTooLarge, errTooLarge
	}
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, http.StatusRequestEntityTooLarge, errTooLarge
	}
	if err != nil {
		return nil, http.StatusBadRequest, errors.New("it ended early, or took too long")
	}
	if err := hook.Verify(r.Header, body); err != nil {
		return nil, http.StatusUnauthorized, err
	}
	return body, 0, nil
}

var errTooLarge = fmt.Errorf("it has more than %d bytes", MaxBody)

// take passes a request on. A bug in its handling ends nothing else.
func (d *Door) take(ctx context.Context, name string, hook Hook, h http.Header, body []byte) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("a panic while a webhook's request was handled", "hook", name, "panic", p, "stack",
				string(debug.Stack()))
			a = Answer{Status: http.StatusInternalServerError}
		}
	}()
	return hook.Take(ctx, h, body)
}

func (d *Door) answer(w http.ResponseWriter, a Answer) {
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	if a.Body == nil {
		w.WriteHeader(a.Status)
		return
	}
	raw, err := json.Marshal(a.Body)
	if err != nil {
		d.log.Error("the answer to a webhook's request could not be written", "error", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	_, _ = w.Write(raw)
}

// tell logs that a request was refused, once in a while: anybody can send some.
func (d *Door) tell(name string, why error) {
	d.mu.Lock()
	last, before := d.told[name]
	due := !before || time.Since(last) >= tellEvery
	if due {
		d.told[name] = time.Now()
	}
	d.mu.Unlock()
	if due {
		d.log.Warn("a request to a webhook was refused; more of them are only counted, see approver status", "hook", name,
			"error", why)
	}
}

// turnAway answers a stranger with a status alone, and ends the connection, so that the rest of the
// request need not be read.
func turnAway(w http.ResponseWriter, status int) {
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
}
