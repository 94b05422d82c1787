package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/daemon/adminapi"
	"approver.example/shieldcore/quota"
	"approver.example/store/sqlitestore"
)

// The story: an agent ran approver pause sixty times at once. People got sixty
// CATASTROPHIC cards in six seconds. Of one operation a user has one open question now;
// what else is asked by the same user, or by another, is not held up.
func TestOneOpenQuestionOfAnOperation(t *testing.T) {
	var mu sync.Mutex
	cards := 0
	d, me := openAdmin(t, func(terminal.Event) terminal.Answer {
		mu.Lock()
		cards++
		mu.Unlock()
		return terminal.Answer{} // nobody answers
	})
	d.notice = "NOT ISOLATED"
	shown := func(want int) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			mu.Lock()
			n := cards
			mu.Unlock()
			if n == want || time.Now().After(end) {
				if n != want {
					t.Fatalf("%d cards, want %d", n, want)
				}
				return
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	body := json.RawMessage(`{"for":300000000000}`)
	errs := make(chan error, 60)
	for range 60 {
		all.Go(func() { _, err := d.Operate(ctx, me, adminapi.OpPause, body); errs <- err })
	}
	for range 59 {
		if err := <-errs; err == nil ||
			!strings.Contains(err.Error(),
				fmt.Sprintf("people are being asked about approver pause by uid %d already", os.Getuid())) {
			t.Errorf("%v", err)
		}
	}
	shown(1)
	for n, other := range []struct {
		op   string
		peer approver.Peer
	}{{adminapi.OpObserve, me}, {adminapi.OpPause, approver.Peer{Known: true, UID: me.UID + 1}}} {
		all.Go(func() { _, _ = d.Operate(ctx, other.peer, other.op, body) })
		shown(2 + n)
	}
	cancel()
	all.Wait()
	d.questions.open.Range(func(open, _ any) bool {
		t.Errorf("still open: %v", open)
		return true
	})
}

// What a process asks about approver itself is counted by its uid, apart from calls. Who is
// trusted is not counted, so that an agent cannot use up what the owner needs.
func TestWhoseQuestionsAboutApproverAreCounted(t *testing.T) {
	kv, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "approver.db")},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kv.Close() })
	asks, err := quota.NewAsks(kv, quota.AskLimits{User: 50, Agent: 40})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(asks.Close)
	root := 60
	if os.Getuid() == 0 {
		root = quota.OwnAsks // an agent may be root, too
	}
	for name, c := range map[string]struct {
		notice string
		call   approver.ToolCall
		n      int
	}{
		"an agent's pause": {"NOT ISOLATED",
			approver.ToolCall{Control: adminapi.OpPause, Peer: approver.Peer{Known: true, UID: 1000}}, quota.OwnAsks},
		"another user's": {"NOT ISOLATED",
			approver.ToolCall{Control: adminapi.OpRestore, Peer: approver.Peer{Known: true, UID: 1001}}, quota.OwnAsks},
		"root's": {"NOT ISOLATED",
			approver.ToolCall{Control: adminapi.OpPause, Peer: approver.Peer{Known: true}}, root},
		"on an isolated installation": {"",
			approver.ToolCall{Control: adminapi.OpPause, Peer: approver.Peer{Known: true, UID: 1000}}, 60},
		"the agent's calls": {"NOT ISOLATED",
			approver.ToolCall{Agent: "claude", Peer: approver.Peer{Known: true, UID: 1000}}, 40},
	} {
		countAsks(t, limit(asks, c.notice, func(dir string) string { return dir }), name, c.call, c.n)
	}
	call := approver.ToolCall{Control: adminapi.OpUnfreeze, Peer: approver.Peer{Known: true, UID: 1000}}
	countAsks(t, limit(asks, "NOT ISOLATED", func(dir string) string { return dir }),
		"the agent's unfreeze after its pauses", call, 0)
}

func countAsks(t *testing.T, limit func(context.Context, string, approver.ToolCall) error, name string,
	call approver.ToolCall, want int) {
	t.Helper()
	n := 0
	for i := range 60 {
		call.ID = fmt.Sprint(name, i)
		err := limit(t.Context(), call.ID, call)
		var many *approver.TooManyError
		if err == nil {
			n++
		} else if !errors.As(err, &many) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n != want {
		t.Errorf("%s: %d questions, want %d", name, n, want)
	}
}
