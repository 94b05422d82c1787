package agentcli

import "strings"

// Programs that are agents: started, they run tools of their own, and whether these are
// asked about is up to the settings that they find. One line is one agent.

// An Agent is a program that runs tools by itself.
type Agent struct {
	// ID is the word for it, as in --agent where approver has hooks for it.
	ID string
	// names are its programs, and the last parts of the names of its packages and images.
	names string
	// starts are the first words and the flags that start it, where its name means other
	// programs too; empty: whatever is not in quiet does.
	// A word counts as the first one, a flag anywhere, and one behind ^ as the first word
	// only; a dot stands for no words at all.
	starts string
	// quiet are the first words that start nothing, besides those of all agents; cloud:list
	// is the word list behind cloud.
	quiet string
	// loud are those of all agents that start this one all the same: it takes them for what
	// it is to do.
	loud string
	// answers are the flags that start nothing with one word behind them.
	answers string
	// said is that a first word with blanks in it is what the agent is to do, and fed that
	// what comes from a pipe or a file is; both where starts says what starts it.
	said, fed bool
}

var programs = []Agent{
	{ID: "claude", names: "claude claude-code", quiet: "setup-token hooks migrate-installer"},
	{ID: "copy of claude", names: "claude-code-acp claude-agent-acp"}, // they use the SDK, which reads no settings
	{ID: "codex", names: "codex codex-cli codex-acp codex-universal", quiet: "features debug:models debug:prompt-input archive unarchive delete cloud:list cloud:status cloud:diff cloud-tasks:list", loud: "auth status config configure models model list ls stats usage info cache feedback install"},
	{ID: "gemini", names: "gemini gemini-cli", quiet: "extensions extension skills skill gemma hooks hook -l --list-sessions --list-extensions", answers: "--delete-session", loud: "doctor status config configure models model list ls stats usage info cache feedback auth install login logout"},
	{ID: "qwen", names: "qwen qwen-code", quiet: "extensions skills auth:status channel:stop channel:status", loud: "doctor status config configure models model list ls stats usage info cache feedback auth install login logout"},
	{ID: "copilot", names: "copilot-cli @github/copilot", quiet: "plugin"},
	{ID: "copilot", names: "copilot", starts: "-p --prompt -i --interactive --resume --continue --acp --banner --yolo --allow-all --allow-all-tools --autopilot --allow-tool --allow-all-paths --allow-all-urls --fleet --trust-folder --server --headless --remote --cloud --connect --attachment workflow"},
	{ID: "copilot", names: "gh", starts: "copilot", quiet: "explain suggest alias"},
	{ID: "cursor", names: "cursor-agent", quiet: "create-chat ls about --list-models"},
	{ID: "cursor", names: "cursor", starts: "agent"},
	{ID: "opencode", names: "opencode opencode-ai", quiet: "plug debug:config debug:paths debug:file debug:rg debug:skill debug:lsp debug:scrap debug:startup debug:info debug:snapshot debug:v2 debug:wait agent stats export import github providers db"},
	{ID: "goose", names: "goose-cli goose-ai goosed @block/goose block/goose"},
	{ID: "goose", names: "goose", starts: "run session s acp web serve recipe schedule bench term mcp project projects p r", quiet: "recipe:validate recipe:deeplink recipe:list schedule:remove schedule:list"},
	{ID: "crush", names: "crush", quiet: "logs dirs schema projects update-providers"},
	{ID: "droid", names: "droid @factory/cli", quiet: "search"},
	{ID: "cline", names: "cline", quiet: "history"},
	{ID: "kilo", names: "kilocode kilo @kilocode/cli"},
	{ID: "pi", names: "pi-coding-agent"},
	{ID: "pi", names: "pi", starts: "-p --print -c --continue -r --resume --mode --session --model --provider", said: true},
	{ID: "amp", names: "@sourcegraph/amp @ampcode/cli"},
	{ID: "roo", names: "roo-code roocode @roo-code/cli roo-cli"},
	{ID: "roo", names: "roo", starts: "run start -p --print --prompt --task", said: true, fed: true},
	{ID: "amp", names: "amp", starts: "-x --execute --dangerously-allow-all --stream-json --stream-json-input --no-tui threads thread t tools tool review last l", quiet: "tools:list tools:show tools:ls tool:list tool:show tool:ls", fed: true},
	{ID: "aider", names: "aider aider-chat aider-install aider-full", quiet: "--shell-completions --list-models --models --show-repo-map --show-prompts --just-check-update", answers: "--list-models --models --shell-completions"},
	{ID: "kiro", names: "kiro-cli kiro-cli-chat", quiet: "agent settings whoami theme integrations inline diagnostic diagnostics issue setup init user profile quit restart dashboard --help-all translate chat:--list-sessions chat:--list-models"},
	{ID: "kiro", names: "q qchat", starts: "chat"},
	{ID: "openclaw", names: "openclaw clawdbot moltbot", starts: "agent tui"},
	{ID: "continue", names: "@continuedev/cli"},
	{ID: "continue", names: "cn", starts: "-p --print serve --resume --auto --prompt --agent --config", said: true, fed: true},
	{ID: "plandex", names: "plandex pdx", quiet: "plans ls rm log diff diffs convo branches current cd sign-in set-config rewind reject"},
	{ID: "gptme", names: "gptme"},
	{ID: "interpreter", names: "interpreter open-interpreter"},
	{ID: "auggie", names: "auggie", quiet: "token account model upgrade session:list session:delete session:share tools:list command:list commands:list", loud: "plugin plugins doctor update install uninstall auth status config configure models list ls stats usage info cache feedback"},
	{ID: "openhands", names: "openhands openhands-ai openhands-cli", quiet: "conversations"},
	{ID: "mini-swe-agent", names: "mini-swe-agent mini-extra minisweagent"},
	{ID: "mini-swe-agent", names: "mini", starts: "-t --task -y --yolo --exit-immediately"},
	// It works in a container of its own, unless it is told to work on this machine.
	{ID: "swe-agent", names: "sweagent swe-agent", starts: "--env.deployment.type --env.deployment"},
	{ID: "kimi", names: "kimi kimi-cli", quiet: "export vis"},
	{ID: "vibe", names: "mistral-vibe"},
	{ID: "vibe", names: "vibe", starts: "-p --prompt --auto-approve --continue -c --resume --agent", said: true, fed: true},
	{ID: "iflow", names: "iflow iflow-cli"},
	{ID: "codebuddy", names: "codebuddy codebuddy-code"},
	{ID: "trae", names: "trae-agent"},
	{ID: "trae", names: "trae-cli traecli", starts: "run interactive"},
	{ID: "rovodev", names: "acli", starts: "rovodev"},
	{ID: "rovodev", names: "rovodev"},
	{ID: "forge", names: "forgecode"},
	{ID: "forge", names: "forge", starts: "^-p ^--prompt ^--conversation ^--agent ^-C ^--directory", fed: true},
	{ID: "jules", names: "jules", starts: "new remote"},
	{ID: "grok", names: "grok-cli"},
	{ID: "grok", names: "grok", starts: "-p --prompt -d --directory --single --always-approve agent", said: true},
	{ID: "gpt-engineer", names: "gpt-engineer gpte"},
	{ID: "smol", names: "smolagent"},
	{ID: "vscode", names: "code code-insiders", starts: "chat"},
	{ID: "cursor", names: "agent", starts: "-p --print --force -f", said: true},
	{ID: "warp", names: "warp oz warp-cli warp-terminal", starts: "agent"},
	{ID: "ollama", names: "ollama", starts: "launch"},
	{ID: "kiro", names: "kiro", starts: "chat"},
	{ID: "junie", names: "junie junie-cli"},
	{ID: "cody", names: "cody", starts: "chat"},
	{ID: "cody", names: "cody-agent"},
	{ID: "tabnine", names: "tabnine tabnine-cli", starts: "agent chat -p --prompt -y --yolo -i"},
	{ID: "codebuff", names: "codebuff freebuff"},
	{ID: "letta", names: "letta-code @letta-ai/letta-code"},
	{ID: "letta", names: "letta", starts: ". run -p --prompt --yolo", said: true},
	{ID: "deepagents", names: "deepagents deepagents-cli", quiet: "agents skills threads"},
	{ID: "devin", names: "devin devin-cli"},
	{ID: "cagent", names: "cagent", starts: "run exec acp serve api a2a"},
	{ID: "cagent", names: "docker", starts: "agent cagent", quiet: "new catalog build share pull push feedback"},
	{ID: "claude-code-router", names: "claude-code-router"},
	{ID: "claude-code-router", names: "ccr", starts: "code"},
	{ID: "claude-flow", names: "claude-flow ruflo", quiet: "init memory hooks"},
	{ID: "happy", names: "happy-coder"},
	{ID: "happy", names: "happy", starts: ". claude codex gemini acp daemon -p --yolo"},
	{ID: "claude-squad", names: "claude-squad"},
	{ID: "vibe-kanban", names: "vibe-kanban"},
	{ID: "acpx", names: "acpx"},
	{ID: "ra-aid", names: "ra-aid"},
	{ID: "hermes", names: "hermes-agent"},
	{ID: "hermes", names: "hermes", starts: "chat ^-q ^-z"},
	{ID: "qoder", names: "qodercli @qoder-ai/qodercli"},
	{ID: "qoder", names: "qoder", starts: "-p --print"},
	{ID: "deepseek", names: "deepseek-tui codewhale"},
	{ID: "deepseek", names: "deepseek", starts: "exec run -p --prompt --yolo", said: true},
	{ID: "command-code", names: "command-code"},
	{ID: "neovate", names: "neovate @neovate/code"},
	{ID: "kode", names: "@shareai-lab/kode"},
	{ID: "kode", names: "kode", starts: "-p --print"},
	{ID: "antigravity", names: "agy antigravity", starts: "-p --print --prompt -i chat", said: true},
	{ID: "every-code", names: "every-code @just-every/code"},
	{ID: "every-code", names: "coder", starts: "exec"},
	{ID: "gpt-pilot", names: "gpt-pilot metagpt autogpt auto-gpt"},
	{ID: "fast-agent", names: "fast-agent-mcp"},
	{ID: "fast-agent", names: "fast-agent", starts: "go serve acp"},
	{ID: "mentat", names: "mentat"},
	// They write shell commands, or are given tools, only with these flags.
	{ID: "sgpt", names: "sgpt shell-gpt shell_gpt", starts: "-s --shell -e --execute"},
	{ID: "llm", names: "llm", starts: "-T --tool --functions"},
	{ID: "aichat", names: "aichat", starts: "-e --execute -a --agent --macro"},
	{ID: "tgpt", names: "tgpt", starts: "-s --shell -is"},
}

// named are the agents by the names of their programs, in small letters.
var named = func() map[string][]*Agent {
	m := map[string][]*Agent{}
	for i := range programs {
		a := &programs[i]
		for name := range strings.FieldsSeq(a.names) {
			m[name] = append(m[name], a)
		}
	}
	return m
}()

// AnyWords reports whether the agent's name means no other program: nearly any words start it.
func (a *Agent) AnyWords() bool { return a.starts == "" }
