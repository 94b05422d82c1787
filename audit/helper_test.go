package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"approver.example"
)

// memory is a KV in memory whose puts can be made to fail.
type memory struct {
	mu      sync.Mutex
	records map[string]memoryRecord
	puts    int
	// fail, when set, decides over a put: lost (not written) or ambiguous
	// (written, but the answer is an error).
	fail func(n int) (lost, ambiguous error)
	get  error
}

type memoryRecord struct {
	value []byte
	rev   approver.Rev
}

func newMemory() *memory { return &memory{records: map[string]memoryRecord{}} }

func (m *memory) Get(_ context.Context, key string) ([]byte, approver.Rev, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.get != nil {
		return nil, "", m.get
	}
	r, ok := m.records[key]
	if !ok {
		return nil, "", approver.ErrNotFound
	}
	return r.value, r.rev, nil
}

func (m *memory) PutBefore(ctx context.Context, _ time.Time, key string, value []byte, prev, next approver.Rev, due,
	keep time.Time) error {
	return m.Put(ctx, key, value, prev, next, due, keep)
}

func (m *memory) Put(_ context.Context, key string, value []byte, prev, next approver.Rev, _, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts++
	var lost, ambiguous error
	if m.fail != nil {
		lost, ambiguous = m.fail(m.puts)
	}
	if lost != nil {
		return lost
	}
	switch r := m.records[key]; {
	case r.rev == next:
	case r.rev != prev:
		return approver.ErrConflict
	}
	m.records[key] = memoryRecord{bytes.Clone(value), next}
	return ambiguous
}

func (m *memory) Due(context.Context, int, int) ([]string, error) { return nil, nil }
func (m *memory) Watch(context.Context, string) (<-chan struct{}, error) {
	return nil, errors.ErrUnsupported
}

func (m *memory) Lease(context.Context, string, time.Duration) (approver.Fence, error) {
	return 0, errors.ErrUnsupported
}
func (m *memory) Now(context.Context) (time.Time, error) { return time.Now(), nil }

func testKey(t testing.TB) (Key, Keys) {
	t.Helper()
	key, err := LoadOrCreateKey(filepath.Join(t.TempDir(), "audit.key"))
	must(t, err)
	return key, Keys{key.ID(): key.Public()}
}

// options has checkpoints by number only.
func options(t testing.TB) (Options, Keys) {
	t.Helper()
	key, keys := testKey(t)
	return Options{
		Dir: filepath.Join(t.TempDir(), "log"), ID: "test", Key: key, Hostname: "host.test",
		CheckpointEvery: 5, CheckpointAfter: time.Hour,
	}, keys
}

func open(t testing.TB, o Options) *Log {
	t.Helper()
	l, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l
}

func closeLog(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(t.Context()); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func record(t testing.TB, l *Log, r approver.Record) string {
	t.Helper()
	hash, err := l.Record(t.Context(), r)
	if err != nil {
		t.Fatalf("Record: %v", err)
	}
	return hash
}

// write makes n records, "note 1" to "note n".
func write(t testing.TB, l *Log, n int) {
	t.Helper()
	for i := range n {
		record(t, l, approver.Record{Event: approver.EventVerdict, Note: fmt.Sprintf("note %d", i+1), Call: shell("true")})
	}
}

// newLog is a closed log of n records.
func newLog(t testing.TB, o Options, n int) {
	t.Helper()
	l := open(t, o)
	write(t, l, n)
	closeLog(t, l)
}

func shell(command string) approver.ToolCall {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return approver.ToolCall{
		ID: "0123456789abcdef0123456789abcdef", Agent: "claude", Session: "s-1", Tool: "Bash",
		Command: command, Args: args, Dir: "/home/u/project",
	}
}

func mustVerify(t testing.TB, o Options, keys Keys, head *Head) Report {
	t.Helper()
	r, err := Verify(t.Context(), []string{o.Dir}, keys, head)
	if err != nil {
		t.Fatalf("Verify: %v (%+v)", err, r)
	}
	return r
}

// wantBreak verifies and returns the break.
func wantBreak(t testing.TB, dir string, keys Keys, head *Head) *BreakError {
	t.Helper()
	r, err := Verify(t.Context(), []string{dir}, keys, head)
	var b *BreakError
	if !errors.As(err, &b) {
		t.Fatalf("Verify found no break: %v (%+v)", err, r)
	}
	return b
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	must(t, os.WriteFile(path, b, 0o600))
}

// lines are the lines of audit.jsonl, with their newlines.
func lines(t testing.TB, o Options) [][]byte {
	t.Helper()
	return bytes.SplitAfter(bytes.TrimSuffix(readFile(t, filepath.Join(o.Dir, activeName)), []byte("\n")), []byte("\n"))
}

// records are the records of the whole log.
func records(t testing.TB, dir string) []Line {
	t.Helper()
	var out bytes.Buffer
	must(t, Tail(t.Context(), dir, -1, false, &out, JSONL))
	var all []Line
	for b := range bytes.Lines(out.Bytes()) {
		if isCheckpoint(b) {
			continue
		}
		l, err := ParseLine(b)
		must(t, err)
		all = append(all, l)
	}
	return all
}

var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// must fails a test at an error.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
