package hookinstall

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents"
	"approver.example/agents/settings"
)

// The story: CODEX_HOME was set when approver was installed, and not when it was uninstalled. It said that there
// was nothing to take out, and the hooks lived on. The record knows where they are.
func TestUninstallNamesWhereTheHooksAre(t *testing.T) {
	everyAgent(t, func(d desk, agent agents.Installer) {
		name := agent.Files().Home
		if name == "" {
			name = agent.Files().Config
		}
		if name == "" {
			d.Skip("it has one folder")
		}
		other := filepath.Join(d.home, "other home")
		d.must(os.Mkdir(other, 0o755))
		was := d.tree(d.home)
		d.Setenv(name, other)
		path := d.path(agent)
		d.must(d.install(agent.Name(), settings.Target{}))
		d.Setenv(name, "")
		said := said(t, func() { d.must(d.uninstall(agent.Name(), settings.Target{})) })
		_, cure, _ := strings.Cut(said, "to take them out: approver uninstall ")
		want := agent.Name() + " --file '" + path + "' --config " + d.config + "\n"
		if cure != want || len(d.records()) != 1 {
			d.Fatalf("it said: %s\nwant %s", said, want)
		}
		d.must(d.uninstall(agent.Name(), settings.Target{File: path}))
		if now := d.tree(d.home); now != was || len(d.records()) > 0 {
			d.Errorf("left: %s, recorded: %v", now, d.records())
		}
	})
}

// What an older version wrote with escapes for > and & is taken out to the byte, too.
func TestUninstallOfWhatWasWrittenWithEscapes(t *testing.T) {
	d := newDesk(t)
	gemini, _ := agents.For("gemini")
	path := d.path(gemini.(agents.Installer))
	const text = "{\r\n  // mine\r\n  \"a\": 1\r\n}\r\n"
	d.must(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600),
		d.install("gemini", settings.Target{}))
	made, err := os.ReadFile(path)
	older := strings.ReplaceAll(string(made), ">&2", `\u003e\u00262`)
	if older == string(made) {
		t.Fatalf("%s", made)
	}
	d.must(err, os.WriteFile(path, []byte(older), 0o600), d.install("gemini", settings.Target{}))
	if again, err := os.ReadFile(path); err != nil || string(again) != older {
		t.Errorf("a second install changed it: %s, %v", again, err)
	}
	d.must(d.uninstall("gemini", settings.Target{}))
	if now, err := os.ReadFile(path); err != nil || string(now) != text {
		t.Errorf("%q, %v", now, err)
	}
}
