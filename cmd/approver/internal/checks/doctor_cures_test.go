package checks

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/hookinstall"
	"approver.example/cmd/approver/internal/term"
)

const (
	harmlessHook = `{"type":"command","command":"/bin/true"}`
	slowDouble   = `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"HOOK --agent claude ` +
		`--deadline 290s","timeout":330,"onFailure":"block","async":true}]}]}}`
)

// The story: doctor said that "disableAllHooks" was there, and "fix: approver install
// claude", which refused because "disableAllHooks" was there. Every cure is applied here
// to the letter, and doctor then finds nothing that fails.
func TestDoctorsCuresCure(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(m *claudeMachine)
		which func(m *claudeMachine) settings.Target
	}{
		"no settings":  {spoil: func(m *claudeMachine) { m.must(os.Remove(m.settings)) }},
		"no hooks":     {spoil: func(m *claudeMachine) { m.write(m.settings, `{"model":"opus"}`) }},
		"all disabled": {spoil: func(m *claudeMachine) { m.add("disableAllHooks", true) }},
		"disabled in a project": {spoil: func(m *claudeMachine) {
			m.write(m.project("settings.json"),
				`{"disableAllHooks":true}`)
		}},
		"disabled, one's own": {spoil: func(m *claudeMachine) {
			m.write(m.project("settings.local.json"),
				`{"disableAllHooks":true}`)
		}},
		"disabled by the system": {spoil: func(m *claudeMachine) {
			m.write(m.managed("managed-settings.json"),
				`{"disableAllHooks":true}`)
		}},
		"a switch": {spoil: func(m *claudeMachine) {
			m.add("env",
				map[string]string{"CLAUDE_CODE_SIMPLE": "1"})
		}},
		"a loader's variable": {spoil: func(m *claudeMachine) {
			m.write(m.project("settings.json"),
				`{"env":{"LD_PRELOAD":"/x"}}`)
		}},
		"many processors": {spoil: func(m *claudeMachine) {
			m.write(m.project("settings.json"),
				`{"env":{"GOMAXPROCS":"100000"}}`)
		}},
		"the global file": {spoil: func(m *claudeMachine) {
			m.write(filepath.Join(m.dir, ".claude.json"), `{"env":{"CLAUDE_CODE_SIMPLE":"1"}}`)
		}},
		"a value that drops": {spoil: func(m *claudeMachine) {
			m.add("permissions",
				map[string]string{"defaultMode": "banana"})
		}},
		"no JSON":                {spoil: func(m *claudeMachine) { m.write(m.settings, `{"hooks":`) }},
		"no JSON in a project":   {spoil: func(m *claudeMachine) { m.write(m.project("settings.json"), `{`) }},
		"a global file, no JSON": {spoil: func(m *claudeMachine) { m.write(filepath.Join(m.dir, ".claude.json"), `{`) }},
		"a double in a project": {spoil: func(m *claudeMachine) {
			m.write(m.project("settings.json"), strings.ReplaceAll(slowDouble, "HOOK", m.hook))
		}},
		"a double of one's own": {spoil: func(m *claudeMachine) {
			m.write(m.project("settings.local.json"), strings.ReplaceAll(slowDouble, "HOOK", m.hook))
		}},
		"only a double": {spoil: func(m *claudeMachine) {
			m.write(m.settings,
				strings.ReplaceAll(slowDouble, "HOOK", m.hook))
		}},
		"another program": {spoil: func(m *claudeMachine) {
			m.write(m.hook,
				"#!/bin/sh\nexit 0\n")
			m.must(os.Chmod(m.hook, 0o700))
		}},
		"managed hooks only": {spoil: func(m *claudeMachine) {
			m.write(m.managed("managed-settings.d/10-policy.json"), `{"allowManagedHooksOnly":true}`)
		}},
		"a broken file of the system": {spoil: func(m *claudeMachine) { m.write(m.managed("managed-settings.json"), `{`) }},
		"the system, none":            {spoil: func(*claudeMachine) {}, which: ofSystem},
		"the system, a file of our own": {spoil: func(m *claudeMachine) {
			m.must(hookinstall.AgentCmd{Agent: "claude",
				Target: settings.Target{File: m.managed("managed-settings.d/50-approver.json"), Managed: m.managed("")},
				Hook:   m.hook}.Install())
			m.edit(m.managed("managed-settings.d/50-approver.json"), `"*"`, `"Write"`)
		}, which: ofSystem},
		"a project, hooks of the user": {spoil: func(*claudeMachine) {}, which: inProject},
		"a project and its user, none": {spoil: func(m *claudeMachine) { m.must(os.Remove(m.settings)) }, which: inProject},
		"a project's own, spoiled": {spoil: func(m *claudeMachine) {
			m.must(hookinstall.AgentCmd{Agent: "claude", Target: inProject(m), Hook: m.hook}.Install())
			m.edit(m.project("settings.json"), `"*"`, `"Write"`)
		}, which: inProject},
		"a file by its path": {
			spoil: func(m *claudeMachine) { m.write(filepath.Join(m.dir, "a b", "it's.json"), `{}`) },
			which: func(m *claudeMachine) settings.Target {
				return settings.Target{File: filepath.Join(m.dir, "a b", "it's.json"), Managed: m.managed("")}
			},
		},
		"a variable of this shell": {spoil: func(m *claudeMachine) { m.t.Setenv("CLAUDE_CODE_SIMPLE", "1") }},
		"another hook": {spoil: func(m *claudeMachine) {
			m.write(m.project("settings.json"), `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[`+harmlessHook+`]}]}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newClaudeMachine(t)
			for dir := m.dir; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
				m.must(os.Chmod(dir, 0o755)) // managed settings are for everybody
			}
			m.watch.Look(t.Context())
			t.Chdir(filepath.Join(m.dir, "project"))
			which := settings.Target{Managed: m.managed("")}
			if tt.which != nil {
				which = tt.which(m)
			}
			tt.spoil(m)
			if err := os.Chmod(m.managed(""), 0o755); !errors.Is(err, fs.ErrNotExist) {
				m.must(err)
			}
			var d *doctor
			for round := range 4 {
				d = &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
				d.hook(which, "")
				open := d.troubled()
				if len(open) == 0 {
					break
				}
				if round == 3 {
					t.Fatalf("after three rounds: %+v", open)
				}
				done := map[string]bool{}
				for _, f := range open {
					if !done[f.Fix] {
						m.cure(f)
					}
					done[f.Fix] = true
				}
			}
			d.has(t, "hook", finding.OK, "")
			m.watch.Look(t.Context())
			if weak := m.watch.Now(); len(weak) > 0 {
				t.Errorf("the daemon still says %q", weak)
			}
		})
	}
}

func ofSystem(m *claudeMachine) settings.Target {
	return settings.Target{System: true, Managed: m.managed("")}
}

func inProject(m *claudeMachine) settings.Target {
	return settings.Target{Project: filepath.Join(m.dir, "project"), Managed: m.managed("")}
}

func (m *claudeMachine) project(name string) string {
	return filepath.Join(m.dir, "project", ".claude", name)
}

func (m *claudeMachine) managed(name string) string { return filepath.Join(m.dir, "managed", name) }

// troubled are the findings that have to be mended. That a single start of claude can
// run without hooks of a user is no fault of the settings.
func (d *doctor) troubled() (open []finding.Finding) {
	for _, f := range d.found {
		if f.Result != finding.OK && !strings.HasPrefix(f.Text, "a single start") &&
			!strings.HasPrefix(f.Text, "the managed settings leave open") &&
			!strings.Contains(f.Text, "another PreToolUse hook") {
			open = append(open, f)
		}
	}
	return open
}

// add puts a key into the user's settings.
func (m *claudeMachine) add(key string, value any) {
	m.change(m.settings, func(top map[string]any) { top[key] = value })
}

func (m *claudeMachine) edit(path, old, repl string) {
	m.t.Helper()
	text, err := os.ReadFile(path)
	m.must(err)
	m.must(os.WriteFile(path, []byte(strings.Replace(string(text), old, repl, 1)), 0o600))
}

// change rewrites a file as a person does by hand.
func (m *claudeMachine) change(path string, do func(map[string]any)) {
	m.t.Helper()
	text, err := os.ReadFile(path)
	m.must(err)
	top := map[string]any{}
	m.must(json.Unmarshal(text, &top))
	do(top)
	text, err = json.Marshal(top)
	m.must(err)
	m.must(os.WriteFile(path, text, 0o600))
}

var (
	takeOut    = regexp.MustCompile(`^take "([^"]+)" out of (/.*?)(?:, or .*)?$`)
	takeEnvOut = regexp.MustCompile(`^take "([^"]+)" out of "env" in (/.*)$`)
	byHand     = regexp.MustCompile(`^mend (/.*) there$`)
	remove     = regexp.MustCompile(`^make (/.*) readable for this user and valid JSON(?:, or remove it)?$`)
)

// cure does what a finding says, to the letter.
func (m *claudeMachine) cure(f finding.Finding) {
	m.t.Helper()
	m.t.Logf("%s %s\n    fix: %s", f.Result.Word(), f.Text, f.Fix)
	if of := takeOut.FindStringSubmatch(f.Fix); of != nil {
		m.change(of[2], func(top map[string]any) {
			keys := strings.Split(of[1], ".")
			for _, key := range keys[:len(keys)-1] {
				top, _ = top[key].(map[string]any)
			}
			delete(top, keys[len(keys)-1])
		})
	} else if of := takeEnvOut.FindStringSubmatch(f.Fix); of != nil {
		m.change(of[2], func(top map[string]any) { delete(top["env"].(map[string]any), of[1]) })
	} else if of := byHand.FindStringSubmatch(f.Fix); of != nil {
		m.must(os.WriteFile(of[1], []byte("{}"), 0o600))
	} else if of := remove.FindStringSubmatch(f.Fix); of != nil {
		m.must(os.Remove(of[1]))
	} else if name, found := strings.CutPrefix(f.Fix, "unset "); found {
		m.must(os.Unsetenv(name))
	} else {
		m.command(f.Fix)
	}
}

// command runs a command line that a shell would run, with the managed settings of the
// test and its hook.
func (m *claudeMachine) command(line string) {
	m.t.Helper()
	out, err := exec.Command("/bin/sh", "-c", `printf '%s\n' `+line).Output()
	m.must(err)
	args := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if args[0] == "chmod" {
		m.must(exec.Command("/bin/sh", "-c", line).Run())
		return
	}
	if len(args) < 3 || args[0] != "approver" || args[2] != "claude" {
		m.t.Fatalf("not a command of approver: %q", line)
	}
	which := settings.Target{Managed: m.managed("")}
	for rest := args[3:]; len(rest) > 0; rest = rest[1:] {
		switch rest[0] {
		case "--system":
			which.System = true
		case "--project":
			which.Project, rest = rest[1], rest[1:]
		case "--file":
			which.File, rest = rest[1], rest[1:]
		default:
			m.t.Fatalf("the flag %s in %q", rest[0], line)
		}
	}
	switch args[1] {
	case "install":
		err := hookinstall.AgentCmd{Agent: "claude", Target: which, Hook: m.hook}.Install()
		if !errors.Is(err, term.ErrSaid) { // it says what is still to be done
			m.must(err)
		}
	case "uninstall":
		m.must(hookinstall.UninstallAgentCmd{Agent: "claude", Target: which}.Run())
	default:
		m.t.Fatalf("the command %q", line)
	}
}
