package shell

import (
	"encoding/json"
	"strings"
)

// Programs that are agents: started, they run tools of their own, and whether these are
// asked about is up to the settings that they find. One line is one agent.

// An agent is a program that runs tools by itself.
type agent struct {
	// id is the word for it, as in --agent where approver has hooks for it.
	id string
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

var agentPrograms = []agent{
	{id: "claude", names: "claude claude-code", quiet: "setup-token hooks migrate-installer"},
	{id: "copy of claude", names: "claude-code-acp claude-agent-acp"}, // they use the SDK, which reads no settings
	{id: "codex", names: "codex codex-cli codex-acp codex-universal", quiet: "features debug:models debug:prompt-input archive unarchive delete cloud:list cloud:status cloud:diff cloud-tasks:list", loud: "auth status config configure models model list ls stats usage info cache feedback install"},
	{id: "gemini", names: "gemini gemini-cli", quiet: "extensions extension skills skill gemma hooks hook -l --list-sessions --list-extensions", answers: "--delete-session", loud: "doctor status config configure models model list ls stats usage info cache feedback auth install login logout"},
	{id: "qwen", names: "qwen qwen-code", quiet: "extensions skills auth:status channel:stop channel:status", loud: "doctor status config configure models model list ls stats usage info cache feedback auth install login logout"},
	{id: "copilot", names: "copilot-cli @github/copilot", quiet: "plugin"},
	{id: "copilot", names: "copilot", starts: "-p --prompt -i --interactive --resume --continue --acp --banner --yolo --allow-all --allow-all-tools --autopilot --allow-tool --allow-all-paths --allow-all-urls --fleet --trust-folder --server --headless --remote --cloud --connect --attachment workflow"},
	{id: "copilot", names: "gh", starts: "copilot", quiet: "explain suggest alias"},
	{id: "cursor", names: "cursor-agent", quiet: "create-chat ls about --list-models"},
	{id: "cursor", names: "cursor", starts: "agent"},
	{id: "opencode", names: "opencode opencode-ai", quiet: "plug debug:config debug:paths debug:file debug:rg debug:skill debug:lsp debug:scrap debug:startup debug:info debug:snapshot debug:v2 debug:wait agent stats export import github providers db"},
	{id: "goose", names: "goose-cli goose-ai goosed @block/goose block/goose"},
	{id: "goose", names: "goose", starts: "run session s acp web serve recipe schedule bench term mcp project projects p r", quiet: "recipe:validate recipe:deeplink recipe:list schedule:remove schedule:list"},
	{id: "crush", names: "crush", quiet: "logs dirs schema projects update-providers"},
	{id: "droid", names: "droid @factory/cli", quiet: "search"},
	{id: "cline", names: "cline", quiet: "history"},
	{id: "kilo", names: "kilocode kilo @kilocode/cli"},
	{id: "pi", names: "pi-coding-agent"},
	{id: "pi", names: "pi", starts: "-p --print -c --continue -r --resume --mode --session --model --provider", said: true},
	{id: "amp", names: "@sourcegraph/amp @ampcode/cli"},
	{id: "roo", names: "roo-code roocode @roo-code/cli roo-cli"},
	{id: "roo", names: "roo", starts: "run start -p --print --prompt --task", said: true, fed: true},
	{id: "amp", names: "amp", starts: "-x --execute --dangerously-allow-all --stream-json --stream-json-input --no-tui threads thread t tools tool review last l", quiet: "tools:list tools:show tools:ls tool:list tool:show tool:ls", fed: true},
	{id: "aider", names: "aider aider-chat aider-install aider-full", quiet: "--shell-completions --list-models --models --show-repo-map --show-prompts --just-check-update", answers: "--list-models --models --shell-completions"},
	{id: "kiro", names: "kiro-cli kiro-cli-chat", quiet: "agent settings whoami theme integrations inline diagnostic diagnostics issue setup init user profile quit restart dashboard --help-all translate chat:--list-sessions chat:--list-models"},
	{id: "kiro", names: "q qchat", starts: "chat"},
	{id: "openclaw", names: "openclaw clawdbot moltbot", starts: "agent tui"},
	{id: "continue", names: "@continuedev/cli"},
	{id: "continue", names: "cn", starts: "-p --print serve --resume --auto --prompt --agent --config", said: true, fed: true},
	{id: "plandex", names: "plandex pdx", quiet: "plans ls rm log diff diffs convo branches current cd sign-in set-config rewind reject"},
	{id: "gptme", names: "gptme"},
	{id: "interpreter", names: "interpreter open-interpreter"},
	{id: "auggie", names: "auggie", quiet: "token account model upgrade session:list session:delete session:share tools:list command:list commands:list", loud: "plugin plugins doctor update install uninstall auth status config configure models list ls stats usage info cache feedback"},
	{id: "openhands", names: "openhands openhands-ai openhands-cli", quiet: "conversations"},
	{id: "mini-swe-agent", names: "mini-swe-agent mini-extra minisweagent"},
	{id: "mini-swe-agent", names: "mini", starts: "-t --task -y --yolo --exit-immediately"},
	// It works in a container of its own, unless it is told to work on this machine.
	{id: "swe-agent", names: "sweagent swe-agent", starts: "--env.deployment.type --env.deployment"},
	{id: "kimi", names: "kimi kimi-cli", quiet: "export vis"},
	{id: "vibe", names: "mistral-vibe"},
	{id: "vibe", names: "vibe", starts: "-p --prompt --auto-approve --continue -c --resume --agent", said: true, fed: true},
	{id: "iflow", names: "iflow iflow-cli"},
	{id: "codebuddy", names: "codebuddy codebuddy-code"},
	{id: "trae", names: "trae-agent"},
	{id: "trae", names: "trae-cli traecli", starts: "run interactive"},
	{id: "rovodev", names: "acli", starts: "rovodev"},
	{id: "rovodev", names: "rovodev"},
	{id: "forge", names: "forgecode"},
	{id: "forge", names: "forge", starts: "^-p ^--prompt ^--conversation ^--agent ^-C ^--directory", fed: true},
	{id: "jules", names: "jules", starts: "new remote"},
	{id: "grok", names: "grok-cli"},
	{id: "grok", names: "grok", starts: "-p --prompt -d --directory --single --always-approve agent", said: true},
	{id: "gpt-engineer", names: "gpt-engineer gpte"},
	{id: "smol", names: "smolagent"},
	{id: "vscode", names: "code code-insiders", starts: "chat"},
	{id: "cursor", names: "agent", starts: "-p --print --force -f", said: true},
	{id: "warp", names: "warp oz warp-cli warp-terminal", starts: "agent"},
	{id: "ollama", names: "ollama", starts: "launch"},
	{id: "kiro", names: "kiro", starts: "chat"},
	{id: "junie", names: "junie junie-cli"},
	{id: "cody", names: "cody", starts: "chat"},
	{id: "cody", names: "cody-agent"},
	{id: "tabnine", names: "tabnine tabnine-cli", starts: "agent chat -p --prompt -y --yolo -i"},
	{id: "codebuff", names: "codebuff freebuff"},
	{id: "letta", names: "letta-code @letta-ai/letta-code"},
	{id: "letta", names: "letta", starts: ". run -p --prompt --yolo", said: true},
	{id: "deepagents", names: "deepagents deepagents-cli", quiet: "agents skills threads"},
	{id: "devin", names: "devin devin-cli"},
	{id: "cagent", names: "cagent", starts: "run exec acp serve api a2a"},
	{id: "cagent", names: "docker", starts: "agent cagent", quiet: "new catalog build share pull push feedback"},
	{id: "claude-code-router", names: "claude-code-router"},
	{id: "claude-code-router", names: "ccr", starts: "code"},
	{id: "claude-flow", names: "claude-flow ruflo", quiet: "init memory hooks"},
	{id: "happy", names: "happy-coder"},
	{id: "happy", names: "happy", starts: ". claude codex gemini acp daemon -p --yolo"},
	{id: "claude-squad", names: "claude-squad"},
	{id: "vibe-kanban", names: "vibe-kanban"},
	{id: "acpx", names: "acpx"},
	{id: "ra-aid", names: "ra-aid"},
	{id: "hermes", names: "hermes-agent"},
	{id: "hermes", names: "hermes", starts: "chat ^-q ^-z"},
	{id: "qoder", names: "qodercli @qoder-ai/qodercli"},
	{id: "qoder", names: "qoder", starts: "-p --print"},
	{id: "deepseek", names: "deepseek-tui codewhale"},
	{id: "deepseek", names: "deepseek", starts: "exec run -p --prompt --yolo", said: true},
	{id: "command-code", names: "command-code"},
	{id: "neovate", names: "neovate @neovate/code"},
	{id: "kode", names: "@shareai-lab/kode"},
	{id: "kode", names: "kode", starts: "-p --print"},
	{id: "antigravity", names: "agy antigravity", starts: "-p --print --prompt -i chat", said: true},
	{id: "every-code", names: "every-code @just-every/code"},
	{id: "every-code", names: "coder", starts: "exec"},
	{id: "gpt-pilot", names: "gpt-pilot metagpt autogpt auto-gpt"},
	{id: "fast-agent", names: "fast-agent-mcp"},
	{id: "fast-agent", names: "fast-agent", starts: "go serve acp"},
	{id: "mentat", names: "mentat"},
	// They write shell commands, or are given tools, only with these flags.
	{id: "sgpt", names: "sgpt shell-gpt shell_gpt", starts: "-s --shell -e --execute"},
	{id: "llm", names: "llm", starts: "-T --tool --functions"},
	{id: "aichat", names: "aichat", starts: "-e --execute -a --agent --macro"},
	{id: "tgpt", names: "tgpt", starts: "-s --shell -is"},
}

// An agent that is started by its own program finds the hooks of the one that starts it,
// except in the ways of this file.

// elsewhere reports whether an agent is told to run its tools where it has none of the
// hooks that it has here: on a machine of its maker's, as a server of tools, with other
// settings than the ones on the disk, or in a way that is not known to be plain.
func elsewhere(id string, args []field) bool {
	return id == "claude" && (servesTools(args) || unhooks(args) || isDriven(args) || claudeWords(args))
}

// servesTools reports whether the words behind Claude Code's name make it a server that
// runs its tools for whoever writes to its input: claude mcp serve. No hook is asked
// there, not even one of managed settings.
func servesTools(args []field) bool {
	for i := range args {
		if args[i].text != "mcp" {
			continue
		}
		rest := args[i+1:]
		for len(rest) > 0 && (rest[0].text == "" || rest[0].text[0] == '-') {
			rest = rest[1:]
		}
		if len(rest) > 0 && (rest[0].text == "serve" || !rest[0].known()) {
			return true
		}
	}
	return false
}

// isDriven reports whether the words behind Claude Code's name hand this machine to whoever
// writes to its maker's server: claude remote-control.
func isDriven(args []field) bool {
	return len(args) > 0 && contains("remote-control rc", args[0].text) &&
		(len(args) == 1 || !contains("-h --help", args[len(args)-1].text))
}

// unhooks reports whether a flag of Claude Code keeps the hooks of users or projects out
// of one start, or puts others in their place.
func unhooks(args []field) bool {
	for i, f := range args {
		flag, value, joined := strings.Cut(f.text, "=")
		switch {
		case contains("--remote --cloud --teleport --managed-settings --restricted --worktree", flag):
			return true
		case flag == "--agents" && !joined:
			if i+1 < len(args) && mayHook(args[i+1]) {
				return true
			}
		case flag == "--agents":
			f.text = value
			if mayHook(f) {
				return true
			}
		case len(flag) > 1 && flag[0] == '-' && flag[1] != '-': // -w x, -wx, -pw x
			if strings.HasPrefix(strings.TrimLeft(flag[1:], "pc"), "w") {
				return true
			}
		}
	}
	return false
}

// mayHook reports whether the agents that are defined for one start may run or load something
// of their own: hooks, which take the place of those in the settings, servers, skills, or what
// is not known. They are JSON, or the name of a file.
func mayHook(agents field) bool {
	var defined map[string]map[string]json.RawMessage
	if !agents.known() || json.Unmarshal([]byte(agents.text), &defined) != nil {
		return true
	}
	for _, keys := range defined {
		for key, value := range keys {
			if !agentKeys[key] && !plainAgentKey(key, value) {
				return true
			}
		}
	}
	return false
}

// agentKeys are the keys of an agent that run and load nothing.
var agentKeys = wordSet(`description prompt tools disallowedTools model effort maxTurns autoCompactWindow memory background omitClaudeMd color`)

// plainAgentKey reports whether another key of an agent has a value that runs and loads nothing.
func plainAgentKey(key string, value json.RawMessage) bool {
	var text string
	var names []string
	switch key {
	case "permissionMode":
		return json.Unmarshal(value, &text) == nil && contains("default manual plan dontAsk auto", text)
	case "isolation":
		return string(value) == `"worktree"`
	case "initialPrompt": // one that begins with a slash loads a text
		return json.Unmarshal(value, &text) == nil && !strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\r\n\v\f\u00a0"), "/")
	case "mcpServers": // names are those of servers that are there already
		return json.Unmarshal(value, &names) == nil
	}
	return false
}

// isolates are the programs that run another one in a place of its own: with other files,
// another home or another user's session, where it may not find the settings that it has here.
var isolates = wordSet("bwrap firejail chroot unshare nsenter systemd-run flatpak-spawn wsl")
