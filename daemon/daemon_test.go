package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/cmd/approver-hook/courier"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
)

const ownPolicy = `version: 1
tools: {known: [Bash]}
rules:
  - {name: no.reboot, command: '^reboot$', decision: deny, reason: never}
  - {name: ask.push, command: '^git push', decision: ask, severity: high}
`

// A daemon runs in this process on a folder of its own and real sockets: it denies a call,
// asks about another, takes the answer, records all of it, and ends when it is told to.
func TestADaemonInThisProcess(t *testing.T) {
	dir, err := os.MkdirTemp("", "own") // short: sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(ownPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := configs.Parse(filepath.Join(dir, "approver.yaml"), fmt.Appendf(nil, `dir: data
policy: policy.yaml
sockets: {submit: run/s.sock, resolve: run/r.sock}
channels: {terminal: {approvers: [{id: "%d"}], allow_answers: true}}
`, os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	d := New(cfg, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	select {
	case <-d.Ready():
	case err := <-ended:
		t.Fatalf("the start: %v", err)
	}
	resolve := httpapi.ResolveClient{Socket: cfg.Sockets.Resolve}
	cards := make(chan terminal.Event, 1)
	go func() {
		_ = resolve.Watch(ctx, func(raw json.RawMessage) error {
			var e terminal.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			if e.Type == terminal.EventCard && e.Card.State == approver.Pending {
				select {
				case cards <- e:
				default: // the same card again
				}
			}
			return nil
		})
	}()

	if exit, out := hookCall(cfg, "reboot"); exit != 2 && !strings.Contains(out, `"permissionDecision":"deny"`) {
		t.Errorf("reboot: exit %d %s", exit, out)
	}
	for status := (adminapi.Status{}); ; time.Sleep(10 * time.Millisecond) { // a card is shown to whoever watches
		if err := resolve.Operate(ctx, adminapi.OpStatus, struct{}{}, &status); err != nil || !status.Up {
			t.Fatalf("status: %v", err)
		}
		if w := status.Channels[0].Watchers; w != nil && *w > 0 {
			break
		}
	}
	var before, after adminapi.Work
	if err := resolve.Operate(ctx, adminapi.OpWork, struct{}{}, &before); err != nil {
		t.Fatal(err)
	}
	answered := make(chan string, 1)
	go func() {
		exit, out := hookCall(cfg, "git push origin main")
		answered <- fmt.Sprint(exit, out)
	}()
	card := <-cards
	body, err := json.Marshal(terminal.Answer{Request: card.Card.Request, Message: card.Message, Approve: true})
	if err != nil {
		t.Fatal(err)
	}
	if told, err := resolve.Answer(ctx, body); err != nil || !strings.Contains(string(told), `"kind":"approved"`) {
		t.Fatalf("the answer: %s, %v", told, err)
	}
	if out := <-answered; !strings.HasPrefix(out, "0") || !strings.Contains(out, "allow") {
		t.Errorf("the approved call: %s", out)
	}
	if err := resolve.Operate(ctx, adminapi.OpWork, struct{}{}, &after); err != nil || after.Syncs < before.Syncs+6 ||
		after.CPUMS <= before.CPUMS || after.Allocations <= before.Allocations || after.Allocated <= before.Allocated ||
		after.Live == 0 || after.Goroutines == 0 {
		t.Errorf("before an approval %+v, after it %+v, %v", before, after, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	for _, socket := range []string{cfg.Sockets.Submit, cfg.Sockets.Resolve} {
		if _, err := os.Lstat(socket); err == nil {
			t.Errorf("%s is still there", socket)
		}
	}
	recorded, err := filepath.Glob(filepath.Join(cfg.AuditDir(), "*.jsonl"))
	if err != nil || len(recorded) != 1 {
		t.Fatalf("the audit: %v, %v", recorded, err)
	}
	text, err := os.ReadFile(recorded[0])
	for _, event := range []string{`"started"`, `"verdict"`, `"asked"`, `"released"`, `"stopped"`} {
		if err != nil || !strings.Contains(string(text), event) {
			t.Errorf("the audit has no %s: %v", event, err)
		}
	}
}

// hookCall is what a courier brings of a shell command, and what its agent reads.
func hookCall(cfg configs.Config, command string) (exit int, out string) {
	payload := fmt.Sprintf(`{"session_id":"s","transcript_path":"/t","cwd":"/","permission_mode":"default",`+
		`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":%[1]q}`, command)
	var stdout, stderr strings.Builder
	exit = courier.Run([]string{"--agent", "claude", "--socket", cfg.Sockets.Submit, "--deadline", "60s"},
		strings.NewReader(payload), &stdout, &stderr, os.Environ())
	return exit, stdout.String() + stderr.String()
}
