package reflexcore_test

import (
	"strings"
	"testing"

	"approver.example"
)

// apart are ways in which an agent of the first word's kind is started without the hooks of the one that
// starts it, or with its permissions off.
const apart = `
codex: codex exec -c hooks={} x
codex: codex exec -c features.hooks=false x
codex: codex exec --config=profile=y x
codex: codex exec --profile x y
codex: codex exec --disable hooks x
codex: codex exec --dangerously-bypass-hook-trust x
codex: codex exec --ignore-user-config x
codex: codex exec --yolo x
codex: CODEX_HOME=/tmp/x codex exec y
codex: codex cloud exec x
codex: codex mcp-server
codex: codex app-server
gemini: gemini -p x --yolo
gemini: gemini --sandbox -p x
gemini: gemini --acp
gemini: gemini hooks disable-all
gemini: gemini hooks disable approver
gemini: GEMINI_CLI_HOME=/tmp/x gemini -p y
gemini: GEMINI_CLI_SYSTEM_DEFAULTS_PATH=/tmp/x gemini -p y
qwen: qwen -y x
qwen: qwen --bare x
qwen: qwen --safe-mode x
qwen: qwen --no-hooks x
qwen: qwen serve
qwen: QWEN_HOME=/tmp/x qwen y
qwen: QWEN_CODE_SIMPLE=1 qwen y
copilot: copilot -p x --allow-all-tools
copilot: copilot --config-dir /tmp/x -p y
copilot: copilot --config-dir=/tmp/x -p y
copilot: copilot --no-hooks -p y
copilot: copilot --acp
copilot: COPILOT_HOME=/tmp/x copilot -p y
cursor: cursor-agent -f x
cursor: cursor-agent --cloud -p x
cursor: cursor-agent worker
cursor: CURSOR_CONFIG_DIR=/tmp/x cursor-agent -p y
opencode: opencode run --pure x
opencode: opencode run --attach http://x y
opencode: opencode attach http://x
opencode: opencode serve
opencode: OPENCODE_PURE=1 opencode run x
opencode: export OPENCODE_PURE=1; opencode run x
opencode: XDG_CONFIG_HOME=/tmp/x opencode run y
opencode: OPENCODE_CONFIG_DIR=/tmp/x opencode run y
goose: goose web
goose: goose acp
goose: GOOSE_MODE=auto goose run -t x
goose: GOOSE_PATH_ROOT=/tmp/x goose run -t y
goose: HOME=/tmp/x goose run -t y
crush: crush --yolo run x
crush: crush -D /tmp/x run y
crush: CRUSH_GLOBAL_CONFIG=/tmp/x crush run y
crush: CRUSH_GLOBAL_DATA=/tmp/x crush run y
droid: droid exec --skip-permissions-unsafe x
droid: droid exec --auto high x
droid: droid exec --runtime-settings /tmp/x y
droid: droid daemon
droid: FACTORY_HOME_OVERRIDE=/tmp/x droid exec y
cline: cline -y x
cline: cline --hooks-dir /tmp/x y
cline: cline --data-dir /tmp/x y
cline: cline config set x
cline: CLINE_DIR=/tmp/x cline y
cline: HOME=/tmp/x cline y
pi: pi --no-extensions -p x
pi: pi -ne -p x
pi: pi -e ./x.js -p y
pi: PI_CODING_AGENT_DIR=/tmp/x pi -p y
pi: HOME=/tmp/x pi -p y
kiro: kiro-cli chat --trust-all-tools x
kiro: kiro-cli chat -a x
kiro: kiro-cli chat --agent other x
kiro: kiro-cli chat --no-hooks x
kiro: kiro-cli settings chat.defaultAgent x
kiro: KIRO_HOME=/tmp/x kiro-cli chat y
openclaw: openclaw agent exec x
openclaw: openclaw agent --local -m x
openclaw: openclaw --profile x agent -m y
openclaw: openclaw --dev gateway
openclaw: openclaw gateway run
openclaw: openclaw config set plugins.entries.approver.enabled false
openclaw: openclaw plugins uninstall approver
openclaw: OPENCLAW_STATE_DIR=/tmp/x openclaw agent -m y
openclaw: OPENCLAW_CONFIG_PATH=/tmp/x openclaw agent -m y
claude: claude --bare -p x
claude: claude --settings /tmp/x -p y
claude: CLAUDE_CONFIG_DIR=/tmp/x claude -p y`

// The story: who starts its own kind was believed to start it with the same hooks. Only Claude Code's
// flags were looked at: codex -c hooks={}, opencode --pure, pi --no-extensions and cline --hooks-dir ran a
// second agent that nobody asked.
func TestAgentsOfOnesOwnKindWithoutHooks(t *testing.T) {
	e := engine(t)
	for line := range strings.Lines(strings.TrimSpace(apart)) {
		agent, command, _ := strings.Cut(strings.TrimSpace(line), ": ")
		call := bash(command)
		for _, by := range []string{agent, "other"} {
			if call.Agent = by; judge(t, e, call).Decision > approver.Ask {
				t.Errorf("%s starts %s: nobody is asked", by, command)
			}
		}
	}
	for agent, commands := range map[string]string{
		"codex":  "codex exec x; codex exec -m a x; codex exec -c model=a x; codex exec resume --last",
		"gemini": "gemini -p x; gemini -m a -p x",
		"qwen":   "qwen -p x", "copilot": "copilot -p x", "cursor": "cursor-agent -p x",
		"opencode": "opencode run x; opencode run -m a x",
		"goose":    "goose run -t x", "crush": "crush run x", "droid": "droid exec x", "cline": "cline x", "pi": "pi -p x",
		"kiro": "kiro-cli chat x", "openclaw": "openclaw agent -m x", "claude": "claude -p x",
	} {
		for command := range strings.SplitSeq(commands, "; ") {
			call := bash(command)
			if call.Agent = agent; judge(t, e, call).Decision <= approver.Ask {
				t.Errorf("%s starts %s: a question", agent, command)
			}
		}
	}
	silent(t, e, `gemini hooks list`, `openclaw status`, `openclaw gateway status`, `openclaw config get x`,
		`openclaw plugins list`, `openclaw agents list`, `cline config list`, `goose up`, `pi --version`, `pi --list-models`,
		`copilot --version`, `copilot help`, `codex --version`, `opencode models`, `kiro-cli settings list`)
	stops(t, e, `copilot`, `echo x | copilot`, `copilot --model a`, `pi @task.md`, `pi --thinking high`, `echo x | pi`,
		`openclaw chat`, `openclaw cron add x`, `openclaw acp`)
}
