package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"approver.example/store/storetest/redistest"
)

// The story of TestWhoeverWasRemovedOperatesNothing with real users and two real daemons on
// one Redis, of which the second is started again.
func TestARemovedOperatorOnTwoDaemons(t *testing.T) {
	m := newIsolatedMachine(t)
	server, err := redistest.Start(t.Context(), redistest.Options{})
	m.must(err)
	t.Cleanup(func() { _ = server.Close() })
	const otherUID = 61005
	text, err := os.ReadFile(m.path("etc/approver.yaml"))
	m.must(err)
	m.must(os.Mkdir(m.path("run2"), 0o755))
	m.must(os.Chown(m.path("run2"), daemonUID, daemonUID))
	m.must(os.Mkdir(m.path("lib2"), 0o700))
	m.must(os.Chown(m.path("lib2"), daemonUID, daemonUID))
	m.file("lib/hub.key", strings.Repeat("k", 64)+"\n", daemonUID, 0o600)
	first := strings.Replace(string(text), fmt.Sprintf("resolve_uids: [%d]", answererUID),
		fmt.Sprintf("resolve_uids: [%d, %d]", answererUID, otherUID), 1)
	first = strings.Replace(first, fmt.Sprintf(`{id: "%d"}`, answererUID),
		fmt.Sprintf(`{id: "%d", person: ada}`, answererUID), 1)
	first = strings.Replace(first, "  terminal:\n", "  terminal:\n    allow_answers: true\n", 1)
	first += fmt.Sprintf("store: {redis: {addrs: [%q], hub_key_file: %s}}\n", server.Addr, m.path("lib/hub.key"))
	second := strings.NewReplacer("/run/", "/run2/", "dir: "+m.dir+"/lib", "dir: "+m.dir+"/lib2", "person: ada",
		"person: carol").Replace(first)
	m.file("etc/approver.yaml", first+"audit: {id: one}\n", daemonUID, 0o600)
	m.file("etc/second.yaml", second+"audit: {id: two}\n", daemonUID, 0o600)
	m.start(daemonUID, m.path("run/resolve.sock"), "bin/approver", "serve", "--config", m.path("etc/approver.yaml"))
	serve := func() func() {
		c := m.command(daemonUID, nil, "bin/approver", "serve", "--config", m.path("etc/second.yaml"))
		m.must(c.Start())
		for range 400 {
			if _, err := os.Stat(m.path("run2/resolve.sock")); err == nil {
				break
			}
			time.Sleep(25 * time.Millisecond)
		}
		return func() { _ = c.Process.Signal(os.Interrupt); _ = c.Wait() }
	}
	stop := serve()
	defer func() { stop() }()
	operator := func(uid uint32, socket string, args ...string) end {
		return m.run(m.command(uid, nil, "bin/approver", append(args, "--socket", m.path(socket))...), "")
	}
	const one, two = "run/resolve.sock", "run2/resolve.sock"
	for _, socket := range []string{one, two} {
		got := operator(answererUID, socket, "pending")
		m.note("Ada, before", "pending "+socket, got.exit == 0, got)
	}
	got := operator(0, one, "freeze", "--reason", "something to lift")
	m.note("root", "freeze", got.exit == 0, got)
	got = operator(0, one, "people", "remove", "ada", "--reason", "stolen")
	m.note("root", "people remove ada", got.exit == 0, got)
	for _, socket := range []string{one, two, "restarted"} {
		if socket == "restarted" {
			stop()
			m.must(os.RemoveAll(m.path("run2/resolve.sock")))
			stop, socket = serve(), two
		}
		for _, command := range []string{
			"people restore ada", "unfreeze", "people", "people remove bob --unlisted", "people recover --yes", "pending",
			"pause 5m --catastrophic", "pause --end",
			"observe --for 1h", "enforce", "grants list", "grants revoke x", "grants propose x",
			"approve 0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11 --yes",
		} {
			got := operator(answererUID, socket, strings.Fields(command)...)
			refused := strings.Contains(got.err, "ada was removed by uid 0") &&
				strings.Contains(got.err, "only approver status and approver freeze are open to them") ||
				strings.HasPrefix(command, "approve") &&
					(strings.Contains(got.err, "You were removed") || strings.Contains(got.err, "You are not on the approver list"))
			m.note("Ada, removed", command+" "+socket, got.exit != 0 && refused, got)
		}
		got = m.run(m.command(answererUID, nil, "timeout", "-s", "INT", "2", m.path("bin/approver"), "watch", "--json",
			"--socket", m.path(socket)), "")
		m.note("Ada, removed", "watch "+socket, strings.Contains(got.err, "was removed by uid 0") && got.out == "", got)
		for _, command := range []string{"status", "freeze"} {
			got := operator(answererUID, socket, command)
			m.note("Ada, removed", command+" "+socket,
				!strings.Contains(got.err, "was removed") && strings.Contains(strings.ToLower(got.out), "frozen"), got)
		}
	}
	for _, command := range []string{"pending", "people restore ada --yes", "unfreeze"} {
		got := operator(otherUID, two, strings.Fields(command)...)
		m.note("another operator", command, got.exit == 0, got)
	}
	got = operator(answererUID, one, "pending")
	m.note("Ada, back", "pending", got.exit == 0, got)
	t.Logf("tried:\n%s", m.table())
}
