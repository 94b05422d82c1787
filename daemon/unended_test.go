package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// The story: the daemon was killed after the audit had a question and before the store had
// it. The question had no end for ever, so nobody could say whether its call had run. The
// next start records one, once, and only for what the store does not have.
func TestAQuestionThatWasNotStoredHasAnEnd(t *testing.T) {
	dir := t.TempDir()
	l := startLife(t, dir, "here")
	ask := func(id string) {
		t.Helper()
		if _, err := l.records.Record(t.Context(), approver.Record{
			Event: approver.EventAsked, Request: id, At: time.Now(), Once: id + ":asked",
			Call: approver.ToolCall{ID: "call of " + id, Agent: "claude", Tool: "Bash"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	ask("lost")
	ask("posted") // and then forgotten, because no daemon ran for long
	l.record(approver.EventPosted, "posted")
	ask("ended")
	l.record(approver.EventWithdrawn, "ended")
	ask("stored")
	if err := l.store.Put(t.Context(), approver.Key("req", "stored"), []byte(`{}`), "", approver.NewRev(), time.Time{},
		time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for range 3 { // starts
		killed := image(t, dir)
		l.close()
		dir = killed
		l = startLife(t, dir, "here")
		if err := endUnstored(t.Context(), l.store, l.records, false); err != nil {
			t.Fatal(err)
		}
	}
	l.close()
	ends := map[string]int{}
	for _, line := range logged(t, dir) {
		for event, id := range map[string]string{"denied": "lost", "expired": "posted"} {
			if !strings.Contains(line, `"event":"`+event+`"`) {
				continue
			}
			ends[event]++
			if !strings.Contains(line, `"request":"`+id+`"`) || !strings.Contains(line, `"call":"call of `+id+`"`) {
				t.Errorf("an end of another: %s", line)
			}
		}
	}
	if ends["denied"] != 1 || ends["expired"] != 1 {
		t.Errorf("the ends that were recorded: %v", ends)
	}
}

// logged are the lines of an audit.
func logged(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "audit", "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// Where daemons share a store, another one may have answered what is long gone from it.
func TestAnOldQuestionOfASharedStoreIsLeftAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		ago            time.Duration
		posted, shared bool
		ends           int
	}{
		"just now":                  {time.Minute, false, true, 1},
		"yesterday":                 {24 * time.Hour, false, true, 0},
		"yesterday, in file":        {24 * time.Hour, false, false, 1},
		"posted":                    {time.Minute, true, true, 0},
		"posted yesterday":          {24 * time.Hour, true, true, 0},
		"posted yesterday, in file": {24 * time.Hour, true, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := startLife(t, dir, "here")
			if _, err := l.records.Record(t.Context(), approver.Record{
				Event: approver.EventAsked, Request: "r", At: time.Now().Add(-tt.ago), Once: "r:asked",
			}); err != nil {
				t.Fatal(err)
			}
			if tt.posted {
				l.record(approver.EventPosted, "r")
			}
			l.stop()
			l = startLife(t, dir, "here")
			if err := endUnstored(t.Context(), l.store, l.records, tt.shared); err != nil {
				t.Fatal(err)
			}
			l.close()
			log := strings.Join(logged(t, dir), "")
			if n := strings.Count(log, `"event":"denied"`) + strings.Count(log, `"event":"expired"`); n != tt.ends {
				t.Errorf("%d ends, not %d", n, tt.ends)
			}
		})
	}
}
