package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/daemon"
	"approver.example/daemon/daemontest"
	"approver.example/httpapi"
)

// A record that cannot be read hides no other: what waits is listed, and one
// line and the exit code say that there is more.
func TestPendingWithARecordThatCannotBeRead(t *testing.T) {
	people, _ := daemontest.OpenPeople(t, func(terminal.Event) terminal.Answer {
		<-t.Context().Done() // nobody answers
		return terminal.Answer{}
	})
	dir, err := os.MkdirTemp("", "pend") // short: a socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	at := filepath.Join(dir, "run", "r.sock")
	l, err := httpapi.Listen(at, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	server := httpapi.Resolve{Operator: &daemon.Admin{People: people}, Log: slog.New(slog.DiscardHandler),
		Admit: func(approver.Peer) error { return nil }}
	ctx, cancel := context.WithCancel(t.Context())
	var ends sync.WaitGroup
	t.Cleanup(func() { cancel(); ends.Wait() })
	ends.Go(func() { _ = server.Serve(ctx, l) })
	pending := func(more ...string) (stdout, stderr string, exit int) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(ctx, self, append([]string{"pending", "--socket", at}, more...)...)
		c.Args[0] = "approver" // the test's program acts by its name
		var out, said strings.Builder
		c.Stdout, c.Stderr = &out, &said
		var failed *exec.ExitError
		if err := c.Run(); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		return out.String(), said.String(), c.ProcessState.ExitCode()
	}

	now, err := people.Store.Now(ctx)
	const broken = "0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11"
	if err == nil {
		err = people.Store.Put(ctx, approver.Key("req", broken), []byte("{broken"), "", approver.NewRev(), now.Add(time.Hour),
			now.Add(48*time.Hour))
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, said, exit := pending(); exit != exitFail || strings.Contains(out, "nothing waits") ||
		!strings.Contains(said, "some requests cannot be read: request "+broken) {
		t.Errorf("alone: exit %d\n%s%s", exit, out, said)
	}
	ends.Go(func() {
		people.Ask(ctx, approver.ToolCall{ID: strings.Repeat("a", 32), Agent: "claude", Tool: "Bash",
			Command: "git push", At: now},
			approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "push", Severity: approver.High})
	})
	for range 1200 {
		if open, _ := people.Requests.Open(ctx); len(open) == 1 {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	out, said, exit := pending()
	if exit != exitFail || !strings.Contains(out, "git push") || strings.Count(said, "\n") != 1 ||
		!strings.Contains(said, broken) {
		t.Errorf("beside another: exit %d\n%s%s", exit, out, said)
	}
	out, said, exit = pending("--json")
	if exit != exitFail || !strings.Contains(out, "git push") ||
		!strings.Contains(out, `"store_error":"some requests cannot be read`) || strings.Count(said, "\n") != 1 {
		t.Errorf("as JSON: exit %d\n%s%s", exit, out, said)
	}
}
