package agentstest

import (
	"approver.example/agents/canary/model"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// This file has the world in which Claude Code is played, and the settings there.

// A claudeWorld is a world with Claude Code, and a person at a terminal.
type claudeWorld struct {
	*world
	mode   string   // of permissions; empty: bypassPermissions
	prompt string   // what the person types; empty: a word
	flags  []string // more of them, for Claude Code
	wrap   []string // goes before the command line of Claude Code

	asked    []string // commands that people were asked about
	requests []string // their ids
	results  map[string]model.Result
}

// newClaude makes a home. more is added to its configuration.
func newClaude(t *testing.T, more string) *claudeWorld {
	t.Helper()
	return &claudeWorld{results: map[string]model.Result{}, world: newWorld(t, "claude", os.Getenv("APPROVER_CLAUDE"),
		fmt.Sprintf("%s\nchannels: {terminal: {approvers: [{id: \"%d\", name: Ada}], allow_answers: true}}\n", more,
			os.Getuid()))}
}

// start is newClaude with hook, daemon and a person who answers.
func start(t *testing.T, answers func(command string) string) *claudeWorld {
	t.Helper()
	return startWith(t, "freeze_on_bypass: true", answers)
}

func startWith(t *testing.T, more string, answers func(command string) string) *claudeWorld {
	t.Helper()
	w := newClaude(t, more)
	w.serve()
	w.install()
	if answers != nil {
		w.watch(answers)
	}
	return w
}

// always is a person who says the same to everything.
func always(word string) func(string) string { return func(string) string { return word } }

func (w *claudeWorld) askedTimes(times int) {
	w.Helper()
	if got := w.questions(); len(got) != times {
		w.Errorf("people were asked %d times, not %d: %q", len(got), times, got)
	}
}

// settings changes the user's settings by a function.
func (w *claudeWorld) settings(change func(s map[string]any)) {
	w.Helper()
	var s map[string]any
	if err := json.Unmarshal([]byte(w.read(".claude/settings.json")), &s); err != nil {
		w.Fatal(err)
	}
	change(s)
	text, err := json.Marshal(s)
	if err != nil {
		w.Fatal(err)
	}
	w.write(".claude/settings.json", string(text), 0o600)
}

// replaced puts one text of the settings in the place of another.
func (w *claudeWorld) replaced(old, with string) {
	w.Helper()
	text := w.read(".claude/settings.json")
	if !strings.Contains(text, old) {
		w.Fatalf("no %s in %s", old, text)
	}
	w.write(".claude/settings.json", strings.ReplaceAll(text, old, with), 0o600)
}
