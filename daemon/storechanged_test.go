package daemon

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/shield"
	"approver.example/internal/timing"
	"approver.example/store/sqlitestore"
)

// A changed is a store that others have changed while it is in use.
type changed struct {
	*sqlitestore.Store
	unfit, lossy error
}

func (c *changed) Fitness() (unfit, lossy error) { return c.unfit, c.lossy }

// Status fails while the store's server is set to drop or lose records, and says so.
func TestStatusOfAStoreThatWasChanged(t *testing.T) {
	p := daemontest.EmbeddedPlace()
	store := &changed{}
	opened := p.Open
	p.Open = func(t *testing.T, dir string) daemontest.PlaceStore {
		store.Store = opened(t, dir).(*sqlitestore.Store)
		return store
	}
	l := startRoom(t, p, t.TempDir())
	defer l.stop()
	log := slog.New(slog.DiscardHandler)
	d := &Admin{
		People: l.people, audit: l.records, authority: &authority{}, observer: &observer{people: l.people, log: log},
		times: &timing.Times{}, shield: &shield.Shield{}, log: log,
	}
	for name, tt := range map[string]struct {
		unfit, lossy error
		want         []string
	}{
		"as it should be": {},
		"it evicts": {errors.New("it evicts"), nil,
			[]string{"every new call that needs people is denied: it evicts"}},
		"it loses": {nil, errors.New("no file"), []string{"no file"}},
		"both":     {errors.New("it evicts"), errors.New("no file"), []string{"denied: it evicts; no file"}},
	} {
		store.unfit, store.lossy = tt.unfit, tt.lossy
		status, err := d.status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		troubles := status.TroublesOf(adminapi.PartStore)
		if len(troubles) != len(tt.want) || status.Well() != (len(tt.want) == 0) {
			t.Errorf("%s: %+v, well %v", name, troubles, status.Well())
		}
		for i, want := range tt.want {
			if i < len(troubles) && !strings.Contains(troubles[i].Why, want) {
				t.Errorf("%s: %q", name, troubles[i].Why)
			}
		}
	}
}

// The story: the file of the embedded store was removed, or another was put in its place, while the daemon
// ran. It went on to release calls on the strength of what nobody would find again. Now a yes does not
// count and nobody is asked anything new, until the file is back; no restart is needed.
func TestNoReleaseWithoutTheStoresFile(t *testing.T) {
	for name, tt := range map[string]struct {
		file   string
		attack func(path string) error
	}{
		"removed": {"approver.db", func(string) error { return nil }},
		"replaced": {"approver.db", func(path string) error {
			b, err := os.ReadFile(path + ".away")
			if err != nil {
				return err
			}
			return os.WriteFile(path, b, 0o600)
		}},
		"its log is removed": {"approver.db-wal", func(string) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
			defer l.stop()
			request, answer := l.ask("c1", false)
			l.still()
			path := filepath.Join(l.dir, tt.file)
			if err := errors.Join(os.Rename(path, path+".away"), tt.attack(path)); err != nil {
				t.Fatal(err)
			}
			second := make(chan approver.Verdict, 1)
			l.asked.Go(func() {
				call := approver.ToolCall{ID: "c2", Agent: "claude", Tool: "Bash", Command: "make deploy", Dir: "/repo"}
				second <- l.people.Ask(l.ctx, call, approver.Verdict{Decision: approver.Ask, Severity: approver.High})
			})
			l.room.Mu.Lock()
			yes := approver.Reply{Channel: "room", Conversation: "r", Sender: "1", Approve: true, Method: approver.ByCommand,
				Code: l.room.Codes[request]}
			l.room.Mu.Unlock()
			if out := l.room.Reply(t.Context(), yes); out.Kind != approver.OutcomeRefused {
				t.Errorf("the yes is told %+v", out)
			}
			if v := <-second; v.Decision != approver.Deny || !strings.Contains(v.Detail, "was removed or replaced") {
				t.Errorf("a new call got %v %q", v.Decision, v.Detail)
			}
			select {
			case v := <-answer:
				if v.Decision == approver.Allow {
					t.Fatal("the call was released")
				}
			default:
			}
			if err := os.Rename(path+".away", path); err != nil {
				t.Fatal(err)
			}
			l.says(request, true, approver.Term{})
			if v := <-answer; v.Decision != approver.Allow {
				t.Errorf("once it is back the call got %v %q", v.Decision, v.Reason)
			}
		})
	}
}
