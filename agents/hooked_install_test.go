package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/agents/settings"
)

// A switchCase is a settings file, and whether install refuses it in a home and whether it weakens the
// hooks of a user if it is a project's.
type switchCase struct {
	text             string
	refused, project bool
}

// wantedHooks returns the hooks that install writes.
func wantedHooks(t *testing.T, a Installer) settings.Hooks {
	t.Helper()
	_, hooks := wantedOf(t, a)
	return hooks
}

// compared returns what weakens the hooks of a user, with the settings of a project.
func compared(t *testing.T, a Installer, user, project string) []string {
	t.Helper()
	return settings.Weak(a.Compare([]settings.Source{
		{Place: settings.User, Path: "/home/dev/settings.json", Text: []byte(user)},
		{Place: settings.Project, Path: "/p/settings.json", Text: []byte(project)},
	}, settings.Want{Hooks: wantedHooks(t, a)}))
}

func checkSwitches(t *testing.T, a Installer, cases []switchCase) {
	t.Helper()
	hooks := wantedHooks(t, a)
	good, err := a.WithHooks("x", nil, hooks)
	if err != nil {
		t.Fatal(err)
	}
	if weak := compared(t, a, string(good), ""); len(weak) > 0 {
		t.Errorf("%s: what install writes is weak: %q", a.Name(), weak)
	}
	for _, c := range cases {
		if _, err := a.WithHooks("x", []byte(c.text), hooks); (err != nil) != c.refused {
			t.Errorf("%s: install with %s: %v", a.Name(), c.text, err)
		}
		if weak := compared(t, a, string(good), c.text); (len(weak) > 0) != c.project {
			t.Errorf("%s: a project with %s: %q", a.Name(), c.text, weak)
		}
	}
}

// The story: these agents run equal command lines once. A project had the command of the user's hook
// with a timeout of ten milliseconds, or "async". The agent took that one, did not wait for it, and ran
// the call.
func TestCopiesOfTheHookWeakenIt(t *testing.T) {
	for timeout, a := range map[string]Installer{`"timeout":330000`: gemini, `"timeout":60`: qwen} {
		good, err := a.WithHooks("x", nil, wantedHooks(t, a))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			old, is string
			weak    bool
		}{
			{`"command"`, `"command"`, false},
			{timeout, `"timeout":0.01`, true},
			{timeout, `"async":true,` + timeout, true},
			{`"matcher":"*"`, `"matcher":"nothing"`, true},
			{`approver-hook --agent`, `other --agent`, false},
		} {
			if !strings.Contains(string(good), c.old) {
				t.Fatalf("%s has no %s", good, c.old)
			}
			other := strings.ReplaceAll(string(good), c.old, c.is)
			if weak := compared(t, a, string(good), other); (len(weak) > 0) != c.weak {
				t.Errorf("%s: a copy with %s: %q", a.Name(), c.is, weak)
			}
		}
	}
}

// The story: the agent's key for the command line had another program, and approver's line stood behind
// another key, or one in capitals. Every call ran unasked, and nothing was reported.
func TestTheCommandLineIsBehindTheAgentsKey(t *testing.T) {
	for _, adapter := range adapters {
		a, ok := adapter.(Installer)
		text, err := a.HookConfig("/usr/bin/approver-hook", "", time.Minute)
		if _, isScript := strings.CutPrefix(string(text), "{"); !ok || err != nil || !isScript {
			continue
		}
		own := `"command":`
		if a.Name() == "copilot" {
			own = `"bash":`
		}
		good, err := a.WithHooks("x", nil, wantedHooks(t, a))
		if err != nil || !strings.Contains(string(good), own) {
			t.Fatalf("%s: %v, %s", a.Name(), err, good)
		}
		for _, key := range []string{"command", "bash", "powershell", "Command", "COMMAND", "Bash", "cmd"} {
			if text := strings.ReplaceAll(string(good), own, own+`"true","`+key+`":`); own != `"`+key+`":` &&
				len(compared(t, a, text, "")) == 0 {
				t.Errorf("%s runs another program, and %s has approver's line: %s", a.Name(), key, text)
			}
		}
	}
}

// Hand-written settings keep their comments and order; a second install changes nothing; and without the
// hooks the bytes are as before. Line ends of Windows are what uninstall restores from its record.
func TestInstallKeepsTheRestOfTheFile(t *testing.T) {
	for _, a := range []Installer{gemini, qwen} {
		for _, text := range []string{
			"{}", "{}\n", "{\n}\n", "\ufeff{\"a\": 1}\n", "// mine\n{\n  \"b\": 1, /* x */\n  \"a\": [1,2]\n}\n",
			"{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}}",
			"{\"hooks\": {\"" + a.Facts().Events[0].Name +
				"\": [ {\"matcher\": \"write.*\", \"hooks\": [{\"command\": \"x\"}] } ] }, \"z\": 0}\n",
		} {
			hooks := wantedHooks(t, a)
			installed, err := a.WithHooks("x", []byte(text), hooks)
			if a.Name() == "gemini" && strings.HasPrefix(text, "\ufeff") {
				if err == nil || !strings.Contains(err.Error(), "byte order mark") {
					t.Errorf("Gemini does not start with %q: %v", text, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %q: %v", a.Name(), text, err)
				continue
			}
			if strings.Contains(string(installed), `\u00`) || !strings.Contains(string(installed), `stopped\" >&2;`) {
				t.Errorf("%s: not as it is on the agent's page: %s", a.Name(), installed)
			}
			if weak := compared(t, a, string(installed), ""); len(weak) > 0 {
				t.Errorf("%s: %q installed: %q", a.Name(), text, weak)
			}
			if again, err := a.WithHooks("x", installed, hooks); err != nil || string(again) != string(installed) {
				t.Errorf("%s: %q installed twice: %v, %s", a.Name(), text, err, again)
			}
			if back, err := a.WithHooks("x", installed, nil); err != nil || string(back) != text {
				t.Errorf("%s: %q uninstalled: %v, %q", a.Name(), text, err, back)
			}
		}
	}
}

// Where the sandbox of a project's settings cannot be started, Droid runs no hook, and launches tasks.
func TestDroidSandboxIsReported(t *testing.T) {
	for text, want := range map[string]int{
		`{"sandbox":{"enabled":true}}`:                                1,
		`{"sandbox":{"enabled":"yes"},"hooks":{"hooksDisabled":1}}`:   2,
		`{"sandbox":{"enabled":true},"hooks":[]}`:                     1,
		`{"sandbox":{"enabled":false}}`:                               0,
		`{"sandbox":{"enabled":null}}`:                                0,
		`{"sandbox":true,"hooks":{"hooksDisabled":false},"x":"y {}"}`: 0,
	} {
		p := settings.Places{Projects: []string{t.TempDir()}}
		path := filepath.Join(p.Projects[0], ".factory", "settings.json")
		for _, err := range []error{os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		found, err := Searcher(droid).Beside(p, p.Sources(droid.Files()), settings.Want{})
		if err != nil || len(settings.Weak(found)) != want {
			t.Errorf("%s: %v, %v, want %d", text, found, err, want)
		}
	}
}

// What the machine's settings of Copilot and Droid hold, no settings of a user or a project take away: it
// is worth telling, and no more.
func TestMachineHoldsTheHooks(t *testing.T) {
	for _, c := range []struct {
		agent Installer
		file  string // in a project
		text  string
	}{
		{copilot, ".claude/settings.json", `{"disableAllHooks":true}`},
		{droid, ".factory/settings.json", `{"hooks":{"hooksDisabled":true}}`},
		{droid, ".factory/hooks.json", `{"hooksDisabled":true}`},
	} {
		p := settings.Places{Projects: []string{t.TempDir()}}
		path := filepath.Join(p.Projects[0], c.file)
		for _, err := range []error{os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(c.text), 0o600)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		machine, hooks := wantedOf(t, c.agent)
		for _, held := range []bool{true, false} {
			place := settings.User
			if held {
				place = settings.Managed
			}
			sources := append(p.Sources(c.agent.Files()), settings.Source{Place: place, Path: "/m/settings.json", Text: machine})
			want := settings.Want{Hooks: hooks}
			found, err := c.agent.(Searcher).Beside(p, sources, want)
			found = append(found, c.agent.Compare(sources, want)...)
			if weak := settings.Weak(found); err != nil || len(found) == 0 || (len(weak) == 0) != held {
				t.Errorf("%s, %s: %v, %v", c.agent.Name(), c.file, found, err)
			}
		}
	}
}

// Agents that were seen to run their calls once the folder of their start was gone say so.
func TestTheFolderOfTheStartIsNamed(t *testing.T) {
	for _, a := range []Installer{codex, cline, droid, qwen, gemini, copilot, pi, Claude{}} {
		advice := a.(Adviser).Advice(nil)
		named := slices.ContainsFunc(advice, func(f settings.Finding) bool {
			return f.Harmless && strings.Contains(f.Text, "in which it was started")
		})
		if want := !slices.Contains([]string{"copilot", "pi", "claude"}, a.Name()); named != want {
			t.Errorf("%s: %v", a.Name(), advice)
		}
	}
}
