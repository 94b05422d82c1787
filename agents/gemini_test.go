package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"approver.example"
)

// geminiCallOf returns a payload as the Gemini CLI sends it before a tool.
func geminiCallOf(tool, input, more string) []byte {
	return fmt.Appendf(nil, `{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","timestamp":"t","tool_name":%q,`+
		`"tool_input":%s%s}`, tool, input, more)
}

// What the tools of the Gemini CLI are called, old names too, and in which folder a command runs.
func TestGeminiTools(t *testing.T) {
	for _, c := range []struct{ tool, input, more, want string }{
		{"run_shell_command", `{"command":"ls"}`, "", `Bash /w "ls" [] []`},
		{"run_shell_command", `{"command":"ls","dir_path":"a/b"}`, "", `Bash /w/a/b "ls" [] []`},
		{"run_shell_command", `{"command":"ls","directory":"/x"}`, "", `Bash /x "ls" [] []`},
		{"run_shell_command", `{"command":"ls","directory":"/x","dir_path":"/y"}`, "", "refused"},
		{"run_shell_command", `{"command":["ls"]}`, "", "refused"},
		{"run_shell_command", `{}`, "", "refused"},
		{"write_file", `{"file_path":"a","content":"x"}`, "", `Write /w "" [a] []`},
		{"replace", `{"file_path":"/a","old_string":"x","new_string":"y","allow_multiple":true}`, "", `Edit /w "" [/a] []`},
		{"read_file", `{"absolute_path":"/a"}`, "", `Read /w "" [/a] []`},
		{"read_file", `{"absolute_path":"/a","file_path":"/b"}`, "", "refused"},
		{"read_many_files", `{"include":["a","b"]}`, "", `read_many_files /w "" [a b] []`},
		{"list_directory", `{"dir_path":"/a"}`, "", `LS /w "" [/a] []`},
		{"list_directory", `{"path":"/a"}`, "", `LS /w "" [/a] []`},
		{"search_file_content", `{"pattern":"x","dir_path":"/a"}`, "", `Grep /w "" [/a] []`},
		{"google_web_search", `{"query":"x"}`, "", `WebSearch /w "" [] []`},
		{"web_fetch", `{"prompt":"(see) http://a/b https://c?d=e, and ftp://f"}`, "",
			`web_fetch /w "" [] [http://a/b https://c?d=e, ftp://f]`},
		{"web_fetch", `{"prompt":"http://a/\ufeffhttp://b"}`, "", `web_fetch /w "" [] [http://a/ http://b]`},
		{"invoke_agent", `{"agent_name":"a","prompt":"p"}`, "", `Agent /w "" [] []`},
		{"activate_skill", `{"name":"a"}`, "", `Skill /w "" [] []`},
		{"mcp_a_b_c", `{"path":"/x"}`, `,"mcp_context":{"server_name":"a_b","tool_name":"c"}`, `mcp__a_b__c /w "" [/x] []`},
		{"innocent", `{}`, `,"mcp_context":{"server_name":"a","tool_name":"drop"}`, `mcp__a__drop /w "" [] []`},
		{"mcp_a_c", `{}`, "", `mcp__unknown__a_c /w "" [] []`},
		{"mcp_", `{}`, "", "refused"},
		{"mcp_a__b_c", `{}`, `,"mcp_context":{"server_name":"a__b","tool_name":"c"}`, "refused"},
		{"mcp_a_c", `{}`, `,"mcp_context":{"server_name":"a","tool_name":"c","server_name":"b"}`, "refused"},
		{"web_fetch", `{"prompt":"http://a\u0000b"}`, "", "refused"},
		{"web_fetch", `{"prompt":"http://a http://a"}`, "", `web_fetch /w "" [] [http://a]`},
		{"mcp_a_c", `{}`, `,"mcp_context":{"server_name":"a"}`, "refused"},
		{"mcp_a_c", `{}`, `,"mcp_context":"a"`, "refused"},
		{"mcp_a_c", `{}`, `,"mcp_context":{"server_name":"a b","tool_name":"c"}`, "refused"},
	} {
		ev, err := gemini.Decode(geminiCallOf(c.tool, c.input, c.more))
		got := fmt.Sprintf("%s %s %q %v %v", ev.Call.Tool, ev.Call.Dir, ev.Call.Command, ev.Call.Paths, ev.Call.URLs)
		if err != nil {
			if got = "refused"; ev.Kind != Unknown {
				t.Errorf("%s %s: refused, but %+v", c.tool, c.input, ev)
			}
		}
		if got != c.want {
			t.Errorf("%s %s: %s, %v, want %s", c.tool, c.input, got, err, c.want)
		}
	}
}

// A call is changed under the agent's own names. The story of the second one: by its documents the agent
// merges the new arguments with the old ones. A change that takes an argument away would leave it there.
func TestGeminiModify(t *testing.T) {
	ev, err := gemini.Decode(geminiCallOf("run_shell_command", `{"command":"rm x","is_background":true}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	got := gemini.Encode(ev, approver.Verdict{Decision: approver.Modify,
		Args: json.RawMessage(`{"command":"ls","run_in_background":true}`)})
	want := `"tool_input":{"command":"ls","is_background":true}`
	if got.Exit() != 0 || !strings.Contains(string(got.Stdout), want) {
		t.Errorf("%d %s, want %s", got.Exit(), got.Stdout, want)
	}
	got = gemini.Encode(ev, approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`{"command":"ls"}`)})
	if got.Exit() != 2 || !strings.HasPrefix(string(got.Stdout), denyWord) {
		t.Errorf("an argument is taken away: %d %s", got.Exit(), got.Stdout)
	}
	changed, err := gemini.Rewrite(ev.Call.Raw, json.RawMessage(`{"command":"ls","run_in_background":true}`))
	if err != nil || changed.Call.Command != "ls" || changed.Content == ev.Content {
		t.Errorf("%+v, %v", changed.Call, err)
	}
}

// What the model reads instead of a result.
func TestGeminiResult(t *testing.T) {
	for _, c := range []struct{ response, replaced, context, want string }{
		{`{"llmContent":"a"}`, `"b"`, "", `{"decision":"deny","reason":"b"}`},
		{`{"llmContent":"a"}`, `"b"`, "note", `{"decision":"deny","reason":"note\n\nb"}`},
		{`{"llmContent":"a"}`, ``, "note", `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"note"}}`},
		{`{"llmContent":"a"}`, ``, "", ``},
		{`{"llmContent":"a"}`, `"[mark]\na\n[/mark]"`, "",
			`{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"` + dataNote + `"}}`},
		{`{"llmContent":"a"}`, `"[mark]\na\n[/mark]"`, "note", `{"decision":"deny","reason":"note\n\n[mark]\na\n[/mark]"}`},
		{`{"llmContent":[{"text":"a"},{"text":"b"}]}`, `[{"text":"c"},{"text":"d"}]`, "",
			`{"decision":"deny","reason":"c\nd"}`},
		{`{"llmContent":[{"text":"a"},{"inlineData":{}}]}`, `[{"text":"c"},{"inlineData":{}}]`, "",
			`{"decision":"deny","reason":"c\n(what is no text was left out of this result by approver)"}`},
		{`{"llmContent":"x","error":{"message":"a"}}`, `"b"`, "", `{"decision":"deny","reason":"b"}`},
		{`{"llmContent":"a"}`, `{"x":1}`, "", "blocked"},
		{`{"llmContent":"a"}`, `"b`, "", "blocked"},
		{`{"llmContent":"a"}`, `""`, "", "blocked"},
		{`{"returnDisplay":"a"}`, `"b"`, "", "blocked"},
	} {
		payload := strings.Replace(string(geminiCallOf("read_file", `{"file_path":"a"}`, `,"tool_response":`+c.response)),
			"BeforeTool", "AfterTool", 1)
		ev, err := gemini.Decode([]byte(payload))
		if err != nil {
			t.Fatal(c.response, err)
		}
		answer := gemini.EncodeResult(ev, Result{Response: json.RawMessage(c.replaced), Context: c.context})
		got := strings.TrimSpace(string(answer.Stdout))
		if answer.Exit() == 2 && strings.HasPrefix(got, denyWord) {
			got = "blocked"
		}
		if got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.response, c.replaced, got, c.want)
		}
	}
	if a := gemini.EncodeResult(Event{Kind: Decide, Name: "BeforeTool"}, Result{Context: "x"}); a.Exit() != 2 {
		t.Errorf("the result of a call that has not run: %+v", a)
	}
}

// Each of these, measured with version 0.61.0, keeps the agent from asking.
func TestGeminiSwitches(t *testing.T) {
	checkSwitches(t, gemini, []switchCase{
		{`{}`, false, false},
		{`{"hooksConfig":{"enabled":true,"disabled":["other"]}}`, false, false},
		{`{"hooksConfig":{"enabled":null}}`, false, false},
		{`{"hooksConfig":{"enabled":false}}`, true, true},
		{`{"hooksConfig":{"enabled":"false"}}`, true, true},
		{`{"hooksConfig":{"enabled":0}}`, true, true},
		{`{"hooksConfig":{"disabled":["/usr/bin/approver-hook --agent gemini --deadline 290s"]}}`, true, true},
		{`{"tools":{"disableLLMCorrection":true}}`, false, false},
		{`{"tools":{"disableLLMCorrection":false}}`, true, true},
		{`{"hooks":null}`, false, true},
		{`{"hooks":"x"}`, true, true},
		{`{"hooks":[]}`, true, true},
		{`{"hooks":{"enabled":false,"disabled":["approver-hook"]}, "tools":{"enableHooks":false}}`, // had no effect
			false, false},
	})
	for _, c := range []struct {
		variable string
		want     int
	}{
		{"GEMINI_CLI_SYSTEM_SETTINGS_PATH=/x", 1}, {"GEMINI_CLI_SYSTEM_SETTINGS_PATH=", 0},
		{"GEMINI_CLI_TRUST_WORKSPACE=true", 0},
		{"GEMINI_CLI_TRUST_WORKSPACE=false", 1}, {"GEMINI_RESTRICTED_MODE=true", 1}, {"HOME=/x", 0},
	} {
		if got := gemini.Environment([]string{c.variable}); len(got) != c.want {
			t.Errorf("%s: %v", c.variable, got)
		}
	}
	texts := ""
	for _, f := range gemini.Advice(nil) {
		texts += f.Text
	}
	if !strings.Contains(texts, "--acp") || !slices.Contains(strings.Fields(texts), "trusted,") {
		t.Errorf("no word of %s", texts)
	}
}

// The story: Gemini searched for "--open-files-in-pager=touch ran;". Without ripgrep it gives the pattern to
// git grep as an argument, and git ran the command. approver had passed it as a search.
func TestGeminiSearchesForNoOption(t *testing.T) {
	for args, ok := range map[string]bool{
		`{"pattern":"--open-files-in-pager=touch ran;","include_pattern":"one"}`: false,
		`{"pattern":"-Otouch"}`:                  false,
		`{"pattern":"-f/etc/shadow"}`:            false,
		`{"pattern":"\u002dOtouch"}`:             false,
		`{"pattern":"[-]-force"}`:                true,
		`{"pattern":"a -Ob|--c"}`:                true,
		`{"pattern":"a","include_pattern":"-x"}`: true, // it stands behind -- or =
	} {
		for _, tool := range []string{"grep_search", "search_file_content"} {
			_, err := gemini.Decode(geminiCallOf(tool, args, ""))
			if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "option of the program") {
				t.Errorf("%s %s: %v", tool, args, err)
			}
		}
	}
	if _, err := gemini.Decode(geminiCallOf("glob", `{"pattern":"-x"}`, "")); err != nil {
		t.Errorf("another tool: %v", err)
	}
}
