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
	// files are the files of its settings that name the hook. In them SCRIPT is the script, and HOME the
	// home.
	files map[string]string
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
		{recipe: canary.Codex(), files: map[string]string{".codex/hooks.json": strings.Replace(claudeLike, `"*"`, `".*"`, 1)},
			answer: claudeAnswer, code: "2", trust: "--dangerously-bypass-hook-trust"},
		{recipe: canary.Gemini(), files: map[string]string{
			".gemini/settings.json": `{"hooks":{"BeforeTool":[{"matcher":"*","hooks":[` +
				`{"type":"command","name":"x","command":"SCRIPT",` +
				`"timeout":60000}]}]}, // a comment
				"security":{"auth":{"selectedType":"oauth-personal"}}}`},
			answer: `{"decision":"deny","reason":"REASON"}`, code: "2"},
		{recipe: canary.Copilot(), files: map[string]string{
			".copilot/hooks/x.json": `{"version":1,"hooks":{"preToolUse":[` +
				`{"type":"command","bash":"SCRIPT","timeoutSec":60}]}}`},
			answer: `{"permissionDecision":"deny","permissionDecisionReason":"REASON"}`, code: "2"},
		{recipe: canary.OpenCode(), files: map[string]string{
			".config/opencode/plugin/x.js": `export const X = async () => ({ "tool.execute.before": async (input, output) => {
				const text = JSON.stringify(output.args); ` + jsReason + `; throw new Error(reason) } })`}},
		{recipe: canary.Qwen(), files: map[string]string{".qwen/settings.json": claudeLike}, answer: claudeAnswer, code: "2"},
		{recipe: canary.Pi(), files: map[string]string{
			".pi/agent/extensions/x.js": `export default (pi) => pi.on("tool_call", (event) => {
				const text = JSON.stringify(event.input); ` + jsReason + `; return { block: true, reason } })`}},
		{recipe: canary.Cline(), files: map[string]string{".cline/hooks/PreToolUse": "#!/bin/sh\nexec SCRIPT\n"},
			answer: `{"cancel":true,"errorMessage":"REASON"}`, code: "0"},
		openClaw(),
		{recipe: canary.Droid(), files: map[string]string{".factory/settings.json": claudeLike},
			answer: claudeAnswer, code: "2"},
	}
}

// openClaw has its hook in a plugin, which its settings name.
func openClaw() real {
	const settings = `{ // a comment
		plugins: {load: {paths: ["HOME/plugin"]}, allow: ["x"], entries: {x: {enabled: true}}}}`
	return real{recipe: canary.OpenClaw(), files: map[string]string{
		".openclaw/openclaw.json": settings,
		"plugin/package.json":     `{"name":"x","version":"1.0.0","type":"module","openclaw":{"extensions":["./index.js"]}}`,
		"plugin/openclaw.plugin.json": `{"id":"x","name":"x","activation":{"onStartup":true,"onCapabilities":["hook"]},
			"configSchema":{"type":"object","additionalProperties":false}}`,
		"plugin/index.js": `export default { id: "x", name: "x", register(api) { api.on("before_tool_call", (event) => {
			const text = JSON.stringify(event.params); ` + jsReason + `; return { block: true, blockReason: reason } }) } }`,
	}}
}

// approverSays is the reason that approver's stage gives, with the token as a variable of a shell.
const approverSays = "approver stopped its own test call TOKEN: the hook works, and nothing is wrong"

// install writes a hook that denies every call with a reason, in which TOKEN is that of the canary.
func (a real) install(t *testing.T, home, reason string) {
	t.Helper()
	script := filepath.Join(home, "hook.sh")
	quoted := `"` + strings.ReplaceAll(reason, "TOKEN", `" + token + "`) + `"`
	replacer := strings.NewReplacer("SCRIPT", script, "HOME", home, `"REASON"`, quoted)
	shell := strings.ReplaceAll(reason, "TOKEN", "'$token'")
	files := map[string]string{
		script: "#!/bin/sh\ntoken=$(sed -n 's/.*\\(approver-hook-test-[0-9a-f]*\\).*/\\1/p' | head -n 1)\n" +
			"echo '" + strings.ReplaceAll(a.answer, "REASON", shell) + "'\necho '" + shell + "' >&2\nexit " + a.code + "\n",
	}
	for name, text := range a.files {
		files[filepath.Join(home, name)] = replacer.Replace(text)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// environment returns the variables that the agent starts with. A node of its own comes first.
func (a real) environment(home string) []string {
	own := filepath.Join(os.Getenv("APPROVER_AGENTS"), a.recipe.Agent, "node_modules", ".bin")
	return []string{"HOME=" + home, "PATH=" + own + ":" + os.Getenv("PATH"), "OPENAI_API_KEY=zz"}
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
