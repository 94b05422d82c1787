package agents

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/agents/settings"
)

// The story: Codex ran a call whose hook was killed, and one whose hook ended with exit code 2 and no
// text. In the agents that give the line to a shell, the line itself blocks in both cases; an answer of
// the courier stays as it is. A report has nothing to stop, and its line is the courier alone.
func TestTheShellBlocksForACourierThatIsGone(t *testing.T) {
	const gone = "ended before there was an answer"
	dir := filepath.Join(t.TempDir(), "it's here")
	program := filepath.Join(dir, "approver-hook")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, a := range adapters {
		h := form(a, nil)
		if h.install == nil || !h.install.shell {
			continue
		}
		found++
		hooks, err := h.wanted(program, "", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range h.events {
			if !e.installed {
				continue
			}
			line := string(settings.CommandOf(hooks[e.Name][0].Hooks[0]))
			if e.kind == Ran {
				if strings.Contains(line, "||") {
					t.Errorf("%s %s: %s", h.name, e.Name, line)
				}
				continue
			}
			for courier, want := range map[string]struct {
				exit           int
				stdout, stderr string
			}{
				`exit 0`:                                {0, "", ""},
				`echo '{"a":1}'`:                        {0, "{\"a\":1}\n", ""},
				`echo '{"no":1}'; echo why >&2; exit 2`: {2, "{\"no\":1}\n", "why\n"},
				`kill -9 $$`:                            {2, "", gone},
				`kill -15 $$`:                           {2, "", gone},
				`exit 1`:                                {2, "", gone},
				`exit 127`:                              {2, "", gone},
				``:                                      {2, "", gone},
			} {
				_ = os.Remove(program)
				if courier != "" {
					if err := os.WriteFile(program, []byte("#!/bin/sh\n"+courier+"\n"), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				var stdout, stderr bytes.Buffer
				cmd := exec.Command("/bin/sh", "-c", line)
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				var exit *exec.ExitError
				if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				if cmd.ProcessState.ExitCode() != want.exit || stdout.String() != want.stdout ||
					want.stderr != gone && stderr.String() != want.stderr || !strings.Contains(stderr.String(), want.stderr) {
					t.Errorf("%s: a courier that does %q: exit %d, %q, %q", h.name, courier, cmd.ProcessState.ExitCode(),
						&stdout, &stderr)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no agent gives the line to a shell")
	}
}
