package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// typedInto runs a command that has a terminal of 80 columns as its own, and types one line
// after the other into it. "^C" is Ctrl-C; the command ends by the last of it.
func typedInto(t *testing.T, cmd *exec.Cmd, lines ...string) string {
	t.Helper()
	master, tty := pty(t, 80)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with EIO, when nobody has the other end any more
		read <- strings.ReplaceAll(string(text), "\r\n", "\n")
	}()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	for _, line := range append(lines, "^C", "^C") {
		pause := 600 * time.Millisecond
		if line == "^C" {
			pause = 1500 * time.Millisecond
		}
		select {
		case <-ended:
		case <-time.After(pause):
			if line == "^C" {
				_, _ = master.WriteString("\x03")
			} else {
				_, _ = master.WriteString(line + "\n")
			}
		}
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Errorf("%q does not end by Ctrl-C", cmd.Args)
	}
	return <-read
}

// colors are what a terminal does not show.
var colors = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// A newcomer with an 80 column terminal counted the columns of each command again: what
// asks, waits, installs and refuses was wider, up to 777 columns. This looks at the commands
// that the test above does not, answers them, and ends them with Ctrl-C.
func TestNoCommandIsWiderThanTheTerminal(t *testing.T) {
	startsPrograms(t)
	m := newWideMachine(t)
	open := strings.Fields(m.says("pending"))[0]
	project := filepath.Join(m.home, "a-project-with-a-name-that-is-long")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(m.home, "approver-hook")
	if err := os.Symlink(m.program, hook); err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct {
		args  string
		lines []string
		want  string // that it got as far as that
	}{
		{"watch", []string{"help", "list", "y 1", "y 9", "1 CONFIRM-AAAAAA", "nonsense that is typed"}, "quit"},
		{"approve " + open, []string{"y", "no"}, ""},
		{"approve CONFIRM-AAAAAA", nil, "approver: "},
		{"deny " + open, nil, ""},
		{"ask --severity high -- git push --force origin a-branch-with-a-name-that-is-long", nil, ""},
		{"appeal 5f0c6a7e2b9d4a1c8e3f7a6b5c4d3e2f", nil, "approver: "},
		{"judge --explain --command git\x00push\x00--force", nil, "git_force_push"},
		{"report --rule no/such_rule", nil, "no/such_rule"},
		{"report --since 36h", nil, ""},
		{"grants", nil, ""},
		{"grants revoke nothing", nil, "approver: "},
		{"observe --for 7d", nil, "approver: "},
		{"pause 5m", nil, "approver: "},
		{"enforce", nil, "enforced"},
		{"people remove nobody-of-that-name", nil, "approver: "},
		{"people restore nobody-of-that-name", nil, "approver: "},
		{"people recover", []string{"y", "no"}, "approver: "},
		{"pair telegram", nil, "approver: "},
		{"install claude --project " + project + " --no-hook-test --hook " + hook, nil, "settings.json"},
		{"doctor --offline --project " + project, nil, "hook"},
		{"uninstall claude --project " + project, nil, ""},
		{"service install --user", nil, ""},
		{"service uninstall --user", nil, ""},
		{"policy diff --history", nil, ""},
		{"rules show git_force_push", nil, "git"},
		{"audit verify --anchors nowhere", nil, ""},
		{"check --policy a-file-that-is-not-there-and-has-a-name-that-is-long.yaml", nil, "no such file"},
		{"freeze --reason because-of-something-that-takes-some-words-to-say", nil, "frozen"},
		{"unfreeze", nil, ""},
		{"status", nil, "FROZEN"},
		{"watch --socket " + filepath.Join(m.home, "nobody-listens-here.sock"), nil, "not connected"},
		{"hook --help", nil, "--deadline"},
		{"judge --help", nil, "microseconds"},
		{"demo --help", nil, "--store"},
		{"no-such-command", nil, "approver: "},
	} {
		args := strings.Fields(strings.ReplaceAll(run.args, "\x00", "\x01"))
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "\x01", " ")
		}
		shown := typedInto(t, m.command(args...), run.lines...)
		if !strings.Contains(strings.Join(strings.Fields(shown), " "), run.want) || strings.TrimSpace(shown) == "" {
			t.Errorf("%s: no %q in\n%s", run.args, run.want, shown)
		}
		for line := range strings.Lines(colors.ReplaceAllString(shown, "")) {
			line = strings.TrimRight(line, "\n")
			if n := len([]rune(line)); n > 80 && !copied(line) {
				t.Errorf("%s: %d columns: %s", run.args, n, line)
			}
		}
	}
}

// copied reports a wide line that is a command to be copied, or one long word.
func copied(line string) bool {
	words := strings.Fields(line)
	return unbreakable(line, words) || slices.Contains([]string{"approver", "sudo", "systemctl", "fix:"}, words[0])
}
