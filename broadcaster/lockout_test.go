package broadcaster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"approver.example"
)

// Wrong codes of many people and conversations fill no memory. What is newest stays
// known: a lock that somebody deletes from the store a moment later still holds.
func TestWrongCodesInMemoryAreBounded(t *testing.T) {
	for name, pause := range map[string]time.Duration{
		"all at once": 0, "a second apart": time.Second, "a minute apart": time.Minute,
	} {
		var k lockoutMemory
		start := time.Now()
		now := start
		for i := range 3 * maxRemembered {
			now = now.Add(pause)
			k.note(fmt.Sprint("k", i), wrongCodes{At: []time.Time{now}}, "", approver.NewRev(), now)
			if len(k.of) > maxRemembered {
				t.Fatalf("%s: %d are remembered", name, len(k.of))
			}
		}
		for i := 3*maxRemembered - 10; i < 3*maxRemembered; i++ {
			if s, _, ok := k.lost(fmt.Sprint("k", i), "", now); pause < time.Minute && (!ok || len(s.At) != 1) {
				t.Errorf("%s: number %d is forgotten", name, i)
			}
		}
	}
	// What is over makes room before anything that counts.
	var k lockoutMemory
	now := time.Now()
	for i := range maxRemembered {
		at := now.Add(-time.Hour)
		if i < 100 {
			at = now
		}
		k.note(fmt.Sprint("k", i), wrongCodes{}, "", approver.NewRev(), at)
	}
	k.note("new", wrongCodes{}, "", approver.NewRev(), now)
	if len(k.of) != 101 {
		t.Errorf("%d are remembered, want the hundred that count and the new one", len(k.of))
	}
	k.note("k1", wrongCodes{}, "", approver.NewRev(), now) // known ones need no room
	if len(k.of) != 101 {
		t.Errorf("%d are remembered", len(k.of))
	}
}

// A user of the machine and the daemon itself are never the same: not to read a yes
// again, not to acknowledge it, not to take a parked one, not to appeal.
func TestNoUserIsTheDaemonItself(t *testing.T) {
	ada, root := approver.Peer{Known: true, UID: 1000}, approver.Peer{Known: true}
	for _, tt := range []struct {
		a, b approver.Peer
		same bool
	}{
		{ada, ada, true}, {root, root, true}, {ada, approver.Peer{Known: true, UID: 1000, PID: 7}, true},
		{ada, root, false}, {approver.Peer{}, approver.Peer{}, true}, {approver.Peer{UID: 1000}, ada, false},
		{ada, approver.Peer{UID: 1000}, false}, {approver.Peer{}, root, false},
	} {
		if tt.a.SameUser(tt.b) != tt.same {
			t.Errorf("%+v and %+v: %v", tt.a, tt.b, !tt.same)
		}
	}
}

// The yes of one user is not repeated to another, whatever was looked at before.
func TestARepetitionIsForTheSameUser(t *testing.T) {
	for _, peer := range []approver.Peer{{Known: true, UID: 1001}, {Known: true}, {}} {
		r := Request{
			State: approver.Consumed, CallID: "c1", Call: approver.ToolCall{
				ID: "c1", Peer: approver.Peer{Known: true, UID: 1000},
			},
		}
		if _, yes, err := composed(Options{}).releases.mayRun(t.Context(), r, approver.ToolCall{ID: "c1", Peer: peer}, "",
			""); yes || !errors.Is(err, ErrNotBound) {
			t.Errorf("%+v: %v, %v", peer, yes, err)
		}
	}
}
