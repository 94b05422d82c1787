package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"approver.example"
)

const (
	watchPath  = "/v1/watch"
	answerPath = "/v1/answer"
	// operatePath is followed by the name of an operation.
	operatePath = "/v1/operate/"
	// maxAnswer bounds a person's answer in bytes, and maxEvent one event.
	maxAnswer = 64 << 10
	maxEvent  = 16 << 20
	// watchError is the trailer that says why a stream ended.
	watchError = "Approver-Error"
)

// A Resolver shows requests to people's programs and takes their answers. In both
// methods, peer is who the kernel says is connected.
type Resolver interface {
	// Watch calls emit for each event that the peer may see until ctx ends, the peer disconnects
	// (emit then returns an error) or nothing more can come. It calls emit from
	// one goroutine at a time.
	Watch(ctx context.Context, peer approver.Peer, emit func(json.RawMessage) error) error
	// Answer takes one JSON document of at most 64 KiB and returns the result.
	// The text of an error goes to the peer.
	Answer(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error)
}

// An Operator serves the operator's commands: look at the daemon, freeze it, list and revoke.
// op is one word. The text of an error goes to the peer; [ErrNoOperation] means that there is
// no such operation. The context ends like that of [Submit.Ask].
type Operator interface {
	Operate(ctx context.Context, peer approver.Peer, op string, body json.RawMessage) (json.RawMessage, error)
}

// ErrNoOperation means that the daemon does not know an operation, because daemon and command
// are of different versions.
var ErrNoOperation = errors.New("this daemon does not know that operation: are command and daemon of the same version?")

// Resolve is the daemon's end of the resolve socket.
type Resolve struct {
	// Resolver serves watches and answers; nil refuses them.
	Resolver Resolver
	// Operator serves the operator's commands; nil refuses them.
	Operator Operator
	// Admit says who may watch and answer; nil admits nobody.
	Admit Admit
	// MaxConns and MaxConnsEach are as in [Submit]; 0 means 512 and 128.
	MaxConns, MaxConnsEach int
	Log                    *slog.Logger

	connLimits
}

// Serve answers on l until ctx ends, and returns when all streams have ended. It
// closes l.
func (s *Resolve) Serve(ctx context.Context, l net.Listener) error {
	all, each := or(s.MaxConns, share(resolveConns, 8)), or(s.MaxConnsEach, share(resolveConnsEach, 32))
	return serve(ctx, bounded{l, &s.connLimits, "resolve", s.Admit, all, each, s.Log, nil}, s, s.Log, nil)
}

// ServeHTTP answers one request.
func (s *Resolve) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	peer := peerOf(r.Context())
	if err := s.Admit.check(peer); err != nil {
		s.refusals.refuse(s.Log, peer, "resolve", err)
		writeError(w, http.StatusForbidden, err.Error())
		return
	}
	route := r.Method + " " + r.URL.Path
	switch {
	case route == "GET "+healthPath:
		writeJSON(w, http.StatusOK, Health{"ok", "resolve", os.Getpid()})
	case s.Operator != nil && r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, operatePath):
		s.operate(w, r, peer)
	case s.Resolver == nil:
		writeError(w, http.StatusServiceUnavailable, "nothing is there to watch or answer")
	case route == "GET "+watchPath:
		s.watch(w, r, peer)
	case route == "POST "+answerPath:
		s.answer(w, r, peer)
	default:
		writeError(w, http.StatusNotFound, "there is only GET "+watchPath+", POST "+answerPath+" and GET "+healthPath)
	}
}

func (s *Resolve) watch(w http.ResponseWriter, r *http.Request, peer approver.Peer) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", watchError)
	w.WriteHeader(http.StatusOK)
	if err := control.Flush(); err != nil {
		return
	}
	err := s.Resolver.Watch(r.Context(), peer, func(event json.RawMessage) error {
		line := []byte(event)
		if bytes.IndexByte(line, '\n') >= 0 || !json.Valid(line) { // an event is one line
			var err error
			if line, err = json.Marshal(event); err != nil {
				return err
			}
		}
		if err := context.Cause(r.Context()); err != nil {
			return err
		}
		// A client that does not read must not block the caller of emit.
		if err := control.SetWriteDeadline(time.Now().Add(bodyTime)); err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
		return control.Flush()
	})
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // cut the connection: the stream has not ended in order
	}
	if err != nil {
		s.refusals.tell(s.Log, peer, "a watch ended", err)
		w.Header().Set(watchError, oneLine(err.Error()))
	}
}

// oneLine makes a text valid in a header: printable ASCII, at most 1024 bytes.
func oneLine(s string) string {
	b := []byte(s[:min(len(s), 1024)])
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b)
}

func (s *Resolve) answer(w http.ResponseWriter, r *http.Request, peer approver.Peer) {
	takeDocument(w, r, s.Log, func(body json.RawMessage) (json.RawMessage, error) {
		return s.Resolver.Answer(r.Context(), peer, body)
	})
}

func (s *Resolve) operate(w http.ResponseWriter, r *http.Request, peer approver.Peer) {
	takeDocument(w, r, s.Log, func(body json.RawMessage) (json.RawMessage, error) {
		ctx, done := requestContext(r.Context(), maxDeadline, ErrGone)
		defer done()
		return s.Operator.Operate(ctx, peer, strings.TrimPrefix(r.URL.Path, operatePath), body)
	})
}

// takeDocument takes one JSON document and answers with another.
func takeDocument(w http.ResponseWriter, r *http.Request, log *slog.Logger,
	do func(json.RawMessage) (json.RawMessage, error)) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAnswer))
	if err != nil {
		writeError(w, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the answer could not be read or has more than %d bytes", maxAnswer))
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	if !json.Valid(body) {
		writeError(w, http.StatusBadRequest, "the answer is not one JSON document")
		return
	}
	out, err := do(body)
	switch {
	case err != nil:
		writeError(w, http.StatusUnprocessableEntity, err.Error())
	case !json.Valid(out):
		log.Error("the answer to a document is not JSON", "path", r.URL.Path)
		writeError(w, http.StatusInternalServerError, "the answer was taken, but what became of it cannot be told")
	default:
		writeJSON(w, http.StatusOK, out)
	}
}

// ErrRefused means that the daemon refused a request; the error that wraps it has the daemon's
// text.
var ErrRefused = errors.New("approver refused")
