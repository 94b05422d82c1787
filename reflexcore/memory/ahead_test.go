package memory_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/memory"
	"approver.example/store/redisstore"
	"approver.example/store/storetest/redistest"
)

// plainKV reads nothing ahead, as before.
type plainKV struct{ memory.KV }

// The story: an agent had long commands judged while it downloaded a script and then ran it. Now and then the
// script ran unasked. A was opened before a call that downloads a file, and looks after it. C was
// opened after the download was stored, and has seen it. What A had read ahead took it from C.
func TestWhatAnotherCallReadAheadHidesNothing(t *testing.T) {
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	hub := filepath.Join(t.TempDir(), "hub.key")
	if err := os.WriteFile(hub, []byte(strings.Repeat("h", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := redisstore.Open(t.Context(), redisstore.Config{Addrs: []string{server.Addr}, HubKeyFile: hub}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for name, kv := range map[string]memory.KV{"before": plainKV{s}, "now": s} {
		t.Run(name, func(t *testing.T) {
			m := remember(kv)
			f := "/p/" + name
			a := m.Open(t.Context(), key("s"), time.Now())
			time.Sleep(50 * time.Millisecond) // a long command is looked through
			download := m.Open(t.Context(), key("s"), time.Now())
			if err := download.Leave([]memory.File{{Path: f, Taint: effect.Network}}); err != nil {
				t.Fatal(err)
			}
			c := m.Open(t.Context(), key("s"), time.Now())
			if got := c.Taint(f); got == 0 {
				t.Fatal("C does not see it at all")
			}
			a.Taint("/p/other")
			if got := c.Taint(f); got == 0 || c.Err() != nil {
				t.Errorf("C was opened after the download was durable, and has taint %q of it, %v", got, c.Err())
			}
		})
	}
}

// aheadKV notes what is read ahead.
type aheadKV struct {
	memory.KV
	asked [][]string
}

func (k *aheadKV) ReadAhead(ctx context.Context, keys ...string) context.Context {
	k.asked = append(k.asked, keys)
	return ctx
}

// What a judgment did not need is not read ahead for the next ones, and what it needed is, for a while. The
// story: each call that passes asked Redis twice, because the first question was about something that only
// calls with effects need.
func TestWhatIsNeededIsReadAhead(t *testing.T) {
	kv := &aheadKV{KV: newFake()}
	m := remember(kv)
	open := func() *memory.Past { return m.Open(t.Context(), key("s"), time.Now()) }
	open()
	open().Demands(time.Now())
	open().Taint("/p/f")
	for range 9 {
		open().Demands(time.Now())
	}
	for range 10 {
		open()
	}
	var counts []int
	for _, keys := range kv.asked {
		counts = append(counts, len(keys))
	}
	if want := []int{1, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1}; !slices.Equal(counts, want) {
		t.Errorf("records that were read ahead: %v, want %v", counts, want)
	}
}
