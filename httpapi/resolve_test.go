package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// A resolver for tests, of functions.
type funcs struct {
	watch  func(ctx context.Context, peer approver.Peer, emit func(json.RawMessage) error) error
	answer func(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error)
}

func (f funcs) Watch(ctx context.Context, peer approver.Peer, emit func(json.RawMessage) error) error {
	return f.watch(ctx, peer, emit)
}

func (f funcs) Answer(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error) {
	return f.answer(ctx, peer, body)
}

func TestResolveAnswer(t *testing.T) {
	s := &Resolve{Admit: me(), Log: quiet(),
		Resolver: funcs{answer: func(_ context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error) {
			switch string(body) {
			case `{"refuse":true}`:
				return nil, errors.New("the code is not known here")
			case `{"broken":true}`:
				return json.RawMessage("{"), nil
			}
			return json.RawMessage(fmt.Sprintf(`{"uid": %d, "got": %s}`, peer.UID, body)), nil
		}}}
	socket, _ := run(t, s.Serve)
	c := ResolveClient{Socket: socket}
	got, err := c.Answer(t.Context(), json.RawMessage(`{"approve":true}`))
	if want := fmt.Sprintf(`{"uid":%d,"got":{"approve":true}}`, os.Geteuid()); err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	for body, want := range map[string]string{
		`{"refuse":true}`: "the code is not known here",
		`{"broken":true}`: "cannot be told",
		`{`:               "not one JSON document",
		`{}{}`:            "not one JSON document",
		``:                "not one JSON document",
		`"` + strings.Repeat("x", maxAnswer) + `"`: "more than 65536 bytes",
	} {
		got, err := c.Answer(t.Context(), json.RawMessage(body))
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%.40s: %s, %v, want %q", body, got, err, want)
		}
	}
	if h, err := getHealth(t.Context(), socket); err != nil || h.Socket != "resolve" {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestResolveWatch(t *testing.T) {
	next := make(chan struct{})
	s := &Resolve{Admit: me(), Log: quiet(),
		Resolver: funcs{watch: func(_ context.Context, peer approver.Peer, emit func(json.RawMessage) error) error {
			if err := emit(json.RawMessage("{\n \"n\": 1\n}")); err != nil {
				return err
			}
			<-next // the first event must have arrived before the second is sent
			if err := emit(json.RawMessage(`{broken`)); err == nil {
				return errors.New("a broken event was sent")
			}
			if err := emit(json.RawMessage(fmt.Sprintf(`{"uid":%d}`, peer.UID))); err != nil {
				return err
			}
			return nil
		}}}
	socket, _ := run(t, s.Serve)
	var got []string
	err := ResolveClient{Socket: socket}.Watch(t.Context(), func(m json.RawMessage) error {
		if got = append(got, string(m)); len(got) == 1 {
			close(next)
		}
		return nil
	})
	want := []string{`{"n":1}`, fmt.Sprintf(`{"uid":%d}`, os.Geteuid())}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// A watcher knows that it is connected before there is anything to see.
func TestResolveWatchStartsAtOnce(t *testing.T) {
	s := &Resolve{Admit: me(), Log: quiet(),
		Resolver: funcs{watch: func(ctx context.Context, _ approver.Peer, _ func(json.RawMessage) error) error {
			<-ctx.Done()
			return nil
		}}}
	socket, _ := run(t, s.Serve)
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET /v1/watch HTTP/1.1\r\nHost: approver\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	head := make([]byte, 15)
	if _, err := io.ReadFull(c, head); err != nil || string(head) != "HTTP/1.1 200 OK" {
		t.Errorf("%q, %v", head, err)
	}
}

func TestResolveWatchEnds(t *testing.T) {
	causes := make(chan error, 1)
	forever := func(ctx context.Context, _ approver.Peer, emit func(json.RawMessage) error) error {
		if err := emit(json.RawMessage("1")); err != nil {
			return err
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return ctx.Err()
	}
	s := &Resolve{Admit: me(), Log: quiet(), Resolver: funcs{watch: forever}}
	socket, stop := run(t, s.Serve)
	c := ResolveClient{Socket: socket}

	enough := errors.New("enough")
	if err := c.Watch(t.Context(), func(json.RawMessage) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("f's error: %v", err)
	}
	<-causes
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := c.Watch(ctx, func(json.RawMessage) error { cancel(enough); return nil }); !errors.Is(err, enough) {
		t.Errorf("a canceled context: %v", err)
	}
	<-causes
	ended := make(chan error, 1)
	err := c.Watch(t.Context(), func(json.RawMessage) error {
		go func() { ended <- stop() }()
		return nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "was lost") {
		t.Errorf("a daemon that stops: %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if cause := <-causes; !errors.Is(cause, ErrShuttingDown) {
		t.Errorf("cause %v", cause)
	}
}

func TestResolveWatchError(t *testing.T) {
	s := &Resolve{Admit: me(), Log: quiet(),
		Resolver: funcs{watch: func(context.Context, approver.Peer, func(json.RawMessage) error) error {
			return errors.New("you are on no approver list\nat all")
		}}}
	socket, _ := run(t, s.Serve)
	err := ResolveClient{Socket: socket}.Watch(t.Context(), func(json.RawMessage) error { return nil })
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "you are on no approver list?at all") {
		t.Errorf("%v", err)
	}
}

func TestResolveFailsClosed(t *testing.T) {
	yes := funcs{
		watch: func(context.Context, approver.Peer, func(json.RawMessage) error) error { return nil },
		answer: func(context.Context, approver.Peer, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage("1"), nil
		},
	}
	for name, s := range map[string]*Resolve{
		"nil Admit":    {Resolver: yes},
		"another uid":  {Resolver: yes, Admit: AdmitUIDs(uint32(os.Geteuid()) + 1)},
		"nil Resolver": {Admit: me()},
	} {
		t.Run(name, func(t *testing.T) {
			s.Log = quiet()
			socket, _ := run(t, s.Serve)
			if out, err := (ResolveClient{Socket: socket}).Answer(t.Context(), json.RawMessage("{}")); !errors.Is(err,
				ErrRefused) || out != nil {
				t.Errorf("Answer: %s, %v", out, err)
			}
			if err := (ResolveClient{Socket: socket}).Watch(t.Context(),
				func(json.RawMessage) error { return nil }); !errors.Is(err, ErrRefused) {
				t.Errorf("Watch: %v", err)
			}
		})
	}
	s := &Resolve{Resolver: yes, Admit: me(), Log: quiet()}
	socket, _ := run(t, s.Serve)
	c := post(t, socket, headers("{}", ""), "{}")
	if res, _, err := response(t, c); err != nil || res.StatusCode != 404 {
		t.Errorf("a courier on the resolve socket: %+v, %v", res, err)
	}
}

// A program that stops reading must not hold the daemon's sender for ever, and
// other watchers not at all.
func TestResolveWatchersAreIndependent(t *testing.T) {
	s := &Resolve{Admit: me(), Log: quiet(),
		Resolver: funcs{watch: func(ctx context.Context, _ approver.Peer, emit func(json.RawMessage) error) error {
			for ctx.Err() == nil {
				if err := emit(json.RawMessage(`"` + strings.Repeat("x", 4096) + `"`)); err != nil {
					return err
				}
			}
			return nil
		}}}
	socket, stop := run(t, s.Serve)
	stuck, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer stuck.Close()
	if _, err := stuck.Write([]byte("GET /v1/watch HTTP/1.1\r\nHost: approver\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	n, enough := 0, errors.New("enough")
	err = ResolveClient{Socket: socket}.Watch(t.Context(), func(json.RawMessage) error {
		if n++; n == 100 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("after %d events: %v", n, err)
	}
	started := time.Now()
	if err := stop(); err != nil || time.Since(started) > 5*time.Second {
		t.Errorf("stopping took %v: %v", time.Since(started), err)
	}
}

// The story: an agent puts a socket of its own where people's program looks, in
// a folder that it can write, to be handed an approval code. Nothing is sent.
func TestClientSendsNothingToAStranger(t *testing.T) {
	dir := tempDir(t)
	path := filepath.Join(dir, "s.sock")
	l := listen(t, path, 0o600)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	got := make(chan int, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			got <- -1
			return
		}
		n, _ := c.Read(make([]byte, 1))
		_ = c.Close()
		got <- n
	}()
	_, err := ResolveClient{Socket: path}.Answer(t.Context(), json.RawMessage(`{"code":"x"}`))
	if err == nil || !strings.Contains(err.Error(), "can be written by others") {
		t.Errorf("%v", err)
	}
	if n := <-got; n != 0 {
		t.Errorf("%d bytes were sent", n)
	}
}

func TestClientErrors(t *testing.T) {
	if _, err := (ResolveClient{Socket: "relative"}).Answer(t.Context(), nil); err == nil ||
		!strings.Contains(err.Error(), "absolute") {
		t.Errorf("%v", err)
	}
	if err := (ResolveClient{Socket: filepath.Join(tempDir(t), "none")}).Watch(t.Context(), nil); err == nil ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("%v", err)
	}
	if _, err := (ResolveClient{}).Answer(t.Context(), nil); err == nil {
		t.Error("no socket, no error")
	}
}

type operate func(peer approver.Peer, op string, body json.RawMessage) (json.RawMessage, error)

func (f operate) Operate(_ context.Context, peer approver.Peer, op string,
	body json.RawMessage) (json.RawMessage, error) {
	return f(peer, op, body)
}

// An operation gets the word, the document and the kernel's word for the peer;
// without an operator, and for a stranger, there is none.
func TestOperate(t *testing.T) {
	do := operate(func(peer approver.Peer, op string, body json.RawMessage) (json.RawMessage, error) {
		if op != "look" {
			return nil, ErrNoOperation
		}
		return json.RawMessage(fmt.Sprintf(`{"uid":%d,"got":%s}`, peer.UID, body)), nil
	})
	socket, _ := run(t, (&Resolve{Admit: me(), Log: quiet(), Operator: do}).Serve)
	var out struct {
		UID int
		Got struct{ A int }
	}
	if err := (ResolveClient{Socket: socket}).Operate(t.Context(), "look", map[string]int{"a": 7}, &out); err != nil ||
		out.UID != os.Geteuid() || out.Got.A != 7 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := (ResolveClient{Socket: socket}).Operate(t.Context(), "leap", 1, &out); !errors.Is(err, ErrRefused) ||
		!strings.Contains(err.Error(), "does not know") {
		t.Errorf("an unknown word: %v", err)
	}
	for name, s := range map[string]*Resolve{
		"no operator": {Admit: me()},
		"a stranger":  {Operator: do, Admit: AdmitUIDs(uint32(os.Geteuid()) + 1)},
		"nil Admit":   {Operator: do},
	} {
		s.Log = quiet()
		socket, _ := run(t, s.Serve)
		if err := (ResolveClient{Socket: socket}).Operate(t.Context(), "look", 1, &out); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type operated func(ctx context.Context) (json.RawMessage, error)

func (f operated) Operate(ctx context.Context, _ approver.Peer, _ string, _ json.RawMessage) (json.RawMessage, error) {
	return f(ctx)
}

// The story: somebody ended approver ask, or approver pause, with Ctrl-C. Its question stayed
// before people for three seconds, because a courier would have come back. These do not.
func TestWhoAsksAndGoesIsGoneForGood(t *testing.T) {
	for name, ask := range map[string]func(ctx context.Context, t *testing.T, wait operated) error{
		"ask": func(ctx context.Context, t *testing.T, wait operated) error {
			socket,
				_ := run(t,
				(&Submit{Admit: me(), Log: quiet(), Ask: func(ctx context.Context, _ approver.Peer,
					_ json.RawMessage) (json.RawMessage, error) {
					return wait(ctx)
				}}).Serve)
			return SubmitClient{Socket: socket}.Ask(ctx, 1, nil)
		},
		"pause": func(ctx context.Context, t *testing.T, wait operated) error {
			socket, _ := run(t, (&Resolve{Admit: me(), Log: quiet(), Operator: wait}).Serve)
			return ResolveClient{Socket: socket}.Operate(ctx, "pause", 1, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			causes := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			err := ask(ctx, t, func(ctx context.Context) (json.RawMessage, error) {
				cancel()
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return nil, context.Cause(ctx)
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the client says %v", err)
			}
			select {
			case cause := <-causes:
				if !errors.Is(cause, approver.ErrGone) {
					t.Errorf("cause %v", cause)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("nobody noticed")
			}
		})
	}
}
