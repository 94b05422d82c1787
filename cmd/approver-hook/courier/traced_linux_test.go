package courier

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/httpapi"
)

// status is what the kernel says of a thread.
func status(t *testing.T, dir, thread, text string) {
	t.Helper()
	at := filepath.Join(dir, thread)
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "status"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const free = "Name:\tapprover-hook\nPPid:\t1\nTracerPid:\t0\nUid:\t0\n"

// The story: a process traced Claude Code, and so the courier from before its first
// instruction on. It dropped what the courier wrote and made it end with 0: the denied
// call ran. A courier that is traced stops the call, whichever thread it is, and also
// if the tracer comes only after the start.
func TestATracedCourierStopsTheCall(t *testing.T) {
	socket := filepath.Join(tempDir(t), "s")
	dir := filepath.Join(t.TempDir(), "task")
	later := ""
	daemon(t, socket, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		if later != "" {
			status(t, dir, "2", later)
		}
		return httpapi.HookAnswer{ExitZero: true}
	})
	for _, tt := range []struct{ name, second, later, want, first string }{
		{"nobody", free, "", "", ""},
		{"the other thread", strings.Replace(free, "TracerPid:\t0", "TracerPid:\t4711", 1), "", "is traced by process 4711",
			""},
		{"while it waited", free, strings.Replace(free, "TracerPid:\t0", "TracerPid:\t12", 1), "is traced by process 12,",
			""},
		{"no line", "Name:\tx\n", "", "cannot see whether it is traced", ""},
		{"empty", "", "", "cannot see whether it is traced", ""},
		{"a name that says so", "Name:\tTracerPid:\t0\n", "", "cannot see whether it is traced", ""},
		{"no number", "Name:\tx\nTracerPid:\t\n", "", "is traced", ""},
		{"from before the start", free, "", "is traced by process 77",
			strings.Replace(free, "TracerPid:\t0", "TracerPid:\t77", 1)},
	} {
		status(t, dir, "..", cmp.Or(tt.first, free))
		status(t, dir, "1", free)
		status(t, dir, "2", tt.second)
		later = tt.later
		got := run(t, Courier{Tasks: dir}, "--socket", socket)
		if tt.want == "" {
			if got.exit != 0 {
				t.Errorf("%s: %+v", tt.name, got)
			}
			continue
		}
		blocked(t, got, tt.want)
	}
	later = ""
	status(t, dir, "..", free)
	blocked(t, run(t, Courier{Tasks: filepath.Join(dir, "none")}, "--socket", socket), "cannot see whether it is traced")
	blocked(t, run(t, Courier{Tasks: t.TempDir()}, "--socket", socket), "cannot see whether it is traced")
}
