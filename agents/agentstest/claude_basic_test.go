package agentstest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A scenario is a story with the real Claude Code.
type scenario struct {
	name string
	play func(t *testing.T)
}

// scenarios are all of them, in the order of their files.
var scenarios = append(append(append(answersScenarios, brokenScenarios...), settingsScenarios...),
	append(append(callsScenarios, skillsScenarios...),
		append(append(promptScenarios, pluginScenarios...), deskScenarios...)...)...)

// alike are scenarios that differ from others only in the tool that is asked about.
var alike = []string{
	"own question: a command in the background", "own question: a command without the sandbox", "own question: a new file",
	"own question: a new file, denied", "own question: an edit", "own question: a notebook", "own question: a skill",
	"own question: a page, denied",
}

func TestRealClaude(t *testing.T) {
	if os.Getenv("APPROVER_CLAUDE") == "" {
		t.Skip("NOT RUN: APPROVER_CLAUDE names no Claude Code; .ci/claude installs it and runs this")
	}
	if len(scenarios) < 30 {
		t.Errorf("only %d scenarios", len(scenarios))
	}
	for _, s := range scenarios {
		if testing.Short() && slices.Contains(alike, s.name) {
			continue // played without -short
		}
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s.play(t)
		})
	}
}

// What people say, and what they do not say.
var answersScenarios = []scenario{
	{"harmless passes", func(t *testing.T) {
		w := start(t, always("deny"))
		w.claude(bash("touch made"))
		w.askedTimes(0)
		w.made(true)
	}},
	{"force push approved", askedOf("", "approve", bash(force), 1)},
	{"force push denied", func(t *testing.T) {
		w := start(t, always("deny"))
		w.claude(bash(force))
		w.pushed(0)
		w.askedTimes(1)
		w.told(0, "denied")
	}},
	{"silence until the end", func(t *testing.T) {
		w := startWith(t, "ttl: 8s", always(""))
		w.claude(bash(force))
		w.pushed(0)
		w.askedTimes(1)
	}},
	{"nobody watches", func(t *testing.T) {
		w := start(t, nil)
		began := time.Now()
		w.claude(bash(force))
		w.pushed(0)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	}},
	{"denied, then tried in other words", func(t *testing.T) {
		w := start(t, always("deny"))
		w.claude(bash(force), bash("git push -f origin main"), bash("git push origin +main"),
			bash("sh -c 'git push --force origin main'"))
		w.pushed(0)
	}},
	{"eight calls in one turn, four approved", func(t *testing.T) {
		w := start(t, func(command string) string {
			_, branch, _ := strings.Cut(command, "--delete b")
			if branch != "" && strings.Contains("1357", branch[:1]) {
				return "approve"
			}
			return "deny"
		})
		var turns []turn
		for _, b := range []string{"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"} {
			turns = append(turns, bash("git push origin --delete "+b))
		}
		w.claude(together(turns...))
		w.askedTimes(8)
		if got := w.branches(); got != "b2 b4 b6 b8 main" {
			t.Errorf("left are %s", got)
		}
	}},
	{"a freeze stops harmless calls too", func(t *testing.T) {
		w := start(t, always("approve"))
		freeze := func() {
			if out, err := w.approver("freeze", "--reason", "enough"); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}
		w.claude(bash("touch before"), after(freeze, bash("touch behind")))
		if !w.there(w.work("before")) || w.there(w.work("behind")) {
			t.Error("before must have run, and behind not")
		}
	}},
	{"a call that comes back later", func(t *testing.T) {
		w := startWith(t, "agents: {claude: {park_after: 5s}}", func(string) string {
			time.Sleep(8 * time.Second)
			return "approve"
		})
		approved := func() { w.until("it is approved", func() bool { return strings.Contains(w.audit(), `"approved"`) }) }
		w.claude(bash(force), after(approved, bash(force)))
		w.told(0, "Waiting for approval")
		w.pushed(1)
	}},
}
