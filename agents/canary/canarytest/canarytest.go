// Package canarytest is a small fake of Claude Code for tests of the canary. It talks to the model
// in its environment, and handles the one call as its mode says.
package canarytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/canary"
)

// Mode is the environment variable with the mode of the fake.
const Mode = "FAKE_CLAUDE"

// Main runs the fake in its mode, and returns the exit code.
func Main() int {
	mode := os.Getenv(Mode)
	switch mode {
	case "hang":
		time.Sleep(time.Minute)
		return 0
	case "broken":
		fmt.Fprintln(os.Stderr, "no such option")
		return 3
	case "litter":
		file, err := os.CreateTemp("", "left-behind-*")
		if err == nil {
			fmt.Println(file.Name())
		}
		return 3
	case "environment":
		// Only the beginning of what is printed is kept.
		env := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "TMPDIR=") })
		slices.SortStableFunc(env, func(a, b string) int {
			return strings.Compare(b[strings.LastIndexByte(b, '=')+1:], a[strings.LastIndexByte(a, '=')+1:])
		})
		fmt.Println(strings.Join(env, " "))
		return 0
	}
	prompt := map[string]any{"role": "user", "content": os.Args[len(os.Args)-1]}
	_, use := say(false, prompt)
	if len(use) == 0 {
		return 4
	}
	command, _ := use[0].Input["command"].(string)
	result, code := resultOf(mode, command, use[0].ID)
	if result == nil {
		return code
	}
	text, use := say(true, prompt, map[string]any{"role": "assistant", "content": []any{}},
		map[string]any{"role": "user", "content": []any{result}})
	if len(use) > 0 {
		return 6
	}
	fmt.Println(text)
	return 0
}

// resultOf returns the result of the call, or an exit code if the fake ends before it.
func resultOf(mode, command, id string) (result map[string]any, code int) {
	token := filepath.Base(filepath.Dir(strings.TrimPrefix(command, "/bin/mkdir ")))
	result = map[string]any{"type": "tool_result", "tool_use_id": id, "is_error": true}
	switch mode {
	case "ran", "ran and denied":
		if err := os.Mkdir(strings.TrimPrefix(command, "/bin/mkdir "), 0o700); err != nil {
			return nil, 5
		}
		result["is_error"] = false
		if mode == "ran and denied" {
			result["is_error"], result["content"] = true, refusal(command)
		}
	case "denied":
		result["content"] = []map[string]any{{"type": "text", "text": "PreToolUse:Bash hook error: " + refusal(command)}}
	case "denied for another":
		result["content"] = refusal("/bin/mkdir /tmp/approver-hook-test-00000000000000000000000000000000/ran")
	case "courier", "courier without a failure":
		result["is_error"] = mode == "courier"
		result["content"] = "hook error: approver is not running (nobody listens on /h/submit.sock), so the call was stopped"
	case "other hook":
		result["content"] = "hook error: " + token + " was stopped: " + command
	case "own rule":
		result["content"] = "Permission to use Bash with command " + command + " has been denied."
	case "lost":
		return nil, 0
	case "settings":
		denied, err := hooked(command)
		if err == nil && denied == "" {
			err = os.Mkdir(strings.TrimPrefix(command, "/bin/mkdir "), 0o700)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return nil, 7
		}
		result["content"], result["is_error"] = denied, denied != ""
	}
	return result, 0
}

// hooked runs the hook of the user's settings, and returns the reason if it denied the call.
func hooked(command string) (denied string, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json"))
	if err != nil {
		return "", err
	}
	var settings struct {
		Hooks struct {
			PreToolUse []struct {
				Matcher string
				Hooks   []struct{ Command string }
			}
		}
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		return "", err
	}
	payload, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": home, "hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_input": map[string]any{"command": command}, "tool_use_id": "toolu_1",
	})
	if err != nil {
		return "", err
	}
	for _, m := range settings.Hooks.PreToolUse {
		for _, h := range m.Hooks {
			if m.Matcher != "*" && m.Matcher != "Bash" {
				continue
			}
			cmd := exec.Command("sh", "-c", h.Command)
			var said bytes.Buffer
			cmd.Stdin, cmd.Stderr = bytes.NewReader(payload), &said
			var exit *exec.ExitError
			switch err := cmd.Run(); {
			case errors.As(err, &exit) && exit.ExitCode() == 2:
				return "PreToolUse:Bash hook error: " + said.String(), nil
			case err != nil:
				return "", fmt.Errorf("%w: %s", err, &said)
			}
		}
	}
	return "", nil
}

// refusal returns what the stage tells the agent.
func refusal(command string) string {
	v, err := canary.Stage{}.Judge(context.Background(), approver.ToolCall{Tool: "Bash", Command: command})
	if err != nil || v.Decision != approver.Deny {
		return "not denied"
	}
	return v.Reason
}

type use struct {
	Type  string
	ID    string
	Text  string
	Input map[string]any
}

// say sends a conversation to the model, and reads its answer, streamed or whole.
func say(stream bool, messages ...any) (text string, calls []use) {
	body, err := json.Marshal(map[string]any{"model": "m", "stream": stream,
		"tools": []any{map[string]any{"name": "Bash"}}, "messages": messages})
	if err != nil {
		panic(err)
	}
	res, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages?beta=true", "application/json",
		bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		panic(fmt.Sprint(err, res.Status, string(raw)))
	}
	if stream {
		return string(raw), nil
	}
	var doc struct{ Content []use }
	if err := json.Unmarshal(raw, &doc); err != nil {
		panic(err)
	}
	for _, b := range doc.Content {
		text += b.Text
		if b.Type == "tool_use" {
			calls = append(calls, b)
		}
	}
	return text, calls
}
