package broadcaster_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/fingerprint"
	"approver.example/store/redisstore"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
)

// The story: a catastrophic request is open when the keys are replaced, of the
// codes and of the records, and the daemon restarted. The code on the card still
// counts. When the old keys are gone, it would not.
func TestKeysRotateUnderAnOpenRequest(t *testing.T) {
	silent := slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	type closer interface {
		approver.KV
		Close() error
	}
	oldHub, newHub := strings.Repeat("o", 40), strings.Repeat("n", 40)
	for name, open := range map[string]func(hub string) (closer, error){
		"embedded": func(string) (closer, error) {
			return sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(dir, "db")}, silent)
		},
		"redis": func(hub string) (closer, error) {
			file := filepath.Join(dir, "hub.key")
			if err := os.WriteFile(file, []byte(hub), 0o600); err != nil {
				return nil, err
			}
			return redisstore.Open(t.Context(), redisstore.Config{Addrs: []string{server.Addr}, HubKeyFile: file}, silent)
		},
	} {
		t.Run(name, func(t *testing.T) {
			oldKey, newKey := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
			m := newMemory()
			// run lives as one daemon does, from start to stop.
			run := func(hub string, keys [][]byte, live func(*broadcaster.Broadcaster)) {
				t.Helper()
				store, err := open(hub)
				if err != nil {
					t.Fatal(err)
				}
				if err := broadcaster.BeginControls(t.Context(), store); err != nil {
					t.Fatal(err)
				}
				people := approver.People{}
				people.Add("memory", []approver.Approver{{ID: "1", Name: "Ada"}})
				m.ready = make(chan struct{})
				b, err := broadcaster.NewBroadcaster(broadcaster.Options{
					Store: store, Audit: m, People: people, Channels: []approver.Channel{m},
					Destinations: []approver.Destination{{Channel: "memory", Conversation: "room"}},
					Fingerprint: func(_ context.Context, c approver.ToolCall) (approver.Binding, error) {
						return fingerprint.Bind(c, "", nil, nil)
					},
					Limit: func(context.Context, string, approver.ToolCall) error { return nil }, CodeKey: keys[0],
					OldCodeKeys: keys[1:], Log: silent,
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { _ = b.Run(ctx) })
				<-m.ready
				live(b)
				cancel()
				running.Wait()
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			}
			call := approver.ToolCall{
				ID: strings.Repeat("a", 32), Agent: "claude", Session: "s", Tool: "Bash", Command: "make deploy",
				Args: []byte(`{"command":"make deploy"}`), At: time.Now(),
			}
			ask := func(b *broadcaster.Broadcaster) <-chan approver.Verdict {
				out := make(chan approver.Verdict, 1)
				go func() {
					out <- b.Ask(t.Context(), call, approver.Verdict{
						Decision: approver.Ask, Severity: approver.Catastrophic, TTL: time.Minute,
					})
				}()
				return out
			}
			var card approver.Card
			run(oldHub, [][]byte{oldKey}, func(b *broadcaster.Broadcaster) {
				here := make(chan approver.Ref, 1)
				m.seen["s"] = here
				ask(b)
				ref := <-here
				m.mu.Lock()
				card = m.cards[ref.Message]
				m.mu.Unlock()
			})
			typed := func() approver.Outcome {
				return m.reply(t.Context(), approver.Reply{
					Channel: "memory", Conversation: "room", Sender: "1", Approve: true, Method: approver.ByCode, Code: card.Code,
				})
			}
			if name == "embedded" { // in Redis the record itself would be refused
				run(newHub, [][]byte{newKey}, func(*broadcaster.Broadcaster) {
					if out := typed(); out.Kind != approver.OutcomeUnknown {
						t.Errorf("without the old key: %+v", out)
					}
				})
			}
			run(newHub+"\n"+oldHub+"\n", [][]byte{newKey, oldKey}, func(b *broadcaster.Broadcaster) {
				verdict := ask(b)
				time.Sleep(50 * time.Millisecond) // the courier is back
				if out := typed(); out.Kind != approver.OutcomeApproved {
					t.Errorf("the code of the old key: %+v", out)
				}
				if v := <-verdict; v.Decision != approver.Allow {
					t.Errorf("the call: %+v", v)
				}
			})
			// Redis opens without the old key: what it needs to open was signed anew.
			run(newHub, [][]byte{newKey}, func(*broadcaster.Broadcaster) {})
		})
	}
}
