package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"approver.example/configs"
)

// A daemon is one `approver serve`, in a folder of its own.
type daemon struct {
	dir string
	cmd *exec.Cmd
	log *os.File
}

func (d *daemon) submit() string  { return filepath.Join(d.dir, "run", "submit.sock") }
func (d *daemon) resolve() string { return filepath.Join(d.dir, "run", "resolve.sock") }

// programs is the PATH of the calls. The git there is a small stand-in: how long
// the real one takes to hash is a figure of its own, see fingerprints.
func (d *daemon) programs() string { return filepath.Join(d.dir, "bin") }

// Times of a daemon.
const (
	startTime = 20 * time.Second
	stopTime  = 10 * time.Second
	turn      = 15 * time.Minute // that people have here, so that what is pending stays so
)

// embeddedStore is the store part of a configuration.
const embeddedStore = "  bolt: {path: data/approver.db}\n"

const standIn = "#!/bin/sh\nexit 1\n"

// prepare writes the configuration of a daemon.
func (b *bench) prepare(name, store string) (*daemon, error) {
	d := &daemon{dir: filepath.Join(b.dir, name)}
	for _, dir := range []string{filepath.Join(d.dir, "data"), d.programs()} {
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
		if err := os.WriteFile(filepath.Join(d.dir, file), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// startDaemon prepares a daemon and runs it until b.end. took is the time from
// the start of its process to its first answer.
func (b *bench) startDaemon(ctx context.Context, name, store string) (d *daemon, took time.Duration, err error) {
	if d, err = b.prepare(name, store); err != nil {
		return nil, 0, err
	}
	took, err = b.run(ctx, d)
	return d, took, err
}

func (b *bench) run(ctx context.Context, d *daemon) (took time.Duration, err error) {
	if d.log, err = os.OpenFile(filepath.Join(d.dir, "daemon.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o600); err != nil {
		return 0, err
	}
	d.cmd = exec.Command(b.Program, "serve", "--config", filepath.Join(d.dir, "approver.yaml"))
	d.cmd.Stdout, d.cmd.Stderr, d.cmd.SysProcAttr = d.log, d.log, processAttributes()
	start := time.Now()
	if err := d.cmd.Start(); err != nil {
		return 0, errors.Join(err, d.log.Close())
	}
	b.onEnd(d.stop)
	for !healthy(d.submit()) {
		if time.Since(start) > startTime {
			return 0, fmt.Errorf("the daemon does not answer after %v: %s", startTime, d.lastLog())
		}
		if err := pause(ctx, 300*time.Microsecond); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// healthy asks with a bare connection: package net/http would take longer than
// what is measured.
func healthy(socket string) bool {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("GET /v1/health HTTP/1.1\r\nHost: approver\r\nConnection: close\r\n\r\n")); err != nil {
		return false
	}
	head := make([]byte, 12)
	n, _ := conn.Read(head)
	return bytes.HasSuffix(head[:n], []byte(" 200"))
}

// stop ends the daemon in order.
func (d *daemon) stop() error {
	defer d.log.Close()
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	late := time.AfterFunc(stopTime, func() { _ = d.cmd.Process.Kill() })
	err := d.cmd.Wait()
	if !late.Stop() {
		return fmt.Errorf("the daemon did not stop within %v and was killed", stopTime)
	}
	if err != nil {
		return fmt.Errorf("the daemon: %w: %s", err, d.lastLog())
	}
	return nil
}

// lastLog is the end of the daemon's log.
func (d *daemon) lastLog() string {
	raw, err := os.ReadFile(filepath.Join(d.dir, "daemon.log"))
	if err != nil {
		return ""
	}
	return string(raw[max(0, len(raw)-2000):])
}

// memory is in KiB.
type memory struct{ rss, anonymous float64 }

// memoryOf asks the kernel, where it has files for it, else ps.
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
