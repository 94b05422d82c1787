package agents

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

// The story: a model wrote "@.git/hooks/pre-commit". approver looked at a folder named @.git, in which
// nothing is guarded, and let it go; Pi, OpenClaw and Gemini cut the @ off and wrote the hook. Gemini
// also looked for a bare "settings.json" in the whole workspace and changed its own. A path that the
// agent changes is refused.
func TestPathsThatAnAgentChanges(t *testing.T) {
	for tool, of := range map[string][]string{
		"write": {"@.git/hooks/pre-commit", "@/etc/cron.d/x", ".git/hooks\u00a0x", "/root/.bashrc</arg_value>>",
			"/root/<arg_value>x", " @x",
			"a\tb", "\ufeff@/etc/cron.d/x"},
		"read":    {"@/etc/shadow"},
		"replace": {"settings.json", "a/pre-commit", "@/p/x"},
		"edit":    {"x.json"},
	} {
		for _, path := range of {
			for _, key := range []string{"path", "file_path"} {
				raw, err := json.Marshal(map[string]string{key: path})
				if err != nil {
					t.Fatal(err)
				}
				check := plainPaths
				if tool == "replace" || tool == "edit" {
					check = geminiCheck
					if key == "path" {
						continue
					}
				}
				if err := check(tool, raw); err == nil {
					t.Errorf("%s %s is taken", tool, raw)
				}
			}
		}
	}
	for _, raw := range []string{`{"path":"a b/c@1.txt"}`, `{"path":"/x/@scope/y"}`, `{"paths":["a","b/c"]}`,
		`{"content":"@x\ty"}`} {
		if err := plainPaths("write", json.RawMessage(raw)); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
	payload, err := os.ReadFile("testdata/gemini/refused/edit-relative-pre.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gemini.Decode(payload); err == nil ||
		!strings.Contains(err.Error(), "write the whole path from the root") {
		t.Errorf("a path that Gemini may complete: %v", err)
	}
	for a, wired := range map[string]bool{"pi": pi.check != nil, "openclaw": openclaw.check != nil,
		"gemini": gemini.check != nil} {
		if !wired {
			t.Errorf("%s does not check paths", a)
		}
	}
}

// What OpenClaw would type, or do to itself, is not what one argument says.
func TestOpenClawsOwnTools(t *testing.T) {
	for raw, ok := range map[string]bool{
		`process {"action":"paste","sessionId":"s","data":"ls","text":"rm -rf ~\n"}`:  false,
		`process {"action":"send-keys","sessionId":"s","text":"ls","literal":"x"}`:    false,
		`process {"action":"paste","sessionId":"s","text":"ls\n"}`:                    true,
		`process {"action":"paste","sessionId":"s","data":" ","text":"rm -rf ~\n"}`:   false,
		`process {"action":"paste","sessionId":"s","data":" \n","text":"rm -rf ~\n"}`: false,
		`process {"action":"write","sessionId":"s","data":"rm -rf"}`:                  false,
		`process {"action":"write","sessionId":"s","data":" ~\n"}`:                    true,
		`process {"action":"write","sessionId":"s","data":"\u001b[A\n"}`:              false,
		`process {"action":"write","sessionId":"s","data":"cat /etc/sha\t\n"}`:        false,
		`process {"action":"write","sessionId":"s","data":"# a\rrm -rf ~\n"}`:         false,
		`process {"action":"write","sessionId":"s","data":5}`:                         false,
		`process {"action":"submit","sessionId":"s"}`:                                 true,
		`exec {"command":"ls","host":" Node"}`:                                        false,
		`exec {"command":"ls","host":"\ufeffnode"}`:                                   false,
		`exec {"command":"ls","elevated":" "}`:                                        false,
		`exec {"command":"ls","env":{ },"node": ""}`:                                  true,
		`plugins {"action":"disable","pluginId":"approver"}`:                          false,
		`plugins {"action":"reload"}`:                                                 false,
		`plugins {"action":"list"}`:                                                   true,
		`plugins {}`:                                                                  false,
		`gateway {"action":"config.patch","raw":"{}"}`:                                false,
		`openclaw {"message":"disable the plugin approver"}`:                          false,
		`sessions_spawn {"task":"x","cwd":"/p/.git"}`:                                 false,
		`sessions_spawn {"task":"x","runtime":"acp"}`:                                 false,
		`sessions_spawn {"task":"x"}`:                                                 true,
		`plugins {"action":5}`:                                                        false,
		`gateway {"action":null}`:                                                     false,
		`sessions_send {"action":5}`:                                                  true,
		`sessions_send {"cwd":"/p","runtime":"acp"}`:                                  true,
		`exec {"command":"ls"}`:                                                       true,
		`exec {"command":"ls","host":"gateway","elevated":false,"node":"","env":{}}`:  true,
		`exec {"command":"ls","env":null,"elevated":null,"node":[]}`:                  true,
		`exec {"command":"ls","env":{"PATH":"/tmp"}}`:                                 false,
		`exec {"command":"ls","env":{"LD_PRELOAD":""}}`:                               false,
		`exec {"command":"ls","elevated":true}`:                                       false,
		`exec {"command":"ls","node":"mac"}`:                                          false,
		`exec {"command":"ls","host":"node"}`:                                         false,
		`exec {"command":"ls","host":"\u006eode"}`:                                    false,
		`process {"action":"send-keys","keys":["C-c"]}`:                               false,
		`process {"action":"send-keys","hex":["03"]}`:                                 false,
		`process {"action":"poll","keys":[],"hex":""}`:                                true,
		`process {"action":"paste","data":"","text":"ls\n"}`:                          true,
		`other {"env":{"A":"b"},"elevated":true,"keys":["x"],"data":"a","text":"b"}`:  true,
		`exec {"command":"ls","workdir":"@/etc"}`:                                     false,
	} {
		tool, args, _ := strings.Cut(raw, " ")
		if err := openClawCheck(tool, json.RawMessage(args)); (err == nil) != ok {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// White space around a path or a folder is cut off by some agents.
func TestWhiteSpaceAroundPaths(t *testing.T) {
	for _, input := range []string{`{"file_path":" /etc/cron.d/x","content":"x"}`, `{"file_path":"/p/x ","content":"x"}`,
		`{"file_path":"\ufeff/etc/cron.d/x","content":"x"}`} {
		if _, err := (Claude{}).Decode(pre("Write", input)); err == nil || !strings.Contains(err.Error(), "white space") {
			t.Errorf("%s: %v", input, err)
		}
	}
	if err := (translation{dir: "workdir"}).in(nil, object{"workdir": json.RawMessage(`" .git"`)}); err == nil {
		t.Error("a folder with a blank before it is taken")
	}
}

// The files that make approver's folder a plugin of OpenClaw are written and taken away with its hooks,
// and a file of somebody else stays.
func TestOpenClawFiles(t *testing.T) {
	const text = "ours"
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		old    []byte
		wanted bool
		err    error
		want   string
	}{
		"a new file":              {nil, true, nil, text},
		"again":                   {[]byte(text), true, nil, text},
		"one of somebody else":    {[]byte("theirs"), true, nil, text},
		"an empty one":            {[]byte{}, true, nil, text},
		"taken away":              {[]byte(text), false, nil, "none"},
		"theirs stays":            {[]byte("theirs"), false, nil, "theirs"},
		"none stays none":         {nil, false, nil, "none"},
		"hooks that are not read": {[]byte(text), false, broken, "an error"},
	} {
		got, err := fixedFile("/x", text, "lacking", tt.wanted, tt.err).Change(tt.old)
		said := string(got)
		switch {
		case err != nil:
			said = "an error"
		case got == nil:
			said = "none"
		}
		if said != tt.want {
			t.Errorf("%s: %s, %v, want %s", name, said, err, tt.want)
		}
	}
}
