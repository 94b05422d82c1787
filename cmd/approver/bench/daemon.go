package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"approver.example/cmd/approver/internal/child"
	"approver.example/configs"
)

// A daemon is one process of `approver serve`, in its own folder.
type daemon struct{ child.Daemon }

// programs returns the PATH of the calls. The git there is a small stand-in. The time to hash the
// real one is measured separately, see fingerprints.
func (d *daemon) programs() string { return filepath.Join(d.Dir, "bin") }

// Time limits of a daemon.
const (
	startTime = 20 * time.Second
	stopTime  = 10 * time.Second
	turn      = 15 * time.Minute // how long people have to answer; requests must stay pending
)

// embeddedStore is the store part of the configuration for the embedded store.
const embeddedStore = "  sqlite: {path: data/approver.db}\n"

const standIn = "#!/bin/sh\nexit 1\n"

// prepare creates the folder and the configuration of a daemon. Behind the store's part there may be
// more parts of the configuration.
func (b *bench) prepare(name, store string) (*daemon, error) {
	d := &daemon{child.Daemon{Program: b.Program, Dir: filepath.Join(b.dir, name)}}
	for _, dir := range []string{filepath.Join(d.Dir, "data"), d.programs()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	config := fmt.Sprintf(`dir: data
asks_per_minute: {user: 1000, agent: 1000}
policy: policy.yaml
log: {level: warn}
store:
%ssockets: {submit: run/submit.sock, resolve: run/resolve.sock}
channels:
  terminal: {approvers: [{id: "%d", name: Bench}], allow_answers: true}
`, store, os.Getuid())
	policy := strings.Replace(string(configs.DefaultPolicyYAML()), "\ndefault_ttl: 120s\n",
		fmt.Sprintf("\ndefault_ttl: %v\n", turn), 1)
	for file, text := range map[string]string{"approver.yaml": config, "policy.yaml": policy,
		"hub.key": strings.Repeat("bench-key", 6), "bin/git": standIn} {
		if err := os.WriteFile(filepath.Join(d.Dir, file), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// startDaemon prepares a daemon and runs it until b.end. took is the time from the start of its
// process to its first answer.
func (b *bench) startDaemon(ctx context.Context, name, store string) (d *daemon, took time.Duration, err error) {
	if d, err = b.prepare(name, store); err != nil {
		return nil, 0, err
	}
	took, err = b.run(ctx, d)
	return d, took, err
}

func (b *bench) run(ctx context.Context, d *daemon) (took time.Duration, err error) {
	start := time.Now()
	if err := d.Start(); err != nil {
		return 0, err
	}
	b.onEnd(d.stop)
	for !d.Healthy() {
		if time.Since(start) > startTime {
			return 0, fmt.Errorf("the daemon does not answer after %v: %s", startTime, d.lastLog())
		}
		if err := pause(ctx, 300*time.Microsecond); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// stop stops the daemon normally.
func (d *daemon) stop() error {
	err := d.Stop(stopTime)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("the daemon: %w: %s", err, d.lastLog())
	}
	return err
}

// lastLog returns the last 2,000 bytes of the daemon's log.
func (d *daemon) lastLog() string {
	log := d.Log()
	return log[max(0, len(log)-2000):]
}

// loggedErrors returns the first lines of the daemon's log that are errors.
func (d *daemon) loggedErrors() (lines []string) {
	for line := range strings.Lines(d.Log()) {
		if strings.Contains(line, " level=ERROR ") && len(lines) < 20 {
			lines = append(lines, line)
		}
	}
	return lines
}

// memory is the memory of a process in KiB.
type memory struct{ rss, anonymous float64 }

// memoryOf returns the memory of a process, from /proc, or without /proc from ps, which gives only
// the RSS.
func memoryOf(ctx context.Context, pid int) (m memory, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
		if err != nil {
			return m, fmt.Errorf("the memory of process %d: %w", pid, err)
		}
		m.rss, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		return m, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		for field, to := range map[string]*float64{"VmRSS": &m.rss, "RssAnon": &m.anonymous} {
			if name == field {
				if *to, err = strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64); err != nil {
					return m, err
				}
			}
		}
	}
	return m, nil
}
