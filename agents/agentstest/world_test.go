// Package agentstest plays every agent's real program against the real programs: a model on loopback
// that says which calls to make, a daemon, the hook as install writes it, a person who answers in a
// chat on loopback, and a bare repository as the remote. What ran is read from the disk, never from
// what a hook said.
//
// It needs the agents: make e2e-agents installs them, names their folder in APPROVER_AGENTS, and runs
// this. Without that variable everything is skipped.
package agentstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"approver.example/agents"
	"approver.example/agents/canary"
	"approver.example/agents/canary/model"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
)

// programs is the folder with approver and approver-hook, built from this source.
var programs string

func TestMain(m *testing.M) {
	if os.Getenv("APPROVER_AGENTS") == "" {
		os.Exit(m.Run()) // everything is skipped
	}
	code, err := withPrograms(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withPrograms(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "apb")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", dir+"/", "approver.example/cmd/approver",
		"approver.example/cmd/approver-hook")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("%w: %s", err, out)
	}
	programs = dir
	return m.Run(), nil
}

// The person in the chat, and the chat.
const (
	adaID = 10042
	chat  = -1001234567890
)

// A world is a home with a project, a remote, a chat and a daemon. What is started in it ends with it.
type world struct {
	*testing.T
	agent   agents.Installer
	recipe  canary.Recipe
	program string // the agent
	home    string
	chat    *telegramtest.Server
	daemon  *exec.Cmd

	url string // of the model, the same for each run: it is in the environment of the calls

	mu      sync.Mutex
	next    func(c model.Conversation) []model.Call
	results []string // what the model read of each call, in their order
	printed bytes.Buffer
}

// newWorld makes a home. more is added to the configuration.
func newWorld(t *testing.T, name, more string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "apa") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	adapter, _ := agents.For(name)
	w := &world{T: t, home: dir, chat: telegramtest.New()}
	t.Cleanup(w.end)
	var ok bool
	if w.agent, ok = adapter.(agents.Installer); !ok {
		t.Fatalf("%s cannot be installed", name)
	}
	if w.recipe, ok = agents.RecipeOf(adapter); !ok {
		t.Fatalf("there is no recipe of %s", name)
	}
	w.program = filepath.Join(os.Getenv("APPROVER_AGENTS"), name, "node_modules", ".bin", w.recipe.Agent)
	if _, err := os.Stat(w.program); err != nil {
		t.Fatal(err)
	}
	server := model.Server{Next: func(_ context.Context, c model.Conversation) []model.Call {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.next(c)
	}}
	if w.url, _, err = server.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.chat.AddUser(adaID, "Ada")
	w.chat.AddChat(telegramtest.Chat{ID: chat})
	w.sh(`mkdir -p work .approver bin && chmod 700 .approver
git init -q --bare -b main remote.git
git init -q -b main work && cd work && git config user.email a@example.com && git config user.name A
git remote add origin ../remote.git
echo one > file && git add . && git commit -qm one && git push -q --all origin && git commit -q --amend -m other`)
	w.write("remote.git/hooks/post-receive", "#!/bin/sh\necho push >> pushes\n", 0o755)
	// The courier's deadline is for people; what is played here ends sooner.
	w.write("bin/approver-hook", fmt.Sprintf(`#!/bin/sh
n=0
for a do
	[ $n = 0 ] && set --
	n=1
	[ "$a" = 290s ] && a="${APPROVER_TEST_DEADLINE:-290s}"
	set -- "$@" "$a"
done
exec %s/approver-hook "$@"
`, programs), 0o755)
	w.write(".approver/approver.yaml", fmt.Sprintf(`%s
channels: {telegram: {token: %q, api_url: %q, chats: [{id: "%d"}], approvers: [{id: "%d", name: Ada}]}}
`, more, w.chat.Token(), w.chat.URL(), int64(chat), adaID), 0o600)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.home, name) }

func (w *world) there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (w *world) write(name, text string, mode os.FileMode) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), mode); err != nil {
		w.Fatal(err)
	}
}

func (w *world) environ(more ...string) []string {
	path := programs + ":" + filepath.Dir(w.program) + ":" + os.Getenv("PATH")
	return append([]string{"HOME=" + w.home, "PATH=" + path, "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb",
		"IS_SANDBOX=1", "LANG=C.UTF-8"}, more...)
}

// sh runs a script of the test itself in the home.
func (w *world) sh(script string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "sh", "-ec", script)
	cmd.Dir, cmd.Env = w.home, w.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("%v: %s", err, out)
	}
}

// install puts the hook into the user's settings, by approver's own installer.
func (w *world) install() {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), filepath.Join(programs, "approver"), "install", w.agent.Name(),
		"--no-hook-test", "--hook", w.path("bin/approver-hook"))
	cmd.Dir, cmd.Env = w.path("work"), w.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("install: %v: %s", err, out)
	}
}

// serve starts the daemon and waits until it answers.
func (w *world) serve() {
	w.Helper()
	log, err := os.OpenFile(w.path("daemon.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(programs, "approver"), "serve")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.home, w.environ(), log, log
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.daemon = cmd
	w.until("the daemon answers", func() bool { return w.there(w.path(".approver/run/submit.sock")) })
}

// kill ends the daemon at once.
func (w *world) kill() {
	if w.daemon != nil {
		_ = w.daemon.Process.Kill()
		_ = w.daemon.Wait()
		w.daemon = nil
	}
}

// patience is how long something may take that takes no time on an idle machine.
const patience = 60 * time.Second

// until waits for something.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("after %v it is still not so that %s", patience, what)
		}
	}
}

// limit bounds one run of an agent.
const limit = 150 * time.Second

// run starts the agent with a model that makes these calls, one in each turn, and returns when the
// agent has ended.
func (w *world) run(env []string, commands ...string) {
	w.Helper()
	w.start(env, commands...)()
}

// start is run that does not wait for the end; wait does.
func (w *world) start(env []string, commands ...string) (wait func()) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), limit)
	w.mu.Lock()
	first := len(w.results)
	w.mu.Unlock()
	w.mu.Lock()
	w.next = func(c model.Conversation) []model.Call {
		for _, r := range c.Results {
			if at := first + c.Turn - 1; at >= len(w.results) {
				w.results = append(w.results, r.Text)
			}
		}
		if c.Turn >= len(commands) {
			return nil
		}
		return []model.Call{w.recipe.Call(fmt.Sprintf("call_%d_%d", first, c.Turn), commands[c.Turn])}
	}
	w.mu.Unlock()
	temp := w.path("start") // the same for each run: it is in the environment of the calls
	if err := errors.Join(os.RemoveAll(temp), os.Mkdir(temp, 0o700)); err != nil {
		w.Fatal(err)
	}
	set := canary.Setting{URL: w.url, Dir: w.path("work"), Temp: temp, Command: commands[0], Env: w.environ(env...)}
	cmd, err := w.recipe.Command(ctx, w.program, set)
	if err != nil {
		w.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = &w.printed, &w.printed
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	return func() {
		w.Helper()
		err := cmd.Wait()
		if ctx.Err() != nil {
			w.Errorf("%s was ended after %v: %v", w.agent.Name(), limit, err)
		}
		if err := canary.End(cmd); err != nil {
			w.Error(err)
		}
		cancel()
		if w.recipe.Noted != nil {
			if said := w.recipe.Noted(set); said != "" {
				w.mu.Lock()
				w.results = append(w.results, "nothing; in its log: "+said)
				w.mu.Unlock()
			}
		}
	}
}

// read is what the model read of its first call, or of all.
func (w *world) read() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.results, " | ")
}

// card waits for a question in the chat that is still open, and returns it.
func (w *world) card() (card fake.Shown) {
	w.Helper()
	w.until("people are asked", func() bool {
		for _, c := range w.chat.Cards(strconv.Itoa(chat)) {
			if len(c.Buttons) > 0 {
				card = c
				return true
			}
		}
		return false
	})
	return card
}

// answer presses a button of the open question.
func (w *world) answer(button fake.Button) {
	w.Helper()
	if err := w.chat.Tap(strconv.Itoa(adaID), strconv.Itoa(chat), w.card().Message, button); err != nil {
		w.Fatal(err)
	}
}

// pushes is how often something was pushed since the world began.
func (w *world) pushes() int {
	text, err := os.ReadFile(w.path("remote.git/pushes"))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		w.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// ours are the processes whose home is this world's: hooks have groups of their own.
func (w *world) ours(program string) (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		w.Fatal(err)
	}
	for _, file := range all {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte("HOME="+w.home+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		name, nameErr := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		if err == nil && nameErr == nil && strings.HasPrefix(filepath.Base(name), program) && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// end ends whatever is left, by its id.
func (w *world) end() {
	w.kill()
	for _, pid := range w.ours("") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	w.chat.Close()
	if w.Failed() {
		if log, err := os.ReadFile(w.path("daemon.log")); err == nil {
			w.Logf("the daemon: %s", log[max(0, len(log)-3000):])
		}
		out := w.printed.String()
		w.Logf("the agent: %s", out[max(0, len(out)-3000):])
	}
	if err := os.RemoveAll(w.home); err != nil {
		time.Sleep(time.Second)
		_ = os.RemoveAll(w.home)
	}
}

// configure adds lines to the configuration.
func (w *world) configure(lines string) {
	w.Helper()
	text, err := os.ReadFile(w.path(".approver/approver.yaml"))
	if err != nil {
		w.Fatal(err)
	}
	w.write(".approver/approver.yaml", lines+"\n"+string(text), 0o600)
}

// serveFails starts a daemon that must not start.
func (w *world) serveFails() {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "approver"), "serve")
	cmd.Dir, cmd.Env = w.home, w.environ()
	if out, err := cmd.CombinedOutput(); err == nil || ctx.Err() != nil {
		w.Errorf("the daemon started: %s", out)
	}
}
