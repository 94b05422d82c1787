package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"approver.example/httpapi"
	"approver.example/httpapi/wire"
)

// busyDaemon is a daemon that has no place for the first tries, and then answers. Of each
// request it hands the path to answered.
func busyDaemon(t *testing.T, refuse string, first int64) (socket string, tries *atomic.Int64, taken *atomic.Int64) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	tries, taken = new(atomic.Int64), new(atomic.Int64)
	server := &http.Server{ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if r.URL.Path == refuse && tries.Add(1) <= first {
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = io.WriteString(w, "{\"error\":\"too many\"}\n")
				return
			}
			if r.URL.Path == refuse {
				taken.Add(1)
			}
			w.Header().Set(wire.Exit, "0")
			w.Header().Set(wire.StderrBytes, "0")
			w.Header().Set(wire.Ack, "1")
			w.Header().Set("Content-Length", "3")
			_, _ = io.WriteString(w, "{}\n")
		})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-ended })
	return socket, tries, taken
}

// The story: an agent held every call that it may while a call ran that was changed
// behind the gate. The daemon had no place for the report of it, and the hook gave up at
// once, with seconds of its time left: nobody heard what ran. A report is brought again
// until there is a place or the hook's time is over. A call that has not run is blocked
// at once, as before.
func TestAReportIsBroughtAgain(t *testing.T) {
	for _, c := range []struct {
		event string
		first int64
		exit  int
		most  int64 // tries
	}{
		{"PostToolUse", 3, 0, 4},
		{"PostToolUseFailure", 3, 0, 4},
		{"PostToolUse", 1 << 20, 2, 12},
		{"PreToolUse", 3, 2, 1},
		{"PermissionRequest", 3, 2, 1},
		{"PostToolBatch", 3, 2, 1},
	} {
		t.Run(c.event+" "+strconv.FormatInt(c.first, 10), func(t *testing.T) {
			t.Parallel()
			socket, tries, _ := busyDaemon(t, wire.HookPath, c.first)
			cmd := exec.Command(hook, "--agent", "claude", "--event", c.event, "--socket", socket, "--deadline", "4s",
				"--connect-timeout", "100ms")
			var stderr bytes.Buffer
			cmd.Stdin, cmd.Stderr = strings.NewReader("{}"), &stderr
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_, _ = io.ReadAll(out)
			_ = cmd.Wait()
			if exit := cmd.ProcessState.ExitCode(); exit != c.exit || tries.Load() > c.most ||
				c.first > 1 && c.most > 1 && tries.Load() < 3 {
				t.Errorf("exit %d after %d tries: %s", exit, tries.Load(), &stderr)
			}
			if c.exit == 2 && !strings.Contains(stderr.String(), "too many calls wait for approver") {
				t.Errorf("it says %s", &stderr)
			}
		})
	}
}

// The same for an acknowledgment, on its own connection: the answer is printed when it is
// taken. If it never is, the answer is printed after some seconds all the same: it is
// here, and the daemon repeats it for a while.
func TestAnAcknowledgmentIsSaidAgain(t *testing.T) {
	for first, want := range map[int64]int64{0: 1, 1: 1, 5: 1, 1 << 20: 0} {
		t.Run(strconv.FormatInt(first, 10), func(t *testing.T) {
			t.Parallel()
			socket, tries, taken := busyDaemon(t, wire.AckPath, first)
			cmd := exec.Command(hook, "--agent", "claude", "--socket", socket, "--deadline", "10s")
			cmd.Stdin = strings.NewReader("{}")
			began := time.Now()
			out, err := cmd.Output()
			if err != nil || string(out) != "{}\n" || taken.Load() != want {
				t.Errorf("%q, %v after %d tries, %d taken", out, err, tries.Load(), taken.Load())
			}
			if took := time.Since(began); first < 10 && took > 2*time.Second || took > 8*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// The story: the hook's output went where nobody reads it. People were asked, said yes,
// and the hook took that yes for itself before it saw that it could not hand it on: the
// card said that the call was released, and nothing ran. The hook looks before it takes
// a yes.
func TestAYesThatCannotBeHandedOnIsNotTaken(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for script, taken := range map[string]bool{
		`exec "$@" >/dev/null`:                             false,
		`exec "$@" >>/dev/null`:                            false,
		`exec "$@" >/dev/full`:                             false,
		`exec "$@" >/dev/zero`:                             false,
		`exec "$@" >&-`:                                    false,
		`exec "$@" 1</dev/null`:                            false,
		`exec "$@" 1<in`:                                   false,
		`exec "$@" 1<.`:                                    false,
		`exec "$@" 1</`:                                    false,
		`exec "$@" 1<>/dev/null`:                           false,
		`exec "$@" 1</dev/zero`:                            false,
		`exec "$@" 1</proc/self/status`:                    false,
		`sleep 5 >fifo & exec "$@" 1<fifo`:                 false,
		`printf x | { exec "$@" 1<&0; }`:                   false,
		`exec "$@" >out`:                                   true,
		`exec "$@" >>out2`:                                 true,
		`exec "$@" 1<>out3`:                                true,
		`"$@" | cat >out4`:                                 true,
		`exec "$@"`:                                        true,
		`exec "$@" 2>/dev/null`:                            true,
		`exec "$@" 2>&-`:                                   true,
		`exec "$@" 2>&1`:                                   true,
		`cat fifo >out5 & exec "$@" >fifo`:                 true,
		`sh -c 'exec "$@" >out6' sh "$@" </dev/null; true`: true,
	} {
		t.Run(script, func(t *testing.T) {
			acked := make(chan struct{}, 4)
			socket := ackingDaemon(t, acked, func(context.Context, httpapi.HookRequest) httpapi.HookAnswer {
				return httpapi.HookAnswer{ExitZero: true, Stdout: []byte("{\"yes\":1}\n"), Ack: true}
			})
			cmd := exec.Command("/bin/sh", "-c", script, "sh", hook, "--agent", "claude", "--socket", socket, "--deadline", "6s")
			var out bytes.Buffer
			cmd.Dir, cmd.Stdin, cmd.Stdout = dir, strings.NewReader("{}"), &out
			_ = cmd.Run()
			if got := len(acked) > 0; got != taken {
				t.Errorf("taken: %v, exit %d", got, cmd.ProcessState.ExitCode())
			}
			if !taken && cmd.ProcessState.ExitCode() != 2 {
				t.Errorf("exit %d", cmd.ProcessState.ExitCode())
			}
		})
	}
}
