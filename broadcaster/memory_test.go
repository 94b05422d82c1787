package broadcaster

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
)

// What a process that receives keeps, the next one reads, sealed in between. Who had the lease before does not
// replace what the next one has kept.
func TestAMemoryIsForTheNextProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		sealer := func(key string) *sealing.Sealer {
			s, err := sealing.New([]byte(strings.Repeat(key, 32)))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		recall := func(m *memory) (string, time.Duration) {
			t.Helper()
			what, age, err := m.Recall(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return string(what), age
		}
		a, b := newMemory("wire:1", kv, sealer("k")), newMemory("wire:1", kv, sealer("k"))
		if what, _ := recall(a); what != "" {
			t.Errorf("before anything was kept: %q", what)
		}
		for _, what := range []string{"session one", "session two"} {
			if err := a.Keep(t.Context(), []byte(what)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if what, age := recall(b); what != "session two" || age != time.Minute {
			t.Errorf("the next process reads %q, %v old", what, age)
		}
		stored := kv.record(a.key)
		if strings.Contains(string(stored.value), "session") {
			t.Error("the store can read it")
		}
		if err := b.Keep(t.Context(), []byte("session three")); err != nil {
			t.Fatal(err)
		}
		if err := a.Keep(t.Context(), []byte("too late")); !errors.Is(err, approver.ErrConflict) {
			t.Errorf("the one before replaces it: %v", err)
		}
		if what, _ := recall(b); what != "session three" {
			t.Errorf("it reads %q", what)
		}
		// Whoever has the lease again replaces it at the second try.
		if err := a.Keep(t.Context(), []byte("session four")); err != nil {
			t.Error(err)
		}
		// What cannot be read is nothing, and is replaced.
		for name, other := range map[string]*memory{
			"another key":   newMemory("wire:1", kv, sealer("x")),
			"another lease": {store: kv, sealer: sealer("k"), key: "ap:{01}:x:y"},
		} {
			kv.replace(other.key, kv.record(a.key))
			if what, _ := recall(other); what != "" {
				t.Errorf("%s: it reads %q", name, what)
			}
			if err := other.Keep(t.Context(), []byte("anew")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		kv.replace(a.key, memRecord{[]byte("no json"), "r"})
		if what, _ := recall(a); what != "" {
			t.Errorf("no json is %q", what)
		}
		kv.failing(func(op, _ string) error { return errors.New("away") })
		if _, _, err := a.Recall(t.Context()); err == nil {
			t.Error("a store that is away is nothing that was kept")
		}
		if a.Keep(t.Context(), []byte("x")) == nil {
			t.Error("kept in a store that is away")
		}
	})
}
