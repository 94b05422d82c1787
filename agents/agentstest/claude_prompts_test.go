package agentstest

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Claude Code's own questions: what its permissions do not cover, it asks its user, and people can
// answer in a chat. Nobody sits before a run with -p, so they are asked at once.
var promptScenarios = []scenario{
	{"own question: a command, approved", asksOnce("approve", true, touches)},
	{"own question: a command, denied", asksOnce("deny", false, touches)},
	{"own question: a command in the background", asksOnce("approve", true,
		func(*claudeWorld) turn { return background("touch made") })},
	{"own question: a command without the sandbox", asksOnce("approve", true, func(w *claudeWorld) turn {
		return call("Bash", map[string]any{"command": "python3 -c 'open(\"made\", \"w\")'", "description": "Work",
			"dangerouslyDisableSandbox": true})
	})},
	{"own question: a new file", asksOnce("approve", true, newFile)},
	{"own question: a new file, denied", asksOnce("deny", false, newFile)},
	{"own question: a file outside the folder", asksOnce("approve", true, func(w *claudeWorld) turn {
		w.sh("ln -s ../made work/made")
		return write(w.path("made"), "x")
	})},
	{"own question: an edit", func(t *testing.T) {
		w := prompting(t, "approve")
		w.claude(call("Read", map[string]any{"file_path": w.work("file")}),
			call("Edit", map[string]any{"file_path": w.work("file"), "old_string": "one", "new_string": "two"}))
		w.askedTimes(1)
		if got := w.read("work/file"); got != "two\n" {
			t.Errorf("the file is %q", got)
		}
	}},
	{"own question: a notebook", func(t *testing.T) {
		w := prompting(t, "approve")
		w.write("work/n.ipynb", `{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}`, 0o644)
		w.claude(call("Read", map[string]any{"file_path": w.work("n.ipynb")}),
			call("NotebookEdit", map[string]any{"notebook_path": w.work("n.ipynb"), "new_source": "print(17)",
				"cell_type": "code", "edit_mode": "insert"}))
		w.askedTimes(1)
		if got := w.read("work/n.ipynb"); !strings.Contains(got, "print(17)") {
			t.Errorf("the notebook is %q", got)
		}
	}},
	{"own question: a page, denied", func(t *testing.T) {
		w := prompting(t, "deny")
		w.claude(call("WebFetch", map[string]any{"url": "https://example.org/", "prompt": "Read"}))
		w.askedTimes(1)
		w.told(0, "denied by")
	}},
	{"own question: a tool of an MCP server", func(t *testing.T) {
		w := prompting(t, "approve")
		w.write("server.py", mcpServer, 0o644)
		w.write("mcp.json", `{"mcpServers":{"m":{"command":"python3","args":["`+w.path("server.py")+`"]}}}`, 0o644)
		w.flags = []string{"--mcp-config", w.path("mcp.json")}
		w.claude(call("mcp__m__note", map[string]any{"text": w.path("made")}))
		w.askedTimes(1)
		if !w.there(w.path("made")) {
			t.Error("the tool did not run")
		}
	}},
	{"own question: a skill", func(t *testing.T) {
		w := prompting(t, "approve")
		w.write("work/.claude/skills/demo/SKILL.md",
			"---\nname: demo\ndescription: works\nallowed-tools: Bash(touch:*)\n---\nWork.\n", 0o644)
		w.claude(skill("demo"))
		w.askedTimes(1)
		w.told(0, "demo")
	}},
	{"own question: approved after another hook refused", func(t *testing.T) {
		// Claude Code takes the first answer, and the other hooks wait on.
		w := startWith(t, "", func(string) string {
			time.Sleep(3 * time.Second) // until the other hook has answered
			return "approve"
		})
		w.mode = "default"
		w.foreign("PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{`+
			`"behavior":"deny","message":"not today"}}}`)
		w.settings(func(s map[string]any) { s["permissions"] = map[string]any{"allow": []string{"Bash(sleep:*)"}} })
		w.claude(together(bash("touch made"), bash("sleep 12")), bash("true")) // the turn ends with its last call
		w.askedTimes(1)
		w.notRun(1)
		w.made(false)
	}},
	{"own question: silence", func(t *testing.T) {
		w := startWith(t, "ttl: 6s", always(""))
		w.mode = "default"
		w.claude(bash("touch made"))
		w.askedTimes(1)
		w.told(0, "nobody answered")
		w.made(false)
	}},
	{"own question: never", func(t *testing.T) {
		w := startWith(t, "agents: {claude: {prompts: never}}", always("approve"))
		w.mode = "default"
		w.claude(bash("touch made"))
		w.askedTimes(0)
		w.made(false)
	}},
	{"own question: in this session", func(t *testing.T) {
		w := prompting(t, "approve 1")
		w.claude(write(w.work("made"), "x"), write(w.work("made2"), "x"))
		w.askedTimes(1)
		if !w.there(w.work("made")) || !w.there(w.work("made2")) {
			t.Error("both files must be there")
		}
		if s := w.read(".claude/settings.json"); strings.Contains(s, "acceptEdits") {
			t.Errorf("it was kept: %s", s)
		}
	}},
	{"own question: a rule that is kept", func(t *testing.T) {
		w := prompting(t, "approve 1")
		w.write("work/package.json", `{"scripts":{"one":"touch made1","two":"touch made2"}}`, 0o644)
		w.claude(bash("npm run one"), bash("npm run two"))
		w.askedTimes(1)
		if !w.there(w.work("made1")) || !w.there(w.work("made2")) {
			t.Error("both must have run")
		}
		text := strings.Join(strings.Fields(w.read("work/.claude/settings.local.json")), "")
		if text != `{"permissions":{"allow":["Bash(npmrun*)"]}}` {
			t.Errorf("kept is %s", text)
		}
		if !strings.Contains(w.audit(), `claude asks no more about Bash(npm run *)`) {
			t.Error("the audit does not say what was chosen")
		}
	}},
	{"own question: a choice that is not there", func(t *testing.T) {
		w := promptingWith(t, "ttl: 6s", "approve 4")
		w.claude(newFile(w))
		w.made(false)
	}},
	{"a call that rules ask about has no choices", func(t *testing.T) {
		w := promptingWith(t, "ttl: 6s", "approve 1")
		w.claude(bash(force))
		w.pushed(0)
		w.askedTimes(1)
	}},
	{"plan mode is not left by a yes", func(t *testing.T) {
		w := prompting(t, "approve")
		w.mode = "plan"
		w.claude(newFile(w))
		w.askedTimes(0)
		w.made(false)
	}},
	{"a subagent's own question", func(t *testing.T) {
		w := prompting(t, "approve")
		w.claude(agent("general-purpose", "touch made"))
		w.askedTimes(1)
		w.made(true)
	}},
}

// mcpServer is a server with one tool, which makes a file.
const mcpServer = `import sys, json
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    r = {}
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}},
             "serverInfo": {"name": "m", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": [{"name": "note", "description": "Notes a text", "inputSchema":
             {"type": "object", "properties": {"text": {"type": "string"}}}}]}
    elif m["method"] == "tools/call":
        open(m["params"]["arguments"]["text"], "w").close()
        r = {"content": [{"type": "text", "text": "noted"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`

// prompting is a world in which Claude Code asks about everything that changes something.
func prompting(t *testing.T, word string) *claudeWorld {
	t.Helper()
	return promptingWith(t, "", word)
}

func promptingWith(t *testing.T, more, word string) *claudeWorld {
	t.Helper()
	w := startWith(t, more, always(word))
	w.mode = "default"
	w.env = append(w.env, "ENABLE_TOOL_SEARCH=false") // else some tools have to be searched for first
	return w
}

func touches(*claudeWorld) turn { return bash("touch made") }

func newFile(w *claudeWorld) turn { return write(w.work("made"), "x") }

// asksOnce plays one call about which no rule asks. It makes a file with the name made.
func asksOnce(word string, runs bool, call func(w *claudeWorld) turn) func(t *testing.T) {
	return func(t *testing.T) {
		w := prompting(t, word)
		w.claude(call(w))
		w.askedTimes(1)
		w.notRun(0)
		for end := time.Now().Add(3 * time.Second); runs && !w.there(w.work("made")) && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond) // in the background
		}
		if _, err := os.Stat(w.work("made")); (err == nil) != runs {
			t.Errorf("it ran: %v, not %v", err == nil, runs)
		}
		if !runs {
			w.told(0, "denied by")
		}
	}
}
