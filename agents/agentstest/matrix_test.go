package agentstest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/store/storetest/redistest"
)

// agentNames are the agents that npm has and that run without a person.
var agentNames = []string{"claude", "codex", "gemini", "copilot", "opencode", "qwen", "droid", "cline", "pi"}

// An outcome is what came of a scenario.
type outcome struct {
	ran  bool
	read string // what the model read
}

// A row is one scenario of the matrix. Its calls must run, or must not.
type row struct {
	name string
	runs bool
	says string // part of what the model has to read, if the agent tells it
	play func(w *agentWorld)
	more string // configuration
}

// brief is the deadline of couriers that wait for nothing.
const brief = "APPROVER_TEST_DEADLINE=8s"

var rows = []row{
	{name: "allowed by the rules", runs: true, play: func(w *agentWorld) {
		w.serve()
		w.run(nil, "touch ran")
	}},
	{name: "denied by a rule", says: "approver", play: func(w *agentWorld) {
		w.serve()
		w.run(nil, "touch "+w.path(".approver/ran"))
	}},
	{name: "a person approves", runs: true, play: func(w *agentWorld) {
		w.serve()
		wait := w.start(nil, force)
		w.answer(fake.ApproveButton)
		wait()
	}},
	{name: "a person denies", says: "denied", play: func(w *agentWorld) {
		w.serve()
		wait := w.start(nil, force)
		w.answer(fake.DenyButton)
		wait()
	}},
	// As installed, for the whole time that people have: an agent that waits less must not run the call.
	{name: "nobody answers", says: "again", play: func(w *agentWorld) {
		w.serve()
		w.run(nil, force)
	}},
	{name: "daemon dead", says: "not running", play: func(w *agentWorld) {
		w.run([]string{brief}, force)
	}},
	{name: "daemon killed while it waits", says: "approver stopped", play: func(w *agentWorld) {
		w.serve()
		wait := w.start([]string{brief}, force)
		w.card()
		w.kill()
		wait()
	}},
	{name: "daemon killed while it waits, and back", runs: true, play: func(w *agentWorld) {
		w.serve()
		wait := w.start(nil, force)
		w.card()
		w.kill()
		w.serve()
		time.Sleep(3 * time.Second) // the courier comes back with the same call
		w.answer(fake.ApproveButton)
		wait()
	}},
	{name: "courier killed by a signal", play: func(w *agentWorld) {
		w.serve()
		wait := w.start(nil, force)
		w.card()
		for _, pid := range w.ours("approver-hook") {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				w.Error(err)
			}
		}
		wait()
	}},
	{name: "store down", says: "approver", play: func(w *agentWorld) {
		server, err := redistest.Start(w.Context(), redistest.Options{})
		if err != nil {
			w.Fatal(err)
		}
		w.write(".approver/hub.key", strings.Repeat("test-key", 6), 0o600)
		w.configure(fmt.Sprintf("store: {redis: {addrs: [%q], hub_key_file: hub.key}}", server.Addr))
		w.serve()
		if err := server.Close(); err != nil {
			w.Fatal(err)
		}
		w.run([]string{brief}, force)
	}},
	{name: "policy broken", says: "not running", play: func(w *agentWorld) {
		w.write(".approver/broken.yaml", "rules: [{tool: 7, then: maybe\n", 0o600)
		w.configure("policy: broken.yaml")
		w.serveFails()
		w.run([]string{brief}, force)
	}},
	{name: "approved after 40 s", runs: true, play: func(w *agentWorld) {
		w.serve()
		wait := w.start(nil, force)
		w.card()
		time.Sleep(40 * time.Second)
		w.answer(fake.ApproveButton)
		wait()
	}},
	{name: "parked, approved later, and retried", runs: true, says: "again", play: func(w *agentWorld) {
		w.configure(fmt.Sprintf("agents: {%s: {park_after: 5s}}", w.agent))
		w.serve()
		w.run(nil, force)
		if w.pushes() != 0 {
			w.Error("it ran when it was parked")
		}
		w.answer(fake.ApproveButton)
		time.Sleep(2 * time.Second)
		w.run(nil, force)
		w.run(nil, "touch late") // the grant is for one run: nothing is left of it
	}},
}

// TestMatrix plays each scenario with each agent.
func TestMatrix(t *testing.T) {
	if os.Getenv("APPROVER_AGENTS") == "" {
		t.Skip("APPROVER_AGENTS does not name the folder of the agents: make e2e-agents")
	}
	var mu sync.Mutex
	seen := map[string]map[string]outcome{}
	t.Run("all", func(t *testing.T) {
		for _, name := range agentNames {
			if _, err := os.Stat(filepath.Join(os.Getenv("APPROVER_AGENTS"), name)); err != nil {
				t.Errorf("%s is not installed: %v", name, err)
				continue
			}
			seen[name] = map[string]outcome{}
			for _, s := range rows {
				t.Run(name+"/"+s.name, func(t *testing.T) {
					t.Parallel()
					o := playOne(t, name, s)
					mu.Lock()
					defer mu.Unlock()
					seen[name][s.name] = o
				})
			}
		}
	})
	table := matrix(seen)
	t.Log("\n" + table)
	switch path := os.Getenv("APPROVER_MATRIX"); {
	case path == "write" && !t.Failed():
		if err := intoPage(table); err != nil {
			t.Error(err)
		}
	case path != "" && path != "write":
		if err := os.WriteFile(path, []byte(table), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// intoPage puts the table between its marks in the page of agents.
func intoPage(table string) error {
	const page, begin, end = "../../docs/agents.md", "<!--matrix-->\n", "<!--/matrix-->"
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the matrix", page)
	}
	return os.WriteFile(page, []byte(before+begin+table+end+after), 0o644)
}

// playOne plays one scenario, and checks whether the call ran exactly if it had to.
func playOne(t *testing.T, name string, s row) outcome {
	w := newAgent(t, name, s.more)
	w.install("--hook", w.path("bin/approver-hook"))
	s.play(w)
	o := outcome{ran: w.there(w.path("work/ran")) || w.there(w.path(".approver/ran")) || w.pushes() > 0, read: w.heard()}
	if o.ran != s.runs || w.pushes() > 1 {
		t.Errorf("it ran: %t, %d pushes; it had to run: %t; the model read %q", o.ran, w.pushes(), s.runs, o.read)
	}
	if s.says != "" && !strings.Contains(o.read, s.says) {
		t.Errorf("the model read %q, without %q", o.read, s.says)
	}
	return o
}

// matrix writes the table of what ran.
func matrix(seen map[string]map[string]outcome) string {
	var b strings.Builder
	b.WriteString("| what happened |")
	for _, name := range agentNames {
		b.WriteString(" " + name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(agentNames)) + "\n")
	for _, s := range rows {
		b.WriteString("| " + s.name + " |")
		for _, name := range agentNames {
			word := "not played"
			if o, ok := seen[name][s.name]; ok {
				word = map[bool]string{true: "ran", false: "stopped"}[o.ran]
			}
			b.WriteString(" " + word + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\nWhat the model read, where the call was stopped:\n\n")
	home := regexp.MustCompile(`/\S*/apa\d+`)
	for _, name := range agentNames {
		for _, s := range rows {
			if o, ok := seen[name][s.name]; ok && !s.runs {
				fmt.Fprintf(&b, "- %s, %s: %s\n", name, s.name, shown(home.ReplaceAllString(o.read, "~")))
			}
		}
	}
	return b.String()
}

// shown shortens a text for the table.
func shown(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "nothing"
	}
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return "`" + strings.ReplaceAll(s, "`", "'") + "`"
}
