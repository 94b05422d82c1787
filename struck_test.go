package approver

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// Wrong codes of many people and conversations fill no memory. What is newest stays
// known: a lock that somebody deletes from the store a moment later still holds.
func TestStrikesInMemoryAreBounded(t *testing.T) {
	for name, pause := range map[string]time.Duration{"all at once": 0, "a second apart": time.Second, "a minute apart": time.Minute} {
		var k struck
		start := time.Now()
		now := start
		for i := range 3 * maxStruck {
			now = now.Add(pause)
			k.note(fmt.Sprint("k", i), strikes{At: []time.Time{now}}, "", NewRev(), now)
			if len(k.of) > maxStruck {
				t.Fatalf("%s: %d are remembered", name, len(k.of))
			}
		}
		for i := 3*maxStruck - 10; i < 3*maxStruck; i++ {
			if s, _, ok := k.lost(fmt.Sprint("k", i), "", now); pause < time.Minute && (!ok || len(s.At) != 1) {
				t.Errorf("%s: number %d is forgotten", name, i)
			}
		}
	}
	// What is over makes room before anything that counts.
	var k struck
	now := time.Now()
	for i := range maxStruck {
		at := now.Add(-time.Hour)
		if i < 100 {
			at = now
		}
		k.note(fmt.Sprint("k", i), strikes{}, "", NewRev(), at)
	}
	k.note("new", strikes{}, "", NewRev(), now)
	if len(k.of) != 101 {
		t.Errorf("%d are remembered, want the hundred that count and the new one", len(k.of))
	}
	k.note("k1", strikes{}, "", NewRev(), now) // known ones need no room
	if len(k.of) != 101 {
		t.Errorf("%d are remembered", len(k.of))
	}
}

// A user of the machine and the daemon itself are never the same: not to read a yes
// again, not to acknowledge it, not to take a parked one, not to appeal.
func TestNoUserIsTheDaemonItself(t *testing.T) {
	ada, root := Peer{Known: true, UID: 1000}, Peer{Known: true}
	for _, tt := range []struct {
		a, b Peer
		same bool
	}{
		{ada, ada, true}, {root, root, true}, {ada, Peer{Known: true, UID: 1000, PID: 7}, true},
		{ada, root, false}, {Peer{}, Peer{}, true}, {Peer{UID: 1000}, ada, false}, {ada, Peer{UID: 1000}, false}, {Peer{}, root, false},
	} {
		if tt.a.SameUser(tt.b) != tt.same {
			t.Errorf("%+v and %+v: %v", tt.a, tt.b, !tt.same)
		}
	}
}

// The yes of one user is not repeated to another, whatever was looked at before.
func TestARepetitionIsForTheSameUser(t *testing.T) {
	for _, peer := range []Peer{{Known: true, UID: 1001}, {Known: true}, {}} {
		r := Request{State: Consumed, CallID: "c1", Call: ToolCall{ID: "c1", Peer: Peer{Known: true, UID: 1000}}}
		if _, yes, err := composed(Options{}).releases.runs(t.Context(), r, ToolCall{ID: "c1", Peer: peer}, "", ""); yes || !errors.Is(err, ErrNotBound) {
			t.Errorf("%+v: %v, %v", peer, yes, err)
		}
	}
}
