package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/cmd/approver-hook/courier"
	"approver.example/httpapi"
)

// forbidden is what the policy denies without asking anybody.
const forbidden = "cat /etc/approver/approver.yaml"

// Users that exist on no machine, but for the kernel.
const (
	daemonUID   = 61001
	agentUID    = 61002
	strangerUID = 61003
	answererUID = 61004
)

// pinnedHook is approver-hook, but for the place of the pin: ../etc/courier from
// the program. Like the true one it is not the caller's to choose.
func pinnedHook() {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := courier.Courier{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Environ(),
		PinFile: filepath.Join(filepath.Dir(filepath.Dir(program)), "etc", "courier"),
	}
	os.Exit(c.Run(os.Args[1:]))
}

// fakeDaemon is what a hijacked agent starts: it lets everything through. Its
// argument is the socket.
func fakeDaemon() {
	l, err := httpapi.Listen(os.Args[1], 0o666)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := httpapi.Submit{
		Hook: func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
			return httpapi.HookAnswer{ExitZero: true, Stdout: []byte("{\"fake\":\"allow\"}\n")}
		},
		Admit: func(approver.Peer) error { return nil }, Log: slog.New(slog.DiscardHandler),
	}
	_ = s.Serve(context.Background(), l)
}

// An isolatedMachine has a daemon with a user of its own.
type isolatedMachine struct {
	t     *testing.T
	dir   string
	chat  *telegramtest.Server
	tried [][3]string
}

func newIsolatedMachine(t *testing.T) *isolatedMachine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: a second user needs root; .ci/run as root runs it")
	}
	dir, err := os.MkdirTemp("", "ap") // not t.TempDir: others must be able to pass
	if err != nil {
		t.Fatal(err)
	}
	m := &isolatedMachine{t: t, dir: dir, chat: telegramtest.New()}
	t.Cleanup(func() { m.chat.Close(); _ = os.RemoveAll(dir) })
	m.chat.AddUser(10042, "Ada")
	m.chat.AddChat(telegramtest.Chat{ID: -1001})
	m.must(os.Chmod(dir, 0o755))
	for name, owner := range map[string]int{"bin": 0, "etc": 0, "lib": daemonUID, "run": daemonUID, "home": agentUID} {
		m.must(os.Mkdir(m.path(name), 0o755))
		m.must(os.Chown(m.path(name), owner, owner))
	}
	m.must(os.Chmod(m.path("lib"), 0o700))
	for _, name := range []string{"approver", "approver-hook", "pinned-hook", "fake-daemon", "false-resolve",
		"placed-doctor", "placed-install"} {
		m.copyProgram("bin/" + name)
	}
	m.file("etc/courier", fmt.Sprintf("socket %s\nuid %d\n", m.path("run/submit.sock"), daemonUID), 0, 0o644)
	m.file("lib/telegram.token", m.chat.Token()+"\n", daemonUID, 0o600)
	m.file("etc/approver.yaml", fmt.Sprintf(`dir: %[1]s/lib
sockets:
  submit: %[1]s/run/submit.sock
  resolve: %[1]s/run/resolve.sock
  submit_uids: [%[2]d]
  resolve_uids: [%[4]d]
channels:
  telegram:
    token_file: %[1]s/lib/telegram.token
    api_url: %[3]s
    chats: [{id: "-1001"}]
    approvers: [{id: "10042"}]
  terminal:
    approvers: [{id: "0"}, {id: "%[4]d"}]
`, dir, agentUID, m.chat.URL(), answererUID), daemonUID, 0o600)
	return m
}

func (m *isolatedMachine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *isolatedMachine) path(name string) string { return filepath.Join(m.dir, name) }

func (m *isolatedMachine) file(name, text string, owner int, mode os.FileMode) {
	m.t.Helper()
	m.must(os.WriteFile(m.path(name), []byte(text), mode))
	m.must(os.Chown(m.path(name), owner, owner))
	m.must(os.Chmod(m.path(name), mode))
}

// copyProgram puts this test's program there: it acts by its name.
func (m *isolatedMachine) copyProgram(name string) {
	m.t.Helper()
	from, err := os.Open("/proc/self/exe")
	m.must(err)
	defer from.Close()
	to, err := os.OpenFile(m.path(name), os.O_CREATE|os.O_WRONLY, 0o755)
	m.must(err)
	_, err = io.Copy(to, from)
	m.must(err)
	m.must(to.Close())
}

// command is a program run by a user.
func (m *isolatedMachine) command(uid uint32, env []string, name string, args ...string) *exec.Cmd {
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = m.path(name)
	}
	c := exec.Command(name, args...)
	c.Dir, c.Env = "/", append([]string{"PATH=/usr/bin:/bin"}, env...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return c
}

// start runs a daemon until the test ends, and waits for its socket. log returns
// what it has written so far.
func (m *isolatedMachine) start(uid uint32, socket, name string, args ...string) (log func() string, pid int) {
	m.t.Helper()
	c := m.command(uid, nil, name, args...)
	out, err := os.Create(m.path(filepath.Base(name) + ".log"))
	m.must(err)
	defer out.Close()
	log = func() string {
		text, err := os.ReadFile(out.Name())
		m.must(err)
		return string(text)
	}
	c.Stderr = out
	m.must(c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	m.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		<-ended
		if m.t.Failed() {
			m.t.Logf("%s:\n%s", name, log())
		}
	})
	for range 2400 { // a minute: other tests start programs at the same time
		if info, err := os.Stat(socket); err == nil && info.Mode()&os.ModeSocket != 0 {
			return log, c.Process.Pid
		}
		select {
		case err := <-ended:
			ended <- err
			m.t.Fatalf("%s ended: %v\n%s", name, err, log())
		case <-time.After(25 * time.Millisecond):
		}
	}
	m.t.Fatalf("%s does not listen\n%s", name, log())
	return nil, 0
}

// An end is what a program left.
type end struct {
	out, err string
	exit     int
}

func (m *isolatedMachine) run(c *exec.Cmd, stdin string) end {
	m.t.Helper()
	var out, err bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &err
	if e := c.Run(); c.ProcessState == nil {
		m.t.Fatal(e)
	}
	return end{out.String(), err.String(), c.ProcessState.ExitCode()}
}

// bash is Claude's payload for a shell command.
func bashPayload(command string) string {
	return fmt.Sprintf(
		`{"session_id":"s","transcript_path":"/t","cwd":"/","permission_mode":"default","hook_event_name":"PreToolUse",`+
			`"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"toolu_1"}`, command)
}

// hook runs the courier as a user.
func (m *isolatedMachine) hook(uid uint32, env []string, command string, flags ...string) end {
	m.t.Helper()
	args := append([]string{"--agent", "claude", "--deadline", "20s", "--connect-timeout", "200ms"}, flags...)
	return m.run(m.command(uid, env, "bin/pinned-hook", args...), bashPayload(command))
}

// note adds a line to the table of what was tried, and fails if it went wrong.
func (m *isolatedMachine) note(who, what string, ok bool, got end) {
	m.t.Helper()
	result := strings.TrimSpace(strings.ReplaceAll(got.err, m.dir, "…"))
	if got.exit == 0 {
		result = "ok " + strings.TrimSpace(got.out)
	}
	result, _, _ = strings.Cut(result, "\n")
	m.tried = append(m.tried, [3]string{who, what, result})
	if !ok {
		m.t.Errorf("%s, %s: exit %d, out %.300s, err %.500s", who, what, got.exit, got.out, got.err)
	}
}

func (m *isolatedMachine) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHO\tTRIES\tGETS")
	for _, row := range m.tried {
		fmt.Fprintf(w, "%s\t%s\t%.150s\n", row[0], row[1], row[2])
	}
	_ = w.Flush()
	return b.String()
}

// blocks is Claude's blocking answer with a reason.
func blocks(e end, reason string) bool {
	return e.exit == 2 && strings.Contains(e.out, `"permissionDecision":"deny"`) && strings.Contains(e.err, reason)
}

// The story: the daemon has a user of its own and the agent another. The agent
// can ask. It can not answer, read a secret, replace a socket, or have its
// courier ask somebody else.
func TestIsolatedInstall(t *testing.T) {
	startsPrograms(t)
	m := newIsolatedMachine(t)
	log, pid := m.start(daemonUID, m.path("run/resolve.sock"), "bin/approver", "serve", "--config",
		m.path("etc/approver.yaml"))
	home := []string{"HOME=" + m.path("home")}

	// It asks, and people answer.
	got := m.hook(agentUID, home, "ls -la")
	m.note("agent", "submit: ls -la", got.exit == 0 && got.out == "", got)
	got = m.hook(agentUID, home, forbidden)
	m.note("agent", "submit: "+forbidden, blocks(got, "approver's own keys"), got)
	got = m.approved("git push --force origin main")
	m.note("agent", "submit: git push --force, Ada approves in Telegram",
		got.exit == 0 && strings.Contains(got.out, `"permissionDecision":"allow"`), got)
	m.unbound()
	for _, other := range []struct {
		who string
		uid uint32
	}{{"stranger", strangerUID}, {"daemon's user", daemonUID}, {"root", 0}} {
		got = m.hook(other.uid, home, "ls -la")
		m.note(other.who, "submit: ls -la", blocks(got, "this user may not ask approver"), got)
	}
	m.answering()
	// Who may answer and may not read the configuration names the socket.
	got = m.run(m.command(answererUID, home, "bin/approver", "pending", "--config", m.path("etc/approver.yaml")), "")
	m.note("answerer", "approver pending", got.exit == 1 &&
		strings.Contains(got.err, "permission denied: name the daemon's socket instead"), got)
	for _, args := range [][]string{{"status"}, {"pending", "--json"}} {
		got = m.run(m.command(answererUID, home, "bin/approver", append(args, "--socket", m.path("run/resolve.sock"))...), "")
		m.note("answerer", "approver "+args[0]+" --socket", got.exit == 0, got)
	}
	// The agent's user saw "daemon down" of a daemon that was up, with a cure that failed.
	m.must(os.MkdirAll(m.path("outside/.approver"), 0o755))
	m.must(os.Symlink(m.path("run"), m.path("outside/.approver/run")))
	for _, args := range [][]string{{"--socket", m.path("run/resolve.sock")}, {"--config", m.path("etc/approver.yaml")}} {
		got = m.run(m.command(agentUID, []string{"HOME=" + m.path("outside")}, "bin/approver",
			append([]string{"status"}, args...)...), "")
		m.note("agent", "approver status "+args[0],
			got.exit == 0 && strings.HasPrefix(got.out, "daemon    up: it answers on"), got)
	}
	watch := m.command(answererUID, home, "timeout", "-s", "INT", "3", m.path("bin/approver"), "watch", "--json",
		"--socket", m.path("run/resolve.sock"))
	got = m.run(watch, "")
	m.note("answerer", "approver watch --socket", !strings.Contains(got.err, "not connected"),
		end{out: "connected", err: got.err})
	m.reading(pid)
	m.doctored()
	m.elsewhere()
	m.unread()

	// What the daemon says of itself.
	if text := log(); strings.Contains(text, "NOT ISOLATED") || !strings.Contains(text, "isolated=true") {
		t.Errorf("the daemon says\n%s", text)
	}
	for _, card := range m.chat.Cards("-1001") {
		if strings.Contains(card.Text, "NOT ISOLATED") {
			t.Errorf("a card says %s", card.Text)
		}
	}
	audit := m.run(m.command(daemonUID, nil, "bin/approver", "audit", "tail", "--config", m.path("etc/approver.yaml"),
		"-n", "all", "--json"), "")
	if !strings.Contains(audit.out, fmt.Sprintf("isolated: who may submit is uid %d", agentUID)) ||
		strings.Contains(audit.out, "NOT ISOLATED") {
		t.Errorf("the audit says\n%s%s", audit.out, audit.err)
	}
	t.Logf("tried with the users %d (daemon), %d (agent), %d (stranger), %d (answers):\n%s", daemonUID, agentUID,
		strangerUID, answererUID, m.table())
}

// unbound: of what lies in a home that the daemon may not look into, nobody could
// tell whether it changes; the card says so. What it may read is bound.
func (m *isolatedMachine) unbound() {
	m.t.Helper()
	const notice = "can change after you answer"
	for _, card := range m.chat.Cards("-1001") {
		if strings.Contains(card.Text, notice) {
			m.t.Errorf("nothing was unreadable, and a card says %s", card.Text)
		}
	}
	m.must(os.Mkdir(m.path("home/private"), 0o700))
	m.must(os.Chown(m.path("home/private"), agentUID, agentUID))
	m.file("home/private/deploy.sh", "echo", agentUID, 0o700)
	m.file("home/secret.sh", "echo", agentUID, 0o700)
	for _, script := range []string{"home/private/deploy.sh", "home/secret.sh"} {
		before := len(m.chat.Cards("-1001"))
		got := m.approved("git push --force origin main && " + m.path(script))
		cards := m.chat.Cards("-1001")
		m.note("agent", "submit: … && "+script+", which the daemon cannot read, and Ada approves",
			got.exit == 0 && len(cards) == before+1, got)
		if text := cards[len(cards)-1].Text; !strings.Contains(text, notice) {
			m.t.Errorf("the card says %s", text)
		}
	}
}

// approved runs a hook while Ada presses the button, on every card that has one:
// an older card may lose its own only a moment later.
func (m *isolatedMachine) approved(command string) end {
	m.t.Helper()
	done := make(chan end, 1)
	go func() { done <- m.hook(agentUID, nil, command) }()
	for {
		for _, card := range m.chat.Cards("-1001") {
			if slices.Contains(card.Buttons, fake.ApproveButton) {
				_ = m.chat.Tap("10042", "-1001", card.Message, fake.ApproveButton) // it may lose its button now
			}
		}
		select {
		case got := <-done:
			return got
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// answering: whoever may submit must not come near the resolve socket.
func (m *isolatedMachine) answering() {
	m.t.Helper()
	for _, try := range []struct {
		who string
		uid uint32
		ok  bool
	}{{"agent", agentUID, false}, {"stranger", strangerUID, false}, {"answerer", answererUID, true},
		{"root (sudo)", 0, true}} {
		for _, path := range []string{"/v1/health", "/v1/answer"} {
			args := []string{"--silent", "--show-error", "--max-time", "5", "--unix-socket", m.path("run/resolve.sock"),
				"http://approver" + path}
			if path == "/v1/answer" {
				args = append(args, "--data", `{}`)
			}
			got := m.run(m.command(try.uid, nil, "curl", args...), "")
			// Who is turned away as they connect may find the answer, or the end of the connection.
			refused := strings.Contains(got.out, "may not") || got.exit != 0 && got.out == ""
			m.note(try.who, "resolve socket "+path, refused != try.ok, end{out: got.out, err: got.err, exit: got.exit})
		}
		if !try.ok {
			got := m.run(m.command(try.uid, nil, "bin/approver", "pending", "--socket", m.path("run/resolve.sock")), "")
			m.note(try.who, "approver pending --socket", got.exit == 1 && strings.Contains(got.err, "may not"), got)
		}
	}
}

// reading: secrets, keys and records are the daemon's alone, and so are the
// places of its sockets.
func (m *isolatedMachine) reading(pid int) {
	m.t.Helper()
	for _, name := range []string{"etc/approver.yaml", "lib/telegram.token", "lib/code.key", "lib/audit.key",
		"lib/approver.db", "lib/audit/audit.jsonl", "run/submit.sock.lock"} {
		_, err := os.Stat(m.path(name))
		m.must(err)
		got := m.run(m.command(agentUID, nil, "cat", m.path(name)), "")
		m.note("agent", "read "+name, got.exit != 0 && got.out == "" && strings.Contains(got.err, "Permission denied"), got)
	}
	proc := fmt.Sprintf("/proc/%d/", pid)
	for _, try := range []struct{ what, command string }{
		{"read the daemon's environment", "cat " + proc + "environ"},
		{"read the daemon's memory", "head -c1 " + proc + "mem"},
		{"replace the submit socket", "rm -f " + m.path("run/submit.sock")},
		{"put a file beside the sockets", "touch " + m.path("run/x")},
		{"put a file into the data", "touch " + m.path("lib/x")},
		{"change the pin", "echo >> " + m.path("etc/courier")},
		{"stop the daemon", fmt.Sprintf("kill %d", pid)},
	} {
		got := m.run(m.command(agentUID, nil, "sh", "-c", try.command), "")
		m.note("agent", try.what, got.exit != 0 && got.out == "", got)
	}
}

// elsewhere: a daemon of the agent's own, which allows everything, is asked by
// no courier.
func (m *isolatedMachine) elsewhere() {
	m.t.Helper()
	own := m.path("home/.approver/run/submit.sock")
	m.start(agentUID, own, "bin/fake-daemon", own)
	pinned := m.hook(agentUID, nil, forbidden).err // the true daemon's words
	env := []string{"HOME=" + m.path("home"), "APPROVER_SOCKET=" + own, "XDG_RUNTIME_DIR=" + m.path("home/.approver/run"),
		"APPROVER_CONFIG=" + m.path("home/x")}
	got := m.hook(agentUID, env, forbidden)
	m.note("agent", "courier with an environment that points to a daemon of its own",
		blocks(got, "approver's own keys") && got.err == pinned, got)
	got = m.hook(agentUID, env, forbidden, "--socket", own)
	m.note("agent", "courier with --socket that points there", blocks(got, "--socket names "), got)

	// The pin names a socket where somebody else listens, as after a daemon that is down.
	m.file("etc/courier", fmt.Sprintf("socket %s\nuid %d\n", own, daemonUID), 0, 0o644)
	got = m.hook(agentUID, env, forbidden)
	m.note("agent", "a daemon of its own listens on the pinned path",
		blocks(got, fmt.Sprintf("runs as uid %d, not as the one that", agentUID)), got)
	// A pin that the agent wrote is none.
	m.file("etc/courier", fmt.Sprintf("socket %s\nuid %d\n", own, agentUID), agentUID, 0o644)
	got = m.hook(agentUID, env, forbidden)
	m.note("agent", "a pin that belongs to the agent",
		blocks(got, "must be a file of root that nobody else can write"), got)
}

// The story: the configuration lists the daemon's own user among the agents. It
// works, says that it is not isolated, and nobody who asks may answer.
func TestNotIsolatedByFacts(t *testing.T) {
	m := newIsolatedMachine(t)
	text, err := os.ReadFile(m.path("etc/approver.yaml"))
	m.must(err)
	m.file("etc/approver.yaml", strings.Replace(string(text), fmt.Sprintf("submit_uids: [%d]", agentUID),
		fmt.Sprintf("submit_uids: [%d]", daemonUID), 1), daemonUID, 0o600)
	log, _ := m.start(daemonUID, m.path("run/resolve.sock"), "bin/approver", "serve", "--config",
		m.path("etc/approver.yaml"))
	if got := m.hook(daemonUID, nil, "ls"); got.exit != 0 {
		t.Errorf("%+v", got)
	}
	got := m.run(m.command(daemonUID, nil, "bin/approver", "pending", "--socket", m.path("run/resolve.sock")), "")
	if !strings.Contains(strings.Join(strings.Fields(got.err), " "),
		"may submit calls, so it may not see or answer requests") {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(log(), "NOT ISOLATED") || !strings.Contains(log(), "which approver runs as, may submit") {
		t.Errorf("the daemon says\n%s", log())
	}
}
