package audit

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: a machine was rebooted. Redis was stopped first, or failed over and lost its
// last second, and the daemon stopped in order: the next start took its store for an
// older one, and everything was frozen. With a full disk under an embedded store it was
// the same. Now a stop says whether the store was told of everything before it, and a
// store that can lose its last seconds may have lost those. A store that is put back
// after a stop in order shows as before, and now with lines of any kind.
func TestAStopInOrderWithoutTheStore(t *testing.T) {
	for name, tt := range map[string]struct {
		event    approver.Event
		away     bool          // the store takes nothing from the record on
		back     time.Duration // so much older the store is when it comes back; 0 is as it was left
		volatile bool
		older    bool
	}{
		"the store stops first":                    {event: approver.EventReleased, away: true},
		"the store stops first, and fails over":    {event: approver.EventReleased, away: true, volatile: true},
		"a fail-over":                              {event: approver.EventReleased, back: time.Second, volatile: true},
		"a fail-over, a freeze":                    {event: approver.EventFrozen, back: time.Second, volatile: true},
		"a fail-over, a pass":                      {event: approver.EventVerdict, back: time.Second, volatile: true},
		"a store that never loses, a release":      {event: approver.EventReleased, back: time.Second, older: true},
		"a store that never loses, a freeze":       {event: approver.EventFrozen, back: time.Second, older: true},
		"a store that never loses, a pass":         {event: approver.EventVerdict, back: time.Second, older: true},
		"a store that never loses, another policy": {event: approver.EventPolicy, back: time.Second, older: true},
		"more than a fail-over takes along": {event: approver.EventReleased, back: time.Minute, volatile: true,
			older: true},
		"more than a fail-over takes along, passes only": {event: approver.EventVerdict, back: time.Minute, volatile: true,
			older: true},
		"all is well":                {event: approver.EventReleased},
		"all is well, fails over":    {event: approver.EventReleased, volatile: true},
		"nothing is known, volatile": {event: approver.EventVerdict, away: true, volatile: true},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := options(t)
			synctest.Test(t, func(t *testing.T) {
				kv := newMemory()
				o.KV, o.Volatile = kv, tt.volatile
				l := open(t, o)
				record(t, l, approver.Record{Event: approver.EventStarted})
				time.Sleep(time.Second)
				kv.mu.Lock()
				was := maps.Clone(kv.records)
				kv.mu.Unlock()
				for range 1 + tt.back/time.Second/2 {
					kv.mu.Lock()
					if tt.away {
						kv.fail = func(int) (error, error) { return errors.New("away"), nil }
					}
					kv.mu.Unlock()
					record(t, l, approver.Record{Event: tt.event, Request: "r"})
					time.Sleep(2 * time.Second)
				}
				start := time.Now()
				record(t, l, approver.Record{Event: approver.EventStopped})
				if d := time.Since(start); d > stopWait {
					t.Errorf("the stop took %v", d)
				}
				_ = l.Close(t.Context()) // the store may be away
				kv.mu.Lock()
				kv.fail = nil
				if tt.back > 0 {
					kv.records = was
				}
				kv.mu.Unlock()
				l = open(t, o)
				defer l.Close(t.Context())
				if found := l.Opened(); strings.Contains(found.Older, "stopped in order") != tt.older ||
					(found.Older != "") != tt.older {
					t.Errorf("older: %q", found.Older)
				}
			})
		})
	}
}

// What a stop in order says of the lines before it that the store does not know.
func TestWhatAStopTells(t *testing.T) {
	yes, no := true, false
	at := time.Unix(1000, 0)
	for name, tt := range map[string]struct {
		events   []approver.Event
		heard    *bool
		took     time.Duration
		volatile bool
		forgot   bool
	}{
		"the version before, a release": {events: []approver.Event{approver.EventReleased}, forgot: true},
		"the version before, a pass":    {events: []approver.Event{approver.EventVerdict}},
		"the version before, a fail-over": {events: []approver.Event{approver.EventReleased}, took: MaxLag,
			volatile: true},
		"the version before, more": {events: []approver.Event{approver.EventReleased}, took: MaxLag + 1,
			volatile: true, forgot: true},
		"told, a release":      {events: []approver.Event{approver.EventReleased}, heard: &yes, forgot: true},
		"told, a pass":         {events: []approver.Event{approver.EventVerdict}, heard: &yes, forgot: true},
		"told, the start":      {events: []approver.Event{approver.EventStarted}, heard: &yes, forgot: true},
		"told, nothing before": {heard: &yes},
		"told, another life before": {events: []approver.Event{approver.EventReleased, approver.EventStarted},
			heard: &yes, forgot: true},
		"told, a fail-over": {events: []approver.Event{approver.EventReleased}, heard: &yes, took: MaxLag,
			volatile: true},
		"told, more": {events: []approver.Event{approver.EventVerdict}, heard: &yes,
			took: MaxLag + 1, volatile: true, forgot: true},
		"not told": {events: []approver.Event{approver.EventReleased}, heard: &no},
		"not told, long ago": {events: []approver.Event{approver.EventReleased}, heard: &no, took: time.Hour,
			volatile: true},
		"the version before, nothing":      {},
		"the version before, another life": {events: []approver.Event{approver.EventReleased, approver.EventStarted}},
		"the version before, killed and back": {events: []approver.Event{approver.EventReleased, approver.EventStarted,
			approver.EventPosted}, forgot: true},
	} {
		var l daemonRun
		for _, e := range tt.events {
			if l.lostByStore(Line{Event: e, Timestamp: at}, tt.volatile) {
				t.Errorf("%s: %s is a stop", name, e)
			}
		}
		if got := l.lostByStore(Line{Event: approver.EventStopped, Heard: tt.heard, Timestamp: at.Add(tt.took)},
			tt.volatile); got != tt.forgot {
			t.Errorf("%s: %v", name, got)
		}
	}
}
