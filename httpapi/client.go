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

// ResolveClient is the other end of [Resolve]. It sends nothing to a listener
// that is not trusted.
type ResolveClient struct {
	// Socket is the path of the resolve socket.
	Socket string
	// Trust fails for a uid that must not listen there. It is asked for each
	// connection before a byte is sent. Nil means socketpath.Trust.
	Trust func(uid uint32) error
}

// ErrSilent means that somebody listens on a socket and does not answer.
var ErrSilent = errors.New("it does not answer")

// Hears asks whoever listens for any answer at all, for that long at the most, before a
// request that may wait for people is sent: a process that was stopped is connected to and
// never answers. ErrSilent means that none came. Any other trouble is left to the request
// that comes next.
func (c ResolveClient) Hears(ctx context.Context, within time.Duration) error {
	ask, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := call(ask, c.Socket, c.Trust, http.MethodGet, healthPath, nil, func(*http.Response) error { return nil })
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, ErrRefused):
		return nil
	case ask.Err() != nil, errors.Is(err, syscall.EAGAIN): // so many wait to be let in
		return ErrSilent
	}
	return nil
}

// Watch calls f for each event until ctx ends, f returns an error or the stream
// ends. The error is that of f, of ctx, of the daemon, or nil when the daemon
// ended the stream in order. A daemon that stops is io.ErrUnexpectedEOF.
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

// Answer sends one JSON document and returns what became of it. ErrRefused means
// that it was not taken. With any other error it may have been taken.
func (c ResolveClient) Answer(ctx context.Context, body json.RawMessage) (out json.RawMessage, err error) {
	err = call(ctx, c.Socket, c.Trust, http.MethodPost, answerPath, body, func(res *http.Response) error {
		return readJSON(res.Body, &out)
	})
	return out, err
}

// Operate asks for one operation and reads its answer into out. The body is any
// value that encodes as JSON. ErrRefused means that it was not done. With any
// other error it may have been.
func (c ResolveClient) Operate(ctx context.Context, op string, body, out any) error {
	return postJSON(ctx, c.Socket, c.Trust, operatePath+op, body, out)
}

// SubmitClient is what scripts have of the other end of [Submit]. Its fields are
// those of [ResolveClient].
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

// postJSON sends a value, and reads the answer into out.
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

// call makes one request on a connection of its own and gives the answer to
// read if its status is 200.
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

// dialTrusted connects, and looks who listens before a byte is sent.
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
