//go:build unix

package demo

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A play is the demo as a process of its own, with a temporary folder of its
// own, shown up to a line.
type play struct {
	cmd    *exec.Cmd
	out    io.ReadCloser
	lines  *bufio.Reader // of out
	stderr strings.Builder
	dir    string
}

func startPlay(t *testing.T, until string, args ...string) *play {
	t.Helper()
	p := &play{dir: t.TempDir()}
	p.cmd = exec.Command(program, append([]string{"demo"}, args...)...)
	p.cmd.Env = append(os.Environ(), "TMPDIR="+p.dir)
	p.cmd.Stderr = &p.stderr
	var err error
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	for p.lines = bufio.NewReader(p.out); ; {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no %q: %v", until, err)
		}
		if strings.Contains(line, until) {
			return p
		}
	}
}

// left lists the processes that know of the folder, and what is in it.
func (p *play) left(t *testing.T) (processes, files []string) {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range commands {
		raw, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(raw), p.dir) {
			processes = append(processes, strings.ReplaceAll(string(raw), "\x00", " "))
		}
	}
	if files, err = filepath.Glob(p.dir + "/*"); err != nil {
		t.Fatal(err)
	}
	return processes, files
}

// Whatever ends the demo early, no daemon, hook, redis-server or folder stays
// behind, and it does not claim success.
func TestLeavesNothingBehind(t *testing.T) {
	// A program that is started under nohup ignores SIGHUP, and so do its children, except for
	// signals that it listens to.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangup) })
	send := func(s os.Signal) func(p *play) error {
		return func(p *play) error { return p.cmd.Process.Signal(s) }
	}
	closed := func(p *play) error { return p.out.Close() }
	for name, c := range map[string]struct {
		until string
		args  []string
		end   func(p *play) error
	}{
		"head -3":                {"1. Claude Code", nil, closed},
		"a pager that was quit":  {"three cards, no answer", nil, closed},
		"head -3 of events":      {`"asked"`, []string{"--json", "--store", "redis"}, closed},
		"a closed terminal":      {"three cards, no answer", nil, send(syscall.SIGHUP)},
		"an interrupt":           {"three cards, no answer", []string{"--store", "redis"}, send(os.Interrupt)},
		"a request to terminate": {"kill -9", nil, send(syscall.SIGTERM)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPlay(t, c.until, c.args...)
			if before, _ := p.left(t); runtime.GOOS == "linux" && c.until == "three cards, no answer" && len(before) < 2 {
				t.Fatalf("no daemon and hook to be seen, only %q", before)
			}
			if err := c.end(p); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(60*time.Second, func() { _ = p.cmd.Process.Kill() })
			defer late.Stop()
			if rest, _ := io.ReadAll(p.lines); strings.Contains(string(rest), "NOT SO") {
				t.Errorf("what was cut off is called wrong: %s", rest)
			}
			_ = p.cmd.Wait()
			if code := p.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.stderr.String(), "ended early") ||
				strings.Contains(p.stderr.String(), "daemon's log") {
				t.Errorf("exit code %d, standard error %s", code, p.stderr.String())
			}
			if processes, files := p.left(t); len(processes)+len(files) > 0 {
				t.Errorf("left behind: processes %q, files %q", processes, files)
			}
		})
	}
}
