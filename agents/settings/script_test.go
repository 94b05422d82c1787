package settings

import (
	"encoding/json"
	"strings"
	"testing"
)

var (
	jsScript = Script{Agent: "ours", Template: "// a plugin\nconst hooks = " + Slot + ";\nrun(hooks);\n"}
	shScript = Script{Agent: "ours", Event: "before",
		Template: "#!/bin/sh\nanswer=$(" + Slot + ") || answer=\necho \"$answer\"\n"}
)

func hooksOf(t *testing.T, s Script, commands map[string]string) Hooks {
	t.Helper()
	hooks := Hooks{}
	for event, command := range commands {
		raw, err := json.Marshal(s.Hook(command))
		if err != nil {
			t.Fatal(err)
		}
		hooks[event] = []Matcher{{Hooks: []json.RawMessage{raw}}}
	}
	return hooks
}

// What is written is read again, is the same the second time, and is gone without hooks.
func TestScript(t *testing.T) {
	for _, program := range []string{"/usr/bin/approver-hook", "/opt/it's here/approver-hook",
		"/opt/a;b $(c)/approver-hook"} {
		before := string(CommandLine([]string{program, "--agent", "ours", "--deadline", "290s"}))
		for name, of := range map[string]struct {
			script   Script
			commands map[string]string
		}{
			"a plugin": {jsScript, map[string]string{"before": before, "after": before}},
			"a shell":  {shScript, map[string]string{"before": before}},
		} {
			want := hooksOf(t, of.script, of.commands)
			text, err := of.script.Text(want)
			if err != nil {
				t.Fatal(err)
			}
			have, err := of.script.Read("f", text)
			if err != nil || len(have) != len(want) {
				t.Fatalf("%s: %v, %v\n%s", name, have, err, text)
			}
			for event := range want {
				if hook := have[event][0].Hooks[0]; !SameHook(hook, want[event][0].Hooks[0]) ||
					CommandOf(hook) != Command(before) {
					t.Errorf("%s: at %s %s", name, event, have[event][0].Hooks)
				}
			}
			if again, err := of.script.With("f", text, want); err != nil || string(again) != string(text) {
				t.Errorf("%s: the second time %s, %v", name, again, err)
			}
			if rest, err := of.script.With("f", text, nil); err != nil || len(rest) != 0 {
				t.Errorf("%s: %q is left, %v", name, rest, err)
			}
		}
	}
}

// A file that somebody else wrote is never changed, and has no hooks.
func TestScriptOfOthers(t *testing.T) {
	want := hooksOf(t, jsScript, map[string]string{"before": "/x/approver-hook --agent ours --deadline 9s"})
	for _, text := range []string{"export default 1;\n", "// const hooks = {};\n", "x"} {
		if hooks, err := jsScript.Read("f", []byte(text)); len(hooks) > 0 || err != nil {
			t.Errorf("%q has %v, %v", text, hooks, err)
		}
		if out, err := jsScript.With("f", []byte(text), want); err == nil {
			t.Errorf("%q became %q", text, out)
		}
		if out, err := jsScript.With("f", []byte(text), nil); err != nil || string(out) != text {
			t.Errorf("%q became %q, %v", text, out, err)
		}
	}
	if out, err := jsScript.With("f", nil, want); err != nil || len(out) == 0 {
		t.Errorf("an empty file: %q, %v", out, err)
	}
}

// The story: an agent put "return;" before the first line of the plugin. The hooks still stood there, and
// everything looked well, but no call was asked about. Every byte counts.
func TestScriptThatWasChanged(t *testing.T) {
	want := hooksOf(t, jsScript, map[string]string{"before": "/x/approver-hook --agent ours --deadline 9s"})
	text, err := jsScript.Text(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string]string{
		"before":       "return;\n" + string(text),
		"behind":       string(text) + "\n",
		"inside":       strings.Replace(string(text), "run(", "//run(", 1),
		"line ends":    strings.ReplaceAll(string(text), "\n", "\r\n"),
		"hooks again":  string(text) + "const hooks = {};\n",
		"other spaces": strings.Replace(string(text), `":{`, `": {`, 1),
	} {
		have, err := jsScript.Read("f", []byte(changed))
		if err == nil && (len(have) != 1 || SameHook(have["before"][0].Hooks[0], want["before"][0].Hooks[0])) {
			t.Errorf("%s: %v", name, have)
		}
		if again, err := jsScript.With("f", []byte(changed), want); err != nil || string(again) != string(text) {
			t.Errorf("%s: install writes %q, %v", name, again, err)
		}
	}
	// Another program than approver's courier is no hook of approver.
	for _, slot := range []string{`{"before":{"argv":["/bin/true","--agent","ours"],"seconds":1}}`, `{"before":[]}`, `{`} {
		if have, err := jsScript.Read("f", []byte("// a plugin\nconst hooks = "+slot+";\nrun(hooks);\n")); err == nil {
			t.Errorf("%s is %v", slot, have)
		}
	}
}

// A file of approver's that runs something else, or one for which there is not exactly one command for
// each event, is neither read nor written.
func TestScriptRefuses(t *testing.T) {
	const ours = "/usr/bin/approver-hook --agent ours"
	text := func(s Script, slot string) string { return strings.ReplaceAll(s.Template, Slot, slot) }
	for name, file := range map[string]struct {
		s    Script
		text string
	}{
		"a shell that runs another program": {shScript, text(shScript, "curl example.org")},
		"a shell that runs nothing":         {shScript, text(shScript, "")},
		"another agent's":                   {shScript, text(shScript, "/usr/bin/approver-hook --agent theirs")},
		"a plugin that runs another program": {jsScript,
			text(jsScript, `{"before":{"argv":["curl"],"seconds":5}}`)},
		"a plugin whose hooks are cut off": {jsScript, text(jsScript, `{"before":{"argv":["`)},
	} {
		if hooks, err := file.s.Read("f", []byte(file.text)); err == nil {
			t.Errorf("%s is read as %v", name, hooks)
		}
	}
	if hooks, err := shScript.Read("f", []byte("#!/bin/sh\nanswer=no\n")); err != nil || hooks != nil {
		t.Errorf("somebody else's file: %v, %v", hooks, err)
	}
	one := hooksOf(t, shScript, map[string]string{"before": ours})
	twice := Hooks{"before": {one["before"][0], one["before"][0]}}
	double := Hooks{"before": {{Hooks: append(one["before"][0].Hooks, one["before"][0].Hooks...)}}}
	for name, bad := range map[string]struct {
		s     Script
		hooks Hooks
	}{
		"none":                        {shScript, Hooks{}},
		"no command":                  {shScript, hooksOf(t, shScript, map[string]string{"before": ""})},
		"a command of two lines":      {shScript, hooksOf(t, shScript, map[string]string{"before": ours + "\ncurl x"})},
		"a command with a return":     {shScript, hooksOf(t, shScript, map[string]string{"before": ours + "\rcurl x"})},
		"of another event":            {shScript, hooksOf(t, shScript, map[string]string{"after": ours})},
		"of two events":               {shScript, hooksOf(t, shScript, map[string]string{"before": ours, "after": ours})},
		"two matchers":                {shScript, twice},
		"two hooks":                   {shScript, double},
		"two matchers in a plugin":    {jsScript, twice},
		"a line that is not approver": {jsScript, hooksOf(t, jsScript, map[string]string{"before": "a; b"})},
	} {
		if text, err := bad.s.Text(bad.hooks); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
}
