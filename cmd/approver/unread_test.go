package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// unread: a developer on the machine may not read the configuration. What only judges
// works by what is built in and says so, and a script's question finds the socket that
// root pinned: both died of "permission denied" once. /etc and /run are this test's own
// for these commands.
func (m *isolatedMachine) unread() {
	m.t.Helper()
	m.file("etc/courier", fmt.Sprintf("socket %s\nuid %d\n", m.path("run/submit.sock"), daemonUID), 0, 0o644)
	script := `set -e
cp /etc/passwd /etc/group "$1/etc/"
mount -t tmpfs none /etc && mount -t tmpfs none /run && mkdir /etc/approver /run/approver
cp "$1/etc/passwd" "$1/etc/group" /etc/
cp -p "$1/etc/approver.yaml" "$1/etc/courier" /etc/approver/
dir=$1 uid=$2; shift 2
exec setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"`
	as := func(args ...string) end {
		c := exec.Command("unshare", append([]string{"-m", "sh", "-c", script, "sh", m.dir, fmt.Sprint(agentUID)},
			args...)...)
		c.Dir, c.Env = "/", []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + m.path("home")}
		return m.run(c, "")
	}
	if got := as("true"); got.exit != 0 {
		m.t.Logf("NOT RUN: no mount namespace here: %s", got.err)
		return
	}
	program := m.path("bin/approver")
	for _, args := range [][]string{
		{"judge", "--command", "git push --force origin main"},
		{"judge", "--explain", "--command", "git push --force origin main"},
		{"policy", "explain", "--", "git", "push", "--force", "origin", "main"},
	} {
		got := as(append([]string{program}, args...)...)
		m.note("agent", "approver "+strings.Join(args[:2], " "),
			got.exit == 0 && strings.Contains(got.out, "git_force_push") &&
				strings.Contains(got.err, "so this is judged by what is built in"), got)
	}
	got := as(program, "judge", "--config", "/etc/approver/approver.yaml", "--command", "ls")
	m.note("agent", "approver judge --config", got.exit == 1 && got.out == "", got)
	got = as(program, "ask", "--ttl", "5s", "--", "echo", "hello")
	m.note("agent", "approver ask", got.exit == 2 && strings.Contains(got.err, "people are asked") &&
		!strings.Contains(got.err, "permission denied"), got)
	got = as(program, "appeal", "5f0c6a7e2b9d4a1c8e3f7a6b5c4d3e2f")
	m.note("agent", "approver appeal", got.exit == 1 && strings.Contains(got.err, "there is no denial of that call"), got)
}
