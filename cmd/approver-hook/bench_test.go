package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example/agents"
	"approver.example/agents/settings"
)

// BenchmarkStart runs the courier against a warm daemon that passes everything,
// in turns with a Go program that does nothing and with /bin/true, and reports
// the medians and their ratios. The aim is at most 1.5 empty Go programs.
//
//	go test -run '^$' -bench Start -benchtime 300x ./cmd/approver-hook
func BenchmarkStart(b *testing.B) {
	empty, socket := emptyProgram(b), daemon(b, pass)
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

// BenchmarkDialects runs what install writes for each agent, as the agent runs it (most give the line
// to a shell), against a warm daemon that passes everything, in turns with a Go program that does
// nothing. It reports the medians, their ratio and the courier's greatest memory.
//
//	go test -run '^$' -bench Dialects -benchtime 200x ./cmd/approver-hook
func BenchmarkDialects(b *testing.B) {
	empty := emptyProgram(b)
	socket := daemon(b, pass)
	for _, agent := range agents.Installers() {
		text, err := agent.HookConfig(hook, socket, 2*time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		hooks, err := agent.ReadHooks(agent.Name(), text)
		if err != nil {
			b.Fatal(err)
		}
		line := string(settings.CommandOf(hooks[agent.Facts().Events[0].Name][0].Hooks[0]))
		payload := recordedCall(b, agent.Name())
		b.Run(agent.Name(), func(b *testing.B) {
			var took [2][]time.Duration
			var most int64
			for b.Loop() {
				for i, words := range [][]string{{empty}, {"/bin/sh", "-c", line}} {
					cmd := exec.Command(words[0], words[1:]...)
					cmd.Stdin = bytes.NewReader(payload)
					started := time.Now()
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%v: %s", err, out)
					}
					took[i] = append(took[i], time.Since(started))
					if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && i == 1 {
						most = max(most, usage.Maxrss)
					}
				}
			}
			slices.Sort(took[0])
			slices.Sort(took[1])
			a, z := took[0][len(took[0])/2], took[1][len(took[1])/2]
			b.ReportMetric(float64(a.Microseconds()), "empty-µs")
			b.ReportMetric(float64(z.Microseconds()), "hook-µs")
			b.ReportMetric(float64(z)/float64(a), "hook/empty")
			b.ReportMetric(float64(most), "maxrss-KiB")
		})
	}
}

// recordedCall returns a recorded payload of an agent before a tool.
func recordedCall(b *testing.B, agent string) []byte {
	b.Helper()
	files, err := filepath.Glob("../../agents/testdata/" + agent + "/*pre*.json")
	if err != nil || len(files) == 0 {
		b.Fatalf("no recorded call of %s: %v", agent, err)
	}
	payload, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		b.Fatal(err)
	}
	return payload
}

// emptyProgram builds a Go program that does nothing.
func emptyProgram(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	source, program := filepath.Join(dir, "empty.go"), filepath.Join(dir, "empty")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return program
}
