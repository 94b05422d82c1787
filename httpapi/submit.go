package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"approver.example"
	"approver.example/httpapi/wire"
)

// A HookRequest is the request of a courier.
type HookRequest struct {
	Agent    string            // the dialect of the payload
	CallID   string            // 32 hex digits, the same on every try
	Deadline time.Duration     // the courier's remaining time when it sent; the context ends with it
	Env      map[string]string // the part of the hook's environment that changes what runs
	Park     bool              // the agent may be told to come back …
	ParkIn   time.Duration     // … when nobody has answered after this
	Event    string            // the hook's event, as its flags say; empty if they do not
	Cut      bool              // the payload is a part of the hook's standard input
	Payload  []byte            // the hook's standard input, untouched unless it is cut
	Root     string            // names the files that the hook sees; empty if that is not known
	Start    string            // the folder in which the hook was started; empty if that is not known
	Alone    bool              // the agent says that it has no dialog in which it could ask somebody
	Peer     approver.Peer
}

// A HookAnswer is what the hook process must print and how it must exit. An answer that blocks
// without a reason, such as the zero value, is replaced by an error, on which the courier
// blocks.
type HookAnswer struct {
	Stdout, Stderr []byte
	ExitZero       bool // exit code 0; otherwise 2, which needs a Stderr
	Ack            bool // an approval that the courier must acknowledge
}

// Submit is the daemon's end of the submit socket.
type Submit struct {
	// Hook decides a call. Its context ends when the courier's time is up, when
	// the courier disconnects (cause ErrCourierGone) or when the daemon stops
	// (cause ErrShuttingDown). Hook must then return soon, and its answer is
	// dropped. If Hook is nil, every call is blocked.
	Hook func(ctx context.Context, h HookRequest) HookAnswer
	// Ack notes that the courier of a call has received its answer. Its context outlives the
	// connection, which the courier may close. Nil refuses acknowledgments.
	Ack func(ctx context.Context, peer approver.Peer, callID string) error
	// Missed is called when a report or an acknowledgment came, or may have come, and was not
	// accepted: silence about a call proves nothing then. It may be nil.
	Missed func()
	// Ask answers a script's question, one JSON document for another. Its context follows the
	// same rules, except that a script that disconnects (cause ErrGone) does not come back to
	// this daemon. The text of an error goes to the peer. Nil refuses.
	Ask func(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error)
	// Appeal asks people about a call that was denied, under the same rules as Ask.
	// It returns once they are asked. Nil refuses.
	Appeal func(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error)
	// Admit says who may ask; nil admits nobody.
	Admit Admit
	// MaxBody bounds the payload in bytes; 0 means 4 MiB, which is also the most that a
	// courier sends.
	MaxBody int64
	// MaxHeld limits how many calls wait at once; 0 means 1024. A call beyond that is blocked
	// at once.
	MaxHeld int
	// MaxHeldEach limits those of one uid; 0 means DefaultHeldEach.
	MaxHeldEach int
	// MaxConns and MaxConnsEach limit the connections that Serve has open, in total and per
	// uid. 0 means 4096 and 512, or less if the process may open few files. Those of root and
	// of the daemon's own user do not count in the total. A connection beyond a limit replaces
	// one of its uid without a request in progress. If there is none, it is answered with an
	// error and closed, before its request is read.
	MaxConns, MaxConnsEach int
	Log                    *slog.Logger

	connLimits
	held limiter // calls that wait
	told limiter // reports and acknowledgments
}

const (
	askPath     = "/v1/ask"
	appealPath  = "/v1/appeal"
	maxDeadline = 24 * time.Hour
)

// Serve answers on l until ctx ends, and returns after every Hook has returned. It closes
// l. Waiting calls are not answered then: their connections are cut.
func (s *Submit) Serve(ctx context.Context, l net.Listener) error {
	all, each := or(s.MaxConns, share(submitConns, 2)), or(s.MaxConnsEach, share(submitConnsEach, 16))
	return serve(ctx, bounded{l, &s.connLimits, "submit", s.Admit, all, each, s.Log, s.missed}, s, s.Log,
		func(base context.Context, l net.Listener) *plainDoor { return newPlainDoor(base, s, l) })
}

// ServeHTTP answers one request.
func (s *Submit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	peer := peerOf(r.Context())
	if err := s.Admit.check(peer); err != nil {
		s.refusals.refuse(s.Log, peer, "submit", err)
		writeError(w, http.StatusForbidden, err.Error())
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST " + wire.HookPath:
		s.hook(w, r, peer)
	case "POST " + wire.AckPath:
		s.ack(w, r, peer)
	case "POST " + askPath:
		s.ask(w, r, peer, s.Ask)
	case "POST " + appealPath:
		s.ask(w, r, peer, s.Appeal)
	case "GET " + healthPath:
		writeJSON(w, http.StatusOK, Health{"ok", "submit", os.Getpid()})
	default:
		writeError(w, http.StatusNotFound, "there is only POST "+wire.HookPath+" and GET "+healthPath)
	}
}

func (s *Submit) hook(w http.ResponseWriter, r *http.Request, peer approver.Peer) {
	said := s.respond(exchange{peer: peer, header: r.Header, length: r.ContentLength,
		body: func() ([]byte, error) { return readBody(w, r) },
		within: func(left time.Duration) (context.Context, func()) {
			return requestContext(r.Context(), left, ErrCourierGone)
		},
	})
	if cause := context.Cause(r.Context()); cause != nil {
		panic(http.ErrAbortHandler) // cut the connection: the courier must not get half an answer
	}
	if said.status != http.StatusOK {
		writeError(w, said.status, said.text)
		return
	}
	writeAnswer(w, said.answer)
}

func (s *Submit) missed() {
	if s.Missed != nil {
		s.Missed()
	}
}

// ack takes the acknowledgment of an answer.
func (s *Submit) ack(w http.ResponseWriter, r *http.Request, peer approver.Peer) {
	calls := r.Header.Values(wire.Call)
	if len(calls) != 1 || !wire.IsCall(calls[0]) || r.ContentLength != 0 {
		writeError(w, http.StatusBadRequest, "an acknowledgment has the header "+wire.Call+
			" with 32 hex digits, once, and no body")
		return
	}
	if s.Ack == nil {
		writeError(w, http.StatusServiceUnavailable, "acknowledgments are not taken here")
		return
	}
	free, err := s.tell(peer.UID, 0)
	if err != nil {
		s.missed()
		writeError(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	defer free()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), bodyTime)
	defer cancel()
	if err := s.Ack(ctx, peer, calls[0]); err != nil {
		s.refusals.tell(s.Log, peer, "an acknowledgment was not taken", err)
		writeError(w, http.StatusConflict, "the acknowledgment was not taken")
		return
	}
	writeJSON(w, http.StatusOK, struct{}{})
}

// ask answers a script. It counts as a waiting call, like a hook.
func (s *Submit) ask(
	w http.ResponseWriter, r *http.Request, peer approver.Peer,
	answer func(context.Context, approver.Peer, json.RawMessage) (json.RawMessage, error),
) {
	if answer == nil {
		writeError(w, http.StatusServiceUnavailable, "scripts cannot ask here")
		return
	}
	free, err := s.hold(peer.UID, 0) // takeDocument bounds its body
	if err != nil {
		writeError(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	defer free()
	takeDocument(w, r, s.Log, func(body json.RawMessage) (json.RawMessage, error) {
		ctx, done := requestContext(r.Context(), maxDeadline, ErrGone)
		defer done()
		out, err := answer(ctx, peer, body)
		if context.Cause(r.Context()) != nil {
			panic(http.ErrAbortHandler) // the script has disconnected, or the daemon is stopping
		}
		return out, err
	})
}

// requestContext returns a context that ends after left, or with the connection: with the
// cause ErrShuttingDown if the daemon stops, else with the cause gone.
func requestContext(conn context.Context, left time.Duration, gone error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(conn))
	stop := context.AfterFunc(conn, func() {
		if errors.Is(context.Cause(conn), ErrShuttingDown) {
			cancel(ErrShuttingDown)
			return
		}
		cancel(gone)
	})
	ctx, cancelTime := context.WithTimeout(ctx, left)
	return ctx, func() {
		stop()
		cancelTime()
		cancel(context.Canceled)
	}
}

// decide calls the Hook. A panic, and an answer that is too large or blocks without a reason,
// become errors.
func (s *Submit) decide(ctx context.Context, h HookRequest) (a HookAnswer, err error) {
	if s.Hook == nil {
		return a, errors.New("nothing is there to decide")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	a = s.Hook(ctx, h)
	switch {
	case !a.ExitZero && len(a.Stderr) == 0:
		return a, errors.New("the answer blocks without a reason")
	case len(a.Stdout)+len(a.Stderr) > wire.MaxAnswer:
		return a, fmt.Errorf("the answer has %d bytes, more than %d", len(a.Stdout)+len(a.Stderr), wire.MaxAnswer)
	}
	return a, nil
}

// read decodes a request. status is the HTTP status for the error.
func (s *Submit) read(x exchange) (h HookRequest, status int, err error) {
	h.Agent, h.CallID = x.header.Get(wire.Agent), x.header.Get(wire.Call)
	for _, name := range []string{wire.Agent, wire.Call, wire.Deadline, wire.EnvBytes} {
		if n := len(x.header.Values(name)); n != 1 {
			return h, http.StatusBadRequest, fmt.Errorf("the header %s occurs %d times, not once", name, n)
		}
	}
	if !wire.IsAgent(h.Agent) || !wire.IsCall(h.CallID) {
		return h, http.StatusBadRequest, fmt.Errorf("the headers %s %s and %s %s are not an agent and 32 hex digits",
			wire.Agent, quoted(h.Agent), wire.Call, quoted(h.CallID))
	}
	ms, err := strconv.ParseUint(x.header.Get(wire.Deadline), 10, 32)
	h.Deadline = time.Duration(ms) * time.Millisecond
	if err != nil || ms == 0 || h.Deadline > maxDeadline {
		return h, http.StatusBadRequest, fmt.Errorf("the header %s %s is not 1 to %d ms", wire.Deadline,
			quoted(x.header.Get(wire.Deadline)), maxDeadline.Milliseconds())
	}
	if h.Park, h.ParkIn, err = parkOf(x.header.Values(wire.Park)); err != nil {
		return h, http.StatusBadRequest, err
	}
	if h.Event, h.Cut, err = eventOf(x.header.Values(wire.Event), x.header.Values(wire.Cut)); err != nil {
		return h, http.StatusBadRequest, err
	}
	h.Alone = x.header.Get(wire.Alone) == "1"
	if roots := x.header.Values(wire.Root); len(roots) == 1 {
		h.Root = roots[0]
	}
	if starts := x.header.Values(wire.Start); len(starts) == 1 && len(starts[0]) <= wire.MaxStart {
		h.Start, _ = url.PathUnescape(starts[0]) // what is no such path is empty
	}
	envBytes, err := strconv.ParseUint(x.header.Get(wire.EnvBytes), 10, 31)
	if err != nil || envBytes > wire.MaxEnv || int64(envBytes) > x.length {
		return h, http.StatusBadRequest, fmt.Errorf("the header %s %s does not fit a body of %d bytes", wire.EnvBytes,
			quoted(x.header.Get(wire.EnvBytes)), x.length)
	}
	limit := int64(wire.MaxPayload)
	if s.MaxBody > 0 {
		limit = min(limit, s.MaxBody)
	}
	if x.length-int64(envBytes) > limit {
		return h, http.StatusRequestEntityTooLarge,
			fmt.Errorf("the payload has %d bytes, more than %d", x.length-int64(envBytes), limit)
	}
	body, err := x.body()
	if err != nil {
		return h, http.StatusBadRequest, fmt.Errorf("the body: %w", err)
	}
	if h.Env, err = parseEnv(body[:envBytes]); err != nil {
		return h, http.StatusBadRequest, err
	}
	h.Payload = body[envBytes:]
	return h, 0, nil
}

// maxQuoted bounds how much of a peer's text is quoted, in bytes.
const maxQuoted = 64

// quoted quotes what a peer sent, at most maxQuoted bytes of it.
func quoted(values ...string) string {
	all := strings.Join(values, ", ")
	if len(all) > maxQuoted {
		return fmt.Sprintf("%+q… (%d bytes)", all[:maxQuoted], len(all))
	}
	return fmt.Sprintf("%+q", all)
}

// parkOf reads the optional header Park.
func parkOf(values []string) (park bool, in time.Duration, err error) {
	if len(values) == 0 {
		return false, 0, nil
	}
	ms, err := strconv.ParseUint(values[0], 10, 32)
	in = time.Duration(ms) * time.Millisecond
	if err != nil || len(values) > 1 || in > maxDeadline {
		return false, 0, fmt.Errorf("the header %s %s is not one number from 0 to %d", wire.Park, quoted(values...),
			maxDeadline.Milliseconds())
	}
	return true, in, nil
}

// eventOf reads the optional headers Event and Cut.
func eventOf(events, cuts []string) (event string, cut bool, err error) {
	switch {
	case len(events) > 1 || len(events) == 1 && !wire.IsEvent(events[0]):
		return "", false, fmt.Errorf("the header %s %s is not one name of an event", wire.Event, quoted(events...))
	case len(cuts) > 1 || len(cuts) == 1 && cuts[0] != "1":
		return "", false, fmt.Errorf("the header %s %s is not 1", wire.Cut, quoted(cuts...))
	case len(events) == 1:
		event = events[0]
	}
	return event, len(cuts) == 1, nil
}

// readBody reads a body of known length within bodyTime. Only then does net/http
// notice that the peer disconnects, and that must work without a deadline.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTime)); err != nil {
		return nil, err
	}
	body := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return nil, err
	}
	return body, control.SetReadDeadline(time.Time{})
}

// parseEnv reads KEY=VALUE pairs, each ended by a NUL.
func parseEnv(block []byte) (map[string]string, error) {
	env := map[string]string{}
	rest := string(block)
	for rest != "" {
		pair, more, ended := strings.Cut(rest, "\x00")
		key, value, ok := strings.Cut(pair, "=")
		if !ended || !ok || key == "" {
			return nil, errors.New("the environment is not of the form KEY=VALUE NUL")
		}
		if !utf8.ValidString(pair) {
			return nil, fmt.Errorf("the environment variable %s is not valid UTF-8", quoted(key))
		}
		if _, twice := env[key]; twice {
			return nil, fmt.Errorf("the environment variable %s occurs twice", quoted(key))
		}
		env[key] = value
		rest = more
	}
	return env, nil
}
