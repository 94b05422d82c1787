package broadcaster_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/redisstore"
	"approver.example/store/storetest/redistest"
)

// The story, on a real Redis with replicas: 1: its only replica stops, then a
// person says yes. The primary has the yes, and whoever reads it there could take
// it for one; then the primary is lost, and the replica that is promoted has
// never heard of it. Nobody may have been told "approved".
func TestAnswerThatNoReplicaHas(t *testing.T) {
	t.Parallel()
	primary, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { primary.Close() })
	replica, err := redistest.StartReplica(t.Context(), primary, redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { replica.Close() })
	store, err := redisstore.Open(t.Context(), redisstore.Config{
		Addrs: []string{primary.Addr}, HubKeyFile: hubKey(t), Replicas: 1,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	daemon := startReplica(t, store)
	b, m := daemon.b, daemon.m
	here := make(chan approver.Ref, 1)
	m.mu.Lock()
	m.seen["s"] = here
	m.mu.Unlock()
	verdict := make(chan approver.Verdict, 1)
	asking, leave := context.WithTimeout(t.Context(), 12*time.Second)
	defer leave()
	go func() {
		verdict <- b.Ask(asking, approver.ToolCall{ID: "00000000000000000000000000000001", Agent: "claude", Session: "s",
			Tool: "Bash", Command: "make deploy",
			Args: []byte(`{"command":"make deploy"}`), At: time.Now()}, approver.Verdict{
			Decision: approver.Ask, Severity: approver.High,
		})
	}()
	ref := <-here
	time.Sleep(time.Second)
	if err := replica.Stop(); err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	out := m.reply(t.Context(), approver.Reply{
		Channel: "memory", Conversation: "room", Sender: "1", Approve: true, Method: approver.ByTap, Request: ref.Message,
		Message: ref.Message,
	})
	v := <-verdict
	m.mu.Lock()
	card, released := m.cards[ref.Message], m.events[ref.Message][approver.EventReleased]
	m.mu.Unlock()
	if out.Kind == approver.OutcomeApproved || v.Decision == approver.Allow || card.Result != "" {
		t.Errorf("after %v the person is told %q, the agent %q, the card %q", time.Since(from), out.Text, v.Reason,
			card.Result)
	}
	if released != 0 {
		t.Errorf("the audit says %d times that the call was released", released)
	}
}
