package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// hook measures the hook process with a warm daemon, alternating with /bin/true and a Go program
// that does nothing.
func (b *bench) hook(ctx context.Context) (HookFigures, error) {
	mark := len(b.ends)
	d, _, err := b.startDaemon(ctx, "hook", embeddedStore)
	if err != nil {
		return HookFigures{}, err
	}
	empty, err := b.buildEmpty(ctx)
	if err != nil {
		return HookFigures{}, err
	}
	hook, told, err := b.hookProgram(ctx)
	if err != nil {
		return HookFigures{}, err
	}
	programs := [][]string{{trueProgram()}, {empty}, append(hook, "--agent", "claude", "--socket", d.Submit())}
	took := make([][]time.Duration, len(programs))
	body := string(payload("ls -l", 0))
	for n := range b.hookRuns {
		for i, p := range programs {
			if p[0] == "" {
				continue
			}
			cmd := exec.CommandContext(ctx, p[0], p[1:]...)
			cmd.Stdin = strings.NewReader(body)
			start := time.Now()
			out, err := cmd.CombinedOutput()
			if err != nil {
				return HookFigures{}, fmt.Errorf("%s: %w: %s", p[0], err, out)
			}
			took[i] = append(took[i], time.Since(start))
		}
		if n > 10 && time.Since(b.began) > b.budget {
			break
		}
	}
	inDaemon, err := b.daemonShare(ctx, d, body)
	if err != nil {
		return HookFigures{}, err
	}
	f := HookFigures{
		Runs: len(took[2]), Program: told, TrueUS: microseconds(quantile(took[0], 0.5)),
		EmptyGoUS: microseconds(quantile(took[1], 0.5)),
		HookUS:    microseconds(quantile(took[2], 0.5)), HookP99US: microseconds(quantile(took[2], 0.99)),
		DaemonUS: microseconds(inDaemon),
	}
	f.OverEmptyGo, f.OverTrue = over(f.HookUS, f.EmptyGoUS), over(f.HookUS, f.TrueUS)
	return f, b.end(mark)
}

// daemonShare returns the median time of the daemon for the same call, without the start of a
// process.
func (b *bench) daemonShare(ctx context.Context, d *daemon, body string) (time.Duration, error) {
	var took []time.Duration
	for range b.hookRuns {
		start := time.Now()
		c, err := submit(ctx, d, []byte(body), time.Minute)
		if err != nil {
			return 0, err
		}
		if _, err := c.answer(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	return quantile(took, 0.5), nil
}

func trueProgram() string {
	for _, path := range []string{"/bin/true", "/usr/bin/true"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// buildEmpty builds the Go program that does nothing, and returns its path, or "" without a Go
// toolchain.
func (b *bench) buildEmpty(ctx context.Context) (string, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return "", nil //nolint:nilerr // an installed approver has no toolchain beside it
	}
	source, program := filepath.Join(b.dir, "empty.go"), filepath.Join(b.dir, "empty")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	return program, build(ctx, goTool, program, source)
}

// hookProgram returns the command of the hook: approver-hook in the folder of the program, or built
// from the source in the current folder, or else the slower `approver hook`. told says which.
func (b *bench) hookProgram(ctx context.Context) (command []string, told string, err error) {
	beside := filepath.Join(filepath.Dir(b.Program), "approver-hook")
	if _, err := os.Stat(beside); err == nil {
		return []string{beside}, "approver-hook", nil
	}
	if goTool, err := exec.LookPath("go"); err == nil {
		program := filepath.Join(b.dir, "approver-hook")
		if build(ctx, goTool, program, "approver.example/cmd/approver-hook") == nil {
			return []string{program}, "approver-hook, built now", nil
		}
	}
	return []string{b.Program, "hook"}, "approver hook: there is no approver-hook beside it", nil
}

func build(ctx context.Context, goTool, program, source string) error {
	cmd := exec.CommandContext(ctx, goTool, "build", "-trimpath", "-o", program, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("go build %s: %w", source, err), errors.New(string(out)))
	}
	return nil
}

// daemonFigures starts a daemon several times in one folder, and leaves the last one idle to measure
// its memory.
func (b *bench) daemonFigures(ctx context.Context) (DaemonFigures, error) {
	f := DaemonFigures{Starts: b.starts, IdleSeconds: 1.5}
	var took []time.Duration
	mark := len(b.ends)
	for i := range b.starts {
		d, ready, err := b.startDaemon(ctx, "idle", embeddedStore)
		if err != nil {
			return f, err
		}
		if i == 0 {
			f.FirstMS = milliseconds(ready)
		} else {
			took = append(took, ready)
		}
		if i == b.starts-1 {
			if err := pause(ctx, time.Duration(f.IdleSeconds*float64(time.Second))); err != nil {
				return f, err
			}
			m, err := memoryOf(ctx, d.PID())
			if err != nil {
				return f, err
			}
			f.IdleRSSMiB, f.AnonymMiB = m.rss/1024, m.anonymous/1024
		}
		if err := b.end(mark); err != nil {
			return f, err
		}
	}
	f.ReadyMS, f.ReadyMaxMS = milliseconds(quantile(took, 0.5)), milliseconds(quantile(took, 1))
	if info, err := os.Stat(b.Program); err == nil {
		f.ProgramMiB = float64(info.Size()) / (1 << 20)
	}
	return f, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
