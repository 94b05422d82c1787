package agents

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/agents/settings"
)

// clineCall is a payload of a call.
func clineCall(tool, input string) []byte {
	return []byte(`{"hookName":"tool_call","taskId":"t","workspaceRoots":["/p"],"tool_call":{"id":"c","name":"` + tool +
		`","input":` + input + `}}`)
}

// The story: a list of commands was read as one script. "cd /safe" held for the next command there, and
// not in Cline, which starts a shell for each. And a here-document of one command hid the next.
func TestClineJudgesEachCommand(t *testing.T) {
	for input, want := range map[string]string{
		`{"commands":["ls"]}`:                     "ls",
		`{"commands":"ls -l"}`:                    "ls -l",
		`{"command":"ls"}`:                        "ls",
		`{"cmd":"ls"}`:                            "ls",
		`{"commands":["cat <<E\nx\nE"]}`:          "cat <<E\nx\nE",
		`{"commands":["cd /tmp","rm -rf *"]}`:     "bash -c 'cd /tmp'\nbash -c 'rm -rf *'",
		`{"commands":["echo \"it's\"","ls"]}`:     `bash -c 'echo "it'\''s"'` + "\nbash -c ls",
		`{"commands":["cat <<E","rm -rf x","E"]}`: "-",
		`{"commands":[]}`:                         "-",
		`{"commands":[""]}`:                       "-",
		`{"commands":["ls",1]}`:                   "-",
		`{"commands":[{"command":"ls"}]}`:         "-",
		`{"commands":["ls"],"command":"rm"}`:      "-",
		`{"command":"ls","args":["x"]}`:           "-",
		`{"run":"ls"}`:                            "-",
	} {
		ev, err := cline.Decode(clineCall("run_commands", input))
		switch {
		case want == "-":
			if err == nil {
				t.Errorf("%s is %q", input, ev.Call.Command)
			}
		case err != nil || ev.Call.Command != want || ev.Call.Tool != "Bash":
			t.Errorf("%s: %q, %v; want %q", input, ev.Call.Command, err, want)
		}
	}
}

// Changed arguments go back into the form that Cline has.
func TestClineChangesACall(t *testing.T) {
	ev, err := cline.Rewrite(clineCall("run_commands", `{"commands":["ls"]}`), json.RawMessage(`{"command":"ls -l"}`))
	if err != nil || ev.Call.Command != "ls -l" || !strings.Contains(string(ev.Call.Raw), `{"commands":["ls -l"]}`) {
		t.Errorf("%s, %v", ev.Call.Raw, err)
	}
	ev, err = cline.Rewrite(clineCall("editor", `{"path":"/p/a","new_text":"x"}`),
		json.RawMessage(`{"file_path":"/p/b","content":"x"}`))
	if err != nil || !strings.Contains(string(ev.Call.Raw), `{"path":"/p/b","new_text":"x"}`) {
		t.Errorf("%s, %v", ev.Call.Raw, err)
	}
	for _, args := range []string{`{"command":"a\nb"}`, `{}`, `{"command":1}`} {
		if ev, err := cline.Rewrite(clineCall("run_commands", `{"commands":["a","b"]}`), json.RawMessage(args)); err == nil {
			t.Errorf("%s became %s", args, ev.Call.Raw)
		}
	}
}

// The story: Cline runs a call after every answer that it does not understand, and after none. A courier
// was killed, and the call ran. The script says no for it.
func TestClineScriptSaysNoForACourierThatIsGone(t *testing.T) {
	for name, tt := range map[string]struct{ courier, want string }{
		"a pass":      {`echo '{"cancel":false}'`, `{"cancel":false}`},
		"a no":        {`echo '{"cancel":true,"errorMessage":"x"}'`, `{"cancel":true,"errorMessage":"x"}`},
		"nothing":     {`exit 0`, `{"cancel":true,`},
		"killed":      {`kill -9 $$`, `{"cancel":true,`},
		"late":        {`echo '{"cancel":false}'; kill -9 $$`, `{"cancel":true,`},
		"exit 1":      {`echo '{"cancel":false}'; exit 1`, `{"cancel":true,`},
		"cut off":     {`printf '{"cancel":fal'`, `{"cancel":true,`},
		"a log line":  {`echo log; echo '{"cancel":false}'`, `{"cancel":true,`},
		"no document": {`echo '{}'`, `{"cancel":true,`},
		"no program":  {"", `{"cancel":true,`},
	} {
		dir := filepath.Join(t.TempDir(), "it's here")
		program, script := filepath.Join(dir, "approver-hook"), filepath.Join(dir, "PreToolUse")
		text, err := cline.HookConfig(program, "", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{program: "#!/bin/sh\n" + tt.courier + "\n", script: string(text)} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if tt.courier == "" && file == program {
				continue
			}
			if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.CommandContext(t.Context(), "sh", script).Output()
		if err != nil || !json.Valid(out) || !strings.HasPrefix(string(out), tt.want) {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}

// The script for what calls returned belongs to that before tools: it comes, changes and goes with it.
func TestClineCompanion(t *testing.T) {
	before, err := cline.HookConfig("/opt/approver-hook", "/run/s.sock", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	with := cline.Companions("/h/.cline/hooks/PreToolUse", nil, before)
	without := cline.Companions("/h/.cline/hooks/PreToolUse", before, nil)
	if len(with) != 1 || len(without) != 1 || with[0].Path != "/h/.cline/hooks/PostToolUse" {
		t.Fatalf("%+v, %+v", with, without)
	}
	made, err := with[0].Change(nil)
	want := settings.Command("/opt/approver-hook --agent cline --socket /run/s.sock --event tool_result --deadline 8s")
	if err != nil || !strings.Contains(string(made), "answer=$("+string(want)+") || answer=\n") {
		t.Errorf("%s, %v", made, err)
	}
	if again, err := with[0].Change(made); err != nil || string(again) != string(made) {
		t.Errorf("again: %s, %v", again, err)
	}
	if gone, err := without[0].Change(made); err != nil || gone != nil {
		t.Errorf("taken out: %q, %v", gone, err)
	}
	foreign := []byte("#!/bin/sh\necho mine\n")
	if text, err := with[0].Change(foreign); err == nil {
		t.Errorf("another's script became %q", text)
	}
	if text, err := without[0].Change(foreign); err != nil || string(text) != string(foreign) {
		t.Errorf("another's script became %q, %v", text, err)
	}
	if text, err := without[0].Change(nil); err != nil || text != nil {
		t.Errorf("nothing became %q, %v", text, err)
	}
}

// Cline kills a hook after two minutes and then runs the call, so the courier answers before.
func TestClineParksBeforeTheHookIsKilled(t *testing.T) {
	for _, ttl := range []time.Duration{30 * time.Second, 2 * time.Minute, time.Hour} {
		text, err := cline.HookConfig("/opt/approver-hook", "", ttl)
		if err != nil {
			t.Fatal(err)
		}
		hooks, err := cline.ReadHooks("f", text)
		if err != nil {
			t.Fatal(err)
		}
		command := settings.CommandOf(hooks[clineBefore][0].Hooks[0])
		if _, waits := command.Deadline(); waits+10*time.Second > clineMost || command.Parks() != (ttl > 90*time.Second) {
			t.Errorf("%v: %s", ttl, command)
		}
	}
}
