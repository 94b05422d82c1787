package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var liftLine = regexp.MustCompile(`(?m)^    (sudo approver unfreeze .*)$`)

// The story: somebody had only the terminal, where nothing CATASTROPHIC can be
// approved. approver froze their agent, and lifting that is CATASTROPHIC: no page said
// how they get it back. The line that docs/operations.md has for it is run here to the
// letter, against a daemon of an ordinary user.
func TestATerminalUserLiftsTheFreezeOfOneAgent(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	line := liftLine.FindStringSubmatch(string(page))
	if line == nil {
		t.Fatal("docs/operations.md does not say how")
	}
	m := newIsolatedMachine(t)
	home := m.path("home")
	m.must(os.Chown(home, daemonUID, daemonUID))
	for _, dir := range []string{"home/.approver", "home/.approver/run"} {
		m.must(os.Mkdir(m.path(dir), 0o700))
		m.must(os.Chown(m.path(dir), daemonUID, daemonUID))
	}
	m.file("home/.approver/approver.yaml", fmt.Sprintf("dir: .\nsockets: {submit: run/submit.sock, resolve: "+
		"run/resolve.sock}\nchannels: {terminal: {allow_answers: true, approvers: [{id: %q}]}}\n", fmt.Sprint(daemonUID)),
		daemonUID, 0o600)
	m.file("etc/courier", fmt.Sprintf("socket %s\nuid %d\n", m.path("home/.approver/run/submit.sock"), daemonUID), 0,
		0o644)
	socket := m.path("home/.approver/run/resolve.sock")
	m.start(daemonUID, socket, "bin/approver", "serve", "--config", m.path("home/.approver/approver.yaml"))

	// A call runs that was denied: the agent is frozen.
	ran := strings.Replace(bashPayload(forbidden), `"PreToolUse"`, `"PostToolUse"`, 1)
	ran = strings.TrimSuffix(ran, "}") + `,"tool_response":{"stdout":""}}`
	courier := m.command(daemonUID, nil, "bin/pinned-hook", "--agent", "claude", "--event", "PostToolUse",
		"--deadline", "8s")
	m.run(courier, ran)
	status := func() string {
		return m.run(m.command(daemonUID, nil, "bin/approver", "status", "--socket", socket), "").out
	}
	if got := m.hook(daemonUID, nil, "ls"); got.exit == 0 || !strings.Contains(status(), "FROZEN") {
		t.Fatalf("not frozen: %+v\n%s", got, status())
	}
	m.file("bin/sudo", "#!/bin/sh\nexec \"$@\"\n", 0, 0o755)
	shell := m.command(0, []string{"HOME=" + home}, "/bin/sh", "-c", line[1])
	shell.Env[0] = "PATH=" + m.path("bin") + ":/usr/bin:/bin"
	got := m.run(shell, "")
	if got.exit != 0 || strings.Contains(status(), "FROZEN") {
		t.Errorf("%s: %+v\n%s", line[1], got, status())
	}
	if got := m.hook(daemonUID, nil, "ls"); got.exit != 0 {
		t.Errorf("still frozen: %+v", got)
	}
}
