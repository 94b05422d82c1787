package courier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/blocking"
	"approver.example/agents/facts"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
	"approver.example/httpapi/wire"
)

type hookFunc = func(context.Context, httpapi.HookRequest) httpapi.HookAnswer

func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// daemon runs a submit server on socket; stop ends it as a restart does.
func daemon(t *testing.T, socket string, hook hookFunc) (stop func()) {
	t.Helper()
	l, err := httpapi.Listen(socket, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s := &httpapi.Submit{Hook: hook, Admit: httpapi.AdmitUIDs(uint32(os.Geteuid())), Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	var once atomic.Bool
	stop = func() {
		if once.CompareAndSwap(false, true) {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

// outcome is what a hook process leaves behind.
type outcome struct {
	stdout, stderr string
	exit           int
	took           time.Duration
}

func run(t *testing.T, c Courier, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if c.Stdin == nil {
		c.Stdin = strings.NewReader("{}")
	}
	if c.Stdout == nil {
		c.Stdout = &stdout
	}
	c.Stderr = &stderr
	if c.PinFile == "" {
		c.PinFile = filepath.Join(tempDir(t), "none")
	}
	started := time.Now()
	exit := c.Run(append([]string{"--agent", "claude"}, args...))
	return outcome{stdout.String(), stderr.String(), exit, time.Since(started)}
}

// blocked asserts that the outcome is Claude's whole blocking answer with want
// in its reason.
func blocked(t *testing.T, o outcome, want string) {
	t.Helper()
	reason := strings.TrimSuffix(o.stderr, "\n")
	a := blocking.For("claude", "PreToolUse", reason)
	if o.exit != 2 || o.stdout != string(a.Stdout) || o.stderr != string(a.Stderr) || !strings.Contains(reason, want) {
		t.Errorf("exit %d\nstdout %s\nstderr %s\nwant a block with %q", o.exit, o.stdout, o.stderr, want)
	}
}

// says asserts that the outcome is a block with exactly this reason: one sentence
// for each thing that may be wrong.
func says(t *testing.T, o outcome, reason string) {
	t.Helper()
	blocked(t, o, reason)
	if o.stderr != reason+"\n" {
		t.Errorf("the reason is\n%swant\n%s", o.stderr, reason)
	}
}

func TestRunCarriesAnswers(t *testing.T) {
	socket := filepath.Join(tempDir(t), "s")
	var answer atomic.Pointer[httpapi.HookAnswer]
	requests := make(chan httpapi.HookRequest, 1)
	daemon(t, socket, func(_ context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
		requests <- h
		return *answer.Load()
	})
	for name, want := range map[string]httpapi.HookAnswer{
		"pass":  {ExitZero: true},
		"allow": {ExitZero: true, Stdout: []byte("{\"a\":\"é\"}\n")},
		"deny":  {Stdout: []byte("{\"deny\":1}\n"), Stderr: []byte("because\n")},
		"large": {ExitZero: true, Stdout: []byte(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)},
	} {
		answer.Store(&want)
		env := []string{"PATH=/a:/b", "SECRET=x", "NODE_OPTIONS="}
		o := run(t, Courier{Stdin: strings.NewReader("in\x00\xff"), Env: env}, "--socket", socket, "--deadline", "7s")
		exit := 2
		if want.ExitZero {
			exit = 0
		}
		if o.exit != exit || o.stdout != string(want.Stdout) || o.stderr != string(want.Stderr) {
			t.Errorf("%s: exit %d, stdout %.100q, stderr %q", name, o.exit, o.stdout, o.stderr)
		}
		h := <-requests
		if h.Agent != "claude" || string(h.Payload) != "in\x00\xff" || fmt.Sprint(h.Env) != "map[NODE_OPTIONS: PATH:/a:/b]" ||
			!wire.IsCall(h.CallID) ||
			h.Deadline > 7*time.Second || h.Deadline < 5*time.Second || h.Peer.PID != int32(os.Getpid()) {
			t.Errorf("%s: the daemon got %+v", name, h)
		}
	}
}

func TestCallIDsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id, err := newCallID()
		if err != nil || !wire.IsCall(id) || seen[id] {
			t.Fatalf("%q, %v", id, err)
		}
		seen[id] = true
	}
}

func TestRunWithoutDaemon(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	stale := filepath.Join(dir, "stale")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, socket := range map[string]string{"nothing there": filepath.Join(dir, "none"),
		"no folder": filepath.Join(dir, "no", "s"), "stale socket": stale, "a file": file} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := run(t, Courier{}, "--socket", socket, "--connect-timeout", "200ms")
			blocked(t, o, "approver is not running (nobody listens on "+socket+
				"), so the call was stopped; start it with: approver serve")
			if o.took < 100*time.Millisecond || o.took > 20*time.Second {
				t.Errorf("it took %v", o.took)
			}
		})
	}
	// The deadline bounds the search too, and is not what is to blame.
	none := filepath.Join(dir, "none")
	o := run(t, Courier{}, "--socket", none, "--connect-timeout", "1m", "--deadline", "1s")
	says(t, o, "approver is not running (nobody listens on "+none+
		"), so the call was stopped; start it with: approver serve")
	if o.took > 20*time.Second {
		t.Errorf("it took %v", o.took)
	}
}

func TestRunWaitsForADaemonThatStarts(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(tempDir(t), "s")
	done := make(chan outcome, 1)
	go func() { done <- run(t, Courier{}, "--socket", socket) }()
	time.Sleep(120 * time.Millisecond)
	daemon(t, socket, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		return httpapi.HookAnswer{ExitZero: true}
	})
	if o := <-done; o.exit != 0 || o.stdout != "" || o.stderr != "" {
		t.Errorf("%+v", o)
	}
}

// The story: people are looking at the card when the daemon is restarted. The
// courier comes back with the same call, and the answer to the second daemon
// still reaches the agent.
func TestRunSurvivesARestart(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(tempDir(t), "s")
	requests := make(chan httpapi.HookRequest, 8)
	hold := func(ctx context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
		requests <- h
		<-ctx.Done()
		return httpapi.HookAnswer{Stderr: []byte("not for the agent")}
	}
	done := make(chan outcome, 1)
	stop := daemon(t, socket, hold)
	go func() {
		done <- run(t, Courier{Stdin: strings.NewReader("the call")}, "--socket", socket, "--deadline", "20s",
			"--connect-timeout", "1ms")
	}()
	first := <-requests
	stop()
	time.Sleep(200 * time.Millisecond) // longer than --connect-timeout, which counts only before the first daemon
	stop = daemon(t, socket, hold)
	second := <-requests
	stop()
	daemon(t, socket, func(_ context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
		requests <- h
		return httpapi.HookAnswer{ExitZero: true, Stdout: []byte("{\"ok\":1}\n")}
	})
	third := <-requests
	o := <-done
	if o.exit != 0 || o.stdout != "{\"ok\":1}\n" {
		t.Errorf("%+v", o)
	}
	if first.CallID != second.CallID || second.CallID != third.CallID || string(third.Payload) != "the call" {
		t.Errorf("calls %s, %s, %s, payload %q", first.CallID, second.CallID, third.CallID, third.Payload)
	}
	if second.Deadline > first.Deadline-200*time.Millisecond || third.Deadline > second.Deadline {
		t.Errorf("deadlines %v, %v, %v do not shrink", first.Deadline, second.Deadline, third.Deadline)
	}
}

func TestRunDaemonDiesForGood(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(tempDir(t), "s")
	entered := make(chan struct{}, 1)
	stop := daemon(t, socket, func(ctx context.Context, _ httpapi.HookRequest) httpapi.HookAnswer {
		entered <- struct{}{}
		<-ctx.Done()
		return httpapi.HookAnswer{}
	})
	go func() {
		<-entered
		stop()
	}()
	o := run(t, Courier{}, "--socket", socket, "--deadline", "1s")
	says(t, o, "approver stopped while it had the call, and was not back within 1s, so the call was stopped; start it "+
		"again with: approver serve")
	if o.took > 20*time.Second {
		t.Errorf("it took %v", o.took)
	}
}

func TestRunDaemonHangs(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(tempDir(t), "s")
	gone := make(chan error, 1)
	release := make(chan struct{})
	daemon(t, socket, func(ctx context.Context, _ httpapi.HookRequest) httpapi.HookAnswer {
		<-release // deaf to its context
		<-ctx.Done()
		gone <- context.Cause(ctx)
		return httpapi.HookAnswer{}
	})
	o := run(t, Courier{}, "--socket", socket, "--deadline", "1s")
	close(release)
	says(t, o, "approver had no answer within 1s, so the call was stopped; the user can see why with approver status")
	if o.took < 900*time.Millisecond || o.took > 20*time.Second {
		t.Errorf("it took %v", o.took)
	}
	if cause := <-gone; !errors.Is(cause, context.DeadlineExceeded) && !errors.Is(cause, httpapi.ErrCourierGone) {
		t.Errorf("the daemon was told %v", cause)
	}
}

func TestRunSetUpWrong(t *testing.T) {
	o := run(t, Courier{}, "--deadline", "soon")
	blocked(t, o, `not set up correctly, so the call was stopped: the flag --deadline "soon"`)
	var stdout, stderr bytes.Buffer
	if exit := Run([]string{"--event", "x"}, strings.NewReader(""), &stdout, &stderr, nil); exit != 2 ||
		!strings.Contains(stderr.String(), "--agent is missing") ||
		!strings.Contains(stdout.String(), `"permissionDecision":"deny"`) {
		t.Errorf("exit %d, %s, %s", exit, &stdout, &stderr)
	}
	// The form of the answer is that of the agent and event.
	stdout.Reset()
	if Run([]string{"--agent", "claude", "--event", "PermissionRequest", "--what"}, strings.NewReader(""), &stdout,
		&stderr, nil); !strings.Contains(stdout.String(), `"behavior":"deny"`) {
		t.Errorf("%s", &stdout)
	}
}

// A person who asks gets an answer. A hook that has anything else beside the
// question gets a block, because an agent would read the help as no objection.
func TestRunAskedByAPerson(t *testing.T) {
	ask := func(args ...string) outcome {
		var stdout, stderr bytes.Buffer
		exit := Run(args, strings.NewReader("{}"), &stdout, &stderr, nil)
		return outcome{stdout: stdout.String(), stderr: stderr.String(), exit: exit}
	}
	if o := ask("--help"); o.exit != 0 || o.stderr != "" || o.stdout != Usage() {
		t.Errorf("--help: %+v", o)
	}
	if o := ask("--version"); o.exit != 0 || o.stderr != "" || !strings.Contains(o.stdout, wire.HookPath+", go1.") ||
		!strings.Contains(o.stdout, "go version -m /") {
		t.Errorf("--version: %+v", o)
	}
	for _, args := range [][]string{{}, {"-h"}, {"--help", "--version"}, {"--help", ""}, {"", "--help"}, {"--help=1"},
		{"--version="}, {"help"}, {"--agent", "--help"}, {"--agent", "claude", "--help"}} {
		if o := ask(args...); o.exit != 2 || !strings.Contains(o.stdout, `"permissionDecision":"deny"`) || o.stderr == "" {
			t.Errorf("%q: %+v", args, o)
		}
	}
}

// Every flag that is read is explained, with the default that holds.
func TestUsage(t *testing.T) {
	for _, flag := range []string{"agent", "event", "deadline", "socket", "connect-timeout"} {
		if !strings.Contains(Usage(), "\n  --"+flag+" ") {
			t.Errorf("--%s is not explained", flag)
		}
	}
	_, err := parseFlags([]string{"--agent=x", "--what=1"})
	for name := range strings.FieldsSeq(Usage()) {
		if strings.HasPrefix(name, "--") && !strings.HasPrefix(name, "--help") && !strings.HasPrefix(name, "--version") &&
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s is explained and not known", name)
		}
	}
	for _, d := range []time.Duration{facts.Of("claude").Patience, defaultDeadline, defaultConnect} {
		text := strings.TrimPrefix(strings.Replace(d.String(), "4m50s", "290s", 1), "0m")
		if !strings.Contains(Usage(), text) {
			t.Errorf("the default %s is not told", text)
		}
	}
}

func TestRunRefused(t *testing.T) {
	socket := filepath.Join(tempDir(t), "s")
	l, err := httpapi.Listen(socket, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s := &httpapi.Submit{Log: slog.New(slog.DiscardHandler), Admit: func(approver.Peer) error { return errors.New("no") }}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	defer func() {
		cancel()
		<-ended
	}()
	blocked(t, run(t, Courier{}, "--socket", socket), "this user may not ask approver")
	// Also when the daemon refuses before it has read a large call.
	blocked(t, run(t, Courier{Stdin: io.LimitReader(zeros{}, maxCall)}, "--socket", socket),
		"this user may not ask approver")
}

// The story: an agent that can write to the socket's folder puts a daemon of its
// own there, which allows everything. It is not asked.
func TestRunUntrustedFolder(t *testing.T) {
	dir := tempDir(t)
	socket := filepath.Join(dir, "s")
	daemon(t, socket, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		t.Error("the untrusted daemon was asked")
		return httpapi.HookAnswer{ExitZero: true}
	})
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	blocked(t, run(t, Courier{}, "--socket", socket),
		"does not trust who listens, so the call was stopped: the folder "+dir+" can be written by others")
}

func TestRunDefaultSocket(t *testing.T) {
	home := tempDir(t)
	dir, err := socketpath.Dir(home)
	if err != nil || !strings.HasPrefix(dir, home) {
		t.Fatalf("this machine has a daemon of its own: %s, %v", dir, err)
	}
	daemon(t, filepath.Join(dir, socketpath.Submit), func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		return httpapi.HookAnswer{ExitZero: true}
	})
	if o := run(t, Courier{Env: []string{"HOME=" + home}}); o.exit != 0 {
		t.Errorf("%+v", o)
	}
	blocked(t, run(t, Courier{}), "HOME is not an absolute path")
}

// The story: on an isolated install the agent sets HOME, or --socket in its
// settings, to reach a daemon of its own. The pin, which only root can write,
// goes before both, and names the uid that must listen.
func TestRunPinned(t *testing.T) {
	dir, uid := tempDir(t), uint32(os.Geteuid())
	real, fake := filepath.Join(dir, "real"), filepath.Join(dir, "fake")
	daemon(t, real, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		return httpapi.HookAnswer{Stderr: []byte("the real one\n")}
	})
	daemon(t, fake, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		t.Error("the fake daemon was asked")
		return httpapi.HookAnswer{ExitZero: true}
	})
	pin := func(uid uint32) Courier {
		file := filepath.Join(dir, fmt.Sprint("pin", uid))
		if err := os.WriteFile(file, fmt.Appendf(nil, "socket %s\nuid %d\n", real, uid), 0o600); err != nil {
			t.Fatal(err)
		}
		return Courier{PinFile: file, PinOwner: uint32(os.Geteuid()), Env: []string{"HOME=" + dir}}
	}
	for _, args := range [][]string{nil, {"--socket", real}} {
		if o := run(t, pin(uid), args...); o.stderr != "the real one\n" {
			t.Errorf("%+v", o)
		}
	}
	blocked(t, run(t, pin(uid), "--socket", fake), "--socket names "+fake)
	blocked(t, run(t, pin(uid+1)), "not as the one that")
	c := pin(uid)
	c.PinOwner++
	blocked(t, run(t, c, "--socket", fake), "must be a file of root")
}
