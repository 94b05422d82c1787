package canary

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"approver.example/agents/canary/model"
)

// Cline is the recipe of the Cline CLI. Its accounts, its MCP servers and its history are in another
// folder for this start; its hooks are not.
//
// A hook that stops a call ends the task, and nobody is told why. Only the log has it.
func Cline() Recipe {
	return Recipe{
		Agent: "cline",
		Tool:  "run_commands",
		Input: func(command string) any { return map[string]any{"commands": []string{command}} },
		Start: startCline,
		Noted: clineNoted,
		Drop: []string{
			"CLINE_PROVIDER*", "CLINE_MODEL", "CLINE_DEFAULT_MODEL_ID", "CLINE_*_PATH", "CLINE_*DATA_DIR", "CLINE_SANDBOX",
			"CLINE_RPC_ADDRESS", "CLINE_HUB_PORT", "CLINE_VCR*", "CLINE_ENVIRONMENT*", "CLINE_RUN_AS_HUB_DAEMON",
			"CLINE_HOOK_AGENT_RESUME", "OTEL_*",
		},
		Keep:  []string{"CLINE_HOOKS_LOG_PATH"},
		Limit: slow,
	}
}

func startCline(s Setting) (Start, error) {
	const provider = "openai-compatible"
	dir := filepath.Join(s.Temp, "settings")
	providers := map[string]any{
		"version": 1, "lastUsedProvider": provider, "modes": map[string]any{},
		"providers": map[string]any{provider: map[string]any{
			"settings": map[string]any{
				"provider": provider, "apiKey": key, "model": model.Name, "baseUrl": s.URL + "/v1",
			},
			"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
		}},
	}
	global := filepath.Join(dir, "global-settings.json")
	return Start{
			Args: []string{
				"--json", "--auto-approve", "true", "--data-dir", s.Temp, "-P", provider, "-m", model.Name, prompt,
			},
			// Telemetry starts before the options are read.
			Env: []string{"CLINE_NO_AUTO_UPDATE=1", "CLINE_GLOBAL_SETTINGS_PATH=" + global},
		}, errors.Join(
			os.Mkdir(dir, 0o700),
			writeJSON(filepath.Join(dir, "providers.json"), providers),
			writeJSON(global, map[string]any{"telemetryOptOut": true, "autoUpdateEnabled": false}))
}

// clineNoted returns the reason in the log of a task that a hook has ended.
func clineNoted(s Setting) string {
	text, err := os.ReadFile(filepath.Join(s.Temp, "logs", "cline.log"))
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(text) {
		var entry struct{ ErrorName, ErrorMessage string }
		if json.Unmarshal(line, &entry) == nil && entry.ErrorName == "ControlledStopError" {
			return entry.ErrorMessage
		}
	}
	return ""
}
