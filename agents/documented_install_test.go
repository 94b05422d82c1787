package agents

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/agents/settings"
)

// documented are the agents that were written from their documents.
var documented = []Installer{cursor, windsurf, kiro, goose, crush}

const testHook = "/usr/local/bin/approver-hook"

// wantedOf returns the text that install writes, and its hooks.
func wantedOf(t *testing.T, a Installer) (text []byte, hooks settings.Hooks) {
	t.Helper()
	text, err := a.HookConfig(testHook, "", 2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if hooks, err = a.ReadHooks("f", text); err != nil || len(hooks) == 0 {
		t.Fatalf("%d hooks, %v", len(hooks), err)
	}
	return text, hooks
}

// Settings that a person wrote stay as they are: install twice changes nothing more, and uninstall
// gives the bytes back.
func TestHandWrittenSettings(t *testing.T) {
	for name, file := range map[string]struct {
		agent Installer
		texts []string
	}{
		"cursor": {cursor, []string{
			"{\n\t\"version\": 1,\n\t\"hooks\": {\n\t\t\"stop\": [ { \"command\": \"./done.sh\" } ]\n\t}\n}",
			"{\"version\":1,\"hooks\":{\"preToolUse\":[{\"command\":\"./mine.sh\",\"matcher\":\"Shell\"}]}}\r\n",
			"{\r\n  \"version\": 1,\r\n  \"hooks\": {}\r\n}\r\n",
		}},
		"windsurf": {windsurf, []string{
			"{}", "{ \"hooks\" : { \"pre_run_command\" : [ { \"command\" : \"a\", \"show_output\" : true } ] } }\n",
			"{\"other\": [1, 2],\r\n \"hooks\": {\"post_write_code\": [{\"command\": \"fmt\"}]}}\r\n",
		}},
		"goose": {goose, []string{
			"{}\n", "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]}]}}",
		}},
		"crush": {crush, []string{
			"{\n  \"$schema\": \"https://charm.land/crush.json\",\n  \"lsp\": {\"go\": {\"command\": \"gopls\"}}\n}\n",
			"{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"^bash$\",\"command\":\"./no.sh\"}]},\"options\":{\"tui\":{}}}",
		}},
	} {
		_, hooks := wantedOf(t, file.agent)
		for _, text := range file.texts {
			once, err := file.agent.WithHooks("f", []byte(text), hooks)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			twice, err := file.agent.WithHooks("f", once, hooks)
			if err != nil || !bytes.Equal(once, twice) || bytes.Equal(once, []byte(text)) {
				t.Errorf("%s: a second install of %q: %v\n%s\n%s", name, text, err, once, twice)
			}
			if have, err := file.agent.ReadHooks("f", once); err != nil || len(have) < len(hooks) {
				t.Errorf("%s: %d hooks, %v", name, len(have), err)
			}
			back, err := file.agent.WithHooks("f", once, nil)
			if err != nil || !sameSettings(t, back, text) {
				t.Errorf("%s: uninstalled, %v\n%q\nwas\n%q", name, err, back, text)
			}
		}
	}
}

// sameSettings reports whether a text is the former one, or that with an empty object of hooks, which
// uninstall leaves where a file of the agent must have one.
func sameSettings(t *testing.T, got []byte, was string) bool {
	t.Helper()
	plain := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return plain(string(got)) == plain(was)
}

// A whole new file of each has exactly what Compare wants, and nothing is found in it.
func TestFreshSettingsHold(t *testing.T) {
	for _, a := range documented {
		text, hooks := wantedOf(t, a)
		want := settings.Want{Hooks: hooks, In: "f", TTL: 2 * time.Minute}
		source := settings.Source{Place: settings.User, Path: "f", Text: text}
		if found := a.Compare([]settings.Source{source}, want); len(found) != 0 {
			t.Errorf("%s: %v", a.Name(), found)
		}
		empty, err := a.WithHooks("f", nil, hooks)
		if err != nil {
			t.Errorf("%s: %v", a.Name(), err)
		}
		source.Text = empty
		if found := a.Compare([]settings.Source{source}, want); len(found) != 0 {
			t.Errorf("%s, an empty file: %v\n%s", a.Name(), found, empty)
		}
	}
}

// What weakens the hooks is found, whatever it is.
func TestWeakenedSettings(t *testing.T) {
	for _, c := range []struct {
		agent        Installer
		change, into string
		finds        string
	}{
		{cursor, `"failClosed": true`, `"failClosed": false`, "failClosed"},
		{cursor, `"timeout": 330`, `"timeout": 60`, "gives up on the hook"},
		{cursor, `--deadline 290s`, `--deadline 60s`, "less than the ttl"},
		{cursor, `"timeout": 330`, `"timeout": 330, "matcher": "Shell"`, "matcher"},
		{cursor, `"version": 1`, `"version": "1"`, "version"},
		{cursor, `"version": 1`, `"version": 1, "x": "https://x"`, "two slashes"},
		{cursor, `"postToolUse":`, `"beforeEverything": [], "postToolUse":`, "beforeEverything"},
		{cursor, `"preToolUse":`, `"stop":`, "preToolUse"},
		{windsurf, `"pre_write_code":`, `"pre_user_prompt":`, "pre_write_code"},
		{windsurf, ` --park`, ``, "the hook runs"},
		{windsurf, testHook, `/tmp/approver-hook`, "the hook runs"},
		{kiro, `"enabled": true`, `"enabled": false`, "the hook is"},
		{kiro, `"version": "v1"`, `"version": "v2"`, "the hook is"},
		{kiro, `"matcher": ".*"`, `"matcher": "shell"`, "only for tools"},
		{kiro, `"type": "command"`, `"type": "agent"`, "the hook is"},
		{kiro, `"timeout": 30`, `"timeout": 5`, "gives up"},
		{goose, `"matcher": ".*"`, `"matcher": "*"`, "only for tools"},
		{goose, `"on_failure": "block"`, `"on_failure": "allow"`, "on_failure"},
		{crush, `"timeout": 330`, `"timeout": 1`, "gives up"},
		{crush, `"timeout": 330`, `"timeout": 0`, "a number above 0"},
		{crush, `"timeout": 330`, `"timeout": 330, "matcher": "^bash$"`, "matcher"},
	} {
		text, hooks := wantedOf(t, c.agent)
		weak := strings.ReplaceAll(string(text), c.change, c.into)
		if weak == string(text) {
			t.Errorf("%s has no %s", c.agent.Name(), c.change)
		}
		found := settings.Weak(c.agent.Compare([]settings.Source{{Place: settings.User, Path: "f", Text: []byte(weak)}},
			settings.Want{Hooks: hooks, In: "f", TTL: 2 * time.Minute}))
		if !strings.Contains(strings.Join(found, "\n"), c.finds) {
			t.Errorf("%s with %s: %q, want %q", c.agent.Name(), c.into, found, c.finds)
		}
	}
}

// The story: a file of Cursor without a version, or with a comment, is dropped in silence with all its
// hooks. install wrote approver's hooks into one and said that it was done.
func TestCursorDropsAFile(t *testing.T) {
	_, hooks := wantedOf(t, cursor)
	for _, text := range []string{
		`{"version":0,"hooks":{}}`, `{"version":null}`, `[]`, `{"version":"1","hooks":{}}`, `{"version":1,"hooks":[]}`,
		"{\"version\":1, // mine\n\"hooks\":{}}", `{"version":1,"hooks":{},}`, `{"version":1,"hooks":{"preTool":[]}}`,
		`{"$schema":"https://x/y.json","version":1,"hooks":{}}`,
	} {
		if out, err := cursor.WithHooks("f", []byte(text), hooks); err == nil {
			t.Errorf("%s became %s", text, out)
		}
	}
	// A version that is only missing is written, and told as missing until then.
	for _, text := range []string{"{}", `{"hooks":{}}`} {
		found := settings.Weak(cursor.switchesIn(settings.Source{Path: "f", Text: []byte(text)}))
		if !slices.Equal(found, []string{`f: there is no "version", so Cursor drops the file`}) {
			t.Errorf("%s: %q", text, found)
		}
		out, err := cursor.WithHooks("f", []byte(text), hooks)
		if found := cursor.switchesIn(settings.Source{Path: "f", Text: out}); err != nil || len(found) > 0 {
			t.Errorf("%s became %s, %v, %v", text, out, err, found)
		}
	}
}

// The story: a repository brings a plugin that is called approver. goose takes that one, and the user's
// hooks are gone.
func TestGoosePluginOfAProject(t *testing.T) {
	text, hooks := wantedOf(t, goose)
	user := settings.Source{Place: settings.User, Path: "u", Text: text}
	for theirs, weak := range map[string]bool{
		`{"hooks":{}}`: true, `{"hooks":{"PreToolUse":[{"hooks":[{"command":"true"}]}]}}`: true, `{}`: true,
		string(text): false,
	} {
		project := settings.Source{Place: settings.Project, Path: "p", Text: []byte(theirs)}
		found := settings.Weak(goose.Compare([]settings.Source{user, project}, settings.Want{Hooks: hooks}))
		if (len(found) > 0) != weak {
			t.Errorf("%s: %q", theirs, found)
		}
	}
}

// The manifest of the plugin is written beside the hooks, put back if somebody changed it, and taken away
// with them.
func TestGooseManifest(t *testing.T) {
	text, _ := wantedOf(t, goose)
	own := []byte(`{"name":"approver","version":"2"}`)
	for name, c := range map[string]struct{ becomes, old, want []byte }{
		"install":           {text, nil, []byte(gooseManifest)},
		"again":             {text, []byte(gooseManifest), []byte(gooseManifest)},
		"changed by hand":   {text, own, []byte(gooseManifest)},
		"uninstall":         {[]byte("{}"), []byte(gooseManifest), nil},
		"a person's stays":  {nil, own, own},
		"nothing was there": {nil, nil, nil},
	} {
		all := goose.Companions("/h/.agents/plugins/approver/hooks/hooks.json", nil, c.becomes)
		if len(all) != 1 || all[0].Path != "/h/.agents/plugins/approver/plugin.json" {
			t.Fatalf("%s: %+v", name, all)
		}
		if got, err := all[0].Change(c.old); err != nil || !bytes.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if all := goose.Companions("/elsewhere/x.json", nil, text); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// Settings of goose, also those that a repository brings, switch the plugin off in silence.
func TestGoosePluginSwitchedOff(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	places := settings.Places{Home: home + "/.agents/plugins/approver", Projects: []string{project}}
	for _, c := range []struct {
		folder, file, text string
		weak, all          int
	}{
		{home, "settings.json", `{"disabledPlugins":["other"]}`, 0, 0},
		{home, "settings.json", `{"disabledPlugins":["approver"]}`, 1, 1},
		{project, "settings.json", `{"disabledPlugins":["approver"]}`, 1, 1},
		{project, "settings.local.json", `{"disabledPlugins":["approver"]}`, 1, 1},
		{project, "settings.local.json", `{"disabledPlugins":"approver"}`, 0, 1},
	} {
		file := filepath.Join(c.folder, ".config/goose", c.file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		found, err := goose.Beside(places, nil, settings.Want{})
		if err != nil || len(found) != c.all || len(settings.Weak(found)) != c.weak {
			t.Errorf("%s in %s: %v, %v", c.text, c.file, found, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// A file of Kiro with hooks of others, or of a form that is not known, is left alone.
func TestKiroFileOfOthers(t *testing.T) {
	text, hooks := wantedOf(t, kiro)
	for _, other := range []string{
		`{"version":"v1","hooks":[{"name":"x","trigger":"Stop","action":{"type":"command","command":"make"}}]}`,
		`{"version":"v1","hooks":[],"more":1}`, `[]`, `{`,
	} {
		if out, err := kiro.WithHooks("f", []byte(other), hooks); err == nil {
			t.Errorf("%s became %s", other, out)
		}
	}
	back, err := kiro.WithHooks("f", text, nil)
	if have, readErr := kiro.ReadHooks("f", back); err != nil || readErr != nil || len(have) != 0 {
		t.Errorf("uninstalled: %s, %v, %v", back, err, readErr)
	}
}

// An agent that does not wait for people is told to come back later, and the hook says so itself.
func TestHooksOfImpatientAgentsPark(t *testing.T) {
	for _, a := range documented {
		_, hooks := wantedOf(t, a)
		for event, matchers := range hooks {
			command := settings.CommandOf(matchers[0].Hooks[0])
			guards := !strings.Contains(strings.ToLower(event), "post")
			impatient := a.Name() == "windsurf" || a.Name() == "kiro"
			if command.Parks() != (guards && impatient) {
				t.Errorf("%s %s: %s", a.Name(), event, command)
			}
			if _, waits := command.Deadline(); impatient && waits >= 30*time.Second {
				t.Errorf("%s %s waits for %v", a.Name(), event, waits)
			}
		}
	}
}

// The story: a hook of Kiro's had a timeout of 5 seconds in its file, and the budget said that Kiro waits
// for 30. What a file says counts, up to what the agent waits at most; a hook without a timeout is
// given the shortest time.
func TestTimeoutOfTheFile(t *testing.T) {
	for _, c := range []struct {
		agent Installer
		hook  string
		want  time.Duration
	}{
		{kiro, `{"timeout":5}`, 5 * time.Second},
		{kiro, `{"timeout":300}`, kiroPatience},
		{kiro, `{}`, kiroPatience},
		{windsurf, `{}`, windsurfPatience},
		{cline, `{}`, clineMost},
		{gemini, `{"timeout":100}`, 100 * time.Millisecond},
		{gemini, `{"timeout":0}`, unsetPatience},
		{copilot, `{"timeoutSec":"x"}`, unsetPatience},
		{qwen, `{"timeout":2000}`, 2 * time.Second},
		{opencode, `{}`, 0},
	} {
		if got := c.agent.Timeout(json.RawMessage(c.hook)); got != c.want {
			t.Errorf("%s waits for %s: %v, want %v", c.agent.Name(), c.hook, got, c.want)
		}
	}
	b := settings.Budget{Agent: "gemini", Hook: 100 * time.Millisecond, Courier: time.Second}
	if !strings.Contains(b.Open(), "after 0.1 s") {
		t.Error(b.Open())
	}
}
