package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/settings"
)

// drivers make one call through a plugin, as the agent does, and print what became of it. The arguments
// are more than a pipe holds, for a courier that does not read them.
var drivers = map[string]string{
	"opencode": calls + `
import { Approver } from "./plugin.mjs";
const hooks = await Approver({ directory: "/p", client: {} });
const call = { tool: "bash", sessionID: "s", callID: "c" };
try {
  await hooks["tool.execute.before"](call, { args });
  change(args);
  const output = { title: "", output: "what it returned", metadata: {} };
  await hooks["tool.execute.after"]({ ...call, args }, output);
  const server = { content: [{ type: "text", text: "what a server returned" }] };
  await hooks["tool.execute.after"]({ ...call, args }, server);
  const from = typeof server.content === "string" ? server.content : server.content.map((c) => c.text).join(" ");
  console.log("RAN " + shown(args) + " AND READ " + output.output + " AND " + from);
} catch (err) { console.log("STOPPED " + err.message); }
`,
	"pi": calls + `
import start from "./plugin.mjs";
const on = {};
start({ on: (event, handler) => { on[event] = handler; } });
const ctx = { cwd: "/p", sessionManager: { getSessionId: () => "s" } };
const event = { toolName: "bash", toolCallId: "c", input: args };
try {
  await on.tool_call(event, ctx);
  change(args);
  const content = [{ type: "text", text: "what it returned" }];
  const after = await on.tool_result({ ...event, content, isError: false }, ctx);
  console.log("RAN " + shown(args) + " AND READ " + (after?.content ?? content).map((c) => c.text).join(" "));
} catch (err) { console.log("STOPPED " + err.message); }
`,
	"openclaw": calls + `
import plugin from "./plugin.mjs";
const on = {};
const folders = { main: "/p", other: "/q" };
plugin.register({
  runtime: { agent: { resolveAgentWorkspaceDir: (config, id) => config[id] }, config: { current: () => folders } },
  on: (event, handler, options) => {
    on[event] = handler;
    if (event === "before_tool_call" && !(options.priority < 0 && options.timeoutMs >= 6000)) on[event] = undefined;
  },
});
const ctx = { sessionId: "s" };
const event = { toolName: "exec", toolCallId: "c", params: args };
const before = await on.before_tool_call(event, ctx);
if (before?.block) {
  await on.after_tool_call({ ...event, error: "stopped" }, ctx); // it says nothing of a call that did not run
  console.log("STOPPED " + before.blockReason);
} else {
  const params = before?.params ?? { command: "what another plugin returned" };
  const result = { content: [{ type: "text", text: "what it returned" }] };
  let read = "what it returned";
  try {
    await on.after_tool_call({ ...event, params, result }, ctx);
    await on.after_tool_call({ ...event, params, error: "why it returned nothing" }, ctx);
  } catch (err) { read = err.message; }
  console.log("RAN " + shown(params) + " AND READ " + read);
}
`,
}

// calls are the arguments of a call, and what another plugin may try with them.
const calls = `
const args = { command: "old", more: { text: "x".repeat(1 << 17), is: "old" } };
const change = (args) => {
  try { args.command = "other"; } catch {}
  try { args.more.is = "other"; } catch {}
};
const shown = (args) => args.command + (args.more && (args.more.is !== "old" || args.command !== "old") ? " MORE" : "");
`

// played runs a driver with a courier that is a shell script: one for the call and one for the report.
func played(t *testing.T, agent, before, after string, seconds int) string {
	t.Helper()
	return playedBy(t, agent, drivers[agent], before, after, seconds)
}

func playedBy(t *testing.T, agent, driver, before, after string, seconds int) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, and the plugins are JavaScript")
	}
	dir := t.TempDir()
	adapter, _ := For(agent)
	plugin := form(adapter, nil)
	hooks := settings.Hooks{}
	for i, script := range []string{before, after} {
		folder := filepath.Join(dir, fmt.Sprint(i))
		program := filepath.Join(folder, "approver-hook")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if script != "" {
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		line := settings.CommandLine([]string{program, "--agent", agent, "--deadline", "1s"})
		raw, err := json.Marshal(plugin.install.hook(hookLine{command: string(line)}))
		if err != nil {
			t.Fatal(err)
		}
		hooks[plugin.events[i].Name] = []settings.Matcher{{Hooks: []json.RawMessage{raw}}}
	}
	text, err := plugin.install.layout.Text(hooks)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), `"seconds":6`, fmt.Sprintf(`"seconds":%d`, seconds))
	for name, text := range map[string]string{"plugin.mjs": changed, "driver.mjs": driver} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), node, "driver.mjs")
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

const passes = `cat >/dev/null; echo '{"decision":"pass"}'`

// The story: a courier was killed, and the plugin took the end without an answer for a yes. Only a
// complete answer that is understood lets a call run, and what runs is what was decided.
func TestPluginsStopWithoutAnAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after, want string
		seconds             int
	}{
		"a pass":   {passes, passes, "RAN old AND READ what it returned", 6},
		"an allow": {`echo '{"decision":"allow"}'`, passes, "RAN old AND READ what it returned", 6},
		"other arguments": {`echo '{"decision":"allow","input":{"command":"new"}}'`, passes,
			"RAN new AND READ what it", 6},
		"a warning":          {`echo '{"decision":"pass","context":"look out"}'`, passes, "look out", 6},
		"a deny":             {`echo '{"decision":"deny","reason":"because"}'; exit 2`, passes, "STOPPED because", 6},
		"a deny with exit 0": {`echo '{"decision":"deny","reason":"because"}'`, passes, "STOPPED because", 6},
		"a deny, no reason": {`echo '{"decision":"deny","reason":""}'`, passes,
			"STOPPED the answer of approver-hook is not understood", 6},
		"a deny, not reported": {`echo '{"decision":"deny","reason":"because"}'`, `exit 1`, "STOPPED because", 6},
		"an ask":               {`echo '{"decision":"ask"}'`, passes, "STOPPED", 6},
		"no decision":          {`echo '{}'`, passes, "STOPPED", 6},
		"a list":               {`echo '["allow"]'`, passes, "STOPPED", 6},
		"an unknown key":       {`echo '{"decision":"allow","unless":"x"}'`, passes, "STOPPED", 6},
		"arguments, no object": {`echo '{"decision":"allow","input":"x"}'`, passes, "STOPPED", 6},
		"arguments, none":      {`echo '{"decision":"allow","input":null}'`, passes, "STOPPED", 6},
		"arguments, a list":    {`echo '{"decision":"allow","input":[]}'`, passes, "STOPPED", 6},
		"a warning, no text":   {`echo '{"decision":"pass","context":5}'`, passes, "STOPPED", 6},
		"a notice, no text":    {`echo '{"decision":"pass","notice":{}}'`, passes, "STOPPED", 6},
		"null":                 {`echo null`, passes, "STOPPED the answer of approver-hook is not understood", 6},
		"a long answer": {`head -c 9000000 /dev/zero | tr '\0' ' '; echo '{"decision":"allow"}'`, passes,
			"STOPPED the answer of approver-hook is too long", 6},
		"nothing":       {`exit 0`, passes, "STOPPED", 6},
		"cut off":       {`printf '{"decision":"allow"'`, passes, "STOPPED", 6},
		"a line before": {`echo log; echo '{"decision":"allow"}'`, passes, "STOPPED", 6},
		"two answers":   {`echo '{"decision":"allow"}{"decision":"allow"}'`, passes, "STOPPED", 6},
		"exit 1":        {`echo '{"decision":"allow"}'; exit 1`, passes, "STOPPED", 6},
		"a signal":      {`echo '{"decision":"allow"}'; kill -9 $$`, passes, "STOPPED", 6},
		"no program":    {"", passes, "STOPPED approver-hook cannot be run", 6},
		"no end": {`echo '{"decision":"allow"}'; exec sleep 20`, passes,
			"STOPPED approver-hook did not end", 1},

		"a notice":        {passes, `cat >/dev/null; echo '{"decision":"pass","notice":"n"}'`, "READ what it returned", 6},
		"another result":  {passes, `cat >/dev/null; echo '{"decision":"pass","result":RESULT}'`, "AND READ marked", 6},
		"a note":          {passes, `cat >/dev/null; echo '{"decision":"pass","context":"a note"}'`, "a note", 6},
		"a result denied": {passes, `cat >/dev/null; echo '{"decision":"deny","reason":"withheld"}'; exit 2`, "withheld", 6},
		"a result, dead":  {passes, `exit 1`, "gave no answer", 6},
	} {
		for agent, result := range map[string]string{"opencode": `"marked"`, "pi": `[{"type":"text","text":"marked"}]`,
			"openclaw": ""} {
			// OpenClaw takes only a yes or a no.
			if result == "" && (tt.after != passes && !strings.HasPrefix(tt.want, "STOPPED") || tt.want == "look out") {
				continue
			}
			t.Run(agent+"/"+name, func(t *testing.T) {
				began := time.Now()
				got := played(t, agent, tt.before, strings.ReplaceAll(tt.after, "RESULT", result), tt.seconds)
				if strings.Contains(got, "undefined") {
					t.Errorf("the model reads what nobody said: %q", got)
				}
				if !strings.Contains(got, tt.want) || strings.Contains(got, "STOPPED") && strings.Contains(got, "RAN") {
					t.Errorf("%q, without %q", got, tt.want)
				}
				if name == "no end" && time.Since(began) > 15*time.Second {
					t.Errorf("the courier was waited for for %v", time.Since(began))
				}
				if strings.HasPrefix(name, "a result") && strings.Contains(got, "what it returned") {
					t.Errorf("the model read %q", got)
				}
			})
		}
	}
}

// What the plugin sends is what the adapter reads.
func TestPluginsSendWhatIsRead(t *testing.T) {
	for agent := range drivers {
		file := filepath.Join(t.TempDir(), "call")
		keep := fmt.Sprintf("cat >>%s; echo '{\"decision\":\"pass\"}'; echo >>%[1]s", file)
		if got := played(t, agent, keep, keep, 6); !strings.HasPrefix(got, "RAN old") {
			t.Fatalf("%s: %s", agent, got)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		adapter, _ := For(agent)
		var kinds []Kind
		for line := range strings.Lines(string(text)) {
			ev, err := adapter.Decode([]byte(line))
			if c := ev.Call; err != nil || c.Tool != "Bash" || c.Command != "old" || c.Dir != "/p" || ev.UseID != "c" {
				t.Errorf("%s: %+v, %v", agent, ev, err)
			}
			if kinds = append(kinds, ev.Kind); ev.Kind == Ran && !strings.Contains(ev.Output, " returned") {
				t.Errorf("%s returned %q", agent, ev.Output)
			}
		}
		if len(kinds) < 2 || kinds[0] != Decide || slices.Contains(kinds[1:], Decide) {
			t.Errorf("%s: %v", agent, kinds)
		}
	}
}

// callBeside makes another call beside one that is stopped, and reports both, as OpenClaw does.
const callBeside = `
import plugin from "./plugin.mjs";
const on = {};
const runtime = { agent: { resolveAgentWorkspaceDir: () => "/p" }, config: { current: () => ({}) } };
plugin.register({ runtime, on: (event, handler) => { on[event] = handler; } });
const event = { toolName: "exec", params: { command: "old" } };
const before = (toolCallId) => on.before_tool_call(event, { sessionId: "s", toolCallId });
const after = (toolCallId) =>
  on.after_tool_call({ ...event, result: { content: "what it returned" } }, { sessionId: "s", toolCallId });
const first = await before("c");
if (first?.block) {
  console.log("STOPPED " + first.blockReason);
  if ((await before("d"))?.block) process.exit(1);
  await after("d");
}
await after("c");
console.log("RAN old");
`

// The story: OpenClaw says the id of a call only beside its event. After a call that was stopped, the
// report of the next one, which ran, was left out as if it were that of the first.
func TestOpenClawReportsWhatRan(t *testing.T) {
	reports := filepath.Join(t.TempDir(), "reports")
	once := `[ -e "$0.once" ] || { touch "$0.once"; echo '{"decision":"deny","reason":"because"}'; exit 2; }; ` + passes
	got := playedBy(t, "openclaw", callBeside, once, "cat >>"+reports+`; echo '{"decision":"pass"}'`, 6)
	text, err := os.ReadFile(reports)
	if got != "STOPPED because\nRAN old" || err != nil || !strings.Contains(string(text), `"call":"d"`) ||
		strings.Contains(string(text), `"call":"c"`) {
		t.Errorf("%q, reported %q, %v", got, text, err)
	}
}

// A result is replaced by one of the same form, and nothing else.
func TestPluginResults(t *testing.T) {
	ran := Event{Kind: Ran, Agent: "pi", Name: "tool_result", Call: approver.ToolCall{Tool: "Bash"},
		Response: json.RawMessage(`[{"type":"text","text":"x"}]`)}
	for name, tt := range map[string]struct {
		ev   Event
		r    Result
		want string
	}{
		"nothing": {ran, Result{}, `{"decision":"pass"}`},
		"another": {ran, Result{Response: []byte(`[]`)}, `{"decision":"pass","result":[]}`},
		"notes": {ran, Result{Context: "a\nb", Notice: "c"},
			`{"decision":"pass","context":"a b","notice":"approver: c"}`},
		"another form": {ran, Result{Response: []byte(`"x"`)}, `{"decision":"deny",`},
		"not JSON":     {ran, Result{Response: []byte(`[`)}, `{"decision":"deny",`},
		"not run":      {Event{Kind: Decide, Name: "tool_call"}, Result{Context: "x"}, `{"decision":"deny",`},
		"no result":    {Event{Kind: Ran, Name: "tool_result"}, Result{Response: []byte(`[]`)}, `{"decision":"deny",`},
	} {
		if got := pi.EncodeResult(tt.ev, tt.r); !strings.HasPrefix(string(got.Stdout), tt.want) ||
			got.ExitZero == strings.Contains(tt.want, "deny") {
			t.Errorf("%s: %d %s", name, got.Exit(), got.Stdout)
		}
	}
}
