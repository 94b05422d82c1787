package audit

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
)

// text is a writer that may be read while it is written.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

var notePattern = regexp.MustCompile(`"note":"note (\d+)"`)

// notes are the numbers of the notes in raw lines.
func notes(s string) (out []string) {
	for _, m := range notePattern.FindAllStringSubmatch(s, -1) {
		out = append(out, m[1])
	}
	return out
}

func numbers(from, to int) (out []string) {
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprint(i))
	}
	return out
}

func TestTailLast(t *testing.T) {
	o, _ := options(t)
	o.MaxSize = 3000
	newLog(t, o, 20)
	files, err := rotated(o.Dir)
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, tt := range []struct{ n, want int }{{-1, 20}, {0, 0}, {1, 1}, {2, 2}, {7, 7}, {19, 19}, {20, 20}, {21, 20},
		{1 << 40, 20}} {
		var out bytes.Buffer
		must(t, Tail(t.Context(), o.Dir, tt.n, false, &out, JSONL))
		if got := notes(out.String()); !slices.Equal(got, numbers(21-tt.want, 20)) {
			t.Errorf("the last %d are %v", tt.n, got)
		}
		if strings.Contains(out.String(), "checkpoint") {
			t.Error("a checkpoint was printed")
		}
	}
	// Raw means raw.
	var out bytes.Buffer
	must(t, Tail(t.Context(), o.Dir, 1, false, &out, JSONL))
	if !bytes.Contains(readFile(t, filepath.Join(o.Dir, activeName)), out.Bytes()) {
		t.Errorf("%s is not a line of the log", out.Bytes())
	}
	if err := Tail(t.Context(), t.TempDir(), 3, false, &out, Human); !errors.Is(err, ErrNoLog) {
		t.Errorf("tail of nothing: %v", err)
	}
	if err := Tail(t.Context(), o.Dir, 3, false, &out, Format(9)); err == nil {
		t.Error("an unknown format was taken")
	}
}

// Every record comes once and in order, from before the log exists, across
// rotations and a restart, until the context ends.
func TestTailFollows(t *testing.T) {
	o, _ := options(t)
	o.MaxSize = 3000
	ctx, cancel := context.WithCancel(t.Context())
	var out text
	done := make(chan error, 1)
	go func() { done <- Tail(ctx, o.Dir, 0, true, &out, JSONL) }()
	time.Sleep(20 * time.Millisecond)
	l := open(t, o)
	write(t, l, 30)
	waitFor(t, func() bool { return len(notes(out.String())) == 30 })
	closeLog(t, l)
	l = open(t, o)
	for i := range 30 {
		record(t, l, approver.Record{Event: approver.EventVerdict, Note: fmt.Sprintf("note %d", 31+i)})
		if i%10 == 0 {
			time.Sleep(pollEvery / 2)
		}
	}
	waitFor(t, func() bool { return len(notes(out.String())) >= 60 })
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Tail ended with %v", err)
	}
	if got := notes(out.String()); !slices.Equal(got, numbers(1, 60)) {
		t.Errorf("followed %v", got)
	}
}

// Following starts at the end of the newest file and does not fall back to an
// older one when that is rotated.
func TestTailFollowsFromTheEnd(t *testing.T) {
	o, _ := options(t)
	o.MaxSize, o.CheckpointEvery = 1, 1 // a file for each record; rotation adds no line
	l := open(t, o)
	write(t, l, 21)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out text
	done := make(chan error, 1)
	go func() { done <- Tail(ctx, o.Dir, 0, true, &out, JSONL) }()
	time.Sleep(50 * time.Millisecond)
	for i := range 20 {
		record(t, l, approver.Record{Event: approver.EventVerdict, Note: fmt.Sprintf("note %d", 101+i)})
	}
	waitFor(t, func() bool { return len(notes(out.String())) >= 20 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := notes(out.String()); !slices.Equal(got, numbers(101, 120)) {
		t.Errorf("followed %v", got)
	}
}

func TestTailPassesOverBrokenLines(t *testing.T) {
	o, _ := options(t)
	newLog(t, o, 3)
	path := filepath.Join(o.Dir, activeName)
	content := readFile(t, path)
	writeFile(t, path, slices.Concat([]byte("broken\n"), bytes.Repeat([]byte("x"), 2*MaxLine), []byte("\n"), content,
		[]byte(`{"half`)))
	var out bytes.Buffer
	must(t, Tail(t.Context(), o.Dir, -1, false, &out, Human))
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != 5 || !strings.HasPrefix(got[0], "# audit.jsonl, byte 0: ") ||
		!strings.HasPrefix(got[1], "# audit.jsonl, byte 7: ") ||
		!strings.Contains(got[4], "note 3") {
		t.Errorf("%.2000q", got)
	}
}

func TestHuman(t *testing.T) {
	base := approver.Record{
		Event: approver.EventReleased, At: testTime, Call: shell("git push --force"), Took: 12300 * time.Millisecond,
		Verdict: approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "force-push", Severity: approver.High},
		Resolution: approver.Resolution{
			Approve: true, Cause: approver.ByPerson, Person: approver.Person{ID: "anna", Name: "Anna"},
			Identity: approver.Identity{Channel: "telegram", ID: "10042"}, Conversation: "-100", Method: approver.ByTap,
		},
	}
	with := func(change func(*approver.Record)) approver.Record {
		r := base
		change(&r)
		return r
	}
	for _, tt := range []struct {
		rec  approver.Record
		want string
	}{
		{base, "2026-03-01 12:00:00 ✓ APPROVED (released) 🟠 HIGH · git push --force · claude · by Anna (telegram " +
			"10042) in -100 by tap · after 12.3s · policy/force-push"},
		{with(func(r *approver.Record) {
			r.Event, r.Resolution, r.Verdict.Severity = approver.EventExpired, approver.Resolution{Cause: approver.TimedOut},
				approver.Catastrophic
		}), "2026-03-01 12:00:00 ✗ BLOCKED  (expired) 🔴 CATASTROPHIC · git push --force · claude · timeout · " +
			"after 12.3s · policy/force-push"},
		{approver.Record{Event: approver.EventVerdict, At: testTime, Call: shell("ls"),
			Verdict: approver.Verdict{Decision: approver.Allow, By: "reflex"}, Took: 45 * time.Microsecond},
			"2026-03-01 12:00:00 ✓ ALLOWED  · ls · claude · after 45µs · reflex"},
		{approver.Record{Event: approver.EventAlarm, At: testTime, Note: "went around the gate"},
			"2026-03-01 12:00:00 ‼ ALARM    · went around the gate"},
		{approver.Record{Event: approver.EventVerdict, At: testTime, Call: approver.ToolCall{ID: "c", Agent: "codex"},
			Verdict: approver.Verdict{
				By: "agents", Rule: "payload", Severity: approver.High, Detail: "it is not\nJSON"}},
			"2026-03-01 12:00:00 ✗ BLOCKED  🟠 HIGH · it is not ⏎ JSON · codex · agents/payload"},
		{approver.Record{Event: approver.EventVerdict, At: testTime, Call: approver.ToolCall{ID: "c", Agent: "codex"},
			Verdict: approver.Verdict{By: "agents"}},
			"2026-03-01 12:00:00 ✗ BLOCKED  · codex · agents"},
		{approver.Record{Event: approver.EventStarted, At: testTime}, "2026-03-01 12:00:00 - STARTED "},
		{approver.Record{Event: approver.EventRefused, At: testTime, Outcome: approver.OutcomeLocked,
			Reply: approver.Reply{Channel: "slack", Sender: "U1", Name: "Eve", Conversation: "C1"}},
			"2026-03-01 12:00:00 - REFUSED  · by Eve (slack U1) in C1 · locked"},
	} {
		if got := lineFor(tt.rec).Human(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// A command cannot paint over the line that tells of it, nor add one.
func TestHumanIsOneSafeLine(t *testing.T) {
	evil := "rm -rf / #\x1b[2K\r2026-03-01 12:00:00 ✓ ALLOWED ls\n2026 ✓ ALLOWED\u202e"
	rec := approver.Record{
		Event: approver.Event("x" + evil), Note: evil, Call: shell(evil), Verdict: approver.Verdict{Rule: evil},
		Resolution: approver.Resolution{Person: approver.Person{ID: evil}, Conversation: evil},
	}
	if got := lineFor(rec).Human(); strings.ContainsAny(got, "\x1b\r\n\u202e") {
		t.Errorf("%q", got)
	}
	l := lineFor(rec) // and a log that was written by somebody else
	l.Decision, l.Outcome, l.Severity, l.Summary = evil, evil, evil, evil
	if got := l.Human(); strings.ContainsAny(got, "\x1b\r\n\u202e") {
		t.Errorf("%q", got)
	}
}

func TestExport(t *testing.T) {
	o, keys := options(t)
	o.MaxSize = 3000
	l := open(t, o)
	for i := range 24 {
		record(t, l, approver.Record{Event: approver.EventVerdict, At: testTime.Add(time.Duration(i) * time.Hour),
			Note: fmt.Sprintf("note %d", i)})
	}
	closeLog(t, l)
	at := func(h int) time.Time { return testTime.Add(time.Duration(h) * time.Hour) }
	for _, tt := range []struct {
		from, to time.Time
		want     []string
	}{
		{time.Time{}, time.Time{}, numbers(0, 23)},
		{at(5), at(8), numbers(5, 7)}, // from is in, to is not
		{time.Time{}, at(3), numbers(0, 2)},
		{at(22), time.Time{}, numbers(22, 23)},
		{at(8), at(8), nil},
	} {
		var out bytes.Buffer
		must(t, Export(t.Context(), o.Dir, tt.from, tt.to, JSONL, &out))
		if got := notes(out.String()); !slices.Equal(got, tt.want) {
			t.Errorf("%v to %v: %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
	// The export of everything is itself a log that can be verified.
	var out bytes.Buffer
	if err := Export(t.Context(), o.Dir, time.Time{}, time.Time{}, JSONL, &out); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "export.jsonl")
	writeFile(t, path, out.Bytes())
	if r, err := Verify(t.Context(), []string{path}, keys, nil); err != nil || r.Records != 24 {
		t.Errorf("%v (%+v)", err, r)
	}
	if err := Export(t.Context(), t.TempDir(), time.Time{}, time.Time{}, JSONL, &out); !errors.Is(err, ErrNoLog) {
		t.Errorf("export of nothing: %v", err)
	}
	writeFile(t, filepath.Join(o.Dir, activeName), append(readFile(t, filepath.Join(o.Dir, activeName)), "broken\n"...))
	err := Export(t.Context(), o.Dir, time.Time{}, time.Time{}, CSV, &out)
	var b *BreakError
	if !errors.As(err, &b) || b.File != activeName || b.Line == 0 {
		t.Errorf("export of a broken log: %v", err)
	}
}

func TestExportCSV(t *testing.T) {
	o, _ := options(t)
	l := open(t, o)
	record(t, l, approver.Record{
		Event: approver.EventReleased, At: testTime, Call: shell(`=HYPERLINK("http://x") "a", b`), Took: time.Second,
		Note:    "-1\nline",
		Verdict: approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High, Reason: "why"},
		Resolution: approver.Resolution{
			Approve: true, Cause: approver.ByPerson, Person: approver.Person{ID: "anna"},
			Identity: approver.Identity{Channel: "web", ID: "7"}, Method: approver.ByCode,
		},
	})
	record(t, l, approver.Record{Event: approver.EventRefused,
		Reply: approver.Reply{Channel: "slack", Sender: "U1", Name: "@Eve"}})
	closeLog(t, l)
	var out bytes.Buffer
	if err := Export(t.Context(), o.Dir, time.Time{}, time.Time{}, CSV, &out); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 3 || !slices.Equal(rows[0], csvHeader) {
		t.Fatalf("%q, %v", rows, err)
	}
	row := map[string]string{}
	for i, name := range rows[0] {
		row[name] = rows[1][i]
	}
	for name, want := range map[string]string{
		"seq": "1", "timestamp": "2026-03-01T12:00:00Z", "event": "released", "decision": "APPROVED", "severity": "HIGH",
		"agent": "claude", "tool": "Bash", "command": `'=HYPERLINK("http://x") "a", b`, "rule": "policy/r", "reason": "why",
		"person": "anna", "channel": "web", "identity": "7", "method": "code", "cause": "person", "took_ms": "1000",
		"note": "'-1\nline", "dir": "/home/u/project",
	} {
		if row[name] != want {
			t.Errorf("%s is %q, want %q", name, row[name], want)
		}
	}
	if rows[2][10] != "'@Eve" || rows[2][11] != "slack" {
		t.Errorf("the refused reply is %q", rows[2])
	}
}

func TestParseFormat(t *testing.T) {
	for s, want := range map[string]Format{"human": Human, "jsonl": JSONL, "json": JSONL, "csv": CSV} {
		if got, err := ParseFormat(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil {
		t.Error("xml was taken")
	}
}

func TestWriteErrorsAreReturned(t *testing.T) {
	o, _ := options(t)
	newLog(t, o, 3)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		full, err = os.Open(filepath.Join(o.Dir, activeName)) // not open for writing
	}
	must(t, err)
	defer full.Close()
	for _, f := range []Format{Human, JSONL, CSV} {
		if err := Tail(t.Context(), o.Dir, -1, false, full, f); err == nil {
			t.Errorf("tail in format %d: the error of the writer was lost", f)
		}
		if err := Export(t.Context(), o.Dir, time.Time{}, time.Time{}, f, full); err == nil {
			t.Errorf("export in format %d: the error of the writer was lost", f)
		}
	}
}
