package daemon

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/shield"
	"approver.example/internal/timing"
	"approver.example/store/sqlitestore"
)

// full is a store whose disk can be full: it reads, and takes no writes.
type full struct {
	*sqlitestore.Store
	is atomic.Bool
}

func (f *full) PutBefore(
	ctx context.Context, before time.Time, key string, value []byte, prev, next approver.Rev, due, keep time.Time,
) error {
	if f.is.Load() {
		return syscall.ENOSPC
	}
	return f.Store.PutBefore(ctx, before, key, value, prev, next, due, keep)
}

// The story: the store's disk was full, and an agent ran wild. approver freeze failed, and
// the calls that pass went on. Now the command says that this daemon alone holds the freeze,
// status says so, too, and once there is room the store has it, until people lift it.
func TestFreezeWithAFullStore(t *testing.T) {
	p := daemontest.EmbeddedPlace()
	disk := &full{}
	opened := p.Open
	p.Open = func(t *testing.T, dir string) daemontest.PlaceStore {
		disk.Store = opened(t, dir).(*sqlitestore.Store)
		return disk
	}
	l := startRoom(t, p, t.TempDir())
	defer l.stop()
	log := slog.New(slog.DiscardHandler)
	d := &Admin{
		People: l.people, audit: l.records, authority: &authority{}, observer: &observer{people: l.people, log: log},
		times: &timing.Times{}, shield: &shield.Shield{}, log: log,
	}
	me := approver.Peer{Known: true, UID: 7}
	operate := func(op string) (json.RawMessage, error) {
		return d.Operate(t.Context(), me, op, json.RawMessage(`{"reason":"it runs wild"}`))
	}
	stage := broadcaster.FreezeStage{Store: l.store, Mark: l.trust.mark}
	verdict := func() approver.Decision {
		v, err := stage.Judge(t.Context(), approver.ToolCall{Agent: "claude", Dir: "/p"})
		if err != nil {
			t.Fatal(err)
		}
		return v.Decision
	}
	disk.is.Store(true)
	if _, err := operate(adminapi.OpFreeze); err == nil ||
		!strings.Contains(err.Error(), "frozen here until restart or until the store takes it") {
		t.Fatalf("told %v", err)
	}
	if verdict() != approver.Deny {
		t.Error("a call passes")
	}
	status, err := operate(adminapi.OpStatus)
	if err != nil || !strings.Contains(string(status), "by this daemon alone") ||
		!strings.Contains(string(status), syscall.ENOSPC.Error()) {
		t.Errorf("status: %s, %v", status, err)
	}
	if !l.tells("by this daemon alone", "alarm") || l.tells("", "frozen") {
		t.Error("the audit has no line of it, or one that says that the store has it")
	}
	disk.is.Store(false)
	for end := time.Now().Add(time.Minute); !l.tells("", "frozen") && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if c, err := broadcaster.LoadControls(t.Context(), l.store); err != nil || c.Freeze.Reason != "it runs wild" ||
		verdict() != approver.Deny {
		t.Errorf("the store has %+v, %v", c, err)
	}
	if _, err := operate(adminapi.OpUnfreeze); err != nil {
		t.Fatal(err)
	}
	if status, err := operate(adminapi.OpStatus); err != nil || strings.Contains(string(status), "FROZEN") ||
		verdict() != approver.Pass {
		t.Errorf("after the lift: %s, %v", status, err)
	}
}
