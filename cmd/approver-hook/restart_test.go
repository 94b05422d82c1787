package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The story: GOMAXPROCS=10000 in the environment of the agent made the courier need
// more than six seconds for a deadline of two. What tunes the Go runtime is gone before
// the call is read, and the rest of the environment is what the daemon sees.
func TestTheRuntimeIsNotTuned(t *testing.T) {
	for _, name := range tuning {
		cmd := exec.Command("strace", "-f", "-e", "trace=execve", "-s", "1000", "-v", hook, "--version")
		if _, err := exec.LookPath("strace"); err != nil {
			t.Skip("there is no strace here")
		}
		cmd.Env = []string{"PATH=/bin", name + "=1", "GOFLAGS=-x", name + "S=1"}
		if name == "GOMEMLIMIT" {
			cmd.Env[1] = name + "=1GiB"
		}
		said, err := cmd.CombinedOutput()
		starts := started(said)
		last := string(said[strings.LastIndex(string(said), "execve("):])
		if err != nil || starts != 2 || strings.Contains(last, `"`+name+"=") ||
			!strings.Contains(last, `"GOFLAGS=-x", "`+name+`S=1"`) {
			t.Errorf("%s: %v, %d starts: %s", name, err, starts, said)
		}
	}
	cmd := exec.Command("strace", "-f", "-e", "trace=execve", hook, "--version")
	cmd.Env = []string{"PATH=/bin", "GOFLAGS=-x"}
	if said, err := cmd.CombinedOutput(); err != nil || started(said) != 1 {
		t.Errorf("without them: %v, %s", err, said)
	}
}

// started counts the programs that were begun: strace may note one try by two threads.
func started(said []byte) (n int) {
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "execve") && strings.HasSuffix(strings.TrimSpace(line), "= 0") {
			n++
		}
	}
	return n
}
