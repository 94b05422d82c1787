package canary

import "os"

// Claude is the recipe of Claude Code. In every permission mode the one call is allowed, and no
// other.
func Claude() Recipe {
	return Recipe{
		Agent: "claude",
		Tool:  "Bash",
		Input: described,
		Start: startClaude,
		Drop: []string{
			"ANTHROPIC_*", "CLAUDE_CODE_OAUTH_*", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_API_*", "CLAUDE_CODE_HOST_*",
			"CLAUDE_CODE_PROVIDER_*", "AWS_BEARER_TOKEN_BEDROCK",
			"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_REMOTE*",
		},
		TellsFailure: true,
		Keep:         []string{"CLAUDE_CODE_USE_COWORK_PLUGINS"}, // it leads to other settings, and not to another model
	}
}

func startClaude(s Setting) (Start, error) {
	allowed := []string{
		"--permission-mode", "default", "--add-dir", os.TempDir(), "--allowedTools", "Bash(" + s.Command + ")",
	}
	if s.Command == "" {
		allowed = []string{"--permission-mode", "bypassPermissions"}
	}
	args := append([]string{"-p", "--no-session-persistence", "--strict-mcp-config", "--mcp-config", `{"mcpServers":{}}`},
		allowed...)
	return Start{
		Args: append(args, "--", prompt),
		Env: []string{
			"ANTHROPIC_BASE_URL=" + s.URL, "ANTHROPIC_API_KEY=" + key,
			// Without this, "env" in some settings could name another server.
			"CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			"DISABLE_AUTOUPDATER=1",
		},
	}, nil
}
