package configs_test

import (
	"testing"

	"approver.example"
)

// A command started Claude Code with a flag that few people know, as --exec, which has a
// shell run its value, or --debug-file, which wrote its log over the settings and so turned
// the hook off. Each such start passed. Now only flags that are known to be plain pass.
func TestStartsWithFlagsThatAreNotPlain(t *testing.T) {
	world := files("s.json", `{"hooks":{}}`, "m.json", `{"mcpServers":{}}`, "req.json",
		`{"type":"user","message":{"content":"/evil"}}`,
		"vendor/p/hooks/hooks.json", "{}", "x.env", "git push --force origin main\n", "opt", "--exec=x\n",
		"~/.local/share/claude/versions/2.1.330", "x", "~/pkg/claude-code/cli.js", "x")
	for _, command := range []string{
		"claude --bg --exec 'git push --force origin main'", "claude --exec='git push --force origin main' --bg",
		"claude --bg --name j -- hello",
		"claude -p --settings s.json x", "claude -p --settings '{}' x", "claude -p --mcp-config m.json -- x",
		`claude -p --mcp-config '{"mcpServers":{"s":{"command":"git","args":["push","--force","origin","main"]}}}' -- x`,
		"claude -p --plugin-dir-no-mcp vendor/p x", "claude -p --plugin-dir vendor/p x",
		"claude -p --project-config-root ../lib /deep",
		"claude -p --bare x", "claude -p --dangerously-skip-permissions x", "claude -p --input-format stream-json < req.json",
		"cat req.json | claude -p --verbose --input-format=stream-json --output-format stream-json",
		"CLAUDE_CODE_PLUGIN_DIRS=$PWD/vendor/p claude -p x", "CLAUDE_ENV_FILE=$PWD/x.env claude -p x",
		"CLAUDE_CODE_SHELL=$PWD/bash claude -p x",
		"export CLAUDE_CODE_SHELL=$PWD/bash; claude -p x", "env CLAUDE_ENV_FILE=x.env claude -p x",
		"SHELL=$PWD/bash claude -p x",
		"declare -x BUN_OPTIONS=x; claude -p x", "tmux new -d -e CLAUDE_CODE_SHELL=./x claude -p x",
		"read CLAUDE_CODE_SHELL < x; export CLAUDE_CODE_SHELL; claude -p x",
		"claude -p --debug-file ~/.claude/settings.json x", "claude --debug-file=.git/hooks/pre-commit -p x",
		"claude -p --debug-file ~/.bashrc x",
		"sh -c 'claude --bg --exec x'", "timeout 9 claude --bg --exec x", "nohup claude -p --exec x &",
		"xargs claude -p hi < opt", "claude --bg \"$(cat opt)\"",
		"claude -p $(cat opt)", "claude -p \"$(cat opt)\"", "cat opt | xargs claude -p",
		`python3 -c "import subprocess;subprocess.run(['claude','--bg','--exec','x'])"`,
		"~/.local/share/claude/versions/2.1.330 --bare -p x", "cd ~/.local/share/claude/versions && ./2.1.330 --exec x",
		"node ../pkg/claude-code/cli.js -p x", "cd ../pkg/claude-code && node cli.js -p x", "claude.exe --exec x",
		"~/.local/share/claude/versions/2.1.330 -p --plugin-dir vendor/p x", "claude.exe -p --plugin-dir vendor/p x",
		"claude daemon run x.json", "claude attach x", "claude plugin eval . --json ~/.claude/settings.json",
		"claude mcp reset-project-choices",
	} {
		if v := (loadRow{"", world, "Bash", runs(command)}).judged(t); v.Decision > approver.Ask {
			t.Errorf("%s is %v", command, v.Decision)
		}
	}
	if v := (loadRow{"", world, "Bash",
		runs("claude -p --debug-file ~/.claude/settings.json x")}).judged(t); v.Decision != approver.Deny {
		t.Errorf("a log in the settings is %v", v.Decision)
	}
	if v := (loadRow{"", world, "Bash",
		runs("claude --bg --exec 'approver approve ABC'")}).judged(t); v.Decision != approver.Deny {
		t.Errorf("a command behind --exec that is denied is %v", v.Decision)
	}
	for _, command := range []string{
		"claude -p hello", "claude -p --model opus --output-format json 'fix the tests' | jq .result",
		"claude -p --allowedTools 'Read,Bash(git log:*)' --max-turns 3 -- hi",
		"claude -p --append-system-prompt '- be nice' hi", "claude -c -p 'go on'", "claude --resume abc -p 'go on'",
		"claude -p --permission-mode plan hi",
		"claude -p --debug-file /tmp/a.log hi", "claude -p --debug hi", "env -u CLAUDECODE claude -p hi",
		"CLAUDE_CODE_MAX_OUTPUT_TOKENS=9 claude -p hi",
		"NODE_OPTIONS=--max-old-space-size=4096 claude -p hi", "SHELL=/bin/bash claude -p hi", "claude mcp list",
		"claude plugin list --json", "claude doctor",
		"claude --version", "claude agents --json", "OUT=$(claude -p hi); echo \"$OUT\"",
		"~/.local/share/claude/versions/2.1.330 -p hi",
		"git diff | claude -p 'look at --exec and -w'", "for f in *.go; do claude -p \"Review $f\" --model haiku; done",
	} {
		if v := (loadRow{"", world, "Bash", runs(command)}).judged(t); v.Decision <= approver.Ask {
			t.Errorf("honest %s is %v (%s): %s", command, v.Decision, v.Rule, v.Reason)
		}
	}
}
