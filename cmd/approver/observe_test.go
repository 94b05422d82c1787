package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/store/boltstore"
)

// hashed is a ledger whose records have hashes, which a release needs.
type hashed struct{ ledger }

func (h *hashed) Record(ctx context.Context, r approver.Record) (string, error) {
	_, err := h.ledger.Record(ctx, r)
	return "hash", err
}

// openPeople are people who sit at an isolated terminal, where they may approve what is
// CATASTROPHIC. answer gets each card.
func openPeople(t *testing.T, answer func(terminal.Event) terminal.Answer) (*approver.Broadcaster, approver.Peer) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	kv, err := boltstore.Open(boltstore.Config{Path: filepath.Join(t.TempDir(), "approver.db")}, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := approver.BeginControls(t.Context(), kv); err != nil {
		t.Fatal(err)
	}
	me := approver.Peer{Known: true, UID: uint32(os.Getuid())}
	ada := approver.Approver{ID: strconv.Itoa(os.Getuid()), Name: "Ada"}
	local, err := terminal.New(terminal.Config{Approvers: []approver.Approver{ada}, AllowAnswers: true, Isolated: true}, log)
	if err != nil {
		t.Fatal(err)
	}
	people, err := approver.NewBroadcaster(approver.Options{
		Store: kv, Audit: &hashed{}, Channels: []approver.Channel{local}, Limit: func(context.Context, string, approver.ToolCall) error { return nil }, CodeKey: make([]byte, 32), CodeLength: 6, Log: log,
		People:       approver.People{{Channel: terminal.Name, ID: ada.ID}: {ID: "ada", Name: "Ada"}},
		Destinations: []approver.Destination{{Channel: terminal.Name, Conversation: terminal.Conversation}},
		Fingerprint: func(_ context.Context, call approver.ToolCall) (approver.Binding, error) {
			return approver.Bind(call, "", nil, nil)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- people.Run(ctx) }()
	ready := make(chan struct{})
	go func() {
		for ctx.Err() == nil {
			_ = local.Watch(ctx, me, func(raw json.RawMessage) error {
				var e terminal.Event
				if err := json.Unmarshal(raw, &e); err != nil {
					return err
				}
				switch e.Type {
				case terminal.EventHello:
					select {
					case <-ready:
					default:
						close(ready)
					}
				case terminal.EventCard:
					body, err := json.Marshal(answer(e))
					if err != nil {
						return err
					}
					go func() { _, _ = local.Answer(ctx, me, body) }()
				}
				return nil
			})
			time.Sleep(10 * time.Millisecond) // the channel has not begun yet
		}
		done <- nil
	}()
	<-ready
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, <-done); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := kv.Close(); err != nil {
			t.Error(err)
		}
	})
	return people, me
}

// openDesk is a desk with such people.
func openDesk(t *testing.T, answer func(terminal.Event) terminal.Answer) (*desk, approver.Peer) {
	log := slog.New(slog.DiscardHandler)
	people, me := openPeople(t, answer)
	return &desk{people: people, observer: &observer{people: people, log: log}, log: log}, me
}

// Observe mode is put before people as CATASTROPHIC, in words that say what it
// does, also by whoever is trusted with a freeze; a no leaves rules enforced; and
// ending it asks nobody.
func TestPeopleDecideOverObserving(t *testing.T) {
	approve := false
	var shown []approver.Card
	d, me := openDesk(t, func(e terminal.Event) terminal.Answer {
		shown = append(shown, e.Card)
		return terminal.Answer{Request: e.Card.Request, Message: e.Message, Code: e.Card.Code.Reveal(), Approve: approve}
	})
	observing := func() bool { _, on := d.people.Observing(t.Context(), approver.Verdict{}); return on }
	body := json.RawMessage(`{"reason":"first week","for":` + strconv.FormatInt(int64(48*time.Hour), 10) + `}`)

	if _, err := d.Operate(t.Context(), me, opObserve, body); err == nil || !strings.Contains(err.Error(), "denied by Ada") || observing() {
		t.Errorf("after a no: %v", err)
	}
	approve = true
	raw, err := d.Operate(t.Context(), me, opObserve, body)
	if err != nil || !observing() || !strings.Contains(string(raw), "approved by Ada") {
		t.Fatalf("after a yes: %s, %v", raw, err)
	}
	if len(shown) != 2 || shown[0].Severity != approver.Catastrophic || shown[0].OneTap || !strings.Contains(shown[0].Why, "for 2 days NOTHING is asked or denied") ||
		!strings.Contains(shown[0].Command, "approver observe") || shown[0].Claimed != "first week" {
		t.Errorf("shown %+v", shown)
	}
	if raw, err := d.Operate(t.Context(), me, opEnforce, json.RawMessage(`{}`)); err != nil || observing() || len(shown) != 2 || !strings.Contains(string(raw), `"done":true`) {
		t.Errorf("enforce: %s, %v", raw, err)
	}
	for _, wrong := range []string{`{}`, `{"for":1000000000}`, `{"for":-1}`, `{"for":` + strconv.FormatInt(int64(31*24*time.Hour), 10) + `}`} {
		if _, err := d.Operate(t.Context(), me, opObserve, json.RawMessage(wrong)); err == nil || observing() || len(shown) != 2 {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := d.people.Freeze(t.Context(), "Ada", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Operate(t.Context(), me, opObserve, body); !errors.Is(err, approver.ErrFrozen) || len(shown) != 2 {
		t.Errorf("in a freeze: %v", err)
	}
}

// The story: people are asked for a pause, or for observe mode. Before they say
// yes somebody freezes everything and lifts it again. What they said yes to was
// how it was before; so nothing is paused or observed, and they are asked anew.
func TestAFreezeThatCameAndWentVoidsTheYes(t *testing.T) {
	var d *desk
	var me approver.Peer
	freeze := func() {
		if _, err := d.people.Freeze(t.Context(), "Bob", "look at this first"); err != nil {
			t.Error(err)
		}
		if err := d.people.Unfreeze(t.Context(), "Bob"); err != nil {
			t.Error(err)
		}
	}
	meanwhile, done := freeze, make(chan struct{}, 8)
	d, me = openDesk(t, func(e terminal.Event) terminal.Answer {
		meanwhile()
		done <- struct{}{}
		return terminal.Answer{Request: e.Card.Request, Message: e.Message, Code: e.Card.Code.Reveal(), Approve: true}
	})
	body := json.RawMessage(`{"for":` + strconv.FormatInt(int64(10*time.Minute), 10) + `}`)
	on := func() bool {
		c, now, err := d.people.Controls(t.Context())
		return err != nil || c.Paused(approver.High, now) || c.Observing(now)
	}
	for _, op := range []string{opPause, opObserve} {
		meanwhile = freeze
		if _, err := d.Operate(t.Context(), me, op, body); err == nil || !strings.Contains(err.Error(), "ask anew") || on() {
			t.Errorf("%s: %v", op, err)
		}
		<-done // the question ends with the freeze, before that is lifted
		meanwhile = func() {}
		if _, err := d.Operate(t.Context(), me, op, body); err != nil || !on() {
			t.Errorf("%s, asked anew: %v", op, err)
		}
		<-done
	}
}
