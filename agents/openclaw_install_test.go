package agents

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents/settings"
)

// openClawsOwn returns the settings as a companion of a plugin with hooks, or without.
func openClawsOwn(t *testing.T, plugin string, hooks bool) Companion {
	t.Helper()
	text, _ := wantedOf(t, openclaw)
	if !hooks {
		text = nil
	}
	all := openclaw.Companions(plugin, nil, text)
	if len(all) != 3 {
		t.Fatalf("%+v", all)
	}
	return all[2]
}

const openClawPlugin = "/h/.openclaw/extensions/approver/index.js"

// The story: install wrote the plugin, and OpenClaw loaded it for no turn, because its settings did not
// name it. Every call ran.
func TestOpenClawSettingsNameThePlugin(t *testing.T) {
	in, out := openClawsOwn(t, openClawPlugin, true), openClawsOwn(t, openClawPlugin, false)
	if in.Path != "/h/.openclaw/openclaw.json" {
		t.Errorf("the settings are %s", in.Path)
	}
	for name, c := range map[string]struct{ text, want string }{
		"none": {"", `{"plugins": {"entries": {"approver": {"enabled": true}}}}` + "\n"},
		"by hand": {"{ // mine\n  gateway: {port: 1},\n}\n", "{ // mine\n  gateway: {port: 1},\n" +
			"  \"plugins\": {\"entries\": {\"approver\": {\"enabled\": true}}},\n}\n"},
		"a list": {"{plugins: {allow: ['x']}}",
			`{plugins: {allow: ['x', "approver"], "entries": {"approver": {"enabled": true}}}}`},
		"as it is": {`{plugins: {allow: ['approver'], entries: {approver: {enabled: true}}}}`, ""},
		"of a plugin": {`{plugins: {entries: {approver: {hooks: {}}}}}`,
			`{plugins: {entries: {approver: {hooks: {}, "enabled": true}}}}`},
	} {
		want := c.want
		if want == "" {
			want = c.text
		}
		var old []byte
		if c.text != "" {
			old = []byte(c.text)
		}
		got, err := in.Change(old)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
		back, err := out.Change(got)
		if err != nil || c.want != "" && !bytes.Equal(back, old) || (back == nil) != (old == nil) {
			t.Errorf("%s: taken out: %v\n%s", name, err, back)
		}
	}
}

// What keeps OpenClaw from loading the plugin is refused by install and found by doctor.
func TestOpenClawPluginSwitchedOff(t *testing.T) {
	in := openClawsOwn(t, openClawPlugin, true)
	for text, want := range map[string]string{
		`{plugins: {enabled: false}}`:                           "plugins.enabled",
		`{plugins: {deny: ['x', ' Approver ']}}`:                "plugins.deny",
		`{plugins: {entries: {approver: {enabled: false}}}}`:    "plugins.entries.approver",
		`{plugins: {entries: {"APPROVER": {enabled: false}}}}`:  "plugins.entries.APPROVER",
		`{plugins: {enabled: true}, plugins: {enabled: false}}`: "openclaw.json:1:28: the key \"plugins\" stands there twice",
		`{plugins: [`:               "openclaw.json:1:12: a value is missing: mend it first",
		`{plugins: {entries: "x"}}`: "yourself",
		`{plugins: {enabled: true, deny: ["x"], entries: {x: {}}}`: "mend it first",
	} {
		if got, err := in.Change([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	t.Setenv("OPENCLAW_CONFIG_PATH", "/elsewhere/x.json")
	if got, err := in.Change(nil); err == nil || !strings.Contains(err.Error(), "/elsewhere/x.json") {
		t.Errorf("with other settings: %s, %v", got, err)
	}
	if weak := settings.Weak(openclaw.Environment(os.Environ())); len(weak) != 1 {
		t.Errorf("with other settings: %q", weak)
	}
	if all := openclaw.Companions("/elsewhere/index.js", nil, nil); len(all) != 2 {
		t.Errorf("a plugin elsewhere has no settings: %+v", all)
	}
}

// What other files say is not looked at, and that is said.
func TestOpenClawIncludedSettings(t *testing.T) {
	home := t.TempDir()
	plugin := filepath.Join(home, "extensions/approver/index.js")
	for text, n := range map[string]int{
		`{$include: './a.json5'}`:                   1,
		`{plugins: {$include: ['./a.json5'],},}`:    1,
		`{plugins: {entries: {$include: 'a'}}}`:     1,
		`{agents: {$include: './a'}, plugins: {}}`:  0,
		`{plugins: {$include: 'a'}, $include: 'b'}`: 2,
	} {
		if err := os.WriteFile(filepath.Join(home, "openclaw.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		source := settings.Source{Place: settings.User, Path: plugin}
		found, err := openclaw.Beside(settings.Places{}, []settings.Source{source}, settings.Want{})
		if err != nil || len(found) != n || len(settings.Weak(found)) != 0 {
			t.Errorf("%s: %v, %v", text, found, err)
		}
	}
}
