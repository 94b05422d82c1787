package canary_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents/canary"
)

// A real is an agent for tests with the real program.
type real struct {
	recipe canary.Recipe
	// hook is the file of its settings that names the hook, and what is in it. SCRIPT is the script,
	// and HOME the home.
	file, text string
	// answer is how its hook denies: what it prints, with REASON, and its exit code.
	answer, code string
	// trust is an option for hooks that nobody has trusted.
	trust string
}

// claudeLike are settings in the form that several agents took over from Claude Code.
const claudeLike = `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":` +
	`[{"type":"command","command":"SCRIPT","timeout":60}]}]}}`

// claudeAnswer is how hooks deny in that form.
const claudeAnswer = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
	`"permissionDecisionReason":"REASON"}}`

// jsReason is the reason in JavaScript, where text has the call.
const jsReason = `const token = (text.match(/approver-hook-test-[0-9a-f]+/) || [""])[0]; const reason = "REASON"`

func reals() []real {
	return []real{
		{recipe: canary.Codex(), file: ".codex/hooks.json", text: strings.Replace(claudeLike, `"*"`, `".*"`, 1),
			answer: claudeAnswer, code: "2", trust: "--dangerously-bypass-hook-trust"},
		{recipe: canary.Gemini(), file: ".gemini/settings.json",
			text: `{"hooks":{"BeforeTool":[{"matcher":"*","hooks":[{"type":"command","name":"x","command":"SCRIPT",` +
				`"timeout":60000}]}]}, // a comment
				"security":{"auth":{"selectedType":"oauth-personal"}}}`,
			answer: `{"decision":"deny","reason":"REASON"}`, code: "2"},
		{recipe: canary.Copilot(), file: ".copilot/hooks/x.json",
			text:   `{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"SCRIPT","timeoutSec":60}]}}`,
			answer: `{"permissionDecision":"deny","permissionDecisionReason":"REASON"}`, code: "2"},
		{recipe: canary.OpenCode(), file: ".config/opencode/plugin/x.js",
			text: `export const X = async () => ({ "tool.execute.before": async (input, output) => {
				const text = JSON.stringify(output.args); ` + jsReason + `; throw new Error(reason) } })`},
		{recipe: canary.Qwen(), file: ".qwen/settings.json", text: claudeLike, answer: claudeAnswer, code: "2"},
		{recipe: canary.Pi(), file: ".pi/agent/extensions/x.js",
			text: `export default (pi) => pi.on("tool_call", (event) => {
				const text = JSON.stringify(event.input); ` + jsReason + `; return { block: true, reason } })`},
		{recipe: canary.Cline(), file: ".cline/hooks/PreToolUse", text: "#!/bin/sh\nexec SCRIPT\n",
			answer: `{"cancel":true,"errorMessage":"REASON"}`, code: "0"},
		{recipe: canary.Droid(), file: ".factory/settings.json", text: claudeLike, answer: claudeAnswer, code: "2"},
	}
}

// approverSays is the reason that approver's stage gives, with the token as a variable of a shell.
const approverSays = "approver stopped its own test call TOKEN: the hook works, and nothing is wrong"

// install writes a hook that denies every call with a reason, in which TOKEN is that of the canary.
func (a real) install(t *testing.T, home, reason string) {
	t.Helper()
	script := filepath.Join(home, "hook.sh")
	quoted := `"` + strings.ReplaceAll(reason, "TOKEN", `" + token + "`) + `"`
	text := strings.NewReplacer("SCRIPT", script, `"REASON"`, quoted).Replace(a.text)
	shell := strings.ReplaceAll(reason, "TOKEN", "'$token'")
	for name, text := range map[string]string{
		filepath.Join(home, a.file): text,
		script: "#!/bin/sh\ntoken=$(sed -n 's/.*\\(approver-hook-test-[0-9a-f]*\\).*/\\1/p' | head -n 1)\n" +
			"echo '" + strings.ReplaceAll(a.answer, "REASON", shell) + "'\necho '" + shell + "' >&2\nexit " + a.code + "\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// program returns the agent's program, or one that starts it with the option for hooks that nobody
// has trusted. It skips the test if there is none.
func (a real) program(t *testing.T, home string) string {
	t.Helper()
	dir := os.Getenv("APPROVER_AGENTS")
	if dir == "" {
		t.Skip("NOT RUN: APPROVER_AGENTS names no folder with AGENT/node_modules/.bin/AGENT")
	}
	name := filepath.Join(dir, a.recipe.Agent, "node_modules", ".bin", a.recipe.Agent)
	if _, err := os.Stat(name); err != nil {
		t.Skipf("NOT RUN: there is no %s in APPROVER_AGENTS", a.recipe.Agent)
	}
	if a.trust == "" {
		return name
	}
	started := filepath.Join(home, "start.sh")
	text := "#!/bin/sh\nsub=$1\nshift\nexec '" + name + "' \"$sub\" " + a.trust + " \"$@\"\n"
	if err := os.WriteFile(started, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return started
}
