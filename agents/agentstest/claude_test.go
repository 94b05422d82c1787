package agentstest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"approver.example/agents/canary/model"
)

// This file has Claude Code and what the model lets it do.

// A turn is what the model does next; it may wait for something first.
type turn func() []model.Call

// bash is one call of the shell.
func bash(command string) turn {
	return func() []model.Call { return []model.Call{shell(command)} }
}

// after does something before the call.
func after(do func(), next turn) turn {
	return func() []model.Call { do(); return next() }
}

func shell(command string) model.Call {
	return model.Call{Tool: "Bash", Input: map[string]any{"command": command, "description": "Work"}}
}

// together is all calls of some turns in one.
func together(turns ...turn) turn {
	return func() (all []model.Call) {
		for _, t := range turns {
			all = append(all, t()...)
		}
		return all
	}
}

// call is one call of any tool.
func call(tool string, input map[string]any) turn {
	return func() []model.Call { return []model.Call{{Tool: tool, Input: input}} }
}

// agent starts a subagent of a type that makes one call of the shell.
func agent(kind, command string) turn {
	return call("Agent", map[string]any{
		"description": "Work", "prompt": subagent + command + "\n", "subagent_type": kind, "run_in_background": false,
	})
}

// background makes a call of the shell that is not waited for.
func background(command string) turn {
	return call("Bash", map[string]any{"command": command, "description": "Work", "run_in_background": true})
}

func write(path, content string) turn {
	return call("Write", map[string]any{"file_path": path, "content": content})
}

// claude runs Claude Code to its end with these turns.
func (w *claudeWorld) claude(turns ...turn) {
	w.Helper()
	w.started(w.Context(), turns...)()
}

// subagent marks the prompt of a subagent, which has one call to make.
const subagent = "subagent-call:"

// started starts Claude Code and returns what waits for its end.
func (w *claudeWorld) started(ctx context.Context, turns ...turn) (wait func()) {
	w.Helper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	cmd := w.begin(ctx, turns...)
	return func() {
		w.Helper()
		defer cancel()
		err := cmd.Wait()
		if ctx.Err() != nil {
			w.Errorf("claude was ended: %v %v", ctx.Err(), err)
		}
		w.Logf("claude: %v: %s", err, cmd.Stdout)
		w.mu.Lock()
		defer w.mu.Unlock()
		for id, r := range w.results {
			w.Logf("%s failed=%v: %.300s", id, r.Failed, r.Text)
		}
	}
}

// model starts a model that ends with the context, and returns its address.
func (w *claudeWorld) model(ctx context.Context, turns ...turn) string {
	w.Helper()
	return w.listen(ctx, func(c model.Conversation) []model.Call {
		w.mu.Lock()
		for _, r := range c.Results {
			w.results[r.ID] = r
		}
		w.mu.Unlock()
		if _, command, ok := strings.Cut(c.Prompt, subagent); ok {
			command, _, _ = strings.Cut(command, "\n")
			return numbered("sub", c.Turn, []turn{bash(command)})
		}
		return numbered("call", c.Turn, turns)
	})
}

// begin starts Claude Code against a model that both end with the context.
func (w *claudeWorld) begin(ctx context.Context, turns ...turn) *exec.Cmd {
	w.Helper()
	url := w.model(ctx, turns...)
	mode := w.mode
	if mode == "" {
		mode = "bypassPermissions"
	}
	prompt := w.prompt
	if prompt == "" {
		prompt = "work"
	}
	args := slices.Concat(w.wrap,
		[]string{os.Getenv("APPROVER_CLAUDE"), "-p", "--no-session-persistence", "--permission-mode", mode},
		w.flags, []string{"--", prompt})
	cmd := w.command(ctx, args[0], args[1:]...)
	cmd.Dir = w.path("work")
	cmd.Env = append(cmd.Env, modelEnv(url)...)
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	return cmd
}

// modelEnv leads Claude Code to a model on loopback and nowhere else.
func modelEnv(url string) []string {
	return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none", "IS_SANDBOX=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"DISABLE_AUTOUPDATER=1"}
}

func numbered(name string, n int, turns []turn) []model.Call {
	if n >= len(turns) {
		return nil
	}
	calls := turns[n]()
	for i := range calls {
		calls[i].ID = fmt.Sprintf("toolu_%s_%d_%d", name, n, i)
	}
	return calls
}

// said is what the model was told of a call of a turn.
func (w *claudeWorld) said(turn, i int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.results[fmt.Sprintf("toolu_call_%d_%d", turn, i)].Text
}

// told asserts that the model was told something.
func (w *claudeWorld) told(turn int, text string) {
	w.Helper()
	if said := w.said(turn, 0); !strings.Contains(said, text) {
		w.Errorf("of turn %d the model was told %q, not %q", turn, said, text)
	}
}

// open is how many requests wait for people.
func (w *claudeWorld) open() int {
	w.Helper()
	out, err := w.approver("pending", "--json")
	var doc struct{ Requests []struct{ ID string } }
	if err != nil || json.Unmarshal([]byte(out), &doc) != nil {
		w.Fatalf("pending: %v: %s", err, out)
	}
	return len(doc.Requests)
}

// made asserts whether the call ran that makes this file.
func (w *claudeWorld) made(want bool) {
	w.Helper()
	if got := w.there(w.work("made")); got != want {
		w.Errorf("it ran: %v, not %v", got, want)
	}
}
