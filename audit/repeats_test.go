package audit

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// event is the record of an event of a request.
func event(request string, e approver.Event, change ...func(*approver.Record)) approver.Record {
	r := approver.Record{
		Event: e, Request: request, Once: request + ":" + string(e), Call: shell("make deploy"), At: testTime,
		Verdict: approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "deploy", Severity: approver.High},
	}
	if e == approver.EventApproved || e == approver.EventReleased {
		r.Resolution = approver.Resolution{Approve: true, Cause: approver.ByPerson, At: testTime,
			Person: approver.Person{ID: "ada", Name: "Ada"}, Identity: approver.Identity{Channel: "slack", ID: "U1"}}
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

func newLogOf(t *testing.T, o Options, all ...approver.Record) {
	t.Helper()
	l := open(t, o)
	for _, r := range all {
		record(t, l, r)
	}
	closeLog(t, l)
}

// A crash took lines from the log that were written again. Records without an id count each for itself.
func TestVerifyCountsAnEventOnce(t *testing.T) {
	for name, size := range map[string]int64{"one file": 0, "many files": 2000} {
		t.Run(name, func(t *testing.T) {
			o, keys := options(t)
			o.MaxSize = size
			asked, approved := event("r1", approver.EventAsked), event("r1", approver.EventApproved)
			plain := approver.Record{Event: approver.EventVerdict, Call: shell("ls"), At: testTime}
			newLogOf(t, o, asked, plain, approved, event("r2", approver.EventAsked), asked, plain, approved, asked)
			r := mustVerify(t, o, keys, nil)
			if r.Records != 5 || r.Repeats != 3 || r.Differing.Count != 0 || r.Lines != r.Records+r.Repeats+r.Checkpoints {
				t.Errorf("%+v", r)
			}
			if size > 0 && r.Files < 3 {
				t.Errorf("only %d files", r.Files)
			}
		})
	}
}

// The second line of an event says something else. Whatever it is, neither line hides the other.
func TestARepeatThatSaysOtherwise(t *testing.T) {
	for name, tc := range map[string]struct {
		event  approver.Event
		change func(*approver.Record)
		what   string
	}{
		"another event":     {"", func(r *approver.Record) { r.Event = approver.EventReleased }, "event"},
		"another request":   {"", func(r *approver.Record) { r.Request = "r2" }, "request"},
		"a no":              {"", func(r *approver.Record) { r.Resolution.Approve = false }, "decision, answer"},
		"no person":         {"", func(r *approver.Record) { r.Resolution.Cause = approver.TimedOut }, "answer"},
		"another person":    {"", func(r *approver.Record) { r.Resolution.Person.ID = "bob" }, "person"},
		"another account":   {"", func(r *approver.Record) { r.Resolution.Identity.ID = "U2" }, "person"},
		"another chat":      {"", func(r *approver.Record) { r.Resolution.Conversation = "C2" }, "conversation"},
		"a code":            {"", func(r *approver.Record) { r.Resolution.Method = approver.ByCode }, "conversation"},
		"another agent":     {"", func(r *approver.Record) { r.Call.Agent = "codex" }, "agent"},
		"another tool":      {"", func(r *approver.Record) { r.Call.Tool = "Shell" }, "tool"},
		"another command":   {"", func(r *approver.Record) { r.Call = shell("rm -rf /") }, "arguments"},
		"another binding":   {"", func(r *approver.Record) { r.Fingerprint = "f2" }, "fingerprint"},
		"another call":      {"", func(r *approver.Record) { r.Call.ID = "c2" }, "call"},
		"another session":   {"", func(r *approver.Record) { r.Call.Session = "s-2" }, "session"},
		"another rule":      {"", func(r *approver.Record) { r.Verdict.Rule = "other" }, "rule"},
		"another severity":  {"", func(r *approver.Record) { r.Verdict.Severity = approver.Catastrophic }, "severity"},
		"a changed command": {"", func(r *approver.Record) { r.Resolution.Edit = edit() }, "changed command"},
		"nothing":           {"", func(*approver.Record) {}, ""},
		"a note and a time": {"", func(r *approver.Record) { r.Note, r.At = "again", testTime.Add(time.Hour) }, ""},
		"the first of several calls left": {approver.EventAsked,
			func(r *approver.Record) { r.Call.ID, r.Call.Session = "c2", "s-2" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o, keys := options(t)
			e := cmp.Or(tc.event, approver.EventApproved)
			second := event("r1", e, tc.change)
			second.Once = "r1:" + string(e)
			newLogOf(t, o, event("r1", e), second)
			r := mustVerify(t, o, keys, nil)
			if r.Records != 1 || r.Repeats != 1 {
				t.Errorf("%+v", r)
			}
			var what string
			for _, d := range r.Differing.Newest {
				what = strings.Join(d.What, ", ")
				if d.File != activeName || d.Line != 3 || d.Seq != 3 || d.ID != "test:3" ||
					d.First != "test:1" || d.Once != second.Once {
					t.Errorf("%+v", d)
				}
			}
			if what != tc.what {
				t.Errorf("it differs in %q, not in %q", what, tc.what)
			}
		})
	}
}

func edit() *approver.Edit {
	return &approver.Edit{Command: "make test", Args: []byte(`{"command":"make test"}`)}
}

// Two events whose ids have the same hash are two records.
func TestEqualHashesHideNothing(t *testing.T) {
	o, _ := options(t)
	newLogOf(t, o, event("r1", approver.EventAsked), event("r2", approver.EventAsked))
	all := newRepeatCounter()
	file := all.enter(filepath.Join(o.Dir, activeName))
	hash := all.hash([]byte("r1:asked"))
	all.seen(hash, spotOf(file, 0))
	first, again := all.seen(hash, spotOf(file, 1000))
	if !again || first != spotOf(file, 0) {
		t.Fatal(first, again)
	}
	lines := records(t, o.Dir)
	if _, repeats := all.compare(lines[0], hash, first); !repeats {
		t.Error("the same event is no repeat")
	}
	if _, repeats := all.compare(lines[1], hash, first); repeats {
		t.Error("another event is a repeat")
	}
}

// The file of the first line was rotated, or removed, after it was read.
func TestTheFirstLineMoved(t *testing.T) {
	o, _ := options(t)
	newLogOf(t, o, event("r1", approver.EventAsked))
	all := newRepeatCounter()
	path := filepath.Join(o.Dir, activeName)
	at := spotOf(all.enter(path), 0)
	l, hash := records(t, o.Dir)[0], all.hash([]byte("r1:asked"))
	full := filepath.Join(o.Dir, rotatedName(1))
	must(t, os.Rename(path, full))
	writeFile(t, path, []byte("{}\n"))
	if _, repeats := all.compare(l, hash, at); !repeats {
		t.Error("the first line was not found in its full file")
	}
	must(t, os.Remove(full))
	if _, repeats := all.compare(l, hash, at); repeats {
		t.Error("a line that is gone hides another")
	}
}

func read(t *testing.T, q *Query) (ids []string) {
	t.Helper()
	for l, err := range q.Records(t.Context()) {
		must(t, err)
		ids = append(ids, l.ID)
	}
	return ids
}

// A replica was killed, and another one went on with its requests: some events are in both logs.
func TestTwoReplicasShareEvents(t *testing.T) {
	a, _ := options(t)
	b, _ := options(t)
	a.ID, b.ID = "a", "b"
	later := func(minutes time.Duration) func(*approver.Record) {
		return func(r *approver.Record) { r.At = testTime.Add(minutes * time.Minute) }
	}
	newLogOf(t, a, event("r1", approver.EventAsked), event("r2", approver.EventAsked, later(2)),
		event("r2", approver.EventApproved, later(3)))
	newLogOf(t, b, event("r3", approver.EventAsked, later(1)), event("r2", approver.EventAsked, later(2)),
		event("r2", approver.EventApproved, later(4), func(r *approver.Record) { r.Resolution.Person.ID = "bob" }))
	q := Query{Dirs: []string{a.Dir, b.Dir}}
	if got, want := read(t, &q), []string{"a:1", "b:1", "a:3", "a:4"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if d := q.Differing; q.Repeats != 2 || d.Count != 1 || d.Newest[0].ID != "b:4" || d.Newest[0].First != "a:4" {
		t.Errorf("%+v", q)
	}
	q = Query{Dirs: []string{a.Dir, b.Dir}, Events: []approver.Event{approver.EventAsked}, From: testTime.Add(time.Minute),
		To: testTime.Add(3 * time.Minute), Brief: true}
	n := 0
	for l, err := range q.Records(t.Context()) {
		must(t, err)
		n++
		if l.Event != approver.EventAsked || l.Verdict.Rule != "deploy" || l.ID != "" {
			t.Errorf("%+v", l)
		}
	}
	if n != 2 || q.Repeats != 1 || q.Differing.Count != 0 {
		t.Errorf("%d records, %+v", n, q)
	}
}

// The table has every line, and names the one that a line repeats.
func TestCSVMarksRepeats(t *testing.T) {
	o, _ := options(t)
	newLogOf(t, o, event("r1", approver.EventAsked), event("r2", approver.EventAsked), event("r1", approver.EventAsked))
	var out bytes.Buffer
	must(t, Export(t.Context(), o.Dir, time.Time{}, time.Time{}, CSV, &out))
	rows, err := csv.NewReader(&out).ReadAll()
	must(t, err)
	var got []string
	for _, row := range rows {
		got = append(got, row[0]+" "+row[len(row)-1])
	}
	if want := []string{"seq repeats", "1 ", "3 ", "4 1"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// A line that cannot be read ends a query, wherever its time lies.
func TestAQueryStopsAtABadLine(t *testing.T) {
	o, _ := options(t)
	newLog(t, o, 5)
	all := lines(t, o)
	all[3] = []byte("{\"v\":1,\n")
	writeFile(t, filepath.Join(o.Dir, activeName), bytes.Join(all, nil))
	for _, q := range []Query{{}, {From: time.Now().Add(time.Hour)}, {Events: []approver.Event{approver.EventAsked}}} {
		q.Dirs = []string{o.Dir}
		var err error
		for _, err = range q.Records(t.Context()) {
			if err != nil {
				break
			}
		}
		var b *BreakError
		if !errors.As(err, &b) || b.Line != 4 || b.Kind != BadLine {
			t.Errorf("%v", err)
		}
	}
	q := Query{Dirs: []string{t.TempDir()}}
	for _, err := range q.Records(t.Context()) {
		if !errors.Is(err, ErrNoLog) {
			t.Error(err)
		}
	}
}

// A million events need some dozen megabytes.
func TestRepeatsNeedLittleMemory(t *testing.T) {
	const events = 100_000
	all := newRepeatCounter()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range events {
		all.seen(all.hash(fmt.Appendf(nil, "%032x:asked", i)), spot(i))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / events; each > 48 {
		t.Errorf("%d bytes for each event", each)
	}
	runtime.KeepAlive(all)
}
