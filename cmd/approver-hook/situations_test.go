package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/blocking"
	"approver.example/agents/facts"
	"approver.example/httpapi"
)

// A situation is what the agent's user can do to a courier. Its script runs in a shell
// with the hook's command line in "$@", and ends in it.
type situation struct {
	name, script string
	// mute says that the agent cannot read what the hook prints: no document counts.
	mute bool
	// crash says that the runtime ends the process before there is a document.
	crash bool
	// root says that it takes another user, so only root can try it.
	root bool
}

// situations end every one in a block. DIR is a folder of the test's own, in which d is
// the socket of a daemon that denies, l that of one that lets go, and h one that never
// answers.
var situations = []situation{
	{name: "no daemon", script: `exec "$@" --socket DIR/none`},
	{name: "denied", script: `exec "$@" --socket DIR/d`},
	{name: "denied, input closed", script: `exec "$@" --socket DIR/d <&-`},
	{name: "denied, errors closed", script: `exec "$@" --socket DIR/d 2>&-`, mute: true},
	{name: "denied, output closed", script: `exec "$@" --socket DIR/d >&-`, mute: true},
	{name: "no daemon, output closed", script: `exec "$@" --socket DIR/none >&-`, mute: true},
	{name: "no daemon, all closed", script: `exec "$@" --socket DIR/none <&- >&- 2>&-`, mute: true},
	{name: "input and output closed", script: `exec "$@" --socket DIR/d <&- >&-`, mute: true},
	{name: "output to /dev/full", script: `exec "$@" --socket DIR/d >/dev/full`, mute: true},
	{name: "output and errors to /dev/full", script: `exec "$@" --socket DIR/d >/dev/full 2>&1`, mute: true},
	{name: "output to /dev/null", script: `exec "$@" --socket DIR/d >/dev/null`, mute: true},
	{name: "output to /dev/zero", script: `exec "$@" --socket DIR/d >/dev/zero`, mute: true},
	{name: "output to /dev/urandom", script: `exec "$@" --socket DIR/d 1<>/dev/urandom`, mute: true},
	{name: "output read only", script: `exec "$@" --socket DIR/d 1</dev/null`, mute: true},
	{name: "output a folder", script: `exec "$@" --socket DIR/d 1</`, mute: true},
	{name: "output a pipe that is closed",
		script: `mkfifo p && exec 3<>p 4>p 3<&- && exec "$@" --socket DIR/d >&4 4>&-`, mute: true},
	{name: "output a pipe that is full",
		script: `mkfifo p && exec 3<>p && dd if=/dev/zero bs=65536 count=1 >&3 2>/dev/null && exec "$@" ` +
			`--socket DIR/d >&3`, mute: true},
	{name: "empty input", script: `exec "$@" --socket DIR/d </dev/null`},
	{name: "input without end, nothing comes",
		script: `mkfifo p && exec 3<>p && exec "$@" --socket DIR/d <&3`},
	{name: "input without end, zeros", script: `exec "$@" --socket DIR/d </dev/zero`},
	{name: "100 MB", script: `head -c 100000000 /dev/zero | "$@" --socket DIR/d`},
	{name: "input is a folder", script: `exec "$@" --socket DIR/d </`},
	{name: "no UTF-8", script: `printf '\377\376{' | "$@" --socket DIR/d`},
	{name: "unknown fields", script: `echo '{"what":1}' | "$@" --socket DIR/d`},
	{name: "no files", script: `ulimit -n 0; exec "$@" --socket DIR/d`, crash: true},
	{name: "three files", script: `ulimit -n 3; exec "$@" --socket DIR/d`, crash: true},
	{name: "six files", script: `ulimit -n 6; exec "$@" --socket DIR/d`, crash: true},
	{name: "little memory", script: `ulimit -v 100000; exec "$@" --socket DIR/d`, crash: true},
	{name: "no stack", script: `ulimit -s 8; exec "$@" --socket DIR/d`, crash: true},
	{name: "no data", script: `ulimit -d 0; exec "$@" --socket DIR/d`, crash: true},
	{name: "no long files", script: `ulimit -f 0; exec "$@" --socket DIR/d`},
	{name: "no time", script: `ulimit -t 0; exec "$@" --socket DIR/d`, crash: true},
	{name: "SIGTERM while it waits", script: `(sleep 0.6; kill -TERM $$) & exec "$@" --socket DIR/h`},
	{name: "SIGHUP while it waits", script: `(sleep 0.6; kill -HUP $$) & exec "$@" --socket DIR/h`},
	{name: "SIGPIPE while it waits", script: `(sleep 0.3; kill -PIPE $$) & exec "$@" --socket DIR/h`},
	{name: "SIGSTOP and SIGCONT beyond the deadline",
		script: `(sleep 0.3; kill -STOP $$; sleep 1.5; kill -CONT $$) & exec "$@" --socket DIR/h`},
	{name: "HOME unset", script: `unset HOME; exec "$@"`},
	{name: "HOME relative", script: `HOME=x exec "$@"`},
	{name: "folder removed", script: `mkdir g && cd g && rmdir ../g && exec "$@" --socket DIR/d`},
	{name: "socket is a file", script: `exec "$@" --socket DIR/file`},
	{name: "socket is a folder", script: `exec "$@" --socket DIR/folder`},
	{name: "socket is a link to nowhere", script: `exec "$@" --socket DIR/link`},
	{name: "socket is a pipe", script: `exec "$@" --socket DIR/pipe`},
	{name: "socket of another user", script: `exec "$@" --socket DIR/foreign`, root: true},
	{name: "a flag twice", script: `exec "$@" --socket DIR/l --socket DIR/l`},
	{name: "a flag unknown", script: `exec "$@" --socket DIR/l --nothing`},
	{name: "a variable twice", script: `exec env -i PATH=/bin "$@" --socket DIR/none`},
	{name: "many processors", script: `GOMAXPROCS=2000 exec "$@" --socket DIR/h`},
	{name: "GOGC and GODEBUG",
		script: `GOGC=1 GODEBUG=gctrace=1,schedtrace=1,clobberfree=1 GOTRACEBACK=crash GOMEMLIMIT=1 exec "$@" --socket ` +
			`DIR/h`},
	{name: "the runtime's own memory limit is nonsense", script: `GOMEMLIMIT=x exec "$@" --socket DIR/d`, crash: true},
	{name: "traced, the first thread", script: `exec strace -o /dev/null "$@" --socket DIR/l`},
	{name: "traced, all threads", script: `exec strace -f -o /dev/null "$@" --socket DIR/l`},
}

// The story: with its standard output closed, the hook of Cline printed the "no" into
// the null device that the runtime opens in its place, and ended with 0: Cline let the
// call run. Whatever is done to a courier, each agent finds a whole "no" in its own
// form, or an exit code that is not 0.
func TestEverySituationOfEveryAgent(t *testing.T) {
	dir := places(t)
	for _, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if s.root && os.Geteuid() != 0 {
				t.Skip("only root can be another user")
			}
			if _, err := exec.LookPath("strace"); strings.Contains(s.script, "strace") && err != nil {
				t.Skip("there is no strace here")
			}
			var all sync.WaitGroup
			defer all.Wait()
			for _, agent := range facts.All() {
				for _, event := range agent.Events {
					home := t.TempDir()
					all.Go(func() {
						meet(t, s, strings.ReplaceAll(s.script, "DIR", dir), home, agent.Name, event.Name)
					})
				}
			}
		})
	}
}

// tooLate is the reason of a courier whose time was over.
var tooLate = regexp.MustCompile(`approver had no answer within 1s, so .*; the user can see why with approver status`)

// meet plays one situation with one row.
func meet(t *testing.T, s situation, script, home, agent, event string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script, "sh", hook, "--agent", agent, "--event", event, "--deadline",
		"1s", "--connect-timeout", "0s")
	cmd.Dir = home
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + cmd.Dir}
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("{}"), &out, &errs
	cmd.WaitDelay = 5 * time.Second
	started := time.Now()
	_ = cmd.Run()
	took := time.Since(started)
	exit := cmd.ProcessState.ExitCode()
	if ctx.Err() != nil {
		t.Errorf("%s %s: no end after %v", agent, event, took)
	}
	// The runtime may have said something before and after it. Where nothing can be read
	// there, the document has the reason: the daemon's, or on a slow machine that it came
	// too late.
	reasons := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
	if errs.Len() == 0 {
		reasons = []string{"denied", tooLate.FindString(out.String())}
	}
	whole := slices.ContainsFunc(reasons, func(reason string) bool {
		want := blocking.For(agent, event, reason)
		if exit != want.Exit() {
			return false
		}
		// A hook that was not given the processor for a second ends without its document: the
		// exit code and the reason block.
		late := exit == 2 && out.Len() == 0 && took > time.Second
		return late || out.String() == string(want.Stdout)
	}) && (s.mute || errs.Len() > 0)
	switch {
	case whole:
	case exit == 0:
		t.Errorf("%s %s: exit 0, stdout %q, stderr %q", agent, event, &out, &errs)
	case s.mute && exit == 2, s.crash:
	default:
		t.Errorf("%s %s: exit %d, stdout %.200q, stderr %.200q", agent, event, exit, &out, &errs)
	}
}

// places makes the sockets and what stands in the place of one.
func places(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ap")
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]answerFunc{
		"d": func(_ context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
			a := blocking.For(h.Agent, h.Event, "denied")
			return httpapi.HookAnswer{Stdout: a.Stdout, Stderr: a.Stderr, ExitZero: a.ExitZero}
		},
		"l": pass,
		"h": func(ctx context.Context, _ httpapi.HookRequest) httpapi.HookAnswer {
			<-ctx.Done()
			time.Sleep(2 * time.Second) // too late
			return httpapi.HookAnswer{ExitZero: true}
		},
	} {
		if err := os.Rename(daemon(t, answer), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		foreign(t, filepath.Join(dir, "foreign"))
	}
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.Mkdir(filepath.Join(dir, "folder"), 0o700),
		os.Symlink("nowhere", filepath.Join(dir, "link")), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// foreign lets another user listen, and let go whatever comes.
func foreign(t *testing.T, path string) {
	t.Helper()
	own, err := os.MkdirTemp("/tmp", "ap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(own) })
	program, first := filepath.Join(own, "listener"), filepath.Join(own, "s")
	text, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = errors.Join(os.WriteFile(program, text, 0o755), os.Chown(own, agentUID, agentUID))
	}
	if err != nil {
		t.Fatal(err)
	}
	listener := asAgent(program)
	listener.Env = append(listener.Env, listenAt+"="+first)
	listener.Stderr = os.Stderr
	if err := listener.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = listener.Process.Kill()
		_ = listener.Wait()
	})
	for range 100 {
		if os.Rename(first, path) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the other user does not listen")
}

// listenAt names the socket of a process of this test that listens as another user.
const listenAt = "APPROVER_TEST_LISTEN"

// letGo answers every call with a yes.
func letGo(path string) {
	l, err := httpapi.Listen(path, 0o666)
	if err == nil {
		s := &httpapi.Submit{Hook: pass, Admit: func(approver.Peer) error { return nil }, Log: slog.New(slog.DiscardHandler)}
		err = s.Serve(context.Background(), l)
	}
	panic(err)
}
