package broadcaster_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/redisstore"
	"approver.example/store/storetest/redistest"
)

// Three identical calls come at once, to two daemons that share a Redis. People see one
// card with three calls on it; one tap at the daemon that posted it releases all three,
// the ones at the other daemon too.
func TestIdenticalCallsOnTwoDaemons(t *testing.T) {
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	key := hubKey(t)
	var daemons []replica
	for range 2 {
		store, err := redisstore.Open(t.Context(), redisstore.Config{
			Addrs: []string{server.Addr}, HubKeyFile: key,
		}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		daemons = append(daemons, startReplica(t, store))
	}
	answers := make(chan approver.Verdict, 3)
	for i := range 3 {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			answers <- daemons[i%2].b.Ask(ctx, approver.ToolCall{
				ID: fmt.Sprintf("same%d", i), Agent: "claude", Tool: "Bash", Command: "git push --force", Dir: "/repo",
				At:   time.Now(),
				Peer: approver.Peer{Known: true, UID: 1000},
			}, approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High})
		}()
	}
	cards := func() (all int, at replica, id, notice string, upto int) {
		for _, d := range daemons {
			d.m.mu.Lock()
			for request, card := range d.m.cards {
				all, at, id, notice, upto = all+1, d, request, strings.Join(card.Warnings, " "), card.Upto
			}
			d.m.mu.Unlock()
		}
		return all, at, id, notice, upto
	}
	var n, upto int
	var at replica
	var id, notice string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) &&
		!strings.HasPrefix(notice, "3 identical calls"); time.Sleep(20 * time.Millisecond) {
		n, at, id, notice, upto = cards()
	}
	if n != 1 || !strings.HasPrefix(notice, "3 identical calls") {
		t.Fatalf("%d cards, the last says %q", n, notice)
	}
	time.Sleep(time.Second) // the note of the edit comes after it
	at.m.reply(t.Context(), approver.Reply{
		Channel: "memory", Conversation: "room", Sender: "1", Approve: true, Method: approver.ByTap, Request: id,
		Message: id, Shown: upto,
	})
	for range 3 {
		if v := <-answers; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
	}
	if n, _, _, _, _ := cards(); n != 1 {
		t.Errorf("%d cards", n)
	}
}
