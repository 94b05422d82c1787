package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A backup was put back by root, or a disk was restored read only: files of the daemon were
// not its own any more. check said "0 problems", doctor said that the daemon would take all
// files, and serve ended at once. Both name each file now, as the daemon's user sees it.
func TestCheckFindsFilesThatTheDaemonCannotWrite(t *testing.T) {
	m := newIsolatedMachine(t)
	config := []string{"--config", m.path("etc/approver.yaml")}
	serve := func() end {
		c := m.command(daemonUID, nil, "bin/approver", append([]string{"serve"}, config...)...)
		late := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
		defer late.Stop()
		return m.run(c, "")
	}
	c := m.command(daemonUID, nil, "bin/approver", append([]string{"serve"}, config...)...)
	m.must(c.Start()) // makes all files
	for range 400 {
		if _, err := os.Stat(m.path("run/resolve.sock")); err == nil {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	m.must(c.Process.Signal(os.Interrupt))
	_ = c.Wait() // in order
	for _, name := range []string{"lib/approver.db", "lib/audit/audit.jsonl", "lib/audit/audit.lock",
		"run/submit.sock.lock", "run/resolve.sock.lock", "lib/audit.key.pub"} {
		for what, spoil := range map[string]func() error{
			"of root":   func() error { return errors.Join(os.Chown(m.path(name), 0, 0), os.Chmod(m.path(name), 0o600)) },
			"read only": func() error { return os.Chmod(m.path(name), 0o400) },
		} {
			if what == "read only" && strings.HasSuffix(name, ".pub") {
				continue // it is only read
			}
			m.must(spoil())
			refused := serve()
			check := m.run(m.command(daemonUID, nil, "bin/approver", append([]string{"check"}, config...)...), "")
			doctor := m.run(m.command(daemonUID, nil, "bin/approver", append([]string{"doctor", "--offline"}, config...)...), "")
			for who, got := range map[string]end{"serve": refused, "check": check, "doctor": doctor} {
				if said := got.out + got.err; got.exit != exitFail || !strings.Contains(said, filepath.Base(name)) ||
					!strings.Contains(said, "permission denied") {
					t.Errorf("%s %s: %s: exit %d\n%s", name, what, who, got.exit, said)
				}
			}
			m.must(errors.Join(os.Chown(m.path(name), daemonUID, daemonUID), os.Chmod(m.path(name), 0o600)))
		}
	}
}
