package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/checks"
	"approver.example/cmd/approver/internal/hookinstall"
)

// placed is a place of the machine, beside the program: ../etc/NAME.
func placed(name string) string {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return filepath.Join(filepath.Dir(filepath.Dir(program)), "etc", name)
}

// placedDoctor is approver doctor --config ARGUMENT, and placedInstall approver install
// claude --system for it, but for the places of managed settings and the pin.
func placedDoctor() {
	c := checks.DoctorCmd{Config: os.Args[1], Target: settings.Target{Managed: placed("claude-code")},
		Pin: placed("courier")}
	if err := c.Run(context.Background()); err != nil {
		os.Exit(exitFail)
	}
}

func placedInstall() {
	hook := filepath.Join(filepath.Dir(placed("")), "bin", "approver-hook")
	c := hookinstall.AgentCmd{Agent: "claude", Target: settings.Target{System: true, Managed: placed("claude-code")},
		Config: os.Args[1], Hook: hook, Pin: placed("courier")}
	if err := c.Install(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitFail)
	}
}

// doctored: the page says to run doctor after an isolated install. Root was told to give
// the daemon's folders to root, which would have broken it, and everybody that the managed
// hook was missing. Now root, the daemon's user and the agent's user are told the same, and
// what one of them may not see is no failure.
func (m *isolatedMachine) doctored() {
	m.t.Helper()
	home := []string{"HOME=" + m.path("home")}
	config := m.path("etc/approver.yaml")
	m.must(errors.Join(os.Chown(config, 0, daemonUID), os.Chmod(config, 0o640)))
	got := m.run(m.command(0, home, "bin/placed-install", config), "")
	m.note("root", "approver install claude --system", got.exit == 0, got)
	for how, own := range map[string]struct {
		uid  int
		mode os.FileMode
	}{"the configuration is the daemon's": {daemonUID, 0o600}, "the configuration is root's": {0, 0o640}} {
		m.must(errors.Join(os.Chown(config, own.uid, daemonUID), os.Chmod(config, own.mode)))
		said := map[string]end{}
		for who, uid := range map[string]uint32{"root": 0, "daemon's user": daemonUID, "agent": agentUID} {
			said[who] = m.run(m.command(uid, home, "bin/placed-doctor", config), "")
			m.t.Logf("%s, %s:\n%s", how, who, strings.ReplaceAll(said[who].out, m.dir, "…"))
			m.note(who, "approver doctor, "+how, said[who].exit == 0 && !strings.Contains(said[who].out, "\nfail ") &&
				!strings.Contains(said[who].out, "NOT ISOLATED"), said[who])
		}
		if one, other := said["root"].out, said["daemon's user"].out; one != other {
			m.t.Errorf("%s: root is told\n%s\nand the daemon's user\n%s", how, one, other)
		}
		for _, want := range []string{"ok   isolation    who may submit is",
			"ok   hook         " + m.path("etc/claude-code/managed-settings.json"), "ok   start ", "ok   daemon ", "ok   store ",
			"ok   channel      telegram: @", "ok   audit "} {
			if !strings.Contains(said["root"].out, want) {
				m.t.Errorf("%s: no %q in\n%s", how, want, said["root"].out)
			}
		}
		for _, want := range []string{"not checked as this user (uid 61002)", "fix: sudo approver doctor --config " + config,
			"ok   socket       submit: the daemon answers", "ok   hook         " + m.path("bin/approver-hook")} {
			if !strings.Contains(said["agent"].out, want) {
				m.t.Errorf("%s: no %q in\n%s", how, want, said["agent"].out)
			}
		}
		for who, e := range said {
			if strings.Contains(e.out, "approver install claude") && !strings.Contains(e.out, "managed settings leave open") ||
				strings.Contains(e.out, "make it root's") {
				m.t.Errorf("%s: %s is advised to install again, or to give the daemon's things away:\n%s", how, who, e.out)
			}
			if strings.Contains(e.out, m.chat.Token()) {
				m.t.Errorf("%s: %s is shown the token", how, who)
			}
		}
		for who, uid := range map[string]uint32{"root": 0, "daemon's user": daemonUID} {
			got := m.run(m.command(uid, home, "bin/approver", "check", "--config", config), "")
			m.note(who, "approver check, "+how, got.exit == 0 && strings.Contains(got.out, "0 problems"), got)
		}
	}
	m.refused(config)
	got = m.run(m.command(agentUID, home, "bin/approver", "doctor", "--config", config, "--agent", "claude"), "")
	m.note("agent", "approver doctor --agent claude",
		strings.Contains(got.out, "warn config ") && strings.Contains(got.out, "hook-test"), got)
	// A report asks the daemon twice, and said twice whom it speaks to.
	m.must(errors.Join(os.Chown(config, 0, daemonUID), os.Chmod(config, 0o640)))
	got = m.run(m.command(0, home, "bin/approver", "report", "--config", config), "")
	m.note("root", "approver report", got.exit == 0 &&
		strings.Count(got.err, "this speaks to the daemon of uid 61001") == 1, got)
	m.must(errors.Join(os.Chown(config, daemonUID, daemonUID), os.Chmod(config, 0o600)))
	m.file("etc/courier", fmt.Sprintf("socket %s\nuid %d\n", m.path("run/submit.sock"), daemonUID), 0, 0o644)
}

// refused: a user who is not among those who may submit was told by doctor and status that
// all is well, and had every call denied. They are told what it is; to whoever answers it is
// as it should be.
func (m *isolatedMachine) refused(config string) {
	m.t.Helper()
	const cure = "add the uid to sockets.submit_uids"
	for who, tt := range map[string]struct {
		uid  uint32
		exit int
		want []string
	}{
		"stranger": {strangerUID, 1, []string{"warn socket       the daemon answers on ", "it does not admit this user " +
			"(uid 61003)", "fail hook ", "which refuses this user, so every call is denied", cure}},
		"answerer": {answererUID, 0, []string{"warn socket       the daemon answers on ", "it does not admit this user " +
			"(uid 61004)", "ok   hook ", cure}},
		"agent": {agentUID, 0, []string{"ok   socket       submit: the daemon answers on ", "ok   hook "}},
	} {
		got := m.run(m.command(tt.uid, []string{"HOME=" + m.path("home")}, "bin/placed-doctor", config), "")
		m.note(who, "approver doctor", got.exit == tt.exit, got)
		own := fmt.Sprintf("etc/own-%d.yaml", tt.uid)
		m.file(own, fmt.Sprintf("dir: %[1]s/nothing\nsockets: {submit: %[1]s/run/submit.sock, resolve: "+
			"%[1]s/run/resolve.sock}\n", m.dir), int(tt.uid), 0o600)
		for _, want := range tt.want {
			if text := strings.Join(strings.Fields(got.out), " "); !strings.Contains(text,
				strings.Join(strings.Fields(want), " ")) {
				m.t.Errorf("%s: no %q in\n%s", who, want, got.out)
			}
		}
		got = m.run(m.command(tt.uid, nil, "bin/approver", "status", "--config", m.path(own)), "")
		m.note(who, "approver status", got.exit == tt.exit, got)
		refused := strings.Contains(got.out, "REFUSES THIS USER") &&
			strings.Contains(strings.Join(strings.Fields(got.out), " "), cure)
		if refused != (who == "stranger") {
			m.t.Errorf("%s: status says %s%s", who, got.out, got.err)
		}
	}
}

// What is broken on an isolated machine is a failure for root as for the daemon's user.
func TestDoctorOfAnIsolatedDaemonThatIsBroken(t *testing.T) {
	m := newIsolatedMachine(t)
	config := m.path("etc/approver.yaml")
	m.must(os.Chmod(m.path("lib/telegram.token"), 0o644))
	for who, uid := range map[string]uint32{"root": 0, "daemon's user": daemonUID} {
		got := m.run(m.command(uid, nil, "bin/placed-doctor", config), "")
		for _, want := range []string{"fail start ", "chmod 600", "fail socket "} {
			if got.exit != 1 || !strings.Contains(got.out, want) {
				t.Errorf("%s: no %q in\n%s%s", who, want, got.out, got.err)
			}
		}
		if got := m.run(m.command(uid, nil, "bin/approver", "check", "--config", config), ""); got.exit != 1 ||
			!strings.Contains(got.out, "chmod 600") {
			t.Errorf("%s: check says %+v", who, got)
		}
	}
}
