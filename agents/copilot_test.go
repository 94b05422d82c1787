package agents

import (
	"testing"

	"approver.example"
)

// What Copilot types into a shell is a command without the names of keys. With a key whose effect is not
// known, it keeps the tool's own name, under which it is a question, and what is typed cannot be changed.
func TestCopilotTypesIntoAShell(t *testing.T) {
	for input, want := range map[string][3]string{ // tool, command, keys
		`{"input":"ls{enter}","sessionId":"1"}`: {"Bash", "ls\n", ""},
		`{"input":"y"}`:                         {"Bash", "y", ""},
		`{"input":"echo ${HOME}{enter}"}`:       {"Bash", "echo ${HOME}\n", ""},
		`{"input":"ls{enter}rm -rf"}`:           {"write_bash", "ls\nrm -rf", `"{more}"`},
		`{"input":"{up}rm -rf ~{enter}"}`:       {"write_bash", "rm -rf ~\n", `"{up}"`},
		`{"input":"{ctrl+c}"}`:                  {"write_bash", "", `"{ctrl+c}"`},
		`{"input":"ls","command":"rm -rf ~"}`:   {"an error"},
		`{"input":"{up}","keys":""}`:            {"an error"},
		`{"input":["ls"]}`:                      {"an error"},
		`{"input":""}`:                          {"an error"},
		`{"sessionId":"1"}`:                     {"an error"},
	} {
		payload := `{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"write_bash","toolArgs":` + input + `}`
		ev, err := copilot.Decode([]byte(payload))
		if err != nil || want[0] == "an error" {
			if (err != nil) != (want[0] == "an error") {
				t.Errorf("%s: %+v, %v", input, ev.Call, err)
			}
			continue
		}
		var args object
		if args, err = parseObject(ev.Call.Args); err != nil {
			t.Fatal(err)
		}
		if ev.Call.Tool != want[0] || ev.Call.Command != want[1] || string(args["keys"]) != want[2] {
			t.Errorf("%s: %s %q %s", input, ev.Call.Tool, ev.Call.Command, ev.Call.Args)
		}
		v := approver.Verdict{Decision: approver.Modify, Args: []byte(`{"command":"true"}`)}
		if !copilot.Encode(ev, v).Blocks {
			t.Errorf("%s: what is typed was changed", input)
		}
	}
}
