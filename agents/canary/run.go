package canary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"approver.example/display"
)

// Limit is how long Claude Code may take for its one call.
const Limit = 20 * time.Second

// An Outcome is the result of a canary. The zero value proves nothing.
type Outcome uint8

// The outcomes.
const (
	NotProven    Outcome = iota // the call was not made, or something else stopped it
	Ran                         // the call ran
	Stopped                     // the daemon stopped it, through the hook
	StoppedAlone                // the hook stopped it, without an answer from the daemon
)

// A Report is the result of a canary, with details.
type Report struct {
	Outcome Outcome
	// Text says why nothing was proven, what the hook said without a daemon, or what Claude Code
	// printed if the call ran.
	Text string
	Took time.Duration
}

// Options say what is tried.
type Options struct {
	Program string        // Claude Code
	Dir     string        // where it runs: its project
	Env     []string      // its environment, without what leads to another model
	Limit   time.Duration // zero is the constant Limit
}

// Run starts Claude Code once, with its usual settings, a model on loopback and a dummy key. No MCP
// server is started. Hooks of other programs, such as those at the start of a session, run as
// always. When Run returns, all that it started has ended, and nothing is left on the disk.
func Run(ctx context.Context, o Options) Report {
	start := time.Now()
	r := run(ctx, o)
	r.Took = time.Since(start)
	return r
}

func run(ctx context.Context, o Options) Report {
	if o.Limit == 0 {
		o.Limit = Limit
	}
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	dir, command, err := place()
	if err != nil {
		return Report{Text: "a folder for the test call: " + err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s := script{command: command}
	model := Model{Next: s.next}
	url, wait, err := model.Listen(ctx)
	if err != nil {
		return Report{Text: err.Error()}
	}
	printed, err := agent(ctx, o, url, command)
	late := ctx.Err()
	cancel()
	if _, statErr := os.Lstat(filepath.Join(dir, "ran")); statErr == nil {
		return Report{Outcome: Ran, Text: printed}
	} else if !errors.Is(statErr, os.ErrNotExist) {
		return Report{Text: statErr.Error()}
	}
	r := s.report(token(command))
	if r.Outcome == NotProven {
		r.Text = joined(r.Text, reason(late, err, o.Limit), printed)
	}
	if err := wait(); err != nil && r.Outcome == NotProven {
		r.Text = joined(r.Text, err.Error())
	}
	return r
}

// reason says why Claude Code failed.
func reason(late, err error, limit time.Duration) string {
	switch {
	case errors.Is(late, context.DeadlineExceeded):
		return fmt.Sprintf("claude did not end within %v", limit)
	case late != nil:
		return late.Error()
	case err != nil:
		return "claude: " + err.Error()
	}
	return ""
}

func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "; ")
}

// A script makes one call and keeps its result.
type script struct {
	command string

	mu     sync.Mutex
	asked  bool
	result *Result
}

const callID = "toolu_approver_hook_test"

func (s *script) next(_ context.Context, c Conversation) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range c.Results {
		if r.ID == callID {
			s.result = &r
		}
	}
	if s.asked = true; c.Turn > 0 {
		return nil
	}
	input := map[string]any{"command": s.command, "description": "Test whether approver's hook stops a call"}
	return []Call{{ID: callID, Tool: "Bash", Input: input}}
}

// report returns what the result shows if the call did not run.
func (s *script) report(token string) Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.asked:
		return Report{Text: "claude never asked the model on this machine"}
	case s.result == nil:
		return Report{Text: "claude did not say what became of the call"}
	}
	text := s.result.Text
	said := strings.ReplaceAll(text, token, "")
	switch {
	case strings.Contains(text, refusal(token)):
		return Report{Outcome: Stopped}
	case s.result.Failed && strings.Contains(said, "approver") && strings.Contains(said, "was stopped"):
		return Report{Outcome: StoppedAlone, Text: shown(text)}
	}
	return Report{Text: "something else than approver stopped the call: " + shown(text)}
}

// maxShown limits how much of another program's text is shown, in bytes.
const maxShown = 400

func shown(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "")
	if len(text) > maxShown {
		return display.OneLine(strings.ToValidUTF8(text[:maxShown], "")) + " …"
	}
	return display.OneLine(text)
}

// agent runs Claude Code until it ends, and returns what it printed. The one call is permitted, in
// every mode, so that only the hook can stop it.
func agent(ctx context.Context, o Options, url, command string) (printed string, err error) {
	cmd := exec.CommandContext(ctx, o.Program, "-p", "--no-session-persistence",
		"--strict-mcp-config", "--mcp-config", `{"mcpServers":{}}`, "--permission-mode", "default", "--add-dir", os.TempDir(),
		"--allowedTools", "Bash("+command+")", "--", "This is a test of approver's hook. Say: done.")
	cmd.Dir, cmd.Env = o.Dir, environment(o.Env, url)
	var out head
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Claude Code runs its hooks in process groups of their own, and ends them when it is told to end.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	if err := cmd.Start(); err != nil {
		return "", err
	}
	err = cmd.Wait()
	if killErr := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); killErr != nil && !errors.Is(killErr, syscall.ESRCH) {
		err = errors.Join(err, killErr)
	}
	text := shown(out.String())
	if text == "" || text == "Done." {
		return "", err
	}
	return "claude printed: " + text, err
}

// A head keeps the beginning of what is printed.
type head struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf.Write(p[:min(len(p), max(0, 4*maxShown-h.buf.Len()))])
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}

// elsewhere are the variables, or their prefixes, that lead to another model, contain a real key,
// or connect the process to the session that started this one.
var elsewhere = [...]string{
	"ANTHROPIC_*", "CLAUDE_CODE_OAUTH_*", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_API_*", "CLAUDE_CODE_HOST_*",
	"CLAUDE_CODE_PROVIDER_*", "AWS_BEARER_TOKEN_BEDROCK", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
	"http_proxy", "https_proxy", "all_proxy",
	"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_REMOTE*",
}

// environment returns the environment for Claude Code. Variables that choose its settings stay, as
// in normal use.
func environment(env []string, url string) []string {
	var out []string
	for _, pair := range env {
		if key, _, _ := strings.Cut(pair, "="); !leadsElsewhere(key) {
			out = append(out, pair)
		}
	}
	return append(out,
		"ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=approver-hook-test",
		// Without this, "env" in some settings could name another server.
		"CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"DISABLE_AUTOUPDATER=1",
	)
}

func leadsElsewhere(key string) bool {
	if key == "CLAUDE_CODE_USE_COWORK_PLUGINS" { // it leads to other settings, and not to another model
		return false
	}
	return slices.ContainsFunc(elsewhere[:], func(name string) bool {
		prefix, any := strings.CutSuffix(name, "*")
		return key == name || any && strings.HasPrefix(key, prefix)
	})
}
