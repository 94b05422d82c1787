package daemontest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/terminal"
	"approver.example/fingerprint"
)

// OpenPeople are people who sit at an isolated terminal, where they may approve what is
// CATASTROPHIC. answer gets each card.
func OpenPeople(t *testing.T, answer func(terminal.Event) terminal.Answer) (*broadcaster.Broadcaster, approver.Peer) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	kv := OpenKV(t)
	must(t, broadcaster.BeginControls(t.Context(), kv))
	me := approver.Peer{Known: true, UID: uint32(os.Getuid())}
	ada := approver.Approver{ID: strconv.Itoa(os.Getuid()), Name: "Ada"}
	local, err := terminal.New(terminal.Config{Approvers: []approver.Approver{ada}, AllowAnswers: true, Isolated: true},
		log)
	must(t, err)
	people, err := broadcaster.NewBroadcaster(broadcaster.Options{
		Store: kv, Audit: &Ledger{}, Channels: []approver.Channel{local},
		Limit: func(context.Context, string, approver.ToolCall) error { return nil }, CodeKey: make([]byte, 32),
		CodeLength: 6, Log: log,
		People:       approver.People{{Channel: terminal.Name, ID: ada.ID}: {ID: "ada", Name: "Ada"}},
		Destinations: []approver.Destination{{Channel: terminal.Name, Conversation: terminal.Conversation}},
		Fingerprint: func(_ context.Context, call approver.ToolCall) (approver.Binding, error) {
			return fingerprint.Bind(call, "", nil, nil)
		},
	})
	must(t, err)
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
					go func() { // a person who is told that the channel does not run yet tries again
						for ctx.Err() == nil {
							if _, err := local.Answer(ctx, me, body); err == nil {
								return
							}
							time.Sleep(10 * time.Millisecond)
						}
					}()
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
	})
	return people, me
}
