package canary

import (
	"cmp"
	"path/filepath"

	"approver.example/agents/canary/model"
)

// Copilot is the recipe of the Copilot CLI. Offline it uses no account, and no network but the
// model.
func Copilot() Recipe {
	return Recipe{
		Agent: "copilot",
		Tool:  "bash",
		Input: described,
		Start: startCopilot,
		Drop: []string{
			"COPILOT_PROVIDER_*", "COPILOT_MODEL", "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
			"COPILOT_OTEL_*", "OTEL_*",
		},
		Limit: slow,
	}
}

func startCopilot(s Setting) (Start, error) {
	args := []string{
		"-p", prompt, "--allow-all-tools", "--allow-all-paths", "--no-auto-update", "--no-color", "--no-remote",
		"--disable-client-telemetry", "--disable-builtin-mcps",
	}
	home := cmp.Or(value(s.Env, "COPILOT_HOME"), filepath.Join(value(s.Env, "HOME"), ".copilot"))
	// It waits for a server that does not answer.
	for _, name := range serverNames("mcpServers", filepath.Join(home, "mcp-config.json"),
		filepath.Join(s.Dir, ".mcp.json"), filepath.Join(s.Dir, ".github", "mcp.json")) {
		args = append(args, "--disable-mcp-server", name)
	}
	return Start{Args: args, Env: []string{
		"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_MODEL=" + model.Name,
		"COPILOT_PROVIDER_BASE_URL=" + s.URL + "/v1", "COPILOT_PROVIDER_TYPE=openai",
		"COPILOT_PROVIDER_WIRE_API=completions", "COPILOT_PROVIDER_API_KEY=" + key,
	}}, nil
}
