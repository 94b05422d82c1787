package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// windsurfPatience is how long Windsurf waits for a hook. Its documents do not say it, and it cannot be
// set. Half a minute is what others found.
const windsurfPatience = 30 * time.Second

// windsurf is the adapter of Cascade, the agent of Windsurf. It was written from the page Cascade Hooks
// of Windsurf's documents, see docs/agents/windsurf.md, and not run.
//
// A hook blocks with exit code 2 and a text on standard error. There is no document: Cascade cannot be
// asked to run a call with other arguments or to ask its own user. Calls have no ids. Only a shell
// command comes with its folder.
var windsurf = &hooked{
	name: "windsurf", patience: windsurfPatience - 5*time.Second,
	events: []hookEvent{
		{kind: Decide, installed: true, call: windsurfTool("run_command"), Event: facts.Event{Name: "pre_run_command"}},
		{kind: Decide, installed: true, call: windsurfTool("write_code"), Event: facts.Event{Name: "pre_write_code"}},
		{kind: Decide, installed: true, call: windsurfTool("read_code"), Event: facts.Event{Name: "pre_read_code"}},
		{kind: Decide, installed: true, call: windsurfServer, Event: facts.Event{Name: "pre_mcp_tool_use"}},
		{kind: Ran, installed: true, call: windsurfTool("run_command"), Event: facts.Event{Name: "post_run_command"}},
		{kind: Ran, installed: true, call: windsurfTool("write_code"), Event: facts.Event{Name: "post_write_code"}},
		{kind: Ran, installed: true, call: windsurfTool("read_code"), Event: facts.Event{Name: "post_read_code"}},
		{kind: Ran, installed: true, call: windsurfServer, Event: facts.Event{Name: "post_mcp_tool_use"}},
	},
	notices: "pre_user_prompt post_cascade_response post_cascade_response_with_transcript post_setup_worktree",
	keys:    keys{event: "agent_action_name"},
	tools: vocabulary{
		{tools: "run_command", as: "Bash", keys: "command_line=command", dir: "cwd"},
		{tools: "write_code", as: "MultiEdit"},
		{tools: "read_code", as: "Read"},
	},
	place:    windsurfPlace,
	outcome:  windsurfOutcome,
	returned: []facts.Field{{Key: "mcp_result", Short: "null"}},
	permit:   func(Event, approver.Verdict, json.RawMessage) any { return nil },
	install: &installation{
		files: settings.Files{
			Agent: "windsurf", Title: "Windsurf", Folder: ".codeium/windsurf", File: "hooks.json",
			Project: ".windsurf", ProjectFile: "hooks.json",
			Managed: machineFolder("/etc/windsurf", "/Library/Application Support/Windsurf"), ManagedFile: "hooks.json",
		},
		layout: settings.Layout{Agent: "windsurf", Flat: true},
		most:   windsurfPatience,
		hook: func(l hookLine) any {
			return struct {
				Command string `json:"command"`
				Show    bool   `json:"show_output"`
			}{l.command, l.guards}
		},
		advice: []settings.Finding{{Harmless: true, Text: "Windsurf sends no hook for searches, web pages and its own " +
			"memories, and runs a call whose hook crashes or is slower than Windsurf waits"}},
	},
}

// windsurfPlace reads the session. The folder of a command is among its arguments, and that of the
// others is not known.
func windsurfPlace(call *approver.ToolCall, o object) (err error) {
	call.Session, err = o.need("trajectory_id", maxID)
	return err
}

// windsurfInfo returns the object with the arguments.
func windsurfInfo(o object) (info object, err error) {
	if !isObject(o["tool_info"]) {
		return nil, errors.New(`"tool_info" is missing or not an object`)
	}
	err = json.Unmarshal(o["tool_info"], &info)
	return info, err
}

// windsurfTool returns the reader of an event about one of Cascade's own tools.
func windsurfTool(tool string) func(o object) (string, json.RawMessage, error) {
	return func(o object) (string, json.RawMessage, error) {
		info, err := windsurfInfo(o)
		if err != nil {
			return "", nil, err
		}
		switch dir, ok, err := info.short("cwd", maxPath); {
		case tool != "run_command" || !ok:
			return tool, o["tool_info"], nil
		case err != nil:
			return "", nil, err
		case dir != "" && !filepath.IsAbs(dir):
			return "", nil, fmt.Errorf("the folder is %s, not an absolute path", quote(dir))
		}
		return tool, o["tool_info"], nil
	}
}

// windsurfServer reads a call of an MCP tool.
func windsurfServer(o object) (tool string, args json.RawMessage, err error) {
	info, err := windsurfInfo(o)
	if err != nil {
		return "", nil, err
	}
	server, err := info.need("mcp_server_name", maxTool)
	if err != nil {
		return "", nil, err
	}
	name, err := info.need("mcp_tool_name", maxTool)
	if err != nil {
		return "", nil, err
	}
	if tool, err = mcpName(server, name); err != nil {
		return "", nil, err
	}
	if args = info["mcp_tool_arguments"]; len(args) == 0 || bytes.Equal(args, []byte("null")) {
		args = json.RawMessage("{}")
	}
	return tool, args, nil
}

// windsurfOutcome reads what a call returned. Windsurf says it only of MCP tools.
func windsurfOutcome(ev *Event, o object) error {
	info, err := windsurfInfo(o)
	if err != nil || !isServerTool(ev.Call.Tool) {
		return err
	}
	if ev.Response = info["mcp_result"]; len(ev.Response) > 0 {
		ev.Output = outputOf(ev.Response)
	}
	return nil
}
