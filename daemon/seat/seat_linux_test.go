package seat

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("NOT RUN: no terminals here:", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip("NOT RUN: no terminals here:", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip("NOT RUN: no terminals here:", err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("NOT RUN: no terminals here:", err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	return master, slave
}

// A hook has a session of its own and no terminal. Its agent has one, and a key that somebody types
// there is seen.
func TestLastTyped(t *testing.T) {
	master, slave := openTerminal(t)
	c := exec.Command("sh", "-c", "setsid sleep 30 & echo $! >&3; exec cat >/dev/null")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = slave, slave, slave, []*os.File{w}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	hook, convErr := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || convErr != nil {
		t.Fatalf("%q: %v %v", line, err, convErr)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(hook, syscall.SIGKILL)
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(slave.Name(), old, old); err != nil {
		t.Fatal(err)
	}
	for name, pid := range map[string]int{"the agent": c.Process.Pid, "its hook": hook} {
		if at, ok := LastTyped(int32(pid)); !ok || time.Since(at) < 59*time.Minute {
			t.Errorf("%s: %v, %v", name, at, ok)
		}
	}
	if _, err := master.WriteString("x\n"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		at, ok := LastTyped(int32(hook))
		if ok && time.Since(at) < time.Minute {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("a key is not seen: %v, %v", at, ok)
		}
	}
}

// Processes that are not there, or have no terminal, have no answer.
func TestNoTerminal(t *testing.T) {
	c := exec.Command("sleep", "30")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	for _, pid := range []int32{0, -1, 1, 1 << 30} {
		if at, ok := LastTyped(pid); ok {
			t.Errorf("%d: %v", pid, at)
		}
	}
	if _, terminal, ok := process(int32(c.Process.Pid)); !ok || terminal != 0 {
		t.Errorf("a process without a terminal: %d, %v", terminal, ok)
	}
}
