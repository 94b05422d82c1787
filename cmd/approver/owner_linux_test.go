package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"approver.example/shieldcore/quota"
)

// typeOn runs a program on a terminal of its own, where typed says what somebody types once
// they see what is there. It returns what the terminal and the outputs had.
func typeOn(t *testing.T, c *exec.Cmd, typed func(screen string) string) (screen, out string, exit int) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("NOT RUN: no terminals here:", err)
	}
	defer master.Close()
	err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	if err != nil {
		t.Skip("NOT RUN: no terminals here:", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip("NOT RUN: no terminals here:", err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("NOT RUN: no terminals here:", err)
	}
	defer slave.Close()
	var both bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = slave, &both, &both
	c.SysProcAttr.Setsid, c.SysProcAttr.Setctty = true, true
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 64)
	go func() {
		for {
			b := make([]byte, 4096)
			n, err := master.Read(b)
			if err != nil {
				return
			}
			read <- string(b[:n])
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	said := false
	for {
		select {
		case more := <-read:
			screen += more
			if text := typed(screen); text != "" && !said {
				said = true
				if _, err := master.WriteString(text + "\n"); err != nil {
					t.Fatal(err)
				}
			}
		case <-ended:
			return screen, both.String(), c.ProcessState.ExitCode()
		case <-time.After(30 * time.Second):
			_ = c.Process.Kill()
			t.Fatalf("nothing happens\n%s\n%s", screen, &both)
		}
	}
}

var ownerCode = regexp.MustCompile(`type (CONFIRM-\S+):`)

// The story: somebody has the terminal alone, on a machine where agents run as their own
// user. What is CATASTROPHIC was a dead end. Now root approves it: with the code that is
// shown on root's terminal, once. The user itself, who could be an agent, cannot, nor root
// without a terminal, nor with another code; and no output ever has the code.
func TestRootApprovesWhatNobodyElseCan(t *testing.T) {
	m := newIsolatedMachine(t)
	home := m.path("home")
	m.must(os.Chown(home, daemonUID, daemonUID))
	for _, dir := range []string{"home/.approver", "home/.approver/run"} {
		m.must(os.Mkdir(m.path(dir), 0o700))
		m.must(os.Chown(m.path(dir), daemonUID, daemonUID))
	}
	config, socket := m.path("home/.approver/approver.yaml"), m.path("home/.approver/run/resolve.sock")
	m.file("home/.approver/approver.yaml", fmt.Sprintf("dir: .\nsockets: {submit: run/submit.sock, resolve: "+
		"run/resolve.sock}\nchannels: {terminal: {allow_answers: true, approvers: [{id: %q, person: ada}]}}\n",
		fmt.Sprint(daemonUID)), daemonUID, 0o600)
	m.file("etc/courier", fmt.Sprintf("socket %s\nuid %d\n", m.path("home/.approver/run/submit.sock"), daemonUID), 0,
		0o644)
	m.start(daemonUID, socket, "bin/approver", "serve", "--config", config)
	watch := m.command(daemonUID, nil, "bin/approver", "watch", "--json", "--socket", socket)
	m.must(watch.Start())
	defer func() { _ = watch.Process.Kill(); _ = watch.Wait() }()

	operator := func(uid uint32, args ...string) end {
		return m.run(m.command(uid, nil, "bin/approver", append(args, "-c", config)...), "")
	}
	got := operator(0, "status")
	for end := time.Now().Add(time.Minute); strings.Contains(got.out, "nobody watches") &&
		time.Now().Before(end); got = operator(0, "status") {
		time.Sleep(100 * time.Millisecond)
	}
	if !strings.Contains(got.out, "nobody can approve a CATASTROPHIC request: the terminal takes no approval") {
		t.Errorf("root, with the user's configuration: %+v", got)
	}
	done := make(chan end, 1)
	hook := m.command(daemonUID, nil, "bin/pinned-hook", "--agent", "claude", "--deadline", "110s",
		"--connect-timeout", "2s")
	go func() { done <- m.run(hook, bashPayload("dropdb shop")) }()
	var id string
	for range 200 {
		out := operator(daemonUID, "pending", "--json").out
		if found := regexp.MustCompile(`"id":"([0-9a-f-]{36})"`).FindStringSubmatch(out); found != nil {
			id = found[1]
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if id == "" {
		t.Fatalf("nothing is asked: %+v", <-done)
	}
	for who, uid := range map[string]uint32{"the user": daemonUID, "root, without a terminal": 0} {
		if got := operator(uid, "approve", id, "--yes"); got.exit == 0 || strings.Contains(got.out+got.err, "CONFIRM-") {
			t.Errorf("%s: %+v", who, got)
		}
	}
	approve := func(typed func(string) string) (string, string, int) {
		c := m.command(0, nil, "bin/approver", "approve", id, "-c", config)
		return typeOn(t, c, typed)
	}
	first := ""
	_, out, exit := approve(func(screen string) string {
		if found := ownerCode.FindStringSubmatch(screen); found != nil {
			first = found[1]
			return "yes"
		}
		return ""
	})
	if exit == 0 || !strings.Contains(out, "that was not the code") {
		t.Errorf("yes: %d %s", exit, out)
	}
	screen, out, exit := approve(func(screen string) string {
		if ownerCode.MatchString(screen) {
			return first
		}
		return ""
	})
	if exit == 0 || !strings.Contains(screen, "dropdb shop") {
		t.Errorf("a code that was used: %d %s\n%s", exit, out, screen)
	}
	_, out, exit = approve(func(screen string) string {
		if found := ownerCode.FindStringSubmatch(screen); found != nil {
			return found[1]
		}
		return ""
	})
	if got := <-done; exit != 0 || strings.Contains(out, "CONFIRM-") || got.exit != 0 ||
		!strings.Contains(got.out, "approved by root of this machine") {
		t.Errorf("the code: %d %s\nthe agent: %+v", exit, out, got)
	}
	if got := operator(0, "people", "remove", "ada"); got.exit != 0 || !strings.Contains(got.out, "ada is removed") ||
		!strings.Contains(got.out, "WARNING: nobody can approve ANY request") {
		t.Errorf("%+v", got)
	}
	if got := m.hook(daemonUID, nil, "dropdb shop"); got.exit == 0 ||
		!strings.Contains(got.out+got.err, "nobody is left") {
		t.Errorf("nobody is left: %+v", got)
	}
	if got := operator(daemonUID, "people", "restore", "ada"); got.exit == 0 {
		t.Errorf("the user brings themselves back: %+v", got)
	}
	typed := func(line string, args ...string) end {
		return m.run(m.command(0, nil, "bin/approver", append(args, "-c", config)...), line)
	}
	if got := typed("no\n", "people", "restore", "ada"); got.exit == 0 ||
		!strings.Contains(got.err, "not confirmed: nothing was changed") {
		t.Errorf("root says no: %+v", got)
	}
	if got := typed("yes\n", "people", "restore", "ada"); got.exit != 0 || !strings.Contains(got.out, "ada is back") ||
		!strings.Contains(got.err, fmt.Sprintf("this counts here by the yes:\n  channels.terminal.approvers: %d, person "+
			"\"ada\"", daemonUID)) {
		t.Errorf("root: %+v", got)
	}
	if got := operator(daemonUID, "people", "recover", "--yes"); got.exit == 0 ||
		!strings.Contains(got.err, "only the owner of the machine") {
		t.Errorf("%+v", got)
	}

	// The agent, as the daemon's user, closes none of root's ways.
	if got := operator(daemonUID, "people", "remove", "terminal:0", "--unlisted"); got.exit == 0 ||
		!strings.Contains(got.err, "root alone removes: sudo "+m.path("bin/approver")+" people remove terminal:0") {
		t.Errorf("the agent removes root: %+v", got)
	}
	if got := operator(0, "people", "remove", "terminal:0", "--unlisted"); got.exit != 0 ||
		!strings.Contains(got.out, "until sudo "+m.path("bin/approver")+" people restore terminal:0") {
		t.Errorf("root removes root: %+v", got)
	}
	if got := operator(0, "status"); !strings.Contains(got.out,
		"sudo "+m.path("bin/approver")+" people restore terminal:0 (root was removed)") {
		t.Errorf("%+v", got)
	}
	if got := operator(0, "people", "restore", "terminal:0", "--yes"); got.exit != 0 {
		t.Errorf("root is back: %+v", got)
	}

	// It uses up the questions of its uid, which is the owner's, and none of root's.
	_ = watch.Process.Kill()
	_ = watch.Wait()
	if got := operator(daemonUID, "freeze", "--reason", "flood"); got.exit != 0 {
		t.Errorf("%+v", got)
	}
	for i := range quota.OwnAsks + 1 {
		got := operator(daemonUID, "unfreeze")
		if want := map[bool]string{false: "nobody watches the terminal",
			true: "also those that reached nobody, so nobody was asked"}[i == quota.OwnAsks]; got.exit == 0 ||
			!strings.Contains(got.err, want) {
			t.Errorf("question %d: %+v", i, got)
		} else if i == quota.OwnAsks && !strings.Contains(got.err,
			"questions of root are counted apart: sudo "+m.path("bin/approver")+" unfreeze") {
			t.Errorf("the way out: %+v", got)
		}
	}
	if got := operator(0, "unfreeze"); got.exit != 0 ||
		!strings.Contains(got.out, fmt.Sprintf("\neverything: frozen by uid %d at ", daemonUID)) ||
		!strings.Contains(got.out, "UTC, flood") {
		t.Errorf("root lifts it: %+v", got)
	}
}
