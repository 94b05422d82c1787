package audit

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"approver.example"
)

// The story: an approver was taken out of the configuration, and for days calls only
// passed. Somebody killed the daemon, put the store of before back, and the approver with
// it: no line behind the store's end told of a request, so nothing was compared, and that
// person's answers counted at once. Now each line says how much the store had taken. One in
// a file never loses that, so any copy of before is found, whatever happened since; a store
// that fails over may lose its last moments.
func TestAnOlderStoreOfPasses(t *testing.T) {
	for name, tt := range map[string]struct {
		events   []approver.Event
		volatile bool
		honest   bool // only killed
		older    bool
	}{
		"passes":             {events: []approver.Event{approver.EventVerdict}, older: true},
		"another policy":     {events: []approver.Event{approver.EventPolicy, approver.EventVerdict}, older: true},
		"a start":            {events: []approver.Event{approver.EventStarted, approver.EventVerdict}, older: true},
		"a wrong code":       {events: []approver.Event{approver.EventRefused, approver.EventVerdict}, older: true},
		"an acknowledgment":  {events: []approver.Event{approver.EventAcked, approver.EventVerdict}, older: true},
		"a report":           {events: []approver.Event{approver.EventRan, approver.EventVerdict}, older: true},
		"a fail-over":        {events: []approver.Event{approver.EventVerdict}, volatile: true},
		"killed":             {events: []approver.Event{approver.EventVerdict}, honest: true},
		"killed, fails over": {events: []approver.Event{approver.EventVerdict}, honest: true, volatile: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(t)
			kv := newMemory()
			o.KV, o.Volatile = kv, tt.volatile
			l := open(t, o)
			told := func() {
				t.Helper()
				for end := time.Now().Add(20 * time.Second); l.storedUpTo() < l.Head().Seq; time.Sleep(10 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("the store is not told")
					}
				}
			}
			snap := func() map[string]memoryRecord {
				kv.mu.Lock()
				defer kv.mu.Unlock()
				all := map[string]memoryRecord{}
				maps.Copy(all, kv.records)
				return all
			}
			record(t, l, approver.Record{Event: approver.EventStarted})
			told()
			was := snap()
			for _, e := range tt.events {
				record(t, l, approver.Record{Event: e, Note: "n"})
				told()
			}
			record(t, l, approver.Record{Event: approver.EventVerdict, Note: "the last"})
			if tt.honest {
				was = snap()
			}
			killed := o
			killed.Dir = filepath.Join(t.TempDir(), "log")
			must(t, os.CopyFS(killed.Dir, os.DirFS(o.Dir)))
			old := newMemory()
			old.records = was
			killed.KV, killed.Hold = old, true
			next := open(t, killed)
			if found := next.Opened(); (found.Older != "") != tt.older || found.Lost != "" {
				t.Errorf("%+v", found)
			}
		})
	}
}

// A log that was cut while it was written goes on behind what is left: what its lines say
// of the store is of the lines that are there.
func TestWhatTheStoreHadOfACutLog(t *testing.T) {
	g := newLag()
	g.advance(60)
	g.rewind()
	g.advance(61) // was under way
	if got := g.storedSeq; got != 0 {
		t.Errorf("the store had %d lines of a log that is shorter", got)
	}
	g.rewound = false
	if g.advance(12); g.storedSeq != 12 {
		t.Errorf("it has %d of 12 lines", g.storedSeq)
	}
}
