package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"approver.example/httpapi/socketpath"
)

// ResolveClient is the client of [Resolve]. It sends nothing to a listener that it does not
// trust.
type ResolveClient struct {
	// Socket is the path of the resolve socket.
	Socket string
	// Trust fails for a uid that must not listen there. It is called for each connection
	// before a byte is sent. Nil means socketpath.Trust.
	Trust func(uid uint32) error
}

// ErrSilent means that a process listens on a socket but does not answer.
var ErrSilent = errors.New("it does not answer")

// Hears checks that the listener answers at all, within the given time. Use it before a
// request that may wait for people: a stopped process accepts connections and never answers.
// The error is ErrSilent if no answer came, else nil: the request that follows reports any
// other problem.
func (c ResolveClient) Hears(ctx context.Context, within time.Duration) error {
	ask, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := call(ask, c.Socket, c.Trust, http.MethodGet, healthPath, nil, func(*http.Response) error { return nil })
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, ErrRefused):
		return nil
	case ask.Err() != nil, errors.Is(err, syscall.EAGAIN): // its queue of connections is full
		return ErrSilent
	}
	return nil
}

// Watch calls f for each event until ctx ends, f returns an error or the stream
// ends. The error is that of f, of ctx, of the daemon, or nil if the daemon
// ended the stream in order. If the daemon stops, the error is io.ErrUnexpectedEOF.
func (c ResolveClient) Watch(ctx context.Context, f func(json.RawMessage) error) error {
	return call(ctx, c.Socket, c.Trust, http.MethodGet, watchPath, nil, func(res *http.Response) error {
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, maxEvent)
		for lines.Scan() {
			if !json.Valid(lines.Bytes()) {
				return errors.New("an event that is not JSON came from approver")
			}
			if err := f(bytes.Clone(lines.Bytes())); err != nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case lines.Err() != nil:
			return fmt.Errorf("the connection to approver was lost: %w", lines.Err())
		case res.Trailer.Get(watchError) != "":
			return fmt.Errorf("%w: %s", ErrRefused, res.Trailer.Get(watchError))
		}
		return nil
	})
}

// Answer sends one JSON document and returns the result. ErrRefused means
// that it was not accepted. With any other error it may have been.
func (c ResolveClient) Answer(ctx context.Context, body json.RawMessage) (out json.RawMessage, err error) {
	err = call(ctx, c.Socket, c.Trust, http.MethodPost, answerPath, body, func(res *http.Response) error {
		return readJSON(res.Body, &out)
	})
	return out, err
}

// Operate requests one operation and decodes its answer into out. body is any value that
// encodes as JSON. ErrRefused means that the operation was not done. With any other error it
// may have been.
func (c ResolveClient) Operate(ctx context.Context, op string, body, out any) error {
	return postJSON(ctx, c.Socket, c.Trust, operatePath+op, body, out)
}

// SubmitClient is the client of [Submit] for scripts. Its fields are those of [ResolveClient].
type SubmitClient struct {
	Socket string
	Trust  func(uid uint32) error
}

// Ask asks a script's question and waits for the answer. ErrRefused means that
// nobody was asked.
func (c SubmitClient) Ask(ctx context.Context, body, out any) error {
	return postJSON(ctx, c.Socket, c.Trust, askPath, body, out)
}

// Appeal appeals a denial. ErrRefused means that nobody was asked.
func (c SubmitClient) Appeal(ctx context.Context, body, out any) error {
	return postJSON(ctx, c.Socket, c.Trust, appealPath, body, out)
}

// postJSON sends a value and decodes the answer into out.
func postJSON(ctx context.Context, socket string, trust func(uint32) error, path string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return call(ctx, socket, trust, http.MethodPost, path, text, func(res *http.Response) error {
		return readJSON(res.Body, out)
	})
}

func readJSON(r io.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(r, maxEvent))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("the answer of approver could not be read: %w", err)
	}
	return nil
}

// call makes one request on a connection of its own, and passes the answer to read if its
// status is 200. Any other status is ErrRefused with the daemon's text.
func call(ctx context.Context, socket string, trust func(uint32) error, method, path string, body []byte,
	read func(*http.Response) error,
) error {
	if err := socketpath.Check(socket); err != nil {
		return err
	}
	if trust == nil {
		trust = func(uid uint32) error { return socketpath.Trust(socket, uid) }
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialTrusted(ctx, socket, trust)
		},
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, method, "http://approver"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("approver at %s: %w", socket, err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return read(res)
	}
	var doc errorDoc
	if readJSON(res.Body, &doc) != nil || doc.Error == "" {
		doc.Error = res.Status
	}
	return fmt.Errorf("%w: %s", ErrRefused, doc.Error)
}

// dialTrusted connects, and checks who listens before a byte is sent.
func dialTrusted(ctx context.Context, socket string, trust func(uint32) error) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	peer := peerOf(withPeer(ctx, conn))
	if !peer.Known {
		err = errors.New("the kernel does not say who listens")
	} else {
		err = trust(peer.UID)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return Asking(conn), nil
}
