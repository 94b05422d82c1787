package reporting

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
)

// BenchmarkLargeLog reads a log of as many records as AUDIT_RECORDS says. With 1000000 of them, a report is
// to take at most 10 s and the records of one call 1 s:
//
//	AUDIT_RECORDS=1000000 go test -run xxx -bench LargeLog -benchtime 1x ./cmd/approver/internal/reporting
func BenchmarkLargeLog(b *testing.B) {
	n := 20_000
	if text := os.Getenv("AUDIT_RECORDS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 2 {
			b.Fatalf("AUDIT_RECORDS is %q", text)
		}
	}
	dir := largeLog(b, n)
	now := time.Now()
	b.Run("report", func(b *testing.B) {
		for b.Loop() {
			r, err := Cmd{}.read(b.Context(), dir, now.Add(-24*time.Hour), now.Add(time.Hour))
			if err != nil || r.Calls != n {
				b.Fatalf("%d calls: %v", r.Calls, err)
			}
		}
	})
	for name, call := range map[string]int{"first": 0, "last": n - 1} {
		b.Run("show="+name, func(b *testing.B) {
			for b.Loop() {
				if err := audit.Show(b.Context(), dir, callID(call), io.Discard, audit.Human); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func callID(n int) string { return fmt.Sprintf("abcdef%026x", n) }

// largeLog writes a log of n calls: every twentieth is asked about, of 50 sessions.
func largeLog(b *testing.B, n int) (dir string) {
	dir = b.TempDir()
	key, err := audit.LoadOrCreateKey(filepath.Join(b.TempDir(), "audit.key"))
	if err != nil {
		b.Fatal(err)
	}
	log, err := audit.Open(b.Context(), audit.Options{Dir: dir, ID: "large", Key: key})
	if err != nil {
		b.Fatal(err)
	}
	const writers = 256
	errs := make([]error, writers)
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for i := writer; i < n && errs[writer] == nil; i += writers {
				command := fmt.Sprintf("go test -race ./pkg%d/...", i%1000)
				v := approver.Verdict{Decision: approver.Pass, By: "reflex", Rule: "none"}
				if i%20 == 0 {
					command, v = fmt.Sprintf("git push --force origin topic-%d", i%1000), approver.Verdict{Decision: approver.Ask,
						By: "reflex", Rule: fmt.Sprintf("rule_%d", i%60), Severity: approver.High, Reason: "it overwrites history"}
				}
				_, errs[writer] = log.Record(b.Context(), approver.Record{
					Event: approver.EventVerdict, Verdict: v, Took: 30 * time.Microsecond,
					Call: approver.ToolCall{ID: callID(i), Agent: "claude", Session: fmt.Sprintf("session-%d", i%50), Tool: "Bash",
						Command: command, Args: fmt.Appendf(nil, `{"command":%q}`, command), Dir: "/home/dev/project"},
				})
			}
		})
	}
	all.Wait()
	for _, err := range append(errs, log.Close(b.Context())) {
		if err != nil {
			b.Fatal(err)
		}
	}
	return dir
}
