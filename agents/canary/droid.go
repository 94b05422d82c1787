package canary

import (
	"path/filepath"

	"approver.example/agents/canary/model"
)

// Droid is the recipe of Factory's Droid. Its airgap mode uses no account, and no network but the
// model. A settings file is added to the user's.
func Droid() Recipe {
	return Recipe{
		Agent: "droid",
		Tool:  "Execute",
		Input: func(command string) any {
			return map[string]any{
				"command": command, "summary": about, "riskLevel": "low", "riskLevelReason": "It makes one empty folder",
			}
		},
		Start: startDroid,
		Drop: []string{
			"FACTORY_*_BASE_URL*", "FACTORY_RUNTIME_SETTINGS_*", "FACTORY_RELAY_*", "FACTORY_SESSION_*", "FACTORY_OTEL_*",
			"DROID_PARENT_SESSION_ID", "DROID_EXEC*", "FACTORY_VSCODE_MCP_PORT", "FACTORY_JETBRAINS_MCP_PORT",
			"FACTORY_AIRGAP_ENABLED",
		},
		Limit: slow,
	}
}

func startDroid(s Setting) (Start, error) {
	const id = "custom:" + model.Name
	file := filepath.Join(s.Temp, "settings.json")
	settings := map[string]any{
		"customModels": []any{map[string]any{
			"id": id, "model": model.Name, "displayName": model.Name, "provider": "generic-chat-completion-api",
			"baseUrl": s.URL + "/v1", "apiKey": key, "maxOutputTokens": model.Room,
		}},
		"mcpPolicy": map[string]any{"enabled": true, "allowlist": []any{}},
	}
	return Start{
		Args: []string{"exec", "--skip-permissions-unsafe", "--settings", file, "-m", id, prompt},
		Env: []string{
			"FACTORY_API_KEY=fk-" + key, "FACTORY_AIRGAP_ENABLED=true", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false",
			"FACTORY_OTEL_ENABLED=false",
		},
	}, writeJSON(file, settings)
}
