package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
)

var shBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// The story: somebody follows docs/quickstart.md in an empty home. Telegram is a
// fake on loopback, systemd and the compiler are one line each; everything else
// is done as the page says, to the letter, and a tap approves at the end.
func TestQuickstart(t *testing.T) {
	startsPrograms(t)
	t.Parallel() // it waits most of the time
	page, err := os.ReadFile("../../docs/quickstart.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, m := range shBlock.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(m[1]) {
			fmt.Fprintf(&script, "%s\necho \"[$?] %s\"\n", strings.TrimSpace(line),
				strings.NewReplacer(`"`, `'`, "$", `\$`).Replace(strings.TrimSpace(line)))
		}
	}
	chat := telegramtest.New()
	defer chat.Close()
	chat.AddUser(10042, "Ada")
	chat.AddChat(telegramtest.Chat{ID: 10042})
	home := shortDir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		// Not the page's word: where Telegram is.
		"approver": `case "$1 $2" in "pair telegram") set -- "$@" --api-url ` + chat.URL() +
			`;; esac; exec "$HOME/program/approver" "$@"`,
		"approver-hook": `exec "$HOME/program/approver" hook "$@"`,
		"go":            `exit 0`,
		"systemctl": `case "$*" in *enable*) "$HOME/program/approver" serve >"$HOME/log" 2>&1 & echo $! >"$HOME/pid"; ` +
			`while ! "$HOME/program/approver" status >/dev/null; do sleep 0.1; done;;
*disable*) kill $(cat "$HOME/pid"); while ps -o stat= -p $(cat "$HOME/pid") | grep -qv Z; do sleep 0.1; done;; esac`,
	} {
		writeProgram(t, filepath.Join(home, "bin", name), "#!/bin/sh\n"+text+"\n")
	}
	if err := os.Mkdir(filepath.Join(home, "program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(home, "program", "approver")); err != nil {
		t.Fatal(err)
	}
	defer killPID(t, filepath.Join(home, "pid"))

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", script.String())
	shell.Dir, shell.Env = home, []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"),
		"APPROVER_HOOK_TEST=false"}
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	keys, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	shell.Stderr = shell.Stdout
	start := time.Now()
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	go tapWhenAsked(ctx, chat)
	if _, err := fmt.Fprintln(keys, chat.Token()); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		fmt.Fprintln(&said, line)
		if code := strings.TrimSpace(line); strings.HasPrefix(code, "CONFIRM-") {
			chat.Type("10042", "10042", code)
			_, _ = fmt.Fprintln(keys, "yes")
		}
	}
	err = shell.Wait()
	t.Logf("%.1f s of machine time\n%s", time.Since(start).Seconds(), said.String())
	if err != nil || strings.Contains(said.String(), "\nfail ") {
		t.Errorf("%v", err)
	}
	for line := range strings.Lines(said.String()) {
		if strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "[0] ") {
			t.Errorf("the page's command fails: %s", line)
		}
	}
	if n := strings.Count(said.String(), "\n[0] "); n < 13 {
		t.Errorf("only %d commands ran", n)
	}
	if !strings.Contains(said.String(), "\nok   hook ") {
		t.Error("doctor did not find the hook")
	}
	// All of it goes away again.
	if text, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the settings that install made are left: %v: %s", err, text)
	}
	if _, err := os.Lstat(filepath.Join(home, ".approver")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("~/.approver: %v", err)
	}
}

// tapWhenAsked is Ada: she taps Approve once on each card that she gets.
func tapWhenAsked(ctx context.Context, chat *telegramtest.Server) {
	for ctx.Err() == nil {
		for _, c := range chat.Cards("10042") {
			if slices.Contains(c.Buttons, fake.ApproveButton) {
				_ = chat.Tap("10042", "10042", c.Message, fake.ApproveButton) // again does no harm
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// killPID ends the process whose id a file holds, if there is one.
func killPID(t *testing.T, file string) {
	var pid int
	text, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("the daemon was never started: %v", err)
		return
	}
	if _, err := fmt.Sscan(string(text), &pid); err == nil && pid > 1 {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
}
