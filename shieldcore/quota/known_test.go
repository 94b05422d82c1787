package quota

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A process that knows the count does not wait for the store, which has all of it soon; and it
// keeps the limit.
func TestQuestionsAreCountedWithoutTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		a, err := NewAsks(kv, AskLimits{User: 5, Agent: 5})
		if err != nil {
			t.Fatal(err)
		}
		a.Fresh = time.Hour
		who := Asker{Who: Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude"}, Project: "/repo"}
		if err := a.Take(t.Context(), who, "q0"); err != nil {
			t.Fatal(err)
		}
		before := kv.wrote()
		for i := range 4 {
			for range 2 { // asked again, it counts once
				if err := a.Take(t.Context(), who, fmt.Sprintf("q%d", i+1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := kv.wrote() - before; n != 0 {
			t.Errorf("%d writes were waited for", n)
		}
		time.Sleep(2 * storeEvery)
		if n := kv.wrote() - before; n != 1 {
			t.Errorf("%d writes for four questions", n)
		}
		var many *approver.TooManyError
		if err := a.Take(t.Context(), who, "q5"); !errors.As(err, &many) {
			t.Errorf("one too many: %v", err)
		}
		a.Close()
		next, err := NewAsks(kv, AskLimits{User: 5, Agent: 5})
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		if err := next.Take(t.Context(), who, "q6"); !errors.As(err, &many) {
			t.Errorf("another process lets one more through: %v", err)
		}
	})
}

// The story: the seventh of six questions a minute was asked. The process knew that there were six
// and left the refusal to the store, which had five, and counted the seventh on those.
func TestARefusalCountsWhatTheStoreHasNotYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := NewAsks(newMemKV(), DefaultAskLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		a.Fresh = time.Hour
		for i := range 3 * OwnAsks {
			var many *approver.TooManyError
			err := a.TakeOwn(t.Context(), approver.Peer{Known: true, UID: 1000}, fmt.Sprint("q", i))
			if i < OwnAsks && err != nil || i >= OwnAsks && !errors.As(err, &many) {
				t.Errorf("question %d: %v", i, err)
			}
			time.Sleep(storeEvery / 4)
		}
	})
}

// What was counted just before the end of the process is stored.
func TestTheLastQuestionsAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		for i := range 6 {
			a, err := NewAsks(kv, AskLimits{User: 5, Agent: 5})
			if err != nil {
				t.Fatal(err)
			}
			a.Fresh = time.Hour
			who := Asker{Who: Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude"}, Project: "/repo"}
			var many *approver.TooManyError
			if err := a.Take(t.Context(), who, fmt.Sprint("q", i)); i < 5 && err != nil || i == 5 && !errors.As(err, &many) {
				t.Errorf("question %d: %v", i, err)
			}
			a.Close()
		}
	})
}

// Others on the store count too: what a process knows is relied on for no longer than Fresh, and
// where the store has more, it counts.
func TestWhatOthersCountIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		who := Asker{Who: Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude"}, Project: "/repo"}
		var all []*Asks
		for range 2 {
			a, err := NewAsks(kv, AskLimits{User: 4, Agent: 4})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			a.Fresh = time.Second
			all = append(all, a)
		}
		for i := range 4 {
			if err := all[i%2].Take(t.Context(), who, fmt.Sprint("q", i)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second)
		for i, a := range all {
			var many *approver.TooManyError
			if err := a.Take(t.Context(), who, fmt.Sprint("more", i)); !errors.As(err, &many) {
				t.Errorf("process %d: %v", i, err)
			}
		}
	})
}

// wrote is how often something was written.
func (m *memKV) wrote() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}
