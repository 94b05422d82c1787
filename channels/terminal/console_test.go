package terminal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/terminal"
	"approver.example/display"
	"approver.example/tokens"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// console is a UI with a person at it.
type console struct {
	t      *testing.T
	keys   *io.PipeWriter
	events chan json.RawMessage
	stop   context.CancelFunc
	ended  chan error

	mu      sync.Mutex
	out     bytes.Buffer
	read    int // how much of out the person has read
	answers []terminal.Answer
	reply   func(context.Context, terminal.Answer) (json.RawMessage, error)
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(p)
}

func sit(t *testing.T, change func(*terminal.UI)) *console {
	t.Helper()
	in, keys := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &console{t: t, keys: keys, events: make(chan json.RawMessage), stop: cancel, ended: make(chan error, 1)}
	c.reply = func(_ context.Context, a terminal.Answer) (json.RawMessage, error) {
		return json.RawMessage(`{"kind":"approved","text":"Your answer stands."}`), nil
	}
	ui := terminal.UI{In: in, Out: c, Now: func() time.Time { return noon }}
	if change != nil {
		change(&ui)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.ended <- ui.Run(ctx, c.events, func(ctx context.Context, body json.RawMessage) (json.RawMessage, error) {
			var a terminal.Answer
			if err := json.Unmarshal(body, &a); err != nil {
				return nil, err
			}
			c.mu.Lock()
			c.answers = append(c.answers, a)
			reply := c.reply
			c.mu.Unlock()
			return reply(ctx, a)
		})
	}()
	t.Cleanup(func() { cancel(); _ = in.Close(); <-done })
	return c
}

func (c *console) show(e terminal.Event) {
	c.t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(string(b))
}

func (c *console) raw(event string) {
	c.t.Helper()
	select {
	case c.events <- json.RawMessage(event):
	case <-time.After(30 * time.Second):
		c.t.Fatal("the UI takes no event")
	}
}

func (c *console) types(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.keys, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// sees waits for a text behind what was seen before.
func (c *console) sees(text string) {
	c.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		all := c.out.String()
		if i := strings.Index(all[c.read:], text); i >= 0 {
			c.read += i + len(text)
			c.mu.Unlock()
			return
		}
		fresh := all[c.read:]
		c.mu.Unlock()
		if time.Now().After(deadline) {
			c.t.Fatalf("the screen does not show %q, but\n%s", text, fresh)
		}
	}
}

func (c *console) screen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

func (c *console) answered() []terminal.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]terminal.Answer(nil), c.answers...)
}

// wantAnswer waits for the n-th answer.
func (c *console) wantAnswer(n int, want terminal.Answer) {
	c.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); len(c.answered()) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("no answer number %d; the screen shows\n%s", n, c.screen())
		}
	}
	if got := c.answered(); got[n-1] != want {
		c.t.Errorf("answer %d is %+v, want %+v", n, got[n-1], want)
	}
}

func (c *console) wantEnd(want error) {
	c.t.Helper()
	select {
	case err := <-c.ended:
		if !errors.Is(err, want) {
			c.t.Errorf("Run returned %v, want %v", err, want)
		}
	case <-time.After(30 * time.Second):
		c.t.Fatal("Run goes on")
	}
}

func hello() terminal.Event {
	return terminal.Event{Type: terminal.EventHello, Offer: terminal.Offer{Tap: true, Code: true, Deny: true}}
}

func shown(t *testing.T, message string, sev approver.Severity) terminal.Event {
	secret, err := tokens.Parse("CONFIRM-7KQ4MX")
	if err != nil {
		t.Fatal(err)
	}
	return terminal.Event{
		Type: terminal.EventCard, Message: message, Rev: 1,
		Card: approver.Card{
			Request: "req-" + message, State: approver.Pending, Severity: sev, OneTap: sev == approver.High,
			Push: display.PushLine(sev.String(), "Build "+message, ""), Body: channeltest.Command("make " + message),
			Code: secret, Created: noon, Due: noon.Add(2 * time.Minute),
		},
		Offer: terminal.Offer{Tap: sev == approver.High, Code: true, Deny: true},
	}
}

func closed(e terminal.Event, state approver.State, result string) terminal.Event {
	e.Type, e.Rev, e.Offer = terminal.EventUpdate, e.Rev+1, terminal.Offer{}
	e.Card.State, e.Card.Result, e.Card.Code = state, result, tokens.Code{}
	return e
}
