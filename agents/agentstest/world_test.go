// Package agentstest plays every agent's real program against the real programs: a model on loopback
// that says which calls to make, a daemon, the hook as install writes it, a person who answers, and a
// bare repository as the remote. What ran is read from the disk, never from what a hook said.
//
// The matrix (matrix_test.go) plays the same with every agent, and a person in a chat. The scenarios of
// claude_*_test.go play what Claude Code can do, with a person at a terminal. Each needs the agents:
// make e2e-agents installs all and names their folder in APPROVER_AGENTS, .ci/claude installs Claude Code
// and names it in APPROVER_CLAUDE. Without these variables everything is skipped.
package agentstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"approver.example/agents/canary/model"
)

// programs is the folder with approver and approver-hook, built from this source.
var programs string

func TestMain(m *testing.M) {
	if os.Getenv("APPROVER_CLAUDE") == "" && os.Getenv("APPROVER_AGENTS") == "" {
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
	if err := os.Chmod(dir, 0o755); err != nil { // for agents of other users
		return 1, err
	}
	programs = dir
	return m.Run(), nil
}

// limit bounds one run of an agent, and patience is how long something may take that takes no time on an
// idle machine.
const limit, patience = 240 * time.Second, 60 * time.Second

// A world is a home with a project, a remote and a daemon. What is started in it ends with it.
type world struct {
	*testing.T
	home    string
	agent   string
	program string   // the agent's
	env     []string // more of it, for what is started
	daemon  *exec.Cmd
	mu      sync.Mutex // of what the model and the person have seen
}

// newWorld makes a home. config is the daemon's.
func newWorld(t *testing.T, agent, program, config string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "apa") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, home: dir, agent: agent, program: program}
	t.Cleanup(w.end)
	w.sh(`chmod 755 . && mkdir -p work .approver bin && chmod 700 .approver
git init -q --bare -b main remote.git
git init -q -b main work && cd work && git config user.email a@example.com && git config user.name A
git remote add origin ../remote.git
echo one > file && git add . && git commit -qm one && for b in b1 b2 b3 b4 b5 b6 b7 b8; do git branch $b; done
git push -q --all origin && git commit -q --amend -m other`)
	w.write("remote.git/hooks/post-receive", "#!/bin/sh\necho push >> pushes\n", 0o755)
	w.write(".approver/approver.yaml", config, 0o600)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.home, name) }

// work is a path in the project.
func (w *world) work(name string) string { return filepath.Join(w.home, "work", name) }

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

func (w *world) read(name string) string {
	w.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

func (w *world) environ() []string {
	path := programs + ":" + filepath.Dir(w.program) + ":" + os.Getenv("PATH")
	return append([]string{"HOME=" + w.home, "PATH=" + path, "GIT_CONFIG_NOSYSTEM=1"}, w.env...)
}

func (w *world) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = w.home, w.environ()
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	return cmd
}

// sh runs a script of the test itself in the home.
func (w *world) sh(script string) string {
	w.Helper()
	out, err := w.command(w.Context(), "sh", "-ec", script).CombinedOutput()
	if err != nil {
		w.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// approver runs the command line and returns what it printed.
func (w *world) approver(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(w.Context(), limit)
	defer cancel()
	cmd := w.command(ctx, filepath.Join(programs, "approver"), args...)
	cmd.Dir = w.path("work")
	out, err := cmd.CombinedOutput()
	return string(out), err
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
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.daemon = cmd
	w.until("the daemon answers", func() bool {
		conn, err := net.Dial("unix", w.path(".approver/run/resolve.sock"))
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
}

// kill ends the daemon at once.
func (w *world) kill() {
	if w.daemon != nil {
		_ = w.daemon.Process.Kill()
		_ = w.daemon.Wait()
		w.daemon = nil
	}
}

// until waits for something.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("after %v it is still not so that %s", patience, what)
		}
	}
}

// install puts the hook into the settings, by approver's own installer.
func (w *world) install(args ...string) {
	w.Helper()
	// Each scenario starts the agent itself, so install does not.
	if out, err := w.approver(append([]string{"install", w.agent, "--no-hook-test"}, args...)...); err != nil {
		w.Fatalf("install: %v: %s", err, out)
	}
}

// listen starts a model on loopback that ends with the context, and returns its address.
func (w *world) listen(ctx context.Context, next func(model.Conversation) []model.Call) string {
	w.Helper()
	server := model.Server{Next: func(_ context.Context, c model.Conversation) []model.Call { return next(c) }}
	url, _, err := server.Listen(ctx)
	if err != nil {
		w.Fatal(err)
	}
	return url
}

// The dangerous call, and what it does.
const force = "git push --force origin main"

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

func (w *world) pushed(times int) {
	w.Helper()
	if got := w.pushes(); got != times {
		w.Errorf("the remote was changed %d times, not %d", got, times)
	}
}

// branches are those of the remote.
func (w *world) branches() string {
	w.Helper()
	return strings.Join(strings.Fields(w.sh("git -C remote.git for-each-ref --format='%(refname:short)' refs/heads")), " ")
}

// audit is the text of the whole audit.
func (w *world) audit() string { return w.read(".approver/audit/audit.jsonl") }

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
	if w.Failed() {
		if log, err := os.ReadFile(w.path("daemon.log")); err == nil {
			w.Logf("the daemon: %s", log[max(0, len(log)-3000):])
		}
	}
	if err := os.RemoveAll(w.home); err != nil {
		time.Sleep(time.Second)
		_ = os.RemoveAll(w.home)
	}
}
