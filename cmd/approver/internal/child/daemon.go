// Package child runs this program's daemon as a child process with a folder of its own, for the demo and
// the benchmark.
package child

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A Daemon is `approver serve` in a folder. Set Program and Dir; it is not running until Start.
type Daemon struct {
	Program string // path of approver
	Dir     string // with approver.yaml, which has the sockets in the folder run

	cmd *exec.Cmd // nil: not running
	log *os.File
}

// Config returns the path of the daemon's configuration.
func (d *Daemon) Config() string { return filepath.Join(d.Dir, "approver.yaml") }

// Submit returns the path of the socket where agents ask.
func (d *Daemon) Submit() string { return filepath.Join(d.Dir, "run", "submit.sock") }

// Resolve returns the path of the socket where people answer.
func (d *Daemon) Resolve() string { return filepath.Join(d.Dir, "run", "resolve.sock") }

// PID returns the id of the daemon's process.
func (d *Daemon) PID() int { return d.cmd.Process.Pid }

func (d *Daemon) logFile() string { return filepath.Join(d.Dir, "daemon.log") }

// Start starts the daemon. Its log is appended to a file.
func (d *Daemon) Start() error {
	log, err := os.OpenFile(d.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(d.Program, "serve", "--config", d.Config())
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, Attributes()
	if err := cmd.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	d.cmd, d.log = cmd, log
	return nil
}

// Healthy reports whether the daemon answers. It uses a bare connection: package net/http would
// take longer than what the benchmark measures.
func (d *Daemon) Healthy() bool {
	conn, err := net.DialTimeout("unix", d.Submit(), time.Second)
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

// Stop shuts the daemon down if it runs, and kills it if that takes longer than within.
func (d *Daemon) Stop(within time.Duration) error {
	if d.cmd == nil {
		return nil
	}
	process := d.cmd.Process
	if err := process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	late := time.AfterFunc(within, func() { _ = process.Kill() })
	err := d.wait()
	if !late.Stop() {
		return fmt.Errorf("the daemon did not stop within %v and was killed", within)
	}
	return err
}

// Kill ends the daemon with SIGKILL.
func (d *Daemon) Kill() error {
	if err := d.cmd.Process.Kill(); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := d.wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

func (d *Daemon) wait() error {
	err := d.cmd.Wait()
	d.cmd = nil
	_ = d.log.Close()
	return err
}

// Log returns everything that the daemon has logged, as far as it can be read.
func (d *Daemon) Log() string {
	raw, _ := os.ReadFile(d.logFile())
	return string(raw)
}
