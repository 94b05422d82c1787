package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"approver.example/daemon/daemontest"
)

// A pty is both ends of a terminal of a given width.
func pty(t *testing.T, columns uint16) (master, tty *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine gives no pseudo terminal: ", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return master, tty
}

// onTerminal runs a command whose stdout and stderr are a terminal of 80 columns.
func onTerminal(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	master, tty := pty(t, 80)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, tty, tty
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with EIO, when nobody has the other end any more
		read <- strings.ReplaceAll(string(text), "\r\n", "\n")
	}()
	err := cmd.Run()
	_ = tty.Close()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return <-read
}

// A new user had an 80 column terminal: doctor wrote 8 lines that were wider, up to 325
// columns, and the terminal broke them in the middle of words at its left edge. Each
// command for people breaks its lines at spaces now, under their text; without a terminal,
// and with --json, not one byte is different.
func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	startsPrograms(t)
	m := newWideMachine(t)
	for name, args := range map[string][]string{
		"doctor":         {"doctor", "--offline"},
		"status":         {"status"},
		"check":          {"check"},
		"people":         {"people", "list"},
		"pending":        {"pending"},
		"report":         {"report"},
		"audit tail":     {"audit", "tail"},
		"audit show":     {"audit", "show", "3"},
		"audit verify":   {"audit", "verify"},
		"policy explain": {"policy", "explain", "--", "git", "push", "--force", "origin", "main"},
		"init":           {"init", "--config", filepath.Join(t.TempDir(), "a-folder-with-a-long-name", "approver.yaml")},
		"an error":       {"approve", "--yes", "0193d2c4-5f7a-7c1e-9a40-3b8f5d2e6a10"},
	} {
		shown := onTerminal(t, m.command(args...))
		if name == "init" {
			args[2] = filepath.Join(filepath.Dir(filepath.Dir(args[2])), "a-folder-with-a-long-nam2", "approver.yaml")
		}
		plain, err := m.command(args...).CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || len(shown) == 0 {
			t.Fatalf("%s: %v\n%s", name, err, plain)
		}
		wide, was := 0, 0
		for line := range strings.Lines(string(plain)) {
			if len([]rune(strings.TrimSpace(line))) > 80 {
				was++
			}
		}
		for line := range strings.Lines(shown) {
			line = strings.TrimRight(line, "\n")
			if words := strings.Fields(line); len([]rune(line)) > 80 && !unbreakable(line, words) {
				wide++
				t.Errorf("%s: %d columns: %s", name, len([]rune(line)), line)
			}
		}
		if was == 0 {
			t.Errorf("%s has no wide line, so nothing is tried", name)
		}
		if wide > 0 {
			continue
		}
		same := func(text string) string { return strings.Join(strings.Fields(clockless(text)), " ") }
		if name != "init" && same(shown) != same(string(plain)) {
			t.Errorf("%s: more than spaces differs:\n%s\nand without a terminal\n%s", name, shown, plain)
		}
	}
	for _, args := range [][]string{{"doctor", "--offline", "--json"}, {"status", "--json"}, {"audit", "tail", "--json"},
		{"check", "--json"}} {
		for line := range strings.Lines(onTerminal(t, m.command(args...))) {
			if args[0] != "status" && !strings.HasPrefix(line, "{") {
				t.Errorf("%v: a line of JSON is broken: %s", args, line)
			}
		}
	}
}

// unbreakable reports a wide line that is one long word under its label, or a command that
// is there to be copied.
func unbreakable(line string, words []string) bool {
	text := strings.TrimSpace(line)
	for _, command := range []string{"fix: approver ", "fix: chmod ", "approver judge --explain "} {
		if strings.HasPrefix(text, command) {
			return true
		}
	}
	last := words[len(words)-1]
	return len([]rune(line))-len([]rune(last)) <= 22
}

// clockless leaves out what differs between two runs.
func clockless(text string) string {
	return regexp.MustCompile(
		`\b([0-9]+m)?[0-9.]+(s|ms|µs)\b|\b[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?\b`).ReplaceAllString(text, "")
}

// A wideMachine is a daemon that runs in a folder with a long name.
type wideMachine struct {
	t       *testing.T
	program string
	home    string
}

func newWideMachine(t *testing.T) wideMachine {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "wide-home")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	m := wideMachine{t, program, home}
	if out, err := m.command("init").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var log bytes.Buffer
	serve := m.command("serve")
	serve.Stdout, serve.Stderr = &log, &log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
		if t.Failed() {
			t.Logf("the daemon:\n%s", &log)
		}
	})
	daemontest.Eventually(t, "the daemon answers", func() bool {
		_, err := os.Stat(filepath.Join(home, ".approver", "run", "resolve.sock"))
		return !errors.Is(err, fs.ErrNotExist)
	})
	hook := m.command("hook", "--agent", "claude")
	hook.Stdin = strings.NewReader(`{"session_id":"a-session-with-a-name","transcript_path":"/tmp/x","cwd":"` + home +
		`","permission_mode":"default",` +
		`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push --force origin ` +
		`main"},"tool_use_id":"toolu_1"}`)
	if out, err := hook.CombinedOutput(); err == nil {
		t.Fatalf("nobody can approve, and it passed: %s", out)
	}
	watch := m.command("watch", "--json")
	waits := m.command("hook", "--agent", "claude")
	waits.Stdin = strings.NewReader(`{"session_id":"a-session-with-a-name","transcript_path":"/tmp/x","cwd":"` + home +
		`","permission_mode":"default",` +
		`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git branch -D ` +
		`a-branch-with-a-name"},"tool_use_id":"toolu_2"}`)
	m.background(watch)
	daemontest.Eventually(t, "somebody watches",
		func() bool { return strings.Contains(m.says("status", "--json"), `"watchers":1`) })
	m.background(waits)
	daemontest.Eventually(t, "a request is open",
		func() bool { return strings.Contains(m.says("pending", "--json"), "a-branch") })
	return m
}

// background runs a command until the test ends.
func (m wideMachine) background(cmd *exec.Cmd) {
	m.t.Helper()
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// says is what a command prints, whatever its exit code.
func (m wideMachine) says(args ...string) string {
	out, _ := m.command(args...).CombinedOutput()
	return string(out)
}

// command runs this program as main, see TestMain.
func (m wideMachine) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.t.Context(), m.program, args...)
	cmd.Args[0] = "approver" // the test's program acts by its name
	cmd.Dir, cmd.Env = m.home, append(os.Environ(), "HOME="+m.home)
	return cmd
}
