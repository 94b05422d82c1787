package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"approver.example/httpapi"
)

// falseResolve is what a hijacked agent starts beside fakeDaemon: it says yes to each
// operation, with what a terminal would obey. Its arguments are the socket and a file for
// what it was asked.
func falseResolve() {
	l, err := httpapi.Listen(os.Args[1], 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(os.Args[2])
		if err == nil || errors.Is(err, os.ErrNotExist) {
			_ = os.WriteFile(os.Args[2], append(text, r.URL.Path+"\n"...), 0o600) // the test misses it
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"done": true, "up": true,
			"text": "All is \x1b]0;title\a\x1b[31munfrozen", "control": "\u009b31m"})
	}))
}

// aloneRun is a command of root's with /etc and /run of its own, behind sudo of a user. The
// script's argument is more to prepare.
func (m *isolatedMachine) aloneRun(prepare string, behind uint32, args ...string) end {
	m.t.Helper()
	script := `set -e
cp /etc/passwd /etc/group "$1/etc/"
mount -t tmpfs none /etc && mount -t tmpfs none /run && mkdir /etc/approver
cp "$1/etc/passwd" "$1/etc/group" /etc/
echo "alice:x:` + fmt.Sprint(agentUID) + `:` + fmt.Sprint(agentUID) + `::$1/home:/bin/sh" >> /etc/passwd
echo "bob:x:` + fmt.Sprint(daemonUID) + `:` + fmt.Sprint(daemonUID) + `::$1/bob:/bin/sh" >> /etc/passwd
` + prepare + `
shift
exec "$@"`
	c := exec.Command("unshare", append([]string{"-m", "sh", "-c", script, "sh", m.dir}, args...)...)
	c.Dir = "/"
	c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "SUDO_UID=" + fmt.Sprint(behind)}
	return m.run(c, "")
}

const bothFiles = `cp -p "$1/etc/approver.yaml" "$1/etc/courier" /etc/approver/`

// The story: after each start of an isolated machine, until its daemon was up, /run/approver
// was not there. Root's unfreeze then went to whatever listened in the home of the user
// behind sudo; the agent there said that all was unfrozen, with a title for the terminal.
// Now the pin and the configuration that root wrote say which daemon is meant: it is told to
// be down, and nobody else is asked. doctor says the same, and not to make another one.
func TestRootAsksNoFalseDaemonWhileTheIsolatedOneIsDown(t *testing.T) {
	m := newIsolatedMachine(t)
	for _, dir := range []string{"home/.approver", "home/.approver/run"} {
		m.must(os.Mkdir(m.path(dir), 0o700))
		m.must(os.Chown(m.path(dir), agentUID, agentUID))
	}
	own, heard := m.path("home/.approver/run/resolve.sock"), m.path("home/heard")
	m.start(agentUID, own, "bin/false-resolve", own, heard)
	if got := m.aloneRun("", agentUID, "true"); got.exit != 0 {
		t.Skipf("NOT RUN: no mount namespace here: %s", got.err)
	}
	program := m.path("bin/approver")
	for name, prepare := range map[string]string{
		"file and pin": bothFiles, "pin": `cp -p "$1/etc/courier" /etc/approver/`,
		"file":   `cp -p "$1/etc/approver.yaml" /etc/approver/`,
		"folder": "mkdir /run/approver",
	} {
		for _, args := range [][]string{{"unfreeze", "--reason", "x"}, {"status"}, {"pause", "15m"}, {"pending"},
			{"people", "restore", "ada"}, {"people", "recover", "--yes"}, {"approve", "0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11"}} {
			got := m.aloneRun(prepare, agentUID, append([]string{program}, args...)...)
			if got.exit == 0 || !strings.Contains(got.out+got.err, "is not running") {
				t.Errorf("%s: %v: %+v", name, args, got)
			}
		}
	}
	if text, err := os.ReadFile(heard); err == nil {
		t.Errorf("the false daemon was asked\n%s", text)
	}
	got := m.aloneRun(bothFiles, agentUID, program, "doctor", "--offline")
	if got.exit == 0 || strings.Contains(got.out, "there is none") || strings.Contains(got.out, "approver init") ||
		!strings.Contains(got.out, "ok   config       /etc/approver/approver.yaml") ||
		!strings.Contains(got.out, "nobody answers on "+m.path("run/resolve.sock")) {
		t.Errorf("doctor: %+v", got)
	}

	// Where there is no isolated install root means alice's, and is told so before; what
	// it says is made visible.
	got = m.aloneRun("", agentUID, program, "unfreeze", "--reason", "x")
	if got.exit != 0 || !strings.Contains(got.err,
		fmt.Sprintf("this speaks to the daemon of uid %d on %s", agentUID, own)) || strings.ContainsAny(got.out, "\x1b\a") ||
		!strings.Contains(got.out, "⟨U+001B⟩") {
		t.Errorf("%+v", got)
	}
	if got = m.aloneRun("", agentUID, program, "unfreeze", "--json"); strings.ContainsAny(got.out+got.err,
		"\x1b\a\u009b") {
		t.Errorf("%q", got.out+got.err)
	}
}

// The story: bob froze his daemon. Alice's agent made her configuration, then her folder, a
// link to bob's, which it could not even read, and alice ran sudo approver unfreeze: bob's
// freeze was lifted by uid 0. Now root follows no link of one user to another's daemon,
// and no command of root's reaches bob's but one that names bob's place.
func TestALinkToAnothersDaemon(t *testing.T) {
	m := newIsolatedMachine(t)
	for _, dir := range []string{"bob", "bob/.approver", "bob/.approver/run"} {
		m.must(os.Mkdir(m.path(dir), 0o700))
		m.must(os.Chown(m.path(dir), daemonUID, daemonUID))
	}
	m.file("bob/.approver/approver.yaml", "dir: .\nsockets: {submit: run/submit.sock, resolve: run/resolve.sock}\n",
		daemonUID, 0o600)
	config, socket := m.path("bob/.approver/approver.yaml"), m.path("bob/.approver/run/resolve.sock")
	m.start(daemonUID, socket, "bin/approver", "serve", "--config", config)
	if got := m.aloneRun("", agentUID, "true"); got.exit != 0 {
		t.Skipf("NOT RUN: no mount namespace here: %s", got.err)
	}
	bobs := func(args ...string) end {
		return m.run(m.command(daemonUID, nil, "bin/approver", append(args, "-c", config)...), "")
	}
	if got := bobs("freeze", "--reason", "stopit"); got.exit != 0 {
		t.Fatalf("%+v", got)
	}
	program, dots := m.path("bin/approver"), m.path("home/.approver")
	link := func(to, at string) {
		m.must(os.Symlink(to, at))
		m.must(os.Lchown(at, agentUID, agentUID))
	}
	tries := [][]string{{"unfreeze"}, {"unfreeze", "--config", dots + "/approver.yaml"},
		{"unfreeze", "--socket", dots + "/run/resolve.sock"}, {"people", "remove", "ada", "--unlisted"},
		{"doctor", "--offline"}}
	for name, prepare := range map[string]func(){
		"the file": func() {
			for _, dir := range []string{dots, dots + "/run"} {
				m.must(os.Mkdir(dir, 0o700))
				m.must(os.Chown(dir, agentUID, agentUID))
			}
			link(config, dots+"/approver.yaml")
		},
		"the folder": func() { link(m.path("bob/.approver"), dots) },
	} {
		m.must(os.RemoveAll(dots))
		prepare()
		for _, args := range tries {
			got := m.aloneRun("", agentUID, append([]string{program}, args...)...)
			if got.exit == 0 || strings.Contains(got.err, "this speaks to") || strings.Contains(got.out, "ok   config") {
				t.Errorf("%s is a link: %v: %+v", name, args, got)
			}
		}
		if got := bobs("status"); !strings.Contains(got.out, "stopit") {
			t.Fatalf("%s is a link: bob's freeze is gone: %+v", name, got)
		}
	}
	// Root who names bob's place, and root behind bob's sudo, speak to it.
	got := m.aloneRun("", daemonUID, program, "doctor", "--offline")
	if !strings.Contains(got.out, fmt.Sprintf("of uid %d on %s", daemonUID, socket)) ||
		!strings.Contains(got.out, "stopit") {
		t.Errorf("doctor behind bob's sudo: %+v", got)
	}
	got = m.aloneRun("", daemonUID, program, "unfreeze")
	if got.exit != 0 || !strings.Contains(got.err,
		fmt.Sprintf("this speaks to the daemon of uid %d on %s", daemonUID, socket)) {
		t.Errorf("behind bob's sudo: %+v", got)
	}
}
