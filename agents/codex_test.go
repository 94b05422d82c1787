package agents

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/settings"
)

// codexAnswer is the answer of the adapter to a recorded payload.
func codexAnswer(t *testing.T, file string, v approver.Verdict) string {
	t.Helper()
	payload, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := codex.Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	return string(codex.Encode(ev, v).Stdout)
}

// Codex 0.171 told these hashes of these hooks in hooks/list of its app server.
func TestCodexHash(t *testing.T) {
	for _, c := range []struct{ event, hooks, sum string }{
		{"PreToolUse", `[{"matcher":".*","hooks":[{"type":"command","command":"/root/cx/rec.sh","timeout":30}]}]`,
			"8880072113ef5b4d35d874f620247276a680023b623cf0691e7e827dad372155"},
		{"PermissionRequest", `[{"matcher":"*","hooks":[{"type":"command","command":"/root/cx/rec.sh","timeout":30}]}]`,
			"4aa9f388432695452142e6c6bf56264dfc77020c94896ce52e335ab637d7e4d5"},
		{"PostToolUse", `[{"matcher":"*","hooks":[{"timeout":30,"type":"command","command":"/root/cx/rec.sh","x":1}]}]`,
			"7723ba821f1342843dfbcb59b3194b2c1494bc8b0f29d3e53e490d2c790ba92b"},
		{"SubagentStart", `[{"hooks":[{"type":"command","command":"/root/cx/rec.sh","timeout":30}]}]`,
			"32116a6b8a0408e936f44eab801a23d77a487958364655c671111911d9ba10f9"},
	} {
		file, err := codexFile([]byte(`{"hooks":{"` + c.event + `":` + c.hooks + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		group := file[c.event][0]
		if sum, err := group.Hooks[0].hash(c.event, group.Matcher); err != nil || sum != "sha256:"+c.sum {
			t.Errorf("%s: %s, %v; Codex says %s", c.event, sum, err, c.sum)
		}
	}
	text := unescaped([]byte(`"a\u2028b\\u2028"`), `\u2028`, "\u2028")
	if string(text) != "\"a\u2028b\\\\u2028\"" {
		t.Errorf("%q", text)
	}
}

// The story: one hook of another program had a word that Codex did not know, or the file had a comment.
// Codex then read no hook in the whole file, showed one line about it, and ran everything.
func TestCodexReadsNothingOfABadFile(t *testing.T) {
	hooks, err := codex.wanted("/opt/approver-hook", "", 2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"// x\n{}", "{\"hooks\":{},}", "\ufeff{}", `{"x":1}`, `{"hooks":[]}`, `{"hooks":null}`, `{"hooks":{"Stop":5}}`,
		`{"hooks":{"Stop":null}}`, `{"hooks":{"Stop":[{"hooks":[{"type":"new"}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]}}`, `{"hooks":{"Stop":[{"hooks":{}}]}}`,
		`{"hooks":{"Stop":[{"matcher":5,"hooks":[]}]}}`, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x",` +
			`"timeout":-1}]}]}}`, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","async":1}]}]}}`,
	} {
		if text, err := codex.WithHooks("hooks.json", []byte(bad), hooks); err == nil && codexReads(text) != nil {
			t.Errorf("%s: installed as %s, which Codex cannot read", bad, text)
		}
		if _, err := codex.ReadHooks("hooks.json", []byte(bad)); err == nil {
			t.Errorf("%s: read", bad)
		}
	}
	for _, good := range []string{``, `{}`, `{"description":"x","hooks":{}}`, `{"hooks":{"New":5}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"mcp_tool","server":"s","tool":"t"}]}]}}`} {
		if _, err := codex.WithHooks("hooks.json", []byte(good), hooks); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// codexInstalled returns settings with the hooks, and their companion.
func codexInstalled(t *testing.T, path string, old []byte) (text []byte, c Companion) {
	t.Helper()
	hooks, err := codex.wanted("/opt/approver-hook", "", 2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = codex.WithHooks(path, old, hooks); err != nil {
		t.Fatal(err)
	}
	return text, codex.Companions(path, old, text)[0]
}

var codexConfigs = map[string]string{
	"none":             "",
	"a comment":        "# mine\n",
	"CRLF":             "# mine\r\nmodel = \"x\"   # keep\r\n\r\n[features]\r\nweb = true\r\n",
	"no final newline": "model = \"x\"\n\n[projects.\"/a b\"]\ntrust_level = \"trusted\"",
	"dotted features":  "features.web = true\nmodel = 'x'\n",
	"an order":         "z = 1\na = [ 1,\n  2, # two\n]\n\n[tui]\nx = { y = 1 }\n",
	"other trust":      "[hooks.state]\n\n[hooks.state.\"/h/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n",
	"own hooks":        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"/mine\"\n",
	"a mark":           "\ufeffmodel = \"x\"\n",
	"old trust":        "[hooks.state.\"/h/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:00\" # old\n",
	"a text like it":   "x = '''\n[features]\n'''\n[features]\nweb = true\n",
}

// Trust and the feature are put into a config.toml that somebody wrote by hand, once, and taken out.
func TestCodexConfig(t *testing.T) {
	const path = "/h/.codex/hooks.json"
	text, c := codexInstalled(t, path, nil)
	for name, old := range codexConfigs {
		made, err := c.Change([]byte(old))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := c.Change(made)
		if err != nil || !bytes.Equal(again, made) {
			t.Errorf("%s: the second time %q, %v", name, again, err)
		}
		all, err := settings.ReadTOML(made)
		if err != nil || settings.At(all, "features", "unified_exec_tty") != false {
			t.Errorf("%s: %s, %v", name, made, err)
		}
		for _, h := range codexTrust(path, text) {
			if settings.At(all, "hooks", "state", h.key, "trusted_hash") != h.hash {
				t.Errorf("%s: %s is not trusted in\n%s", name, h.key, made)
			}
		}
		if strings.Contains(old, "\r\n") && strings.Count(string(made), "\n") != strings.Count(string(made), "\r\n") {
			t.Errorf("%s: other ends of lines: %q", name, made)
		}
		out, err := codex.Companions(path, text, nil)[0].Change(made)
		if err != nil || name != "old trust" && strings.TrimRight(string(out), "\r\n") != strings.TrimRight(old, "\r\n") {
			t.Errorf("%s: %q, %v, and it was %q", name, out, err, old)
		}
	}
}

// The story: hooks were installed and did not run, because something else in config.toml was against
// it. Install refuses that, and doctor names it.
func TestCodexConfigAgainstHooks(t *testing.T) {
	const path = "/h/.codex/hooks.json"
	_, c := codexInstalled(t, path, nil)
	for config, why := range map[string]string{
		"[features]\nhooks = false\n":           "switches all hooks off",
		"[features]\ncodex_hooks = false\n":     "switches all hooks off",
		"features = { hooks = false }\n":        "switches all hooks off",
		"[features]\nunified_exec_tty = true\n": "is asked of no hook",
		"[features\n":                           "/h/.codex/config.toml:1:10: ",
		"features = { web = true }\n":           "write it there yourself",
		"[hooks]\nstate = {}\n":                 "write it there yourself",
		"[hooks.state.\"" + path + ":pre_tool_use:0:0\"]\nenabled = false\n": "enabled = false",
	} {
		if text, err := c.Change([]byte(config)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, %q", config, err, text)
		}
	}
}

// The story: hooks.json was edited after it was installed, by a longer timeout. Its hash was no longer
// the trusted one, so Codex skipped the hook and said nothing.
func TestCodexEditedHookIsNotTrusted(t *testing.T) {
	const path = "/h/.codex/hooks.json"
	text, c := codexInstalled(t, path, nil)
	config, err := c.Change(nil)
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(text, []byte(`"timeout":330`), []byte(`"timeout":900`), 1)
	if bytes.Equal(edited, text) {
		t.Fatalf("no timeout in %s", text)
	}
	c = codex.Companions(path, edited, edited)[0]
	if now, err := c.Change(config); err != nil || bytes.Equal(now, config) ||
		c.Lacking(config) != "the hooks are installed but not trusted, so Codex skips them in silence" {
		t.Errorf("the trust in another hook is good enough: %v, %s", err, now)
	}
	// What is lacking is told apart.
	const typed = "what is typed into a terminal of a program that runs is asked of no hook"
	trusted, err := c.Change(config)
	if err != nil {
		t.Fatal(err)
	}
	open := strings.ReplaceAll(string(trusted), "unified_exec_tty = false", "web = true")
	if why := c.Lacking([]byte(open)); why != typed {
		t.Errorf("a terminal: %s", why)
	}
	if why := c.Lacking(nil); !strings.Contains(why, "in silence; "+typed) {
		t.Errorf("both: %s", why)
	}
	required := codex.Companions(codexManaged+"/hooks.json", edited, edited)[0]
	for text, want := range map[string]string{
		"[features]\nhooks = true\n":             typed,
		"[features]\nunified_exec_tty = false\n": "users and projects can switch the hooks off",
	} {
		if why := required.Lacking([]byte(text)); why != want {
			t.Errorf("%q: %s", text, why)
		}
	}
}

// The machine's hooks are trusted always. What a user could switch off is pinned beside them.
func TestCodexManaged(t *testing.T) {
	text, c := codexInstalled(t, codexManaged+"/hooks.json", nil)
	made, err := c.Change(nil)
	if err != nil || c.Path != codexManaged+"/requirements.toml" || bytes.Contains(made, []byte("trusted_hash")) {
		t.Fatalf("%s: %s, %v", c.Path, made, err)
	}
	all, err := settings.ReadTOML(made)
	if err != nil || settings.At(all, codexOn.Key...) != true || settings.At(all, codexNoTTY.Key...) != false {
		t.Errorf("%s, %v", made, err)
	}
	out, err := codex.Companions(codexManaged+"/hooks.json", text, nil)[0].Change(made)
	if err != nil || out != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// A project, a profile and the machine can switch off the hooks of a user.
func TestCodexBeside(t *testing.T) {
	dir := t.TempDir()
	p := settings.Places{Managed: filepath.Join(dir, "etc"), Home: filepath.Join(dir, "home/.codex"),
		Projects: []string{filepath.Join(dir, "shop")}}
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := codexInstalled(t, filepath.Join(p.Home, "hooks.json"), nil)
	write("home/.codex/hooks.json", string(text))
	look := func() (weak []string) {
		t.Helper()
		found, err := codex.Beside(p, p.Sources(codex.Files()), settings.Want{})
		if err != nil {
			t.Fatal(err)
		}
		return settings.Weak(found)
	}
	if weak := look(); len(weak) > 0 {
		t.Errorf("nothing is wrong: %q", weak)
	}
	write("home/.codex/fast.config.toml", "[features]\nhooks = false\n")
	if weak := look(); len(weak) > 0 {
		t.Errorf("a profile is for single starts: %q", weak)
	}
	write("shop/.codex/config.toml", "[features]\nhooks = false\nunified_exec_tty = true\n")
	if weak := look(); len(weak) != 2 {
		t.Errorf("a project that switches them off: %q", weak)
	}
	write("etc/requirements.toml", "[features]\nhooks = true\nunified_exec_tty = false\n")
	if weak := look(); len(weak) > 0 {
		t.Errorf("the machine does not let it: %q", weak)
	}
	write("etc/requirements.toml", "allow_managed_hooks_only = true\n[features]\nhooks = true\nunified_exec_tty = false\n")
	if weak := look(); len(weak) != 1 || !strings.Contains(weak[0], "allow_managed_hooks_only") {
		t.Errorf("only managed hooks: %q", weak)
	}
}

// What Codex cannot be told is a block: other arguments of a tool that takes none, or after a question
// of its own.
func TestCodexCannotBeTold(t *testing.T) {
	v := approver.Verdict{Decision: approver.Modify, Reason: "other arguments",
		Args: json.RawMessage(`{"file_path":"/b"}`)}
	if out := codexAnswer(t, "testdata/codex/image-pre.json", v); !strings.Contains(out, `"deny"`) {
		t.Error(out)
	}
	prompt := []byte(`{"session_id":"s","turn_id":"t","cwd":"/w","hook_event_name":"PermissionRequest","model":"m",` +
		`"permission_mode":"default","transcript_path":null,"tool_name":"Bash",` +
		`"tool_input":{"command":"ls","description":"why"}}`)
	ev, err := codex.Decode(prompt)
	if err != nil || ev.Kind != Prompted || ev.UseID != "" || ev.Call.Claimed != "why" {
		t.Fatalf("%+v, %v", ev, err)
	}
	v.Args = json.RawMessage(`{"command":"true"}`)
	if out := codex.Encode(ev, v); !bytes.Contains(out.Stdout, []byte(`"behavior":"deny"`)) || out.ExitZero {
		t.Errorf("%s", out.Stdout)
	}
	for d, want := range map[approver.Decision]string{approver.Pass: "", approver.Warn: "",
		approver.Allow: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}` + "\n",
	} {
		if out := codex.Encode(ev, approver.Verdict{Decision: d}); string(out.Stdout) != want || !out.ExitZero {
			t.Errorf("%v: %s", d, out.Stdout)
		}
	}
}

// All events of the installed schemas are known.
func TestCodexEvents(t *testing.T) {
	for event := range codexEvents {
		if codex.kindOf(event) == Unknown {
			t.Errorf("%s is refused", event)
		}
	}
}

// A question of Codex has the id of its call, so that the report is matched to it. One that is no text is
// refused, and a question may have none.
func TestCodexQuestions(t *testing.T) {
	for more, want := range map[string]string{`,"tool_use_id":"u"`: "u", ``: "", `,"tool_use_id":""`: "",
		`,"tool_use_id":5`: "an error", `,"tool_use_id":["u"]`: "an error"} {
		ev, err := codex.Decode([]byte(`{"hook_event_name":"PermissionRequest","session_id":"s","cwd":"/p","turn_id":"t",` +
			`"tool_name":"Bash","tool_input":{"command":"ls"}` + more + `}`))
		if (err != nil) != (want == "an error") || err == nil && (ev.UseID != want || ev.Kind != Prompted || ev.Derived) {
			t.Errorf("%s: %+v, %v", more, ev, err)
		}
	}
}
