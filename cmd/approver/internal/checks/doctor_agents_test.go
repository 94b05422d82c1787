package checks

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/hookinstall"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/hookwatch"
)

// An agentMachine has one agent with approver's hooks in the user's settings.
type agentMachine struct {
	*claudeMachine
	agent agents.Installer
	path  string // of its settings
}

func newAgentMachine(t *testing.T, agent agents.Installer) *agentMachine {
	t.Helper()
	m := &agentMachine{agent: agent, claudeMachine: &claudeMachine{t: t, dir: t.TempDir()}}
	t.Setenv("HOME", m.dir)
	for _, name := range []string{agent.Files().Home, agent.Files().Config} {
		if name != "" {
			t.Setenv(name, "")
		}
	}
	m.hook = filepath.Join(m.dir, "bin", "approver-hook")
	m.write(m.hook, "#!/bin/sh\n")
	m.must(os.Chmod(m.hook, 0o700))
	project := filepath.Join(m.dir, "project")
	m.must(os.MkdirAll(project, 0o700))
	t.Chdir(project)
	var err error
	m.cfg, err = configs.LoadOrDefault("")
	m.must(err)
	m.path, err = settings.Target{}.Path(agent.Files())
	m.must(err)
	return m
}

func (m *agentMachine) target() settings.Target {
	return settings.Target{Managed: filepath.Join(m.dir, "managed")}
}

func (m *agentMachine) install() error {
	return hookinstall.AgentCmd{Agent: m.agent.Name(), Target: m.target(), Hook: m.hook}.Install()
}

// troubles returns what doctor says has to be mended.
func (m *agentMachine) troubles() (open []finding.Finding) {
	d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
	d.hook(m.target(), m.agent.Name())
	seen := map[string]bool{}
	for _, f := range d.found {
		if seen[f.Text] {
			m.t.Errorf("doctor says twice: %s", f.Text)
		}
		seen[f.Text] = true
		if f.Result == finding.Fail || strings.HasPrefix(f.Text, "there is no ") {
			open = append(open, f)
		}
	}
	return open
}

// companions returns the files that install wrote beside the settings.
func (m *agentMachine) companions() (paths []string) {
	text, err := os.ReadFile(m.path)
	m.must(err)
	if a, ok := m.agent.(agents.Accompanied); ok {
		for _, c := range a.Companions(m.path, text, text) {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

var (
	anyDeadline = regexp.MustCompile(`--deadline( |",")\d+s`)
	anyTimeout  = regexp.MustCompile(`("timeout(?:Sec)?": )\d+`)
)

// damages are what happens to a file.
var damages = map[string]func(text string) string{
	"emptied":          func(string) string { return "" },
	"an empty object":  func(string) string { return "{}\n" },
	"a list":           func(string) string { return "[]\n" },
	"hooks are a list": func(string) string { return "{\"version\": 1, \"hooks\": []}\n" },
	"hooks are a text": func(string) string { return "{\"version\": 1,\n \"hooks\": \"none\"}\n" },
	"cut off":          func(text string) string { return text[:len(text)*2/3] },
	"more behind":      func(text string) string { return text + "x" },
	"a mark":           func(text string) string { return "\ufeff" + text },
	"a comment":        func(text string) string { return "// mine\n" + text },
	"a key twice":      func(text string) string { return strings.Replace(text, "{", `{"hooks":{},"hooks":{},`, 1) },
	"a script":         func(string) string { return "#!/bin/sh\nexit 0\n" },
	"another program":  func(text string) string { return strings.ReplaceAll(text, "approver-hook", "other-hook") },
	"another agent":    func(text string) string { return strings.ReplaceAll(text, "--agent", "--agents") },
	"a short deadline": func(text string) string { return anyDeadline.ReplaceAllString(text, "--deadline${1}5s") },
	"a short timeout":  func(text string) string { return anyTimeout.ReplaceAllString(text, "${1}3") },
}

// harmless damages leave some agents' hooks as they are; reads has agents that read such a file.
var (
	harmless = map[string]bool{"a comment": true, "a short timeout": true, "a short deadline": true}
	reads    = map[string]bool{"qwen, a mark": true, "kiro, a mark": true}
)

var (
	installs = regexp.MustCompile(`(?:^|, then )approver install [a-z]+$`)
	raw      = regexp.MustCompile(`hujson|[^.]toml: |json: (cannot|unknown|invalid)|unmarshal|Go value|%!`)
)

// The story: doctor found that Gemini's "hooks" were a list, and said "fix: approver install gemini". That
// refused the file. Whatever happens to a file of any agent: what doctor says to do can be done, and then
// doctor finds nothing.
func TestDoctorsCuresCureEveryAgent(t *testing.T) {
	for _, agent := range agents.Installers() {
		if agent.Name() == "claude" {
			continue // TestDoctorsCuresCure
		}
		for name, damage := range damages {
			t.Run(agent.Name()+" "+name, func(t *testing.T) {
				m := newAgentMachine(t, agent)
				m.must(m.install())
				if found := m.damaged(m.path, damage); !found && !harmless[name] && !reads[agent.Name()+", "+name] {
					t.Error("doctor finds nothing")
				}
			})
			t.Run(agent.Name()+" beside it, "+name, func(t *testing.T) {
				m := newAgentMachine(t, agent)
				m.must(m.install())
				for _, path := range m.companions() {
					m.damaged(path, damage)
				}
			})
		}
	}
}

// damaged damages a file, and does what doctor then says, until it says nothing more. It reports whether
// doctor said anything.
func (m *agentMachine) damaged(path string, damage func(string) string) (found bool) {
	m.t.Helper()
	text, err := os.ReadFile(path)
	m.must(err)
	m.must(os.WriteFile(path, []byte(damage(string(text))), 0o700))
	for range 4 {
		open := m.troubles()
		if len(open) == 0 {
			return found
		}
		if !found {
			m.daemonSays(open)
		}
		found = true
		byHand := false
		for _, f := range open {
			m.t.Logf("%s %s\n    fix: %s", f.Result.Word(), f.Text, f.Fix)
			if raw.MatchString(f.Text + f.Fix) {
				m.t.Errorf("an error of the parser is shown as it is: %s", f.Text)
			}
			if f.Fix == "" || f.Check == "hook" && !strings.Contains(f.Text+f.Fix, m.dir) {
				m.t.Errorf("no file or no cure is named: %s, %s", f.Text, f.Fix)
			}
			byHand = byHand || !strings.HasPrefix(f.Fix, "approver install ")
		}
		if byHand { // what is to be mended, corrected, renamed or removed by hand, is moved away
			m.must(os.Rename(path, path+".mine"))
		}
		if f := open[0]; installs.MatchString(f.Fix) || byHand {
			m.must(m.install())
		}
	}
	m.t.Errorf("after four rounds: %+v", m.troubles())
	return found
}

// daemonSays checks that what the daemon says to do is what doctor says. Its alarm said "approver install
// gemini" where that refused the file.
func (m *agentMachine) daemonSays(doctors []finding.Finding) {
	m.t.Helper()
	w := &hookwatch.Watch{Config: m.cfg, Managed: m.target().Managed, Audit: &daemontest.Ledger{},
		Log: slog.New(slog.DiscardHandler)}
	w.Look(m.t.Context())
	for _, line := range w.Now() {
		_, fix, _ := strings.Cut(line, adminapi.FixMark)
		if !slices.ContainsFunc(doctors, func(f finding.Finding) bool { return f.Fix == fix }) {
			m.t.Errorf("the daemon says\n%s\nand doctor\n%+v", line, doctors)
		}
	}
}

// The story: install said that it had put the hooks into the settings, and ended well. They did not run: a
// switch in another file, of which doctor knew, took them away.
func TestInstallSaysWhatSwitchesTheHooksOff(t *testing.T) {
	for _, c := range []struct{ agent, file, text string }{
		{"claude", "project/.claude/settings.local.json", `{"disableAllHooks":true}`},
		{"claude", "managed/managed-settings.json", `{"disableAllHooks":true}`},
		{"claude", ".claude.json", `{"env":{"CLAUDE_CODE_SIMPLE":"1"}}`},
		{"droid", ".factory/settings.json", `{"hooks":{"hooksDisabled":true}}`},
		{"droid", "project/.factory/settings.json", `{"hooks":{"hooksDisabled":true}}`},
		{"droid", "project/.factory/hooks.json", `{"hooksDisabled":true}`},
		{"goose", ".config/goose/settings.json", `{"disabledPlugins":["approver"]}`},
		{"goose", "project/.config/goose/settings.local.json", `{"disabledPlugins":["approver"]}`},
		{"goose", "project/.agents/plugins/approver/plugin.json", `{"name":"approver"}`},
		{"qwen", ".env", "QWEN_CODE_SIMPLE=1\n"},
		{"qwen", "project/.env", "QWEN_CODE_SAFE_MODE=true\n"},
		{"qwen", "project/.qwen/settings.json", `{"disableAllHooks":true}`},
		{"gemini", "project/.gemini/settings.json", `{"hooksConfig":{"enabled":false}}`},
		{"gemini", "project/.gemini/settings.json", `{"hooks":[]}`},
		{"copilot", ".copilot/settings.json", `{"disableAllHooks":true}`},
		{"copilot", "project/.github/copilot/settings.json", `{"disableAllHooks":true}`},
		{"codex", "project/.codex/config.toml", "[features]\nhooks = false\n"},
		{"codex", "managed/requirements.toml", "allow_managed_hooks_only = true\n"},
		{"opencode", "OPENCODE_PURE", "1"},
		{"qwen", "QWEN_CODE_SIMPLE", "1"},
		{"gemini", "GEMINI_RESTRICTED_MODE", "true"},
	} {
		t.Run(c.agent+" "+c.file, func(t *testing.T) {
			agent, _ := agents.For(c.agent)
			m := newAgentMachine(t, agent.(agents.Installer))
			m.must(m.install())
			if open := m.troubles(); len(open) > 0 {
				t.Fatalf("without the switch: %+v", open)
			}
			if strings.ToUpper(c.file) == c.file && !strings.HasPrefix(c.file, ".") {
				t.Setenv(c.file, c.text)
			} else {
				m.write(filepath.Join(m.dir, c.file), c.text)
			}
			said, err := printed(t, m.install)
			if !errors.Is(err, term.ErrSaid) {
				t.Errorf("install ends with %v", err)
			}
			if hooks, err := os.ReadFile(m.path); err != nil || !strings.Contains(string(hooks), "approver-hook") {
				t.Errorf("the hook is not there: %v", err)
			}
			open := m.troubles()
			if len(open) == 0 {
				t.Fatal("doctor finds nothing")
			}
			for _, f := range open {
				if strings.HasPrefix(f.Text, "uid ") {
					continue // the folder of the test is not for everybody
				}
				if !strings.Contains(said, f.Text) || !strings.Contains(said, "fix: "+f.Fix) || f.Fix == "" {
					t.Errorf("doctor says\n%s\n%s\nand install\n%s", f.Text, f.Fix, said)
				}
			}
		})
	}
}

// printed returns what a function prints on standard output.
func printed(t *testing.T, do func() error) (string, error) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = file
	ran := do()
	os.Stdout = stdout
	text, err := os.ReadFile(file.Name())
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text), ran
}

// The story: approver was installed for Cline too, which has no settings of the machine, and for Codex, in whose
// projects are no hooks. "doctor --system" and "doctor --project" failed for them, with "leave out --system".
func TestDoctorOfSettingsThatAnAgentHasNot(t *testing.T) {
	for name, flag := range map[string]func(m *agentMachine, which *settings.Target){
		"cline": func(_ *agentMachine, which *settings.Target) { which.System = true },
		"codex": func(m *agentMachine, which *settings.Target) { which.Project = filepath.Join(m.dir, "project") },
	} {
		agent, _ := agents.For(name)
		m := newAgentMachine(t, agent.(agents.Installer))
		m.must(m.install())
		which := m.target()
		flag(m, &which)
		for named, fails := range map[string]bool{"": false, name: true} {
			d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
			d.hook(which, named)
			failed := slices.ContainsFunc(d.found, func(f finding.Finding) bool { return f.Result == finding.Fail })
			good := slices.ContainsFunc(d.found, func(f finding.Finding) bool { return f.Text == m.path })
			if failed != fails || good == fails {
				t.Errorf("%s, named %q: %+v", name, named, d.found)
			}
		}
		// What is wrong in the user's settings, or in a project's others, is found.
		m.write(filepath.Join(m.dir, "project/.codex/config.toml"), "[features]\nhooks = false\n")
		if name == "cline" {
			m.must(os.Remove(m.path))
		}
		d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
		t.Chdir(m.dir)
		if d.hook(which, ""); slices.ContainsFunc(d.found, func(f finding.Finding) bool { return f.Text == m.path }) {
			t.Errorf("%s: what is wrong is not found: %+v", name, d.found)
		}
	}
}
