package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/settings"
)

// qwenPayload returns a payload as Qwen Code sends it.
func qwenPayload(event, tool, input, more string) []byte {
	return []byte(`{"session_id":"s","cwd":"/w","hook_event_name":"` + event + `","timestamp":"t",` +
		`"permission_mode":"yolo",` +
		`"tool_name":"` + tool + `","tool_input":` + input + more + `}`)
}

// A document is read only with exit code 0. The story: PermissionRequest was answered with a deny and
// exit code 2. Qwen Code ignored the document and asked its own user, who let the call run.
func TestQwenAnswersWithTheDocumentOnly(t *testing.T) {
	for event, want := range map[string]string{
		"PermissionRequest": `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{` +
			`"behavior":"deny","message":"no"}}}`,
		"PostToolUse":        `{"continue":false,"stopReason":"no"}`,
		"PostToolUseFailure": `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"no"}}`,
	} {
		ev, err := qwen.Decode(qwenPayload(event, "read_file", `{"file_path":"/a"}`,
			`,"tool_use_id":"u","tool_response":{"llmContent":"x"},"error":"e"`))
		if err != nil {
			t.Fatal(event, err)
		}
		got := qwen.Encode(ev, approver.Verdict{Reason: "no"})
		if got.Exit() != 0 || strings.TrimSpace(string(got.Stdout)) != want {
			t.Errorf("%s: %d %s", event, got.Exit(), got.Stdout)
		}
	}
	if got := qwen.Encode(Event{Name: "PreToolUse"}, approver.Verdict{}); got.Exit() != 2 {
		t.Errorf("PreToolUse: %+v", got)
	}
}

// The name of the wrapper hides the tool that would run, so a call by it is refused.
func TestQwenWrapper(t *testing.T) {
	ev, err := qwen.Decode(qwenPayload("PreToolUse", "tool_call",
		`{"name":"run_shell_command","arguments":{"command":"ls"}}`,
		`,"tool_use_id":"u"`))
	if err == nil || ev.Kind != Unknown {
		t.Errorf("%+v, %v", ev, err)
	}
}

// The story: the hook of Qwen Code had a timeout of 330 s and people two minutes, and after one minute the
// call ran: Qwen Code waits no longer for the hooks of a call, whatever their timeouts are.
func TestQwenWaitsAMinute(t *testing.T) {
	for _, ttl := range []time.Duration{time.Minute, 2 * time.Minute, time.Hour} {
		text, err := qwen.HookConfig("/usr/bin/approver-hook", "", ttl)
		if err != nil || !strings.Contains(string(text), "--deadline 54s --park ||") {
			t.Errorf("a ttl of %v: %v, %s", ttl, err, text)
		}
	}
	for timeout, want := range map[string]time.Duration{`60`: time.Minute, `330`: time.Minute, `30`: 30 * time.Second,
		`1000`: time.Second, `330000`: time.Minute, `2020`: 2020 * time.Millisecond} { // from 1000 on they are milliseconds
		if got := qwen.Timeout(json.RawMessage(`{"timeout":` + timeout + `}`)); got != want {
			t.Errorf("a timeout of %s is one of %v, want %v", timeout, got, want)
		}
	}
	if by := qwen.Facts().Patience; by >= qwenMost {
		t.Errorf("a hook without a deadline answers after %v", by)
	}
}

// Each of these, measured with version 0.24.4, keeps the agent from asking.
func TestQwenSwitches(t *testing.T) {
	checkSwitches(t, qwen, []switchCase{
		{`{}`, false, false},
		{`{"disableAllHooks":false}`, false, false},
		{`{"disableAllHooks":true}`, true, true},
		{`{"disableAllHooks":"false"}`, true, true},
		{`{"disableAllHooks":1}`, true, true},
		{`{"env":{"QWEN_CODE_SIMPLE":"0"}}`, false, false},
		{`{"env":{"QWEN_CODE_SIMPLE":"1"}}`, true, true},
		{`{"env":{"QWEN_CODE_SAFE_MODE":" Yes "}}`, true, true},
		{`{"tools":{"executionSandbox":{"filesystem":"workspace-write","network":"closed"}}}`, true, true},
		{`{"ui":{"enableSpeculation":false}}`, false, false},
		{`{"ui":{"enableSpeculation":true}}`, true, true},
		{`{"ui":{"enableSpeculation":"false"}}`, true, true},
		{`{"hooks":null}`, false, false}, // had no effect
		{`{"hooksConfig":{"enabled":false}}`, false, false},
	})
	for variable, want := range map[string]int{"QWEN_CODE_SIMPLE=1": 1, "QWEN_CODE_SIMPLE=no": 0,
		"QWEN_CODE_SAFE_MODE=ON":            1,
		"QWEN_CODE_SYSTEM_SETTINGS_PATH=/x": 1, "HOME=/x": 0} {
		if got := qwen.Environment([]string{variable}); len(got) != want {
			t.Errorf("%s: %v", variable, got)
		}
	}
}

// Variables in files beside the settings switch the hooks off, too.
func TestQwenBeside(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       int
	}{
		{"p/a/.env", "X=1\nQWEN_CODE_SIMPLE=1\n", 1},
		{"p/a/.qwen/.env", "export QWEN_CODE_SAFE_MODE='true'\n", 1},
		{"p/.env", "QWEN_CODE_SIMPLE=1", 1},
		{"home/.qwen/.env", "QWEN_CODE_SIMPLE: on", 1},
		{"home/.env", "QWEN_CODE_SIMPLE=1 # x", 1},
		{"p/a/.env", "#QWEN_CODE_SIMPLE=1\nQWEN_CODE_SIMPLE=false\n", 0},
		{"p/b/.env", "QWEN_CODE_SIMPLE=1\n", 0},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, c.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := qwen.Beside(settings.Places{Home: filepath.Join(dir, "home/.qwen"),
			Projects: []string{filepath.Join(dir, "p/a")}}, nil, settings.Want{})
		if err != nil || len(found) != c.want {
			t.Errorf("%s with %q: %v, %v", c.file, c.text, found, err)
		}
	}
}

// The story: the settings of a project had a trailing comma, install put the hooks in, and Qwen Code 0.24.4
// replaced the whole file by empty settings at its next start. Nobody was asked.
func TestQwenReadsNoTrailingComma(t *testing.T) {
	hooks := wantedHooks(t, qwen)
	for text, want := range map[string]string{
		"{\n  \"a\": {\"b\": 1,} // x\n}": "/p/.qwen/settings.json:2:15: there is a trailing comma",
		"{\n  \"a\": 1,\n}":               "/p/.qwen/settings.json:2:9: there is a trailing comma",
	} {
		if _, err := qwen.WithHooks("/p/.qwen/settings.json", []byte(text), hooks); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		if weak := compared(t, qwen, text, ""); len(weak) == 0 {
			t.Errorf("%q is as good as installed", text)
		}
	}
}
