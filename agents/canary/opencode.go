package canary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"

	"approver.example/agents/canary/model"
)

// OpenCode is the recipe of OpenCode. Its settings in a variable come after those in files.
func OpenCode() Recipe {
	return Recipe{
		Agent: "opencode",
		Tool:  "bash",
		Input: described,
		Start: startOpenCode,
		Drop: []string{
			"OPENCODE_AUTH_CONTENT", "OPENCODE_CONSOLE_TOKEN", "OPENCODE_PERMISSION", "OPENCODE_SERVER_*",
			"OPENCODE_WORKSPACE_ID", "OPENCODE_AUTO_SHARE", "OPENCODE_PID", "OPENCODE_CLIENT", "OPENCODE_MODELS_*",
		},
		Limit: 2 * slow, // where there are plugins, it first installs a package for them
	}
}

func startOpenCode(s Setting) (Start, error) {
	config, err := parseObject([]byte(cmp.Or(value(s.Env, "OPENCODE_CONFIG_CONTENT"), "{}")))
	if err != nil {
		return Start{}, fmt.Errorf("OPENCODE_CONFIG_CONTENT: %w", err)
	}
	const full = "approver/" + model.Name
	config["provider"] = map[string]any{"approver": map[string]any{
		"npm": "@ai-sdk/openai-compatible", "name": "approver",
		"options": map[string]any{"baseURL": s.URL + "/v1", "apiKey": key},
		"models": map[string]any{model.Name: map[string]any{
			"name": model.Name, "limit": map[string]any{"context": model.Window, "output": model.Room},
		}},
	}}
	config["enabled_providers"] = []string{"approver"}
	config["model"], config["small_model"] = full, full
	config["autoupdate"], config["share"] = false, "disabled"
	permission := section(config, "permission")
	permission["bash"], permission["external_directory"] = "allow", "allow"
	servers := section(config, "mcp")
	for _, name := range serverNames("mcp", openCodeFiles(s)...) {
		servers[name] = map[string]any{"enabled": false}
	}
	text, err := json.Marshal(config)
	return Start{
		Args: []string{"run", "--auto", "--agent", "build", "-m", full, prompt},
		Env: []string{
			"OPENCODE_CONFIG_CONTENT=" + string(text), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1",
		},
	}, err
}

// openCodeFiles returns where the settings of OpenCode may be.
func openCodeFiles(s Setting) (files []string) {
	config := cmp.Or(value(s.Env, "XDG_CONFIG_HOME"), filepath.Join(value(s.Env, "HOME"), ".config"))
	dirs := []string{filepath.Join(config, "opencode"), value(s.Env, "OPENCODE_CONFIG_DIR")}
	for dir := s.Dir; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir, filepath.Join(dir, ".opencode"))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, dir := range dirs {
		if dir != "" {
			files = append(files, filepath.Join(dir, "config.json"), filepath.Join(dir, "opencode.json"),
				filepath.Join(dir, "opencode.jsonc"))
		}
	}
	if file := value(s.Env, "OPENCODE_CONFIG"); file != "" {
		files = append(files, file)
	}
	return files
}
