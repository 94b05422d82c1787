package reflexcore_test

import (
	"strings"
	"testing"

	"approver.example"
)

// An agent wrote calls into a file and fed them to "claude mcp serve", which runs Claude
// Code's tools for whoever writes to its input and asks no hook, not even a managed one:
// files that every hook refuses were written and folders removed, and the audit had
// nothing of it. Other starts read settings that nobody looked at. Each is a question now.
func TestStartsWithoutHooksAreAQuestion(t *testing.T) {
	e := engine(t)
	stops(t, e,
		`claude mcp serve`,
		`claude mcp serve < calls.jsonl`,
		`cat calls.jsonl | claude mcp serve`,
		`(cat calls.jsonl; sleep 9) | claude mcp serve`,
		`claude --debug mcp serve`,
		`claude -d mcp serve`,
		`claude --verbose --model x mcp serve`,
		`claude --debug-file f mcp serve`,
		`claude mcp serve --debug`,
		`claude mcp --debug serve`,
		`claude mcp '' serve`,
		`claude "mcp" 'ser've`,
		`claude mcp $(cat word)`,
		`claude-code mcp serve`,
		`/usr/local/bin/claude mcp serve`,
		`~/.local/bin/claude mcp serve <<< '{}'`,
		`./node_modules/.bin/claude mcp serve`,
		`npx @anthropic-ai/claude-code mcp serve`,
		`npx -y -p @anthropic-ai/claude-code claude mcp serve`,
		`node node_modules/@anthropic-ai/claude-code/cli.js mcp serve`,
		`~/.local/share/claude/versions/2.1.330 mcp serve`,
		`c=claude; $c mcp serve`,
		`x=serve; claude mcp $x`,
		`$(which claude) mcp serve`,
		`exec claude mcp serve`,
		`command claude mcp serve`,
		`nohup claude mcp serve &`,
		`timeout 9 claude mcp serve < f`,
		`coproc claude mcp serve`,
		`mkfifo p; claude mcp serve < p & cat f > p`,
		`sh -c 'claude mcp serve' < f`,
		`echo serve | xargs claude mcp`,
		`socat - EXEC:'claude mcp serve'`,
		`python3 -c "import subprocess;subprocess.run(['claude','mcp','serve'])"`,
		`node -e "require('child_process').spawn('claude',['mcp','serve'])"`,
		`npx @modelcontextprotocol/inspector claude mcp serve`,
		`claude mcp add x -- claude mcp serve`,
		`claude mcp add-json x '{"command":"claude","args":["mcp","serve"]}'`,
		`claude --managed-settings '{"disableAllHooks":true}' -p x`,
		`claude --managed-settings={} -p x`,
		`claude -p --restricted --tools Bash x`,
		`CLAUDE_CODE_RESTRICTED=1 claude -p x`,
		`CLAUDE_CODE_USE_COWORK_PLUGINS=1 claude -p x`,
		`env CLAUDE_CODE_USE_COWORK_PLUGINS=true claude`,
		`export CLAUDE_CODE_USE_COWORK_PLUGINS=on; claude -p x`,
		`tmux new -d -e CLAUDE_CODE_USE_COWORK_PLUGINS=1 claude -p x`,
		`claude --agents '{"x":{"description":"d","prompt":"p","hooks":{}}}' --agent x -p y`,
		`claude --agents='{"x":{"hooks":{}}}' -p y`,
		`claude --agents '{"x":{"\u0068ooks":{}}}' -p y`,
		`claude -p --agents agents.json y`,
		`claude -p --agents "$(cat agents.json)" y`,
		`claude --worktree x -p y`,
		`claude --worktree=x -p y`,
		`claude -w x`,
		`claude -pw x`,
		`claude -p y -wx`,
	)
	v := judge(t, e, bash("claude mcp serve < calls.jsonl"))
	if v.Rule != "tripwire.self" || v.Decision != approver.Ask || !strings.Contains(v.Reason, "may not have the hooks") {
		t.Errorf("claude mcp serve: %s %s %s", v.Decision, v.Rule, v.Reason)
	}
}

// A file in which an agent looks for servers of tools named Claude Code itself.
func TestServersThatAreAgentsAreNoFreeWrite(t *testing.T) {
	e := engine(t)
	for _, file := range []string{"/home/ada/shop/.mcp.json", "/home/ada/.claude.json", "/home/ada/shop/.cursor/mcp.json",
		"/home/ada/shop/.claude/settings.json"} {
		for _, server := range []string{`"command":"claude","args":["mcp","serve"]`,
			`"command":"codex","args":["mcp-server"]`} {
			content := strings.ReplaceAll(`{"mcpServers":{"x":{`+server+`}}}`, `"`, `\"`)
			if v := judge(t, e, tool("Write", `{"file_path":"`+file+`","content":"`+content+`"}`)); v.Decision > approver.Ask {
				t.Errorf("%s with %s: %s", file, server, v.Decision)
			}
		}
	}
}

// What only asks, lists or starts Claude Code with the settings of the present one stays
// silent.
func TestStartsWithHooksAreSilent(t *testing.T) {
	e := engine(t)
	silent(t, e,
		`claude mcp list`,
		`claude mcp get serve`,
		`claude mcp remove serve`,
		`claude mcp --help`,
		`claude --version`,
		`claude -p hi`,
		`claude -p "what does mcp serve do"`,
		`claude -c -p hi`,
		`claude --model opus -p "fix -w"`,
		`claude -p --agents '{"reviewer":{"description":"Reviews code","prompt":"You are a code reviewer"}}' hi`,
		`claude agents`,
		`grep -r "claude mcp serve" docs`,
		`echo "claude mcp serve" >> notes.txt`,
		`git worktree add ../x topic`,
	)
}
