package configs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"approver.example"
	"approver.example/agents"
)

// callVerdicts judges a call of an agent's own tool: the payload that its hook gets goes through the agent's
// adapter, the engine and the default policy.
func callVerdicts(t *testing.T) func(agent, tool string, args arguments) approver.Verdict {
	t.Helper()
	stages := []approver.Stage{newEngine(t), defaultPolicy(t)}
	payloads := map[string]func(tool string, args arguments) arguments{
		"claude": func(tool string, args arguments) arguments {
			return arguments{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": shop, "tool_use_id": "u",
				"tool_name": tool, "tool_input": args}
		},
		"kiro": func(tool string, args arguments) arguments {
			return arguments{"hook_event_name": "preToolUse", "cwd": shop, "tool_name": tool, "tool_input": args}
		},
		"code": func(tool string, args arguments) arguments {
			return arguments{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": shop, "tool_use_id": "u",
				"timestamp": "2026-01-01T00:00:00Z", "transcript_path": "/x", "tool_name": tool, "tool_input": args}
		},
		"copilot": func(tool string, args arguments) arguments {
			return arguments{"sessionId": "s", "timestamp": 1, "cwd": shop, "toolName": tool, "toolArgs": args}
		},
		"cursor": func(tool string, args arguments) arguments {
			return arguments{"hook_event_name": "preToolUse", "conversation_id": "s", "generation_id": "g",
				"tool_use_id": "u", "cwd": "", "workspace_roots": []string{shop}, "tool_name": tool, "tool_input": args}
		},
		"codex": func(tool string, args arguments) arguments {
			return arguments{"hook_event_name": "PreToolUse", "session_id": "s", "turn_id": "t", "cwd": shop,
				"permission_mode": "default", "tool_use_id": "u", "tool_name": tool, "tool_input": args}
		},
		"opencode": func(tool string, args arguments) arguments {
			return arguments{"plugin": "opencode", "event": "tool.execute.before", "session": "s", "call": "u",
				"directory": shop, "tool": tool, "input": args}
		},
	}
	return func(agent, tool string, args arguments) approver.Verdict {
		t.Helper()
		payload := payloads[agent](tool, args)
		if agent == "code" {
			agent = "copilot"
		}
		return strictest(t, stages, agent, payload)
	}
}

// strictest returns the strictest verdict of some stages on what an agent sends.
func strictest(t *testing.T, stages []approver.Stage, agent string, sent any) approver.Verdict {
	t.Helper()
	payload, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	_, ev, err := agents.Read(agent, payload)
	if err != nil || ev.Kind != agents.Decide || ev.Agent != agent {
		t.Fatalf("%s %s: %v, %v", agent, payload, ev.Kind, err)
	}
	ev.Call.Env = map[string]string{"HOME": "/home/ada"}
	most := approver.Verdict{Decision: approver.Allow}
	for _, stage := range stages {
		v, err := stage.Judge(t.Context(), ev.Call)
		if err != nil {
			t.Fatal(err)
		}
		if v.Decision < most.Decision {
			most = v
		}
	}
	return most
}

// A toolCall is a call of an agent's own tool, its arguments as JSON, and the rule that asks about it;
// empty: nobody is asked.
type toolCall struct{ agent, tool, args, rule string }

func judgedAs(t *testing.T, calls []toolCall) {
	t.Helper()
	judge := callVerdicts(t)
	for _, c := range calls {
		var args arguments
		if err := json.Unmarshal([]byte(c.args), &args); err != nil {
			t.Fatalf("%s: %v", c.args, err)
		}
		v := judge(c.agent, c.tool, args)
		if asked := v.Decision <= approver.Ask; asked != (c.rule != "") || asked && v.Rule != c.rule {
			t.Errorf("%s %s %s: %v (%s), want %q", c.agent, c.tool, c.args, v.Decision, v.Rule, c.rule)
		}
	}
}

// The story: Kiro has a tool that runs the aws program, with the service, the operation and the
// parameters as arguments. No rule saw a command, and a bucket was deleted unasked.
func TestCallsOfAmazon(t *testing.T) {
	aws := func(service, operation, parameters, rule string) toolCall {
		return toolCall{"kiro", "use_aws", `{"service_name":"` + service + `","operation_name":"` + operation +
			`","parameters":` + parameters + `,"region":"eu-west-1","profile_name":"dev","label":"list things"}`, rule}
	}
	calls := []toolCall{
		aws("s3api", "delete-bucket", `{"bucket":"b"}`, "aws_s3_delete"),
		aws("s3", "rm s3://b", `{"recursive":""}`, "aws_s3_delete"),
		aws("ec2", "terminate-instances", `{"instance-ids":"i-1"}`, "aws_delete"),
		aws("ec2", "TerminateInstances", `{"InstanceIds":["i-1"]}`, "aws_delete"),
		aws("rds", "delete_db_instance", `{"db_instance_identifier":"d"}`, "aws_rds_delete"),
		aws("iam", "create-access-key", `{"user-name":"x"}`, "aws_iam_change"),
		aws("secretsmanager", "get-secret-value", `{"secret-id":"x"}`, "read_cloud_key"),
		aws("s3", "ls", `["b"]`, "not_understood"),
		aws("ec2", "describe-instances", `{}`, ""),
		aws("s3", "ls", `{}`, ""),
		aws("s3", "ls", `{"summarize":true,"page-size":100}`, ""),
		{"kiro", "aws", `{"service_name":"s3api","operation_name":"delete-bucket"}`, "delete_remote_all"},
		{"kiro", "use_aws", `{"operation_name":"delete-bucket"}`, "not_understood"},
		{"claude", "mcp__aws__use_aws", `{"service_name":"s3","operation_name":"rb s3://b","parameters":{"force":""}}`,
			"aws_s3_delete"},
	}
	judgedAs(t, calls)
}

// The story: Visual Studio Code has tools that run a task of the settings, a cell of a file and a command of
// the editor. What runs is in none of their arguments, and nobody was asked.
func TestToolsThatRunWhatIsElsewhere(t *testing.T) {
	judgedAs(t, []toolCall{
		{"code", "run_task", `{"workspaceFolder":"/home/ada/shop","id":"shell: build"}`, "not_understood"},
		{"code", "run_notebook_cell", `{"filePath":"/home/ada/shop/a.ipynb","cellId":"1"}`, "not_understood"},
		{"code", "run_vscode_command", `{"commandId":"x","name":"x","command":"ls"}`, "not_understood"},
		{"code", "run_vs_code_command", `{"commandId":"x","name":"x"}`, "not_understood"},
		{"code", "copilot_runVscodeCommand", `{"commandId":"x"}`, "not_understood"},
		{"code", "install_extension", `{"id":"a.b","name":"x"}`, "run_download"},
		{"code", "create_and_run_task", `{"task":{"label":"x","type":"shell"}}`, "not_understood"},
		{"code", "create_and_run_task", `{"task":{"label":"x","command":"git push --force origin main"}}`, "git_force_push"},
		{"code", "create_and_run_task", `{"task":{"command":"git","args":["push","--force","origin","main"]}}`,
			"git_force_push"},
		{"code", "create_and_run_task", `{"task":{"label":"x","command":"make test"}}`, ""},
		{"code", "get_task_output", `{"id":"x"}`, ""},
		{"code", "create_file", `{"filePath":"~/.bashrc","content":"x"}`, "persist_shell"},
		{"code", "create_file", `{"filePath":"../../../etc/cron.d/x","content":"x"}`, "persist_cron"},
		{"code", "create_file", `{"filePath":"/home/ada/shop/a.go","content":"package a"}`, ""},
		{"code", "create_directory", `{"dirPath":"/home/ada/shop/a"}`, ""},
	})
}

// The story: Copilot types into a shell that runs, with keys in braces. "origin main{enter}" was no branch
// that a rule knew, and {up}{enter} ran an earlier command once more. "rm -rf" and "~{enter}" in two calls
// were each harmless.
func TestWhatIsTypedIntoAShell(t *testing.T) {
	typed := func(tool, input, rule string) toolCall {
		return toolCall{"copilot", tool, `{"sessionId":"1","delay":5,"input":"` + input + `"}`, rule}
	}
	judgedAs(t, []toolCall{
		typed("write_bash", `git push --force origin main{enter}`, "git_force_push"),
		typed("write_bash", `echo a{enter}rm -rf ~{enter}`, "delete_root"),
		typed("write_bash", `{up}rm -rf ~{bogus}`, "delete_root"),
		typed("write_powershell", `rm -rf ~{enter}`, "delete_root"),
		typed("write_bash", `{up}{enter}`, "not_understood"),
		typed("write_powershell", `r{backspace}ls{enter}`, "not_understood"),
		typed("write_bash", `ls{enter}`, ""),
		typed("write_bash", `y`, ""),
		typed("write_bash", `yes{enter}`, ""),
		typed("write_bash", `rm -rf`, "not_understood"), // ~{enter} comes with the next call
		typed("write_bash", `r`, "not_understood"),
		typed("write_bash", `ls{enter}ls `, "not_understood"),
		typed("write_bash", `for f in *; do echo ${f}; done{enter}`, ""),
		{"claude", "mcp__tmux__send_keys", `{"pane":"1","keys":"rm -rf ~\n"}`, "delete_root"},
		{"claude", "mcp__iterm__write", `{"input":"rm -rf ~"}`, "delete_root"},
		{"claude", "mcp__selenium__send_keys", `{"selector":"#a","keys":"it's (all) {enter}"}`, ""},
	})
}

// The story: a routine that Claude Code sets up runs elsewhere, without this machine's hooks, and after
// Droid's SwitchMachine all calls do.
func TestWhatRunsOnAnotherMachine(t *testing.T) {
	judgedAs(t, []toolCall{
		{"claude", "RemoteTrigger", `{"action":"create","body":{"prompt":"deploy"}}`, "persistence"},
		{"claude", "RemoteTrigger", `{"action":"run","trigger_id":"x"}`, "persistence"},
		{"claude", "RemoteTrigger", `{"trigger_id":"x"}`, "persistence"},
		{"claude", "RemoteTrigger", `{"action":"list_runs","trigger_id":"x"}`, ""},
		{"claude", "SwitchMachine", `{"machineId":"x"}`, "not_understood"},
	})
}

// The story: servers take a command apart: the program in one argument, its words in another. Only
// "command" beside "args" was one, and rm -rf ran under any other name.
func TestCommandsThatArgumentsForm(t *testing.T) {
	call := func(tool, args, rule string) toolCall { return toolCall{"claude", "mcp__x__" + tool, args, rule} }
	var calls []toolCall
	for _, program := range strings.Fields("program executable binary bin exe prog entrypoint command cmd Program") {
		for _, words := range strings.Fields("args arguments argv params parameters options flags Args") {
			for _, form := range []string{`{"P":"rm","W":["-rf","~"]}`, `{"W":["-rf","~"],"P":"rm"}`, `{"P":"rm","W":"-rf ~"}`,
				`{"input":{"P":"rm","W":["-rf","~"]}}`, `{"options":{"P":"rm","W":["-rf","~"]}}`,
				`{"steps":[{"P":"ls","W":["-l"]},{"P":"rm","W":["-rf","~"]}]}`} {
				calls = append(calls, call("helper", strings.NewReplacer("P", program, "W", words).Replace(form), "delete_root"))
			}
		}
	}
	judgedAs(t, append(calls,
		call("helper", `{"name":"rm","args":["-rf","~"]}`, "delete_root"),
		call("helper", `{"tool":"rm","arguments":["-rf","~"]}`, "delete_root"),
		call("exec", `{"path":"/bin/rm","args":["-rf","~"]}`, "delete_root"),
		call("do", `{"argv":["rm","-rf","~"]}`, "delete_root"),
		call("do", `{"args":["bash","-c","rm -rf ~"]}`, "delete_root"),
		call("run", `{"line":"rm -rf ~"}`, "delete_root"),
		call("exec", `{"input":["rm","-rf","~"]}`, "delete_root"),
		call("helper", `{"cmdString":"rm -rf ~"}`, "delete_root"),
		call("helper", `{"commandString":"rm -rf ~"}`, "delete_root"),
		call("helper", `{"cmdline":"rm -rf ~"}`, "delete_root"),
		call("helper", `{"exec":"rm -rf ~"}`, "delete_root"),
		call("helper", `{"steps":[{"run":"rm -rf ~"}]}`, "delete_root"),
		call("helper", `{"commands":[["ls"],["rm","-rf","~"]]}`, "delete_root"),
		call("helper", `{"command":"rm","options":["-rf"],"args":["~"]}`, "delete_root"),
		call("helper", `{"command":"bash","stdin":"rm -rf ~"}`, "delete_root"),
		call("helper", `{"program":"sh","input":"cd /\nrm -rf ~"}`, "delete_root"),
		call("helper", `{"program":"git","args":["push","--force","origin","main"]}`, "git_force_push"),
		call("run", `{"command":"git","args":["status"]}`, ""),
		call("run", `{"executable":"git","args":["status"]}`, ""),
		call("run", `{"cmd":"go","flags":["-v"],"args":["test","./..."]}`, ""),
		call("lookup", `{"name":"Lunch (today)","options":["Pizza & wine","Don't care"]}`, ""),
		call("call_tool", `{"name":"get_issue","arguments":{"id":1}}`, ""),
		call("search", `{"query":"rm -rf ~","args":["a"]}`, ""),
		call("query", `{"query":"select 1","params":["it's","b"]}`, ""),
		call("get_line", `{"line":"It's (late)"}`, ""),
		call("read_file", `{"path":"a.go","lines":["1","2"]}`, ""),
		call("add_comment", `{"path":"a.go","line":"12","body":"run rm -rf ~"}`, ""),
	))
}

// The story: a tool that deletes got "~", and what it deletes was a name in the project. Nobody was asked
// about a whole home, or about .git, because the tool did not say that it deletes folders.
func TestToolsThatDelete(t *testing.T) {
	deletes := func(tool, key, path, rule string) toolCall {
		return toolCall{"cursor", tool, `{"` + key + `":"` + path + `"}`, rule}
	}
	judgedAs(t, []toolCall{
		deletes("Delete", "path", "~", "delete_root"),
		deletes("Delete", "path", "~/x", "delete_home"),
		deletes("Delete", "path", "/home/ada/x", "delete_home"),
		deletes("Delete", "path", "../x", "delete_home"),
		deletes("Delete", "path", "~/other/*", "delete_home"),
		deletes("Delete", "path", "src/*", "delete_tree"),
		deletes("Delete", "path", ".git", "delete_repository"),
		deletes("Delete", "path", "..", "delete_root"),
		deletes("delete_file", "target_file", "~", "delete_system"),
		deletes("delete_file", "target_file", "~/*", "delete_system"),
		deletes("delete_file", "target_file", "src/a.go", ""),
		deletes("Delete", "path", "node_modules", ""),
		{"kiro", "deleteFile", `{"targetFile":"~/.ssh"}`, "write_credentials"},
		{"claude", "mcp__fs__remove_path", `{"path":"~/docs"}`, "delete_home"},
		{"claude", "mcp__github__delete_comment", `{"path":"src/a.go","id":1}`, ""},
	})
}

// What several calls in one do is what each of them does.
func TestCallsInACall(t *testing.T) {
	judgedAs(t, []toolCall{
		{"codex", "multi_tool_use.parallel", `{"tool_uses":[{"recipient_name":"functions.exec_command",` +
			`"parameters":{"cmd":"rm -rf ~"}}]}`, "delete_root"},
		{"codex", "multi_tool_use.parallel", `{"tool_uses":[{"recipient_name":"github.delete_repository",` +
			`"parameters":{"repo":"x"}}]}`, "delete_remote"},
		{"opencode", "batch", `{"tool_calls":[{"tool":"read","parameters":{"filePath":"a"}},{"tool":"bash",` +
			`"parameters":{"command":"rm -rf ~"}}]}`, "delete_root"},
		{"opencode", "batch", `{"tool_calls":[{"tool":"github_delete_repository","parameters":{"repo":"x"}}]}`,
			"delete_remote_all"},
		{"opencode", "patch", `{"patchText":"*** Begin Patch\n*** Add File: /home/ada/.bashrc\n+x\n*** End Patch"}`,
			"persist_shell"},
	})
}

// agentSettings are files by which an agent asks, or is told not to.
const agentSettings = `
	.claude/settings.json .claude/settings.local.json ~/.claude/settings.json .github/copilot/settings.json
	.github/copilot/settings.local.json .github/hooks/x.json ~/.copilot/hooks/x.json ~/.copilot/settings.json
	/etc/github-copilot/policy.d/x.json .factory/hooks.json .factory/settings.json .factory/settings.local.json
	~/.factory/hooks.json /etc/factory/settings.json .gemini/settings.json ~/.gemini/settings.json .gemini/.env
	~/.gemini/trustedFolders.json ~/.gemini/extensions/x/hooks/hooks.json /etc/gemini-cli/settings.json
	.qwen/settings.json ~/.qwen/settings.json .qwen/.env /etc/qwen-code/settings.json .codex/config.toml
	.codex/hooks.json ~/.codex/config.toml ~/.codex/hooks.json ~/.codex/x.config.toml /etc/codex/requirements.toml
	.cursor/hooks.json ~/.cursor/hooks.json .cursor/cli.json /etc/cursor/hooks.json .windsurf/hooks.json
	~/.codeium/windsurf/hooks.json /etc/windsurf/hooks.json .kiro/hooks/approver.json ~/.kiro/hooks/approver.json
	~/.kiro/agents/x.json ~/.kiro/settings/cli.json .opencode/plugin/x.js .opencode/tool/x.ts .opencode/package.json
	~/.config/opencode/plugin/approver.js ~/.config/opencode/opencode.json opencode.json .pi/extensions/x.ts
	.pi/settings.json ~/.pi/agent/settings.json ~/.pi/agent/extensions/approver.js .clinerules/hooks/PreToolUse
	~/.cline/hooks/PreToolUse ~/.cline/data/settings/x.json
	~/.agents/plugins/approver/hooks/hooks.json ~/.agents/plugins/approver/plugin.json ~/.config/goose/settings.json
	.config/goose/settings.local.json ~/.config/goose/config.yaml crush.json .crush.json ~/.config/crush/crush.json
	/etc/crush/crush.json openclaw.json ~/.openclaw/openclaw.json ~/.openclaw/extensions/approver/index.js
	~/.approver/installed.json`

// The story: half of these files could be written in one way or another without a question, and with them
// the hooks were gone.
func TestSettingsOfAgentsAreNotWrittenUnasked(t *testing.T) {
	judge := callVerdicts(t)
	for file := range strings.FieldsSeq(agentSettings) {
		whole := file
		if rest, ok := strings.CutPrefix(file, "~"); ok {
			whole = "/home/ada" + rest
		} else if file[0] != '/' {
			whole = shop + "/" + file
		}
		for _, command := range []string{"echo '{}' > FILE", "cat x >> FILE", "cp x FILE", "mv x FILE", "mv FILE x",
			"rm FILE", "sed -i 's/a/b/' FILE", "echo x | tee FILE", "ln -sf x FILE", ": > FILE", "chmod 000 FILE",
			"cp --remove-destination x FILE", "python3 -c \"open('WHOLE','w').write('')\""} {
			command = strings.NewReplacer("FILE", file, "WHOLE", whole).Replace(command)
			if v := judge("claude", "Bash", arguments{"command": command}); v.Decision > approver.Ask {
				t.Errorf("%s: %v", command, v.Decision)
			}
		}
		for tool, args := range map[string]arguments{
			"Write": {"file_path": whole, "content": "{}"},
			"Edit":  {"file_path": whole, "old_string": "a", "new_string": "b"},
		} {
			if v := judge("claude", tool, args); v.Decision > approver.Ask {
				t.Errorf("%s of %s: %v", tool, file, v.Decision)
			}
		}
		if v := judge("claude", "Read", arguments{"file_path": whole}); v.Decision <= approver.Ask &&
			!strings.HasSuffix(file, ".env") && !strings.Contains(file, "/.approver/") {
			t.Errorf("reading %s: %v (%s)", file, v.Decision, v.Rule)
		}
	}
}
