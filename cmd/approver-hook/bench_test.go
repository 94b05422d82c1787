package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart runs the courier against a warm daemon that passes everything,
// in turns with a Go program that does nothing and with /bin/true, and reports
// the medians and their ratios. The aim is at most 1.5 empty Go programs.
//
//	go test -run '^$' -bench Start -benchtime 300x ./cmd/approver-hook
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if out, err := exec.Command("go", "build", "-o", empty, source).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	socket := daemon(b, pass)
	programs := [][]string{{"/bin/true"}, {empty}, {hook, "--agent", "claude", "--socket", socket}}
	took := make([][]time.Duration, len(programs))
	const payload = `{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{` +
		`"command":"ls"},"tool_use_id":"t"}`
	for b.Loop() {
		for i, p := range programs {
			cmd := exec.Command(p[0], p[1:]...)
			cmd.Stdin = strings.NewReader(payload)
			started := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatal(p, err)
			}
			took[i] = append(took[i], time.Since(started))
		}
	}
	median := make([]float64, len(programs))
	for i := range took {
		slices.Sort(took[i])
		median[i] = float64(took[i][len(took[i])/2].Microseconds())
	}
	b.ReportMetric(median[0], "true-µs")
	b.ReportMetric(median[1], "empty-µs")
	b.ReportMetric(median[2], "hook-µs")
	b.ReportMetric(median[2]/median[1], "hook/empty")
	b.ReportMetric(median[2]/median[0], "hook/true")
}
