package canary

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example/agents/canary/model"
	"approver.example/display"
)

// Limit is how long an agent may take for its one call, if its recipe does not say more.
const Limit = 20 * time.Second

// slow is the limit for agents that take several seconds on a busy machine.
const slow = 60 * time.Second

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
	// Text says why nothing was proven, what the hook said without a daemon, or what the agent printed
	// if the call ran.
	Text string
	Took time.Duration
}

// Options say what is tried.
type Options struct {
	Recipe  Recipe        // how the agent is started
	Program string        // the agent
	Dir     string        // where it runs: its project
	Env     []string      // its environment, without what leads to another model
	Limit   time.Duration // zero is that of the recipe
}

// Run starts an agent once, with its usual settings, a model on loopback and a dummy key. No MCP
// server is started. Hooks of other programs, such as those at the start of a session, run as
// always. When Run returns, all that it started has ended, and nothing is left on the disk.
func Run(ctx context.Context, o Options) Report {
	start := time.Now()
	r := run(ctx, o)
	r.Took = time.Since(start)
	return r
}

func run(ctx context.Context, o Options) Report {
	o.Limit = cmp.Or(o.Limit, o.Recipe.Limit, Limit)
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	dir, command, err := place()
	if err != nil {
		return Report{Text: "a folder for the test call: " + err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	temp, err := os.MkdirTemp("", "approver-hook-test-start-")
	if err != nil {
		return Report{Text: "a folder for the start: " + err.Error()}
	}
	defer func() { _ = os.RemoveAll(temp) }()
	s := script{recipe: o.Recipe, command: command}
	server := model.Server{Next: s.next}
	url, wait, err := server.Listen(ctx)
	if err != nil {
		return Report{Text: err.Error()}
	}
	set := Setting{URL: url, Dir: o.Dir, Temp: temp, Command: command, Env: o.Env}
	printed, err := agent(ctx, o, set)
	late := ctx.Err()
	cancel()
	if _, statErr := os.Lstat(filepath.Join(dir, "ran")); statErr == nil {
		return Report{Outcome: Ran, Text: printed}
	} else if !errors.Is(statErr, os.ErrNotExist) {
		return Report{Text: statErr.Error()}
	}
	r := s.report(token(command), set)
	if r.Outcome == NotProven {
		r.Text = joined(r.Text, reason(o.Recipe.Agent, late, err, o.Limit), printed)
	}
	if err := wait(); err != nil && r.Outcome == NotProven {
		r.Text = joined(r.Text, err.Error())
	}
	return r
}

// reason says why an agent failed.
func reason(agent string, late, err error, limit time.Duration) string {
	switch {
	case errors.Is(late, context.DeadlineExceeded):
		return fmt.Sprintf("%s did not end within %v", agent, limit)
	case late != nil:
		return late.Error()
	case err != nil:
		return agent + ": " + err.Error()
	}
	return ""
}

func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "; ")
}

// A script makes one call and keeps its result.
type script struct {
	recipe  Recipe
	command string

	mu     sync.Mutex
	asked  bool
	result *model.Result
}

// callID is in the ID that the agent tells: Droid adds to it, and OpenClaw drops what is no letter and
// no digit.
const callID = "callApproverHookTest"

func (s *script) next(_ context.Context, c model.Conversation) []model.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range c.Results {
		if strings.Contains(r.ID, callID) || r.ID == "" && r.Tool == s.recipe.Tool {
			s.result = &r
		}
	}
	if s.asked = true; c.Turn > 0 {
		return nil
	}
	return []model.Call{s.recipe.Call(callID, s.command)}
}

// report returns what the result shows if the call did not run.
func (s *script) report(token string, set Setting) Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked {
		return Report{Text: s.recipe.Agent + " never asked the model on this machine"}
	}
	text, failed := "", true
	if s.result != nil {
		text, failed = s.result.Text, s.result.Failed || !s.recipe.TellsFailure
	} else if s.recipe.Noted != nil {
		text = s.recipe.Noted(set)
	}
	said := strings.ReplaceAll(text, token, "")
	switch {
	case s.result == nil && text == "":
		return Report{Text: s.recipe.Agent + " did not say what became of the call"}
	case strings.Contains(text, refusal(token)):
		return Report{Outcome: Stopped}
	case failed && strings.Contains(said, "approver") && strings.Contains(said, "was stopped"):
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

// agent runs the agent until it ends, and returns what it printed.
func agent(ctx context.Context, o Options, set Setting) (printed string, err error) {
	cmd, err := o.Recipe.Command(ctx, o.Program, set)
	if err != nil {
		return "", err
	}
	var out head
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	err = errors.Join(cmd.Wait(), End(cmd))
	text := shown(out.String())
	if text == "" || text == "Done." {
		return "", err
	}
	return o.Recipe.Agent + " printed: " + text, err
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
