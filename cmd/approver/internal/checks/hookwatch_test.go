package checks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"approver.example"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/hookinstall"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/hooks"
	"approver.example/daemon/hookwatch"
	"approver.example/gate"
	"approver.example/httpapi"
)

// A claudeMachine is a home in which install has put the hooks, and the daemon's eyes.
type claudeMachine struct {
	t        *testing.T
	dir      string
	settings string
	hook     string
	cfg      configs.Config
	ledger   *daemontest.Ledger
	watch    *hookwatch.Watch
	decide   *hooks.Decider
}

func newClaudeMachine(t *testing.T) *claudeMachine {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	m := &claudeMachine{t: t, dir: dir, settings: filepath.Join(dir, ".claude", "settings.json"),
		hook: filepath.Join(dir, "approver-hook")}
	m.write(m.hook, "#!/bin/sh\n")
	m.must(os.Chmod(m.hook, 0o700))
	m.must(os.MkdirAll(filepath.Join(dir, "project", ".claude"), 0o700))
	cfg, err := configs.LoadOrDefault("")
	m.must(err)
	m.cfg = cfg
	l, log := &daemontest.Ledger{}, slog.New(slog.DiscardHandler)
	d := &hooks.Decider{Gate: &gate.Gate{Audit: l, Log: log}, Audit: l, Log: log}
	m.ledger, m.decide = l, d
	m.watch = &hookwatch.Watch{Config: cfg, Managed: filepath.Join(dir, "managed"), Audit: l,
		Log: slog.New(slog.DiscardHandler)}
	d.Hooks = m.watch
	m.install()
	return m
}

func (m *claudeMachine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *claudeMachine) write(path, text string) {
	m.t.Helper()
	m.must(os.MkdirAll(filepath.Dir(path), 0o700))
	m.must(os.WriteFile(path, []byte(text), 0o600))
}

func (m *claudeMachine) read() string {
	m.t.Helper()
	text, err := os.ReadFile(m.settings)
	m.must(err)
	return string(text)
}

func (m *claudeMachine) install() {
	m.t.Helper()
	m.must(hookinstall.AgentCmd{Agent: "claude", Hook: m.hook}.Install())
}

// changed sends what Claude Code sends when a file of its settings changed.
func (m *claudeMachine) changed(file string) httpapi.HookAnswer {
	payload := fmt.Sprintf(`{"session_id":"s","transcript_path":"%[1]s/.claude/projects/-p/s.jsonl",`+
		`"cwd":"%[1]s/project","hook_event_name":"ConfigChange","source":"user_settings","file_path":%[2]q}`, m.dir, file)
	return m.decide.Hook(m.t.Context(), httpapi.HookRequest{Agent: "claude", CallID: "c", Payload: []byte(payload)})
}

func (m *claudeMachine) alarms() (n int) {
	m.ledger.Mu.Lock()
	defer m.ledger.Mu.Unlock()
	for _, r := range m.ledger.Records {
		if r.Event == approver.EventAlarm {
			n++
		}
	}
	return n
}

// The story: in the middle of a session an agent writes settings without the hook, or
// with a switch or a broken value in them. Claude Code reads them again, and the next
// call ran unasked. Now Claude Code asks whether to take them, and the answer is a
// block and an alarm; what an honest person changes is taken.
func TestSettingsChangedInASession(t *testing.T) {
	local := "project/.claude/settings.local.json"
	for name, tt := range map[string]struct {
		file   string // in the home; empty: the user's settings
		change func(text string) string
		gone   bool // the file is removed
		ok     bool
	}{
		"a model": {change: func(s string) string { return strings.Replace(s, "{", `{"model":"opus",`, 1) }, ok: true},
		"a permission": {change: func(s string) string {
			return strings.Replace(s, "{",
				`{"permissions":{"allow":["Bash(ls)"]},`, 1)
		}, ok: true},
		"another hook": {change: func(s string) string {
			return strings.Replace(s, `"PreToolUse": [`, `"PreToolUse": [{"hooks":[{"type":"command","command":"say"}]},`, 1)
		}, ok: true},
		"a project's": {file: "project/.claude/settings.json",
			change: func(string) string { return `{"model":"x"}` }, ok: true},
		"a local permission": {file: local,
			change: func(string) string { return `{"permissions":{"allow":["Bash(ls)"]}}` }, ok: true},
		"all taken out": {change: func(string) string { return "{}" }},
		"removed":       {gone: true},
		"emptied":       {change: func(string) string { return "" }},
		"broken":        {change: func(string) string { return "{" }},
		"a value": {change: func(s string) string {
			return strings.Replace(s, "{",
				`{"permissions":{"defaultMode":"banana"},`, 1)
		}},
		"|| true":            {change: func(s string) string { return strings.Replace(s, "290s", "290s || true", 1) }},
		"a narrowed matcher": {change: func(s string) string { return strings.Replace(s, `"*"`, `"Write"`, 1) }},
		"no ConfigChange":    {change: func(s string) string { return strings.Replace(s, "ConfigChange", "Stop", 1) }},
		"no PostToolUse":     {change: func(s string) string { return strings.Replace(s, `"PostToolUse"`, `"Stop"`, 1) }},
		"disableAllHooks": {change: func(s string) string {
			return strings.Replace(s, "{", `{"disableAllHooks":true,`,
				1)
		}},
		"disableAllHooks local": {file: local, change: func(string) string { return `{"disableAllHooks":true}` }},
		"a prefix, local": {file: local,
			change: func(string) string { return `{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/tmp/x"}}` }},
		"managed, broken": {file: "managed/managed-settings.json", change: func(string) string { return `{` }},
	} {
		t.Run(name, func(t *testing.T) {
			m := newClaudeMachine(t)
			path := m.settings
			if tt.file != "" {
				path = filepath.Join(m.dir, tt.file)
			}
			if tt.gone {
				m.must(os.Remove(path))
			} else {
				was, _ := os.ReadFile(path)
				text := tt.change(string(was))
				if text == string(was) {
					t.Fatal("nothing was changed")
				}
				m.write(path, text)
			}
			a := m.changed(path)
			if a.ExitZero != tt.ok || tt.ok != (m.alarms() == 0) ||
				!tt.ok && !strings.HasPrefix(string(a.Stdout), `{"decision":"block","reason":"changed settings`) {
				t.Errorf("%d alarms, %s%s", m.alarms(), a.Stdout, a.Stderr)
			}
		})
	}
}

// The story: an agent weakens the user's file, which is refused, and then changes
// something harmless in the project's. Claude Code reads all files again when it takes
// one, so the refused one came in with it. Now every change is judged by all files.
func TestARefusedChangeIsNotTakenWithAnother(t *testing.T) {
	m := newClaudeMachine(t)
	good := m.read()
	m.write(m.settings, "{}")
	if a := m.changed(m.settings); a.ExitZero {
		t.Error("it was taken")
	}
	project := filepath.Join(m.dir, "project", ".claude", "settings.json")
	m.write(project, `{"model":"x"}`)
	if a := m.changed(project); a.ExitZero {
		t.Error("it was taken with the project's")
	}
	m.write(m.settings, good)
	if a := m.changed(project); !a.ExitZero {
		t.Errorf("not taken when all is well again: %s", a.Stderr)
	}
}

// Whatever keeps the daemon from looking blocks the change: no eyes, a record that is
// no record, a file that it may not read, an audit that fails.
func TestSettingsThatCannotBeLookedAt(t *testing.T) {
	m := newClaudeMachine(t)
	m.decide.Hooks = nil
	if a := m.changed(m.settings); a.ExitZero {
		t.Error("without eyes")
	}
	m.decide.Hooks = m.watch
	m.decide.Audit = failingAudit{}
	if a := m.changed(m.settings); a.ExitZero {
		t.Error("unrecorded")
	}
	m.decide.Audit = m.ledger
	if a := m.changed(m.settings); !a.ExitZero {
		t.Fatalf("%s", a.Stderr)
	}
	m.must(os.Remove(m.settings))
	m.must(os.Symlink(m.settings, m.settings)) // nobody can read it, root neither
	if a := m.changed(m.settings); a.ExitZero || !strings.Contains(string(a.Stderr), "cannot be read") {
		t.Errorf("unreadable: %s", a.Stderr)
	}
	m.must(os.Remove(m.settings))
	m.must(syscall.Mkfifo(m.settings, 0o600))
	if a := m.changed(m.settings); a.ExitZero {
		t.Error("a pipe")
	}
	m.must(os.Remove(m.settings))
	m.install()
	m.write(hookfiles.InstallsFile(m.cfg.Dir), "{")
	if a := m.changed(m.settings); a.ExitZero {
		t.Error("a broken record")
	}
}

type failingAudit struct{}

func (failingAudit) Record(_ context.Context, _ approver.Record) (string, error) {
	return "", errors.New("the disk is full")
}

// The story: an agent edits the settings while no session looks, or puts another
// program in place of the hook. Nobody heard of it. The daemon now looks at what was
// installed, and it is an alarm once, in the audit and in status, until it is mended.
// The owner's uninstall is none.
func TestTheDaemonWatchesTheHooks(t *testing.T) {
	m := newClaudeMachine(t)
	good := m.read()
	look := func(alarms int, weak string) {
		t.Helper()
		m.watch.Look(t.Context())
		m.watch.Look(t.Context())
		if got := strings.Join(m.watch.Now(), "\n"); m.alarms() != alarms || (weak == "") != (got == "") ||
			!strings.Contains(got, weak) {
			t.Errorf("%d alarms, %q; want %d, %q", m.alarms(), got, alarms, weak)
		}
	}
	look(0, "")
	m.write(m.settings, strings.Replace(good, "{", `{"model":"opus",`, 1))
	look(0, "")
	m.write(m.settings, strings.Replace(good, "290s", "290s || true", 1))
	look(1, "the hook runs")
	m.write(m.settings, good)
	look(1, "")
	m.must(os.Rename(m.settings, m.settings+".away"))
	look(2, "there is no")
	m.must(os.Rename(m.settings+".away", m.settings))
	look(2, "")
	m.write(filepath.Join(m.dir, "managed", "managed-settings.d", "60-x.json"), `{"disableAllHooks":true}`)
	look(3, "disableAllHooks")
	m.must(os.RemoveAll(filepath.Join(m.dir, "managed")))
	look(3, "")
	m.write(m.hook, "#!/bin/sh\nexit 0\n")
	look(4, "is not what it was when it was installed")
	m.install()
	look(4, "")
	m.must(hookinstall.UninstallAgentCmd{Agent: "claude"}.Run())
	look(4, "")
	if all, err := hookfiles.ReadInstalls(m.cfg.Dir); err != nil || len(all.Installs) != 0 {
		t.Errorf("still recorded: %+v, %v", all, err)
	}
}

// The story: another program that is called approver-hook stands in the settings, with
// the very words that install writes. Doctor looked at the name. Now it compares the
// program with the one that was installed.
func TestDoctorKnowsTheProgram(t *testing.T) {
	m := newClaudeMachine(t)
	look := func() *doctor {
		d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
		d.hook(settings.Target{Managed: filepath.Join(m.dir, "managed")}, "")
		return d
	}
	look().has(t, "hook", finding.OK, m.settings)
	m.write(m.hook, "#!/bin/sh\nexit 0\n")
	look().has(t, "hook", finding.Fail, "is not what it was when it was installed")
	m.install()
	d := look()
	d.has(t, "hook", finding.OK, m.settings)
	d.has(t, "hook", finding.Warn, "a single start of claude with --bare")
}

// The story: a project's file, a local one, or a variable turns every hook off, and
// doctor, which looked at the user's file, said that all is well.
func TestDoctorLooksAtEverySource(t *testing.T) {
	m := newClaudeMachine(t)
	project := filepath.Join(m.dir, "project")
	t.Chdir(project)
	managed := filepath.Join(m.dir, "managed")
	for file, text := range map[string]string{
		filepath.Join(project, ".claude", "settings.json"):             `{"disableAllHooks":true}`,
		filepath.Join(project, ".claude", "settings.local.json"):       `{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/tmp/x"}}`,
		filepath.Join(managed, "managed-settings.d", "10-policy.json"): `{"allowManagedHooksOnly":true}`,
		filepath.Join(managed, "managed-settings.json"):                `{`,
	} {
		look := func() *doctor {
			d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
			d.hook(settings.Target{Managed: managed}, "")
			return d
		}
		look().has(t, "hook", finding.OK, m.settings)
		m.write(file, text)
		look().has(t, "hook", finding.Fail, filepath.Base(file))
		m.must(os.Remove(file))
	}
	t.Setenv("CLAUDE_CODE_SIMPLE", "1")
	d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
	d.hook(settings.Target{Managed: managed}, "")
	d.has(t, "hook", finding.Warn, "CLAUDE_CODE_SIMPLE is set here")
}

// The story: install --system wrote the managed settings as root's alone. Claude Code
// under every other user read nothing and ran without the hook. Now the file is for
// everybody whatever the umask is, and another user reads it back.
func TestManagedSettingsAreForEverybody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: another user needs root; .ci/run as root runs it")
	}
	m := newClaudeMachine(t)
	for dir := m.dir; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		m.must(os.Chmod(dir, 0o755))
	}
	managed := filepath.Join(m.dir, "etc", "claude-code")
	which := settings.Target{System: true, Managed: managed}
	path := filepath.Join(managed, "managed-settings.json")
	asAgent := func() error {
		cmd := exec.Command("/bin/cat", path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 61002, Gid: 61002}}
		return cmd.Run()
	}
	look := func() *doctor {
		d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
		d.hook(which, "")
		return d
	}
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	m.must(hookinstall.AgentCmd{Agent: "claude", Target: which, Hook: m.hook}.Install())
	m.must(asAgent())
	look().has(t, "hook", finding.OK, path)

	m.must(os.Chmod(path, 0o600))
	look().has(t, "hook", finding.Fail, `chmod a+r "`+path+`"`)
	m.must(hookinstall.AgentCmd{Agent: "claude", Target: which, Hook: m.hook}.Install())
	m.must(asAgent())

	m.must(os.Chmod(managed, 0o700))
	look().has(t, "hook", finding.Fail, `chmod a+x "`+managed+`"`)
	if err := (hookinstall.AgentCmd{Agent: "claude", Target: which, Hook: m.hook}).Install(); err == nil ||
		!strings.Contains(err.Error(), `chmod a+x "`+managed+`"`) {
		t.Errorf("install into a closed folder: %v", err)
	}
	own := filepath.Join(managed, "managed-settings.d", "50-approver.json")
	m.must(os.Chmod(managed, 0o755))
	m.must(hookinstall.AgentCmd{Agent: "claude", Target: settings.Target{File: own, Managed: managed},
		Hook: m.hook}.Install())
	path = own
	m.must(asAgent())
}
