package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/agents/blocking"
	"approver.example/httpapi"
)

// isolated serves for the agent's user, and returns the socket and a copy of the
// hook that this user can run.
func isolated(t *testing.T, answer answerFunc) (socket, program string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir, err := os.MkdirTemp("/tmp", "ap")
	if err != nil {
		t.Fatal(err)
	}
	program, socket = filepath.Join(dir, "approver-hook"), filepath.Join(dir, "s")
	text, err := os.ReadFile(hook)
	if err == nil {
		err = os.WriteFile(program, text, 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := httpapi.Listen(socket, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	s := &httpapi.Submit{Hook: answer, Admit: httpapi.AdmitUIDs(agentUID), Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = os.RemoveAll(dir)
	})
	return socket, program
}

// The story: while people looked at the card, a process of the agent's user
// attached to the waiting courier with a debugger and made it exit with 0. To the
// agent that was "go on", and the card said that nothing ran. The courier cannot be
// traced, written to, or bounded by another process of its user any more.
func TestNobodyReachesIntoTheCourier(t *testing.T) {
	entered, release := make(chan struct{}, 1), make(chan struct{})
	socket, program := isolated(t, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		entered <- struct{}{}
		<-release
		return httpapi.HookAnswer{Stdout: []byte("{\"no\":1}\n"), Stderr: []byte("no\n")}
	})
	for _, mode := range []os.FileMode{0o755, 0o711} {
		if err := os.Chmod(program, mode); err != nil {
			t.Fatal(err)
		}
		courier := asAgent(program, "--agent", "claude", "--socket", socket)
		var out, errs bytes.Buffer
		courier.Stdin, courier.Stdout, courier.Stderr = strings.NewReader("payload"), &out, &errs
		if err := courier.Start(); err != nil {
			t.Fatal(err)
		}
		<-entered
		pid := courier.Process.Pid
		for _, attack := range []string{
			"gdb -p PID -batch -ex 'set $rax=231' -ex 'call (int)_exit(0)'",
			"exec 3<>/proc/PID/mem",
			"head -c 1 /proc/PID/mem",
			"cat /proc/PID/environ",
			"cat /proc/PID/maps",
			"cat /proc/PID/syscall",
			"cat /proc/PID/stack",
			"ls /proc/PID/fd",
			"echo > /proc/PID/fd/1",
			"ls /proc/PID/map_files",
			"readlink /proc/PID/exe",
			"readlink /proc/PID/cwd",
			"cat /proc/PID/auxv",
			"echo 1000 > /proc/PID/oom_score_adj",
			"echo 0xff > /proc/PID/coredump_filter",
			"echo 5 > /proc/PID/clear_refs",
			"cat /proc/PID/io",
			"nsenter -t PID -m true",
		} {
			text := strings.ReplaceAll(attack, "PID", fmt.Sprint(pid))
			name, _, _ := strings.Cut(text, " ")
			if _, err := exec.LookPath(name); err != nil && name != "exec" && name != "echo" {
				t.Logf("not tried, for there is no %s here", name)
				continue
			}
			said, err := asAgent("sh", "-c", text).CombinedOutput()
			refused := err != nil || bytes.Contains(said, []byte("not permitted")) ||
				bytes.Contains(said, []byte("ermission denied"))
			if !refused {
				t.Errorf("%s succeeds: %s", attack, said)
			}
		}
		// These it cannot be kept from. They change nothing in the answer.
		for _, s := range []string{"STOP", "CONT", "USR1", "USR2", "WINCH", "CHLD", "PIPE", "URG"} {
			if said, err := asAgent("sh", "-c", fmt.Sprintf("kill -%s %d", s, pid)).CombinedOutput(); err != nil {
				t.Errorf("kill -%s: %v, %s", s, err, said)
			}
			time.Sleep(5 * time.Millisecond)
		}
		release <- struct{}{}
		if err := courier.Wait(); err == nil || courier.ProcessState.ExitCode() != 2 || out.String() != "{\"no\":1}\n" {
			t.Errorf("mode %o: %v, stdout %q, stderr %q", mode, err, &out, &errs)
		}
	}
}

// A limit is checked by the user alone, so another process of the agent's user can
// set one while the courier waits. It then fails or is killed; it does not say yes.
func TestNoLimitSetLaterIsAYes(t *testing.T) {
	entered, release := make(chan struct{}, 1), make(chan struct{}, 1)
	socket, program := isolated(t, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		entered <- struct{}{}
		<-release
		return httpapi.HookAnswer{Stdout: []byte("{\"no\":1}\n"), Stderr: []byte("no\n")}
	})
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("there is no prlimit here")
	}
	for _, limit := range []string{"nofile=0:0", "fsize=0:0", "cpu=0:0", "cpu=0:9", "as=1:1", "data=1:1", "stack=1:1",
		"nproc=0:0", "core=0:0", "memlock=0:0", "sigpending=0:0"} {
		courier := asAgent(program, "--agent", "claude", "--socket", socket)
		var out, errs bytes.Buffer
		courier.Stdin, courier.Stdout, courier.Stderr = strings.NewReader("payload"), &out, &errs
		if err := courier.Start(); err != nil {
			t.Fatal(err)
		}
		<-entered
		if said, err := asAgent("prlimit", "--pid", fmt.Sprint(courier.Process.Pid),
			"--"+limit).CombinedOutput(); err != nil {
			t.Logf("%s is refused: %s", limit, said)
		}
		release <- struct{}{}
		_ = courier.Wait()
		if code := courier.ProcessState.ExitCode(); code == 0 {
			t.Errorf("%s: exit 0, stdout %q, stderr %q", limit, &out, &errs)
		}
	}
}

// A courier that is killed leaves no exit code, and never 0: Claude Code blocks by
// its onFailure.
func TestKilledCourierIsNoYes(t *testing.T) {
	for _, s := range []string{"KILL", "ABRT", "SEGV", "TERM", "HUP", "INT", "QUIT", "ALRM", "XCPU", "XFSZ", "VTALRM",
		"PROF", "SYS", "TRAP", "IO", "PWR", "STKFLT", "ILL", "BUS", "FPE"} {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			entered := make(chan struct{}, 1)
			socket := daemon(t, func(ctx context.Context, _ httpapi.HookRequest) httpapi.HookAnswer {
				entered <- struct{}{}
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
				return httpapi.HookAnswer{Stdout: []byte("{\"no\":1}\n"), Stderr: []byte("no\n")}
			})
			p := start(t, socket, nil)
			<-entered
			if err := exec.Command("kill", "-"+s, fmt.Sprint(p.Process.Pid)).Run(); err != nil {
				t.Fatal(err)
			}
			if exit := p.end(t); exit == 0 {
				t.Errorf("exit 0, stdout %q", &p.out)
			}
		})
	}
}

// The agent's user sets the limits and the environment that the courier starts
// with. Under none of them is there an exit code 0 for what was denied, and no core
// file.
func TestNoLimitIsAYes(t *testing.T) {
	socket, program := isolated(t, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
		a := blocking.For("claude", "PreToolUse", "a rule")
		return httpapi.HookAnswer{Stdout: a.Stdout, Stderr: a.Stderr}
	})
	deny := string(blocking.For("claude", "PreToolUse", "a rule").Stdout)
	for _, before := range []string{
		"true", "ulimit -n 0", "ulimit -n 1", "ulimit -n 2", "ulimit -n 3", "ulimit -n 4", "ulimit -n 5", "ulimit -n 6",
		"ulimit -n 8",
		"ulimit -v 1000", "ulimit -v 100000", "ulimit -v 1000000", "ulimit -d 0", "ulimit -d 100", "ulimit -d 10000",
		"ulimit -s 0", "ulimit -s 8", "ulimit -s 64",
		"ulimit -t 0", "ulimit -f 0", "ulimit -c unlimited", "ulimit -l 0", "ulimit -m 0", "prlimit --nproc=0 --pid $$",
		"prlimit --nproc=1 --pid $$",
		"prlimit --sigpending=0 --pid $$", "prlimit --rttime=1 --pid $$", "prlimit --locks=0 --pid $$",
		"export GOMEMLIMIT=1", "export GOMEMLIMIT=nonsense", "export GOGC=off", "export GOGC=0", "export GOGC=nonsense",
		"export GOMAXPROCS=1",
		"export GOMAXPROCS=1000", "export GOTRACEBACK=crash", "export GOTRACEBACK=none",
		"export GODEBUG=asyncpreemptoff=1,madvdontneed=0",
		"export GODEBUG=cgocheck=9,invalidptr=0", "export GODEBUG=gctrace=1", "export GODEBUG=inittrace=1",
		"export GODEBUG=schedtrace=1", "export GODEBUG=memprofilerate=1",
		"export LD_PRELOAD=/nonexistent.so", "export GOCOVERDIR=/tmp", "export TZ=/dev/zero",
		"export LD_BIND_NOW=1 LD_DEBUG=all",
		"exec 0<&-", "exec 1>&-", "exec 2>&-", "exec 0<&- 1>&- 2>&-", "exec 1</dev/null", "exec 1>/dev/full",
		"exec 1>/dev/full 2>/dev/full", "exec 0</", "exec 0>/dev/null",
		"trap '' TERM INT HUP QUIT XCPU XFSZ", "nice -n 19 true", "umask 777", "cd /proc/self/fd",
	} {
		t.Run(before, func(t *testing.T) {
			within, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			cmd := asAgentWithin(within, "sh", "-c",
				before+" 2>/dev/null >&2; exec "+program+" --agent claude --socket "+socket+" --deadline 3s")
			if strings.HasPrefix(before, "exec ") || strings.HasPrefix(before, "trap ") {
				cmd.Args[2] = before + "; exec " + program + " --agent claude --socket " + socket + " --deadline 3s"
			}
			var out, errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("payload"), &out, &errs
			err := cmd.Run()
			code := -1
			if cmd.ProcessState != nil {
				code = cmd.ProcessState.ExitCode()
			}
			if code == 0 {
				t.Errorf("exit 0, stdout %q, stderr %q", &out, &errs)
			}
			if out.String() != deny || code != 2 {
				t.Logf("%v: exit %d, stdout %.60q, stderr %.80q", err, code, &out, &errs)
			}
		})
	}
}
