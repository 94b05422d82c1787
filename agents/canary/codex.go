package canary

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"approver.example/agents/canary/model"
	"approver.example/internal/lazyregexp"
)

// Codex is the recipe of the Codex CLI.
//
// It has no catalog entry of the model's name, and so offers the tools of the general kind: with
// other models the same calls are made by a script, and the same hook is asked.
func Codex() Recipe {
	return Recipe{
		Agent: "codex",
		Tool:  "exec_command",
		Input: func(command string) any { return map[string]any{"cmd": command} },
		Start: startCodex,
		Drop: []string{
			"OPENAI_*", "CODEX_ACCESS_TOKEN", "CODEX_EXEC_SERVER_URL", "CODEX_OSS_*", "CODEX_SESSION_ID", "CODEX_THREAD_ID",
		},
	}
}

func startCodex(s Setting) (Start, error) {
	args := []string{
		"exec", "--skip-git-repo-check", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox",
		"-c", `model="` + model.Name + `"`, "-c", `model_provider="approver_hook_test"`,
		"-c", `model_providers.approver_hook_test={name="approver", base_url="` + s.URL +
			`/v1", wire_api="responses", env_key="APPROVER_HOOK_TEST_KEY", supports_websockets=false}`,
		"-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
		"--disable", "plugins", // it asks the network for a list of plugins
	}
	for _, name := range codexServers(cmp.Or(value(s.Env, "CODEX_HOME"), filepath.Join(value(s.Env, "HOME"), ".codex"))) {
		args = append(args, "-c", "mcp_servers."+name+".enabled=false")
	}
	return Start{Args: append(args, "--", prompt), Env: []string{"APPROVER_HOOK_TEST_KEY=" + key}}, nil
}

// codexName is what the name of an MCP server in Codex must be.
var codexName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// codexServers returns the names of the MCP servers in the user's settings. One in the settings of a
// project is not switched off: where that project is not trusted, there would be nothing to switch
// off, and Codex would not start.
func codexServers(home string) []string {
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	if err != nil {
		return nil
	}
	var config struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(text, &config); err != nil {
		return nil // Codex cannot read it either
	}
	names := slices.Sorted(maps.Keys(config.Servers))
	return slices.DeleteFunc(names, func(n string) bool { return !codexName().MatchString(n) })
}
